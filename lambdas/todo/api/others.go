package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
)

type healthOutput struct{ Body Health }

// Health says that the API answers.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

func (s *server) registerOthers() {
	httpapi.RegisterDocument(s.Server, s.describe(operation{
		method: http.MethodGet, path: "/api/v1/openapi.json", id: "readDocument", status: http.StatusOK,
		description: "Returns the description of all routes.",
		content:     httpapi.JSON(&huma.Schema{Type: huma.TypeObject}, nil),
	}), Document)

	httpapi.Register(s.Server, s.describe(operation{
		method: http.MethodGet, path: "/health", id: "readHealth", status: http.StatusOK,
		description: "Answers, without looking at the table.",
	}), func(context.Context, *struct{}) (*healthOutput, error) {
		return &healthOutput{Health{Status: "ok"}}, nil
	})
}
