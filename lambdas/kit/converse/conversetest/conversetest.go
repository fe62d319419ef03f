// Package conversetest is a loopback server with the API operation Converse of Amazon Bedrock, for tests of code that
// calls a model.
package conversetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Model is the id of the model that clients of a [Server] call.
const Model = "eu.amazon.nova-lite-v1:0"

// Request is a request as the server got it.
type Request struct {
	// Model is the modelId of the path.
	Model string
	// System and User are the texts of the only system prompt and the only message. Each is "" if the request has none
	// or several.
	System, User string
	// Body is the whole request.
	Body map[string]any
}

// Reply answers a request.
type Reply func(w http.ResponseWriter, r *http.Request)

// Says replies with a text and why the model stopped, such as "end_turn".
func Says(text, stopReason string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]any{
			"output": map[string]any{"message": map[string]any{"role": "assistant",
				"content": []any{map[string]any{"text": text}}}},
			"stopReason": stopReason,
			"usage":      map[string]any{"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
			"metrics":    map[string]any{"latencyMs": 1},
		})
	}
}

// Fails replies with an error of the API, such as 429 and "ThrottlingException".
func Fails(status int, code, message string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-ErrorType", code)
		w.Header().Set("X-Amzn-RequestId", "request-of-the-test")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		write(w, map[string]any{"message": message})
	}
}

// Writes replies with those bytes as they are.
func Writes(body string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

// Hangs never replies.
func Hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func write(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// Server answers in place of a model. It is safe for concurrent use.
type Server struct {
	url     string
	mu      sync.Mutex
	got     []Request
	replies []Reply
}

// Start starts a server that gives the replies one after the other, and then always the last. It
// ends with the test.
func Start(tb testing.TB, replies ...Reply) *Server {
	tb.Helper()
	s := &Server{replies: replies}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	escaped, ok := strings.CutPrefix(r.URL.EscapedPath(), "/model/")
	escaped, ends := strings.CutSuffix(escaped, "/converse")
	model, err := url.PathUnescape(escaped)
	var body map[string]any
	if !ok || !ends || err != nil || r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&body) != nil {
		Fails(http.StatusNotFound, "UnknownOperationException",
			fmt.Sprintf("%s %s is not Converse", r.Method, r.URL.Path))(w, r)
		return
	}
	messages, _ := body["messages"].([]any)
	request := Request{Model: model, System: only(body["system"]), Body: body}
	if len(messages) == 1 {
		message, _ := messages[0].(map[string]any)
		if message["role"] == "user" {
			request.User = only(message["content"])
		}
	}
	s.mu.Lock()
	reply := s.replies[min(len(s.got), len(s.replies)-1)]
	s.got = append(s.got, request)
	s.mu.Unlock()
	reply(w, r)
}

// only is the text of the only block.
func only(blocks any) string {
	list, _ := blocks.([]any)
	if len(list) != 1 {
		return ""
	}
	block, _ := list[0].(map[string]any)
	text, _ := block["text"].(string)
	return text
}

// Requests returns all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// Environment returns the environment of a function whose model is the server, with these variables beside the model's.
func (s *Server) Environment(variables map[string]string) kit.Environment {
	return kit.Environment{
		AWS: aws.Config{Region: "eu-central-1",
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""), BaseEndpoint: &s.url},
		Getenv: func(name string) string {
			if name == schema.ModelVariable {
				return Model
			}
			return variables[name]
		},
	}
}
