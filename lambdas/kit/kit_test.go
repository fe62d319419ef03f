package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// environment is a Getenv over a map.
func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// lines are the JSON lines that were written.
func lines(t *testing.T, out *bytes.Buffer) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("not a line of JSON: %v: %s", err, line)
		}
		found = append(found, fields)
	}
	return found
}

// invoked is the context that Lambda gives an invocation.
func invoked(id string) context.Context {
	return lambdacontext.NewContext(context.Background(), &lambdacontext.LambdaContext{AwsRequestID: id})
}

func TestInitialise(t *testing.T) {
	t.Parallel()
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		var got Environment
		handler, err := initialise(t.Context(), "todo",
			environment(map[string]string{"AWS_LAMBDA_FUNCTION_NAME": "f", "METRIC_NAMESPACE": "Acme", "SET": "x"}),
			&out,
			func(_ context.Context, e Environment) (lambda.Handler, error) {
				got = e
				return NewEventHandler(e.Log, func(context.Context, struct{}) error { return nil }), nil
			})
		if err != nil || handler == nil {
			t.Fatalf("got %v, %v", handler, err)
		}
		if client, ok := got.AWS.HTTPClient.(*awshttp.BuildableClient); !ok || client.GetTimeout() != AttemptTimeout {
			t.Errorf("the client for AWS is %T, and its attempts do not end after %s", got.AWS.HTTPClient,
				AttemptTimeout)
		}
		if got.Metrics.Namespace != "Acme/todo" || got.Metrics.Function != "f" {
			t.Errorf("metrics are %+v", got.Metrics)
		}
		if got.Getenv("SET") != "x" {
			t.Error("Getenv is another one")
		}
		if got.AWS.Retryer == nil || got.AWS.Retryer().MaxAttempts() != retry.Attempts {
			t.Error("AWS clients do not retry as Retryer does")
		}
		if out.Len() > 0 {
			t.Errorf("a good start wrote %s", &out)
		}
	})
	t.Run("ErrSetup", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		reason := errors.New("no table")
		_, err := initialise(t.Context(), "todo", environment(map[string]string{"AWS_LAMBDA_FUNCTION_NAME": "f"}), &out,
			func(context.Context, Environment) (lambda.Handler, error) { return nil, reason })
		if !errors.Is(err, reason) {
			t.Errorf("got %v", err)
		}
		logged := lines(t, &out)
		if len(logged) != 1 || logged[0]["level"] != "ERROR" || logged[0]["error"] != "no table" ||
			logged[0]["function_name"] != "f" {
			t.Errorf("logged %v", logged)
		}
	})
	t.Run("ErrPanic", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		_, err := initialise(t.Context(), "todo", environment(map[string]string{"AWS_LAMBDA_FUNCTION_NAME": "f"}), &out,
			func(context.Context, Environment) (lambda.Handler, error) { panic("no such route") })
		if err == nil || err.Error() != "panic: no such route" {
			t.Errorf("got %v, want the panic", err)
		}
		logged := lines(t, &out)
		if len(logged) != 2 || logged[0]["message"] != "panic" ||
			!strings.Contains(fmt.Sprint(logged[0]["stack"]), "kit_test.go") ||
			logged[1]["message"] != "cannot start" || logged[1]["error"] != "panic: no such route" {
			t.Errorf("logged %v", logged)
		}
	})
	t.Run("ErrLogLevel", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		_, err := initialise(t.Context(), "todo", environment(map[string]string{"LOG_LEVEL": "loud"}), &out,
			func(context.Context, Environment) (lambda.Handler, error) {
				t.Error("set up nevertheless")
				return nil, nil
			})
		if err == nil || !strings.Contains(err.Error(), `"loud"`) || !strings.Contains(out.String(), "cannot start") {
			t.Errorf("got %v, logged %s", err, &out)
		}
	})
}

func TestReportInitError(t *testing.T) {
	t.Parallel()
	var path, kind, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		path, kind, body = r.URL.Path, r.Header.Get("Lambda-Runtime-Function-Error-Type"), string(b)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	reportInitError(t.Context(), strings.TrimPrefix(server.URL, "http://"), errors.New("no table"))
	if path != "/2018-06-01/runtime/init/error" || kind != "Runtime.InitError" {
		t.Errorf("posted to %s as %s", path, kind)
	}
	if want := `{"errorMessage":"no table","errorType":"Runtime.InitError"}`; body != want {
		t.Errorf("posted %s; want %s", body, want)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	e := Environment{Getenv: environment(map[string]string{
		"YES": "true", "NO": "false", "ODD": "TRUE", "THREE": "3", "ZERO": "0", "WORD": "three",
		"HUGE": "99999999999999999999",
	})}
	t.Run("Bool", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]bool{"YES": true, "NO": false, "UNSET": false} {
			if got, err := e.Bool(name); err != nil || got != want {
				t.Errorf("%s: got %v, %v", name, got, err)
			}
		}
		if _, err := e.Bool("ODD"); err == nil || !strings.Contains(err.Error(), `ODD is "TRUE"`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("Int", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]int{"THREE": 3, "UNSET": 1} {
			if got, err := e.Int(name, 1); err != nil || got != want {
				t.Errorf("%s: got %v, %v", name, got, err)
			}
		}
		for _, name := range []string{"ZERO", "WORD", "HUGE"} {
			if got, err := e.Int(name, 1); err == nil {
				t.Errorf("%s: got %d without an error", name, got)
			}
		}
	})
	t.Run("Require", func(t *testing.T) {
		t.Parallel()
		if got, err := e.Require("YES", "THREE"); err != nil || got[0] != "true" || got[1] != "3" {
			t.Errorf("got %v, %v", got, err)
		}
		_, err := e.Require("YES", "FIRST", "SECOND")
		if err == nil || !strings.Contains(err.Error(), "FIRST") || !strings.Contains(err.Error(), "SECOND") ||
			strings.Contains(err.Error(), "YES") {
			t.Errorf("got %v", err)
		}
	})
}

func TestEventHandler(t *testing.T) {
	t.Parallel()
	type event struct{ Name string }
	var out bytes.Buffer
	log := must.Get(NewLogger(&out, "", "f"))(t)
	reason := errors.New("not today")
	var got []string
	handler := NewEventHandler(log, func(ctx context.Context, e event) error {
		got = append(got, e.Name+" "+InvocationFrom(ctx).RequestID)
		switch e.Name {
		case "bad":
			return reason
		case "worse":
			panic("the secret is 42")
		}
		return nil
	})
	if body, err := handler.Invoke(invoked("1"), []byte(`{"Name":"good"}`)); err != nil || !json.Valid(body) {
		t.Errorf("got %s, %v", body, err)
	}
	if _, err := handler.Invoke(invoked("2"), []byte(`{"Name":"bad"}`)); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
	if _, err := handler.Invoke(invoked("3"), []byte(`{"Name":4}`)); err == nil {
		t.Error("an event of another form was handled")
	}
	if body, err := handler.Invoke(invoked("4"), []byte(`{"Name":"worse"}`)); err == nil || body != nil {
		t.Errorf("got %s, %v of a panic", body, err)
	}
	if strings.Join(got, ", ") != "good 1, bad 2, worse 4" {
		t.Errorf("handled %v", got)
	}
	logged := lines(t, &out)
	if len(logged) != 5 {
		t.Fatalf("logged %v", logged)
	}
	if logged[0]["cold_start"] != true || logged[0]["request_id"] != "1" || logged[0]["level"] != "INFO" {
		t.Errorf("the first line is %v", logged[0])
	}
	if _, cold := logged[1]["cold_start"]; cold || logged[1]["error"] != "not today" || logged[1]["level"] != "ERROR" {
		t.Errorf("the second line is %v", logged[1])
	}
	if reason, _ := logged[2]["error"].(string); !strings.HasPrefix(reason, "reading the event") ||
		logged[2]["level"] != "ERROR" {
		t.Errorf("the third line is %v", logged[2])
	}
	if logged[3]["message"] != "panic" || !strings.Contains(logged[3]["stack"].(string), "kit_test.go") ||
		logged[4]["message"] != "invocation failed" || strings.Contains(out.String(), "secret") {
		t.Errorf("a panic is logged as %v, %v", logged[3], logged[4])
	}
}

func TestResponder(t *testing.T) {
	t.Parallel()
	type failures struct {
		Failed []string `json:"failed"`
	}
	reason := errors.New("not today")
	handler := NewResponder(slog.New(slog.DiscardHandler), func(_ context.Context, records []string) (failures, error) {
		if len(records) == 0 {
			return failures{}, reason
		}
		return failures{Failed: records[1:]}, nil
	})
	if body, err := handler.Invoke(invoked("1"), []byte(`["a","b"]`)); err != nil ||
		string(body) != `{"failed":["b"]}` {
		t.Errorf("got %s, %v", body, err)
	}
	if body, err := handler.Invoke(invoked("2"), []byte(`[]`)); !errors.Is(err, reason) || body != nil {
		t.Errorf("got %s, %v", body, err)
	}
	if _, err := NewResponder(slog.New(slog.DiscardHandler), func(context.Context, any) (any, error) {
		return func() {}, nil
	}).Invoke(invoked("3"), []byte(`1`)); err == nil {
		t.Error("a response that is no JSON was given")
	}
}

func TestLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := must.Get(NewLogger(&out, "warn", "f"))(t)
	ctx := WithInvocation(t.Context(), Invocation{RequestID: "r", Route: "GET /x", ColdStart: true})
	log.InfoContext(ctx, "quiet")
	log.With("a", 1).WarnContext(ctx, "loud", "b", 2)
	log.WarnContext(t.Context(), "outside")
	logged := lines(t, &out)
	if len(logged) != 2 {
		t.Fatalf("logged %v", logged)
	}
	for key, want := range map[string]any{
		"level": "WARN", "message": "loud", "function_name": "f", "a": 1.0, "b": 2.0,
		"request_id": "r", "route": "GET /x", "cold_start": true,
	} {
		if logged[0][key] != want {
			t.Errorf("%s is %v; want %v", key, logged[0][key], want)
		}
	}
	if _, err := time.Parse(time.RFC3339Nano, logged[0]["timestamp"].(string)); err != nil {
		t.Error(err)
	}
	if _, ok := logged[1]["request_id"]; ok {
		t.Errorf("outside of an invocation: %v", logged[1])
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := &Metrics{Namespace: "Onesynth/x", Function: "f", Writer: &out, Clock: func() time.Time {
		return time.UnixMilli(1770026400123)
	}}
	m.Emit(WithInvocation(t.Context(), Invocation{RequestID: "r"}), Count("Asked", 2), Count("Closed", 0),
		Milliseconds("Took", 1500*time.Microsecond))
	m.Emit(t.Context())
	m.Emit(t.Context(), Count("Asked", 0), Count("Closed", 0))
	want := `{"Asked":2,"FunctionName":"f","Took":1.5,"_aws":{"Timestamp":1770026400123,"CloudWatchMetrics":[{"Namespace":"Onesynth/x","Dimensions":[["FunctionName"]],"Metrics":[{"Name":"Asked","Unit":"Count"},{"Name":"Took","Unit":"Milliseconds"}]}]},"request_id":"r"}` + "\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", &out, want)
	}
	(*Metrics)(nil).Emit(t.Context(), Count("Asked", 1)) // must not panic
}
