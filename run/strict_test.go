package run_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
)

// signed is the form of Authorization ("Create a signed AWS API request", AWS Identity and Access Management). Its
// groups are the day and the headers that are signed.
var signed = regexp.MustCompile(
	`^AWS4-HMAC-SHA256 Credential=[0-9A-Za-z]+/(\d{8})/[a-z0-9-]+/dynamodb/aws4_request, ?` +
		`SignedHeaders=([a-z0-9;-]+), ?Signature=[0-9a-f]{64}$`)

// strictEngine refuses requests that AWS would refuse for their headers, and passes the others on to the test process's
// engine.
type strictEngine struct {
	engine http.Handler

	mutex sync.Mutex
	// operations are those that passed, with the version of their API; refused are reasons.
	operations map[string]bool
	refused    []string
}

func (e *strictEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target, reason := r.Header.Get("X-Amz-Target"), refusal(r.Header)
	e.mutex.Lock()
	if reason == "" {
		e.operations[target] = true
	} else {
		e.refused = append(e.refused, target+": "+reason)
	}
	e.mutex.Unlock()
	if reason != "" {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"__type":"com.amazon.coral.service#IncompleteSignatureException","message":"` + reason +
			`"}`))
		return
	}
	e.engine.ServeHTTP(w, r)
}

// refusal says what is wrong with the headers of a request; "" is nothing.
func refusal(header http.Header) string {
	date, err := time.Parse("20060102T150405Z", header.Get("X-Amz-Date"))
	if err != nil {
		return "X-Amz-Date"
	}
	parts := signed.FindStringSubmatch(header.Get("Authorization"))
	if parts == nil || parts[1] != date.Format("20060102") {
		return "Authorization"
	}
	for _, needed := range []string{"host", "x-amz-date", "x-amz-target"} {
		if !strings.Contains(";"+parts[2]+";", ";"+needed+";") {
			return "SignedHeaders lacks " + needed
		}
	}
	service, operation, _ := strings.Cut(header.Get("X-Amz-Target"), ".")
	if service != "DynamoDB_20120810" && service != "DynamoDBStreams_20120810" || operation == "" {
		return "X-Amz-Target"
	}
	if header.Get("Content-Type") != "application/x-amz-json-1.0" {
		return "Content-Type"
	}
	return ""
}

// TestEngineThatChecksHeaders: an engine of one's own may be stricter than DynamoDB Local.
func TestEngineThatChecksHeaders(t *testing.T) {
	t.Parallel()
	address := must.Get(url.Parse(enginetest.Engine(t).URL()))(t)
	strict := &strictEngine{engine: httputil.NewSingleHostReverseProxy(address), operations: map[string]bool{}}
	server := httptest.NewServer(strict)
	t.Cleanup(server.Close)
	r, _ := start(t, template(), func(o *run.Options) { o.DynamoDB = server.URL })
	want(t, 200, "null")(call(t, "PUT", r.URL("Items")+"/items/a", "1"))
	if err := r.FlushStreams(t.Context()); err != nil {
		t.Error(err)
	}
	strict.mutex.Lock()
	defer strict.mutex.Unlock()
	if len(strict.refused) > 0 {
		t.Errorf("refused %s", strings.Join(strict.refused, "; "))
	}
	for _, operation := range []string{"DynamoDB_20120810.PutItem", "DynamoDBStreams_20120810.GetRecords"} {
		if !strict.operations[operation] {
			t.Errorf("%s did not reach the engine: got %v", operation, strict.operations)
		}
	}
}
