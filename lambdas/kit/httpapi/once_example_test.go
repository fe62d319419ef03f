package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// Link is a short name of an address.
type Link struct {
	Name    string `json:"name" minLength:"1"`
	Version int    `json:"version,omitempty" readOnly:"true"`
}

var errTaken = problem.New(http.StatusConflict, "", "the name is taken")

// makeLink is carried out once for each idempotency key.
var makeLink = schema.Operation[schema.None, Link, Link]{
	ID: "makeLink", Route: "POST /links", Function: "links", Caller: schema.CallerUser, Summary: "Make a link",
	Status: http.StatusCreated, Key: schema.KeyRequired, Errors: []error{errTaken},
}

// A link is created once, however often the request is sent, and a refusal is repeated unchanged.
func ExampleBind() {
	server := httpapi.New(httpapi.Config{
		Platform: schema.Platform{Name: "links", Title: "Links", Routes: schema.Routes(makeLink)},
		// In memory; a platform uses idempotency.Keys.
		Idempotency: httpapi.Idempotency{Keys: &httpapitest.Ledger{}},
		Log:         slog.New(slog.DiscardHandler),
	})
	links := map[string]Link{}
	httpapi.Bind(server, makeLink, func(_ context.Context, r httpapi.Request[schema.None, Link]) (Link, error) {
		if _, taken := links[r.Body.Name]; taken {
			return Link{}, errTaken
		}
		r.Body.Version = 1
		links[r.Body.Name] = r.Body
		return r.Body, nil
	})

	handler := server.Handler()
	for _, key := range []string{"a", "a", "b", "b", ""} {
		request := httptest.NewRequest(http.MethodPost, "/links", strings.NewReader(`{"name":"home"}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set(schema.KeyHeader, key)
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request.WithContext(
			kit.WithInvocation(request.Context(), kit.Invocation{Claims: map[string]string{"sub": "ann"}})))
		fmt.Println(response.Code, response.Header().Get(schema.ReplayedHeader),
			strings.TrimSpace(response.Body.String())[:26])
	}
	// Output:
	// 201  {"name":"home","version":1
	// 201 true {"name":"home","version":1
	// 409  {"message":"the name is ta
	// 409 true {"message":"the name is ta
	// 400  {"message":"Idempotency-Ke
}
