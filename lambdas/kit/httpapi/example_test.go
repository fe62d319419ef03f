package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

type person struct {
	Name string `json:"name" minLength:"1" maxLength:"20"`
}

type greeting struct {
	Text string `json:"greeting"`
}

// greet is an operation of a contract: it gives the route, the checks and the part of the document.
var greet = schema.Operation[schema.None, person, greeting]{
	ID: "greet", Route: "POST /greetings", Function: "hello", Caller: schema.CallerAnyone, Summary: "Be greeted",
}

// An operation is one value, which the server binds to a function.
func Example() {
	platform := schema.Platform{Name: "hello", Title: "Hello", Routes: schema.Routes(greet)}
	platform.API.Errors.Body = func(f problem.Failure) any {
		if invalid, ok := f.Err.(*validate.Error); ok {
			return invalid.Problems
		}
		return f.Message
	}
	server := httpapi.New(httpapi.Config{Platform: platform, Log: slog.New(slog.DiscardHandler)})
	httpapi.Bind(server, greet, func(_ context.Context, r httpapi.Request[schema.None, person]) (greeting, error) {
		return greeting{"Hello " + r.Body.Name}, nil
	})

	handler := server.Handler()
	for _, body := range []string{`{"name":"Alice"}`, `{"name":""}`} {
		request := httptest.NewRequest(http.MethodPost, "/greetings", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		fmt.Println(response.Code, strings.TrimSpace(response.Body.String()))
	}
	// Output:
	// 200 {"greeting":"Hello Alice"}
	// 422 [{"field":"name","message":"is empty; it needs 1 to 20"}]
}

// A header holds whole seconds: rounded up, so that no client comes too early.
func ExampleRetryAfter() {
	fmt.Println(httpapi.RetryAfter(1200 * time.Millisecond))
	// Output: 2
}
