package kit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// counters is a table of numbers.
func counters() schema.Database {
	return schema.Database{
		Tables: []schema.Table{{
			Name: "Counters", Key: schema.Key{Partition: "id"},
			Attributes: []schema.Attribute{{Name: "id", Type: schema.String}, {Name: "n", Type: schema.Number}},
		}},
		AccessPatterns: []schema.AccessPattern{
			{Name: "Get", Action: schema.GetItem, Table: "Counters", Consistent: true},
			{Name: "Count", Action: schema.TransactWriteItems,
				Writes: []schema.Write{{Table: "Counters", Action: schema.UpdateItem}}},
			{Name: "Set", Action: schema.UpdateItem, Table: "Counters"},
		},
	}
}

// silence is how an attempt is not answered.
type silence func(w http.ResponseWriter, r *http.Request, does http.Handler)

// hanging returns a table behind a server that gives no answer to the first attempts.
func hanging(t *testing.T, silent int32, how silence) (db *dynamo.DB, attempts *atomic.Int32) {
	t.Helper()
	engine := dynamotest.Open(t, counters()).Client.Options()
	target := must.Get(url.Parse(aws.ToString(engine.BaseEndpoint)))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	attempts = &atomic.Int32{}
	ends := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if attempts.Add(1) > silent {
			proxy.ServeHTTP(w, r)
			return
		}
		how(w, r, proxy)
		select {
		case <-r.Context().Done():
		case <-ends:
		}
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(func() {
		close(ends)
		server.Close()
	})
	config := kit.WithAttemptTimeout(aws.Config{
		Region: engine.Region, Credentials: engine.Credentials, BaseEndpoint: &server.URL, Retryer: kit.Retryer,
	}, time.Second)
	return dynamotest.Through(t, dynamodb.NewFromConfig(config), counters()), attempts
}

type counter struct {
	ID string `dynamodbav:"id"`
	N  int    `dynamodbav:"n"`
}

// An unanswered attempt ends by itself and is repeated; the work of the first is not done twice.
func TestAnAttemptEndsByItself(t *testing.T) {
	t.Parallel()
	body := func(r *http.Request) {
		// Until the request is read the server does not see its end.
		_, _ = io.Copy(io.Discard, r.Body)
	}
	for name, how := range map[string]silence{
		"NotDone": func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { body(r) },
		"Done": func(_ http.ResponseWriter, r *http.Request, does http.Handler) {
			does.ServeHTTP(httptest.NewRecorder(), r)
		},
		"WithinTheAnswer": func(w http.ResponseWriter, r *http.Request, does http.Handler) {
			does.ServeHTTP(httptest.NewRecorder(), r)
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"Item"`))
			_ = http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			const silent = 2
			db, attempts := hanging(t, silent, how)
			err := db.Transact(ctx, "Count", dynamo.Update("Counters", []any{"a"},
				expression.Add(dynamo.Name("n"), expression.Value(1)), expression.ConditionBuilder{}))
			if err != nil || attempts.Load() <= silent {
				t.Fatalf("%d attempts, %v", attempts.Load(), err)
			}
			attempts.Store(0)
			var got counter
			if found, err := db.Get(ctx, "Get", &got, "a"); err != nil || !found || got.N != 1 ||
				attempts.Load() <= silent {
				t.Errorf("got %+v, %v, %v after %d attempts", got, found, err, attempts.Load())
			}
		})
	}
}

// A service that never answers gets attempts until the time is over, and no longer.
func TestAttemptsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	db, attempts := hanging(t, 1000, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := db.Get(ctx, "Get", &counter{}, "a")
	if !errors.Is(err, context.DeadlineExceeded) || attempts.Load() < 2 {
		t.Errorf("%v after %d attempts", err, attempts.Load())
	}
}

// The context of a request ends while there is time to answer.
func TestThereIsTimeToAnswer(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	handler := kit.NewHTTPHandler(&kit.API{Routes: mux, Error: func(context.Context, error) (int, any) {
		return 500, nil
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	response, err := handler.Invoke(ctx, []byte(
		`{"version":"2.0","routeKey":"GET /slow","rawPath":"/slow","requestContext":{"http":{"method":"GET","path":"/slow"}}}`))
	if err != nil || ctx.Err() != nil || !strings.Contains(string(response), "503") {
		t.Errorf("got %s, %v; the invocation: %v", response, err, ctx.Err())
	}
}

// throttling is one way in which a table refuses requests.
type throttling struct {
	// share of the attempts, after the first so many.
	share float64
	after int
	// atOnce is how many requests the work makes at the same time.
	atOnce int
}

// A caller of a throttled table is answered in 5 seconds, after 15 requests at most, with the
// request's claim released if the table allows it.
func TestThrottledCallerIsAnswered(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{1, 0.98, 0.5, 0.05} {
		for _, after := range []int{0, 1, 2, 30} {
			for _, atOnce := range []int{1, 2, 5, 10} {
				test := throttling{share, after, atOnce}
				t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
					t.Parallel()
					for seed := range uint64(8) {
						synctest.Test(t, func(t *testing.T) { answered(t, test, seed) })
					}
				})
			}
		}
	}
}

// answered checks one invocation's work by the bounds: a claim, rounds of reads and a write, and,
// when one fails, the release of the claim.
func answered(t *testing.T, test throttling, seed uint64) {
	t.Helper()
	const rounds = 4
	random := rand.New(rand.NewPCG(seed, seed))
	attempts, refused := 0, 0
	db, _ := dynamotest.Refused(t, counters(), func(string) dynamotest.Answer {
		attempts++
		if attempts > test.after && random.Float64() < test.share {
			refused++
			return dynamotest.Throttled()
		}
		return dynamotest.Answer{}
	})
	set := expression.Set(dynamo.Name("n"), expression.Value(1))
	count := dynamo.Update("Counters", []any{"a"}, set, expression.ConditionBuilder{})
	work := func(ctx context.Context) error {
		if err := db.Update(ctx, "Set", []any{"claim"}, set, expression.ConditionBuilder{}, nil); err != nil {
			return err
		}
		for range rounds {
			reads, ctx := errgroup.WithContext(ctx)
			for range test.atOnce {
				reads.Go(func() error {
					_, err := db.Get(ctx, "Get", &counter{}, "a")
					return err
				})
			}
			if err := reads.Wait(); err != nil {
				return err
			}
		}
		return db.Transact(ctx, "Count", count)
	}
	began := time.Now()
	var failed error
	mux := http.NewServeMux()
	mux.HandleFunc("GET /work", func(w http.ResponseWriter, r *http.Request) {
		if failed = work(r.Context()); failed == nil {
			return
		}
		ctx, cancel := retry.ToRelease(r.Context(), time.Now().Add(time.Second))
		defer cancel()
		_ = db.Update(ctx, "Set", []any{"claim"}, set, expression.ConditionBuilder{}, nil)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	handler := kit.NewHTTPHandler(&kit.API{Routes: mux, Error: func(context.Context, error) (int, any) {
		return 500, nil
	}, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	response, err := handler.Invoke(ctx, []byte(
		`{"version":"2.0","routeKey":"GET /work","rawPath":"/work","requestContext":{"http":{"method":"GET","path":"/work"}}}`))
	if err != nil || strings.Contains(string(response), "503") != (failed != nil) {
		t.Fatalf("got %s, %v; the work: %v", response, err, failed)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("seed %d: it took %v", seed, took)
	}
	if failed != nil && !errors.Is(failed, retry.ErrBusy) {
		t.Errorf("seed %d: got %v; want ErrBusy", seed, failed)
	}
	if test.share == 1 && attempts > test.after &&
		(failed == nil || attempts > test.after+15 || attempts > 15 && test.after <= 1) {
		t.Errorf("seed %d: got %v after %d attempts", seed, failed, attempts)
	}
	// Of requests that begin together, all may be refused before the first is known to be.
	if most := retry.ForCaller + retry.ForRelease + test.atOnce - 1; test.share > 0.9 && refused > most {
		t.Errorf("seed %d: got %d refusals; want at most %d", seed, refused, most)
	}
	if test.share < 0.1 && test.atOnce < 10 && failed != nil {
		t.Errorf("seed %d: got %v of a table that refuses few requests", seed, failed)
	}
}
