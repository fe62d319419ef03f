package kit_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/local/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// counters is a table of numbers.
func counters() schema.Database {
	return schema.Database{
		Tables: []schema.Table{{
			Name: "Counters", Key: schema.Key{Partition: "id"}, Attributes: []schema.Attribute{{Name: "id", Type: schema.String}, {Name: "n", Type: schema.Number}},
		}},
		AccessPatterns: []schema.AccessPattern{
			{Name: "Get", Operation: schema.GetItem, Table: "Counters", Consistent: true},
			{Name: "Count", Operation: schema.TransactWriteItems, Writes: []schema.Write{{Table: "Counters", Operation: schema.UpdateItem}}},
			{Name: "Set", Operation: schema.UpdateItem, Table: "Counters"},
		},
	}
}

// silence is how an attempt is not answered.
type silence func(w http.ResponseWriter, r *http.Request, does http.Handler)

// hanging returns a table behind a server that gives no answer to the first attempts.
func hanging(t *testing.T, silent int32, how silence) (db *dynamo.DB, attempts *atomic.Int32) {
	t.Helper()
	key := enginetest.AccessKey()
	_, err := enginetest.Engine(t).Client(key).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Counters"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(enginetest.Engine(t).URL())
	if err != nil {
		t.Fatal(err)
	}
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
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(key, "local", ""), BaseEndpoint: &server.URL, Retryer: kit.Retryer,
	}, time.Second)
	db, err = dynamo.New(dynamodb.NewFromConfig(config), counters(), map[string]string{"Counters": "Counters"})
	if err != nil {
		t.Fatal(err)
	}
	return db, attempts
}

type counter struct {
	ID string `dynamodbav:"id"`
	N  int    `dynamodbav:"n"`
}

// An attempt that is not answered ends by itself and is made again; what the first one has done is not done twice.
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
			err := db.Transact(ctx, "Count", dynamo.Update("Counters", []any{"a"}, expression.Add(dynamo.Name("n"), expression.Value(1)), expression.ConditionBuilder{}))
			if err != nil || attempts.Load() <= silent {
				t.Fatalf("%d attempts, %v", attempts.Load(), err)
			}
			attempts.Store(0)
			var got counter
			if found, err := db.Get(ctx, "Get", &got, "a"); err != nil || !found || got.N != 1 || attempts.Load() <= silent {
				t.Errorf("got %+v, %v, %v after %d attempts", got, found, err, attempts.Load())
			}
		})
	}
}

// A service that never answers is asked until the time is over, and no longer.
func TestAttemptsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	db, attempts := hanging(t, 1000, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { _, _ = io.Copy(io.Discard, r.Body) })
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
	handler := kit.NewHTTPHandler(&kit.API{Routes: mux, Error: func(error) (int, any) { return 500, nil }})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	response, err := handler.Invoke(ctx, []byte(`{"version":"2.0","routeKey":"GET /slow","rawPath":"/slow","requestContext":{"http":{"method":"GET","path":"/slow"}}}`))
	if err != nil || ctx.Err() != nil || !strings.Contains(string(response), "503") {
		t.Errorf("got %s, %v; the invocation: %v", response, err, ctx.Err())
	}
}
