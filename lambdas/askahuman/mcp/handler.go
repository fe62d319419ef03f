package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Handler serves the protocol over HTTP, without sessions: the tools call the API within the process.
type Handler struct {
	// API serves the routes of agents. Required.
	API *kit.API
	// Issuer is the issuer of the tokens that agents show. Empty: they show none.
	Issuer string
	// Scope is what tokens of the issuer have to ask for. Empty: nothing.
	Scope string
	// PublicURL is the address that agents use, without a slash at the end. Empty: that of the request.
	PublicURL string
	// BasePath begins the paths of the API at its domain name, without slashes around it. Empty: nothing does.
	BasePath string
	// Parts is as in [Server].
	Parts askahuman.Parts
	// Log receives the lines of requests. Nil: [slog.Default].
	Log *slog.Logger
}

// Serve returns the handler of the routes.
//
// Answers are JSON, never a stream: Amazon API Gateway passes an answer on when it is complete, so that
// a stream would bring nothing sooner. There are no streams to GET and no sessions to DELETE, which the
// protocol lets a server say by 405.
func (h *Handler) Serve() *kit.API {
	server := (&Server{Client: h.client, Parts: h.Parts}).New()
	protocol := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		return server
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		MaxRequestBodyBytes: problem.DefaultMaxBodyBytes,
	})
	routes := http.NewServeMux()
	routes.HandleFunc(askahuman.MCPRoute, func(w http.ResponseWriter, r *http.Request) {
		if why := refusal(r); why != "" {
			refuse(w, why)
			return
		}
		protocol.ServeHTTP(unstored{w}, r.WithContext(outlived(r.Context())))
	})
	for _, route := range []struct{ pattern, resource string }{{askahuman.MCPMetadataRoute, askahuman.MCPPath},
		{askahuman.RootMetadataRoute, ""}} {
		routes.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) {
			h.metadata(w, r, route.resource)
		})
	}
	return &kit.API{Routes: routes, Error: h.API.Error, Log: h.Log,
		NotAllowed: []string{"GET " + askahuman.MCPPath, "DELETE " + askahuman.MCPPath}}
}

// longestBatch is how many messages a request has at most. Protocol versions since 2025-06-18 have no batches,
// and the SDK refuses all of them.
const longestBatch = 10

// largestID is the largest integer that an id can be: beyond it, readers that take numbers for 64-bit floats, as
// JavaScript and the SDK do, read another one (RFC 8259, section 6).
const largestID = 1 << 53

// refusal returns why a request does not reach the protocol, or "". The SDK answers an id that it cannot keep with
// another one, and a request whose id is null not at all. The body can be read again.
func refusal(r *http.Request) string {
	body, err := io.ReadAll(io.LimitReader(r.Body, problem.DefaultMaxBodyBytes))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
	if err != nil || !json.Valid(body) {
		return "" // the SDK says so
	}
	if !utf8.Valid(body) || wire.LoneSurrogate(body) >= 0 {
		return "the body has bytes or escapes that are no characters, such as half of a surrogate pair: send UTF-8"
	}
	var messages []json.RawMessage
	if json.Unmarshal(body, &messages) != nil {
		messages = []json.RawMessage{body}
	}
	if len(messages) > longestBatch {
		return fmt.Sprintf("the batch has more than %d messages: send fewer at once", longestBatch)
	}
	for _, message := range messages {
		var members map[string]json.RawMessage
		if json.Unmarshal(message, &members) != nil {
			continue
		}
		if id, ok := members["id"]; ok && !isID(id) {
			return fmt.Sprintf("the id is %.40s: send a string, or an integer in digits from -2^53 to 2^53", id)
		}
	}
	return ""
}

// isID reports whether a JSON value can be the id of a request ("Base Protocol", Model Context Protocol: a string or an
// integer).
func isID(value json.RawMessage) bool {
	n, err := strconv.ParseInt(string(value), 10, 64)
	return value[0] == '"' || err == nil && n >= -largestID && n <= largestID
}

func refuse(w http.ResponseWriter, why string) {
	answer := map[string]any{"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": jsonrpc.CodeInvalidRequest, "message": why}}
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(append(body, '\n'))
}

// unstored is an answer that no cache may keep: the SDK asks caches to check it again, but it is one
// agent's alone.
type unstored struct{ http.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w unstored) WriteHeader(status int) {
	w.Header().Set("Cache-Control", "no-store")
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w unstored) Write(body []byte) (int, error) {
	w.Header().Set("Cache-Control", "no-store")
	return w.ResponseWriter.Write(body)
}

// client calls the API as the agent that sent the request.
func (h *Handler) client(_ context.Context, header http.Header) *Client {
	return &Client{Transport: inProcess{h.API}, Header: identifying(header)}
}

// inProcess carries requests to a handler of the same process, as parts of the invocation that makes
// them.
type inProcess struct{ handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	// The handler writes its route into the invocation that it finds: the outer request keeps its own.
	r = r.WithContext(kit.WithInvocation(r.Context(), kit.InvocationFrom(r.Context())))
	// As a server receives it.
	r.RequestURI, r.Host = r.URL.RequestURI(), "localhost"
	reply := &reply{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(reply, r)
	return &http.Response{
		StatusCode: reply.status, Status: http.StatusText(reply.status), Header: reply.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Body: io.NopCloser(&reply.body), ContentLength: int64(reply.body.Len()),
	}, nil
}

// reply is an answer that stays in the process.
type reply struct {
	header http.Header
	status int
	begun  bool
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (r *reply) Header() http.Header { return r.header }

// WriteHeader implements [http.ResponseWriter].
func (r *reply) WriteHeader(status int) {
	if !r.begun {
		r.status, r.begun = status, true
	}
}

// Write implements [http.ResponseWriter].
func (r *reply) Write(body []byte) (int, error) {
	r.begun = true
	return r.body.Write(body)
}

// protectedResource is the metadata of a protected resource (RFC 9728).
type protectedResource struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers,omitempty"`
	Scopes               []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported,omitempty"`
	Name                 string   `json:"resource_name"`
}

// metadata says where agents get a token for the resource at a path. Where they need none, it names no
// issuer.
func (h *Handler) metadata(w http.ResponseWriter, r *http.Request, path string) {
	scheme := "https"
	if forwarded := r.Header.Get("X-Forwarded-Proto"); forwarded == "http" {
		scheme = forwarded
	}
	if h.BasePath != "" {
		path = "/" + h.BasePath + path
	}
	resource := (&url.URL{Scheme: scheme, Host: r.Host, Path: path}).String()
	if h.PublicURL != "" {
		resource = h.PublicURL + path
	}
	about := protectedResource{Resource: resource, Name: "Ask-a-Human"}
	if h.Issuer != "" {
		about.AuthorizationServers, about.BearerMethods = []string{h.Issuer}, []string{"header"}
	}
	if h.Scope != "" {
		about.Scopes = []string{h.Scope}
	}
	body, err := json.Marshal(about)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n'))
}
