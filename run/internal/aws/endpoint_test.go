package aws_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// batch is a service whose calls are for two tables and for objects of a bucket.
type batch struct{}

const table = "arn:aws:dynamodb:us-east-1:000000000000:table/"

func (batch) Needs(*aws.Call) (needed []aws.Permission, _ error) {
	for _, resource := range []string{table + "one", table + "one/index/by-status", table + "two",
		"arn:aws:s3:::files/a/b", "arn:aws:s3:::files/c", "arn:aws:s3:::files"} {
		needed = append(needed, aws.Permission{Action: "test:Do", Resource: resource})
	}
	return needed, nil
}

func (batch) Serve(w http.ResponseWriter, _ *aws.Call) error {
	w.WriteHeader(http.StatusOK)
	return nil
}

func (batch) Refuse(w http.ResponseWriter, _ *aws.Call, _ error) { w.WriteHeader(http.StatusForbidden) }

// A call counts once for each table, bucket and so on that it is for, also if the role refuses it.
func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	recorder := trace.New(trace.Options{})
	server := aws.New(aws.Options{Trace: recorder}, map[string]aws.Service{"test": batch{}})
	all := must.Get(policy.Document("all",
		[]byte(`{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}`)))(t)
	for key, role := range map[string]*policy.Role{"MAY": all, "MAYNOT": {}} {
		server.Register(key, "worker", role)
		id := "00000001-0000-4000-8000-000000000000"
		f := recorder.Invoke(t.Context(), id, "worker", "worker", 0)
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20260101/us-east-1/test/aws4_request")
		r.Header.Set("X-Amzn-Trace-Id", "Root=1-00000000-000000010000400080000000")
		server.ServeHTTP(httptest.NewRecorder(), r)
		f.End("")
	}
	counts := recorder.Ways()
	delete(counts, trace.Way{Kind: trace.Invocation, From: "worker", To: "worker"})
	want := map[trace.Way]trace.Count{}
	for _, arn := range []string{table + "one", table + "two", "arn:aws:s3:::files"} {
		want[trace.Way{From: "worker", To: arn}] = trace.Count{All: 2, Failed: 1}
	}
	if difference := cmp.Diff(want, counts); difference != "" {
		t.Errorf("(-want +got):\n%s", difference)
	}
}

// serving is a service that answers as the function does.
type serving func(w http.ResponseWriter, r *http.Request)

func (serving) Needs(*aws.Call) ([]aws.Permission, error) {
	return []aws.Permission{{Action: "test:Do", Resource: "arn:aws:s3:::files/a"}}, nil
}

func (s serving) Serve(w http.ResponseWriter, call *aws.Call) error {
	defer func() { call.Consumed = []aws.Consumed{{Bucket: "files"}} }()
	s(w, call.Request)
	return nil
}

func (serving) Refuse(w http.ResponseWriter, _ *aws.Call, _ error) {
	w.WriteHeader(http.StatusForbidden)
}

// Trace, map and capacity say of each answer what the caller got, over a connection.
func TestAnswers(t *testing.T) {
	t.Parallel()
	all := must.Get(policy.Document("all",
		[]byte(`{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}`)))(t)
	given := make(chan struct{})
	for name, test := range map[string]struct {
		serve serving
		// status and error are what the trace says; got is what the caller got, 0 if there was no whole answer.
		status, got int
		error       string
	}{
		"Nothing":     {func(http.ResponseWriter, *http.Request) {}, 200, 200, ""},
		"HeadersOnly": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Etag", "x") }, 200, 200, ""},
		"StatusOnly":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204, 204, ""},
		"BodyOnly":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }, 200, 200, ""},
		"BodyOfNone": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(304)
			_, _ = io.WriteString(w, "x")
		}, 304, 304, ""},
		"Chunked": {func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				_, _ = io.WriteString(w, "x")
				w.(http.Flusher).Flush()
			}
		}, 200, 200, ""},
		"FlushedHeaders": {func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, 200, 200, ""},
		"Hints": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(201)
		}, 201, 201, ""},
		"Twice": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(200)
			w.WriteHeader(500)
		}, 200, 200, ""},
		"Failed": {func(w http.ResponseWriter, _ *http.Request) {
			aws.WriteError(w, &aws.Failure{Type: "a#Broken", Message: "it is", Status: 500})
		}, 500, 500, "Broken: it is"},
		"FailedWithoutBody": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404, 404,
			"Not Found"},
		"Panic": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, 0,
			"no answer: the connection was broken off"},
		"PanicWithin": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, 200, 0, "half an answer: the connection was broken off"},
		"GivenUp": {func(_ http.ResponseWriter, r *http.Request) {
			close(given)
			<-r.Context().Done()
		}, 200, 0, "the caller gave up before the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := trace.New(trace.Options{})
			endpoint := aws.New(aws.Options{Trace: recorder}, map[string]aws.Service{"test": test.serve})
			endpoint.Register("MAY", "worker", all)
			served := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(served)
				endpoint.ServeHTTP(w, r)
			}))
			defer server.Close()
			id := "00000001-0000-4000-8000-000000000000"
			f := recorder.Invoke(t.Context(), id, "worker", "worker", 0)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "GivenUp" {
				go func() { <-given; cancel() }()
			}
			r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, server.URL, nil))(t)
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=MAY/20260101/us-east-1/test/aws4_request")
			r.Header.Set("X-Amzn-Trace-Id", "Root=1-00000000-000000010000400080000000")
			got := 0
			answer, err := server.Client().Do(r)
			if err == nil {
				if _, err := io.ReadAll(answer.Body); err == nil {
					got = answer.StatusCode
				}
				_ = answer.Body.Close()
			}
			<-served
			f.End("")
			details, _ := recorder.Request(id)
			call := details.Invocations[0].Calls[0]
			if call.Status != test.status || call.Error != test.error || got != test.got {
				t.Errorf("the trace has %d %q of what the caller got as %d (%v)", call.Status, call.Error, got, err)
			}
			count := recorder.Ways()[trace.Way{From: "worker", To: "arn:aws:s3:::files"}]
			if count.All != 1 || (count.Failed == 1) != (test.error != "") {
				t.Errorf("the map counts %+v", count)
			}
			if rows := endpoint.Capacity(); len(rows) != 1 || rows[0].Requests != 1 {
				t.Errorf("the capacity is %+v", rows)
			}
		})
	}
}

// A finished batch is delivered again with the probability of its fault, and of no other.
func TestRedeliver(t *testing.T) {
	t.Parallel()
	server := aws.New(aws.Options{}, nil)
	if server.Redeliver() {
		t.Error("without faults")
	}
	for probability, want := range map[float64]bool{1: true, 0: false} {
		must.OK(t, server.SetFaults(aws.Faults{Redeliver: probability, DropResponse: 0.5}))
		if got := server.Redeliver(); got != want {
			t.Errorf("with %v got %v", probability, got)
		}
	}
	if err := server.SetFaults(aws.Faults{Redeliver: 2}); err == nil {
		t.Error("2 is no probability")
	}
}
