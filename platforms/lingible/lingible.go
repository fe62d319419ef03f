// Package lingible describes Lingible, the platform that translates slang into plain English and back, keeps a lexicon
// that its users add to, and asks them about it. Its construct and its handlers read it.
package lingible

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Platform returns the contract: the five tables of the origin and its ten indexes. docs/project/deviations.md gives
// the reason for each addition.
func Platform() schema.Platform { return With(Parts{}) }

// Parts are the parts of Lingible that a stack can have beside those that every stack has.
type Parts struct {
	// Page adds the page on which people translate.
	Page bool
}

// With returns the platform with these parts.
func With(parts Parts) schema.Platform {
	p := api()
	if parts.Page {
		withPage(&p)
	}
	return p
}

func api() schema.Platform {
	return schema.Platform{
		Name:        "lingible",
		Title:       "Lingible",
		Description: "People translate slang, and keep its lexicon",
		Database: schema.Database{
			Prefix: "lingible",
			Tables: []schema.Table{submissionsTable(), lexiconTable(), trendingTable(), usersTable(),
				translationsTable()},
			AccessPatterns: accessPatterns(),
		},
		RateLimits: []schema.RateLimit{{Name: "translate", Requests: 120, Window: time.Minute, Per: schema.PerUser}},
		Functions:  functions(),
		Secrets: []schema.Secret{
			schema.CursorSecret(),
		},
		Buckets: []schema.Bucket{
			{Name: "Exports", Variable: "EXPORTS_BUCKET", Description: "exports of the lexicon"},
		},
		RequestHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key"},
		ResponseHeaders: []string{"Idempotency-Replayed", "Location", "RateLimit-Limit", "RateLimit-Remaining",
			"RateLimit-Reset", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics: metrics(),
		Routes:  schema.Routes(Operations()...),
		API:     overHTTP(),
		Events:  Events(),
		Owned:   Owned(),
		Records: []schema.Record{
			{Name: "User", Table: usersName, Form: User{}},
			{Name: "Submission", Table: submissionsName, Form: Submission{}},
			{Name: "Translation", Table: translationsName, Form: Translation{}},
			{Name: "Entry", Table: lexiconName},
		},
	}
}

// CallerAdmin is a user in the group admin, who reviews submissions.
var CallerAdmin = schema.Caller{Name: "admin", Token: schema.TokenOfUser, Group: "admin"}
