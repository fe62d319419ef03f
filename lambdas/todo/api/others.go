package api

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
)

// Document returns the OpenAPI 3.1 document of all routes, as JSON.
func Document() ([]byte, error) { return newServer(&API{}).Document() }

// Health says that the API answers.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

func (s *server) registerOthers() {
	httpapi.RegisterDocument(s.Server, httpapi.Operation{ID: "readDocument",
		Description: "Returns the description of all routes.",
	}, Document)

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readHealth",
		Description: "Answers, without looking at the table.",
	}, func(context.Context, *struct{}) (Health, error) {
		return Health{Status: "ok"}, nil
	})
}
