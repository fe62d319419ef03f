// Package own is what a team adds to To-Do: reports for partners, whom a function lets in, and for services, which IAM
// knows. Partners may list tasks, too.
package own

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Partner shows a key, and Service signs its requests.
var (
	Partner = schema.Caller{Name: "partner", Authorizer: "gate"}
	Service = schema.Caller{Name: "service", IAM: true}
)

// Own has a function that serves reports, and one that lets partners in.
func Own() schema.Own {
	return schema.Own{
		Functions: []schema.Function{{Name: "report", Description: "counts tasks"}, {
			Name: "gate", Description: "lets partners in",
			Trigger: schema.OnAuthorize{Identity: []string{"$request.header.X-Partner-Key"}, CacheFor: time.Minute},
		}},
		AccessPatterns: []schema.AccessPattern{schema.Existing("GetTaskCounts").UsedBy("report")},
		Routes: []schema.Route{
			{ID: "partnerReport", Method: "GET", Path: "/partners/report", Function: "report", Caller: Partner,
				Summary: "How much is left of one's own"},
			{ID: "serviceReport", Method: "GET", Path: "/users/{user_id}/report", Function: "report", Caller: Service,
				Summary: "How much is left of a user's"},
			{ID: "readReports", Method: "GET", Path: "/reports/openapi.json", Function: "report",
				Caller: schema.CallerAnyone, Summary: "Read the OpenAPI document of the reports"},
		},
		Callers: map[string]schema.Caller{"GET /api/v1/tasks": Partner},
	}
}
