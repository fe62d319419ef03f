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
		Routes:         schema.Routes(PartnerReport, ServiceReport, ReadReports),
		Callers:        map[string]schema.Caller{"GET /api/v1/tasks": Partner},
	}
}

// Report counts tasks.
type Report struct {
	Pending int `json:"pending" dynamodbav:"pending"`
	// Caller is who asks, Tier what the gate says of a partner, and Signer the name of a service.
	Caller string `json:"caller" dynamodbav:"-"`
	Tier   string `json:"tier" dynamodbav:"-"`
	Signer string `json:"signer" dynamodbav:"-"`
}

// UserParams name a user.
type UserParams struct {
	User string `path:"user_id" maxLength:"100"`
}

// The operations of the function report.
var (
	PartnerReport = schema.Operation[schema.None, schema.None, Report]{
		ID: "partnerReport", Route: "GET /partners/report", Function: "report", Caller: Partner,
		Summary: "How much is left of one's own",
	}
	ServiceReport = schema.Operation[UserParams, schema.None, Report]{
		ID: "serviceReport", Route: "GET /users/{user_id}/report", Function: "report", Caller: Service,
		Summary: "How much is left of a user's",
	}
	ReadReports = schema.Operation[schema.None, schema.None, schema.Document]{
		ID: "readReports", Route: "GET /reports/openapi.json", Function: "report", Caller: schema.CallerAnyone,
		Summary: "Read the OpenAPI document of the reports",
	}
)
