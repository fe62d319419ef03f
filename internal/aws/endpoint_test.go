package aws_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/aws"
	"github.com/onesynth-cdk/onesynth/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/internal/trace"
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
	all, err := policy.Document("all", []byte(`{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}`))
	if err != nil {
		t.Fatal(err)
	}
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
