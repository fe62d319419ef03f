package awsapi

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/local/trace"
)

// traced is a request of a function on its way to the trace.
type traced struct {
	http.ResponseWriter
	trace.Call
	failure []byte
}

// maxFailure is how much of an error's answer is read.
const maxFailure = 4 << 10

// accessPattern is how lambdas/kit/dynamo says in the User-Agent which access pattern a request is for.
var accessPattern = regexp.MustCompile(`\baccess-pattern/(\S+)`)

// begin begins the trace of a request, and returns the writer for its answer. The caller defers end.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, service, operation string) *traced {
	t := &traced{ResponseWriter: w, Call: trace.Call{Service: service, Operation: operation, Began: time.Now()}}
	if agent := r.Header.Get("User-Agent"); strings.Contains(agent, "access-pattern/") {
		if found := accessPattern.FindStringSubmatch(agent); found != nil {
			t.Pattern = found[1]
		}
	}
	return t
}

// WriteHeader implements http.ResponseWriter.
func (t *traced) WriteHeader(status int) {
	t.Status = status
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *traced) Write(text []byte) (int, error) {
	if t.Status == 0 {
		t.Status = http.StatusOK
	}
	if t.Status >= http.StatusBadRequest && len(t.failure) < maxFailure {
		t.failure = append(t.failure, text[:min(len(text), maxFailure-len(t.failure))]...)
	}
	return t.ResponseWriter.Write(text)
}

// Flush implements http.Flusher.
func (t *traced) Flush() {
	if flusher, ok := t.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// end keeps the call. The answer of an operation that ended in a panic was broken off.
func (s *Server) end(t *traced, r *http.Request) {
	t.Took = time.Since(t.Began)
	switch {
	case t.Status == 0:
		t.Error = "no answer: the connection was broken off"
	case t.Status >= http.StatusBadRequest:
		t.Error = failureOf(t.failure)
	}
	s.options.Trace.Call(r.Header.Get("X-Amzn-Trace-Id"), t.Call)
}

// failureOf is an error's code and message, from the JSON or XML of an answer.
func failureOf(answer []byte) string {
	var failure struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &failure) == nil && failure.Type != "" {
		code := failure.Type[strings.LastIndex(failure.Type, "#")+1:]
		return strings.TrimSuffix(code+": "+failure.Message, ": ")
	}
	var inXML s3Failure
	if xml.Unmarshal(answer, &inXML) == nil && inXML.Code != "" {
		return inXML.Error()
	}
	return strings.ToValidUTF8(string(answer), "")
}
