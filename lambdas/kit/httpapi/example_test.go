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
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

type greetInput struct {
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"20"`
	}
}

type greeting struct {
	Text string `json:"greeting"`
}

// One declaration gives routing, validation and documentation.
func Example() {
	platform := schema.Platform{Name: "hello", Title: "Hello", Routes: []schema.Route{
		{ID: "greet", Method: "POST", Path: "/greetings", Function: "hello", Caller: schema.CallerAnyone,
			Summary: "Be greeted"},
	}}
	server := httpapi.New(httpapi.Config{
		Platform: platform,
		Errors: httpapi.Errors{Body: func(_ context.Context, f httpapi.Failure) any {
			if invalid, ok := f.Err.(*validate.Error); ok {
				return invalid.Problems
			}
			return f.Message
		}},
		Log: slog.New(slog.DiscardHandler),
	})
	httpapi.Serve(server, httpapi.Operation{ID: "greet"},
		func(_ context.Context, input *greetInput) (greeting, error) {
			return greeting{"Hello " + input.Body.Name}, nil
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
	// 422 [{"field":"name","message":"expected length >= 1; got \"\""}]
}

// A header holds whole seconds: rounded up, so that no client comes too early.
func ExampleRetryAfter() {
	fmt.Println(httpapi.RetryAfter(1200 * time.Millisecond))
	// Output: 2
}
