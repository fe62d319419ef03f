// Package lingible describes Lingible, the platform that translates slang into plain English and back, keeps a lexicon
// that its users add to, and asks them about it. Its construct and its handlers read it.
package lingible

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Platform returns the contract: the five tables of the origin and its ten indexes. docs/project/deviations.md gives
// the reason for each addition.
func Platform() schema.Platform {
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
		Routes:  routes(),
		Events:  Events(),
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

func routes() []schema.Route {
	var routes []schema.Route
	add := func(id, method, path string, caller schema.Caller, summary string) {
		route := schema.Route{ID: id, Method: method, Path: path, Function: "lingibleapi", Caller: caller,
			Summary: summary}
		if path == "/translate" {
			route.RateLimit = "translate"
		}
		routes = append(routes, route)
	}
	add("translate", "POST", "/translate", schema.CallerUser, "Translate slang into standard English, or back")
	add("listTranslations", "GET", "/translations", schema.CallerUser, "List one's translations, newest first")
	add("deleteTranslations", "DELETE", "/translations", schema.CallerUser, "Delete all of one's translations")
	add("deleteTranslation", "DELETE", "/translations/{id}", schema.CallerUser, "Delete a translation")
	add("readUser", "GET", "/user/profile", schema.CallerUser, "Read one's profile")
	add("readUsage", "GET", "/user/usage", schema.CallerUser, "Read what one has left today")
	add("upgradeUser", "POST", "/user/upgrade", schema.CallerUser, "Become a premium user")
	add("deleteUser", "DELETE", "/user/account", schema.CallerUser, "Delete one's account and everything of it")
	add("submitTerm", "POST", "/slang/submit", schema.CallerUser, "Submit a term for the lexicon")
	add("listOwnSubmissions", "GET", "/slang/mine", schema.CallerUser, "List one's submissions, newest first")
	add("listOpenSubmissions", "GET", "/slang/pending", schema.CallerUser,
		"List the submissions to vote on, oldest first")
	add("voteForSubmission", "POST", "/slang/upvote/{submission_id}", schema.CallerUser, "Vote for a submission")
	add("approveSubmission", "POST", "/slang/admin/approve/{submission_id}", CallerAdmin, "Approve a submission")
	add("rejectSubmission", "POST", "/slang/admin/reject/{submission_id}", CallerAdmin, "Reject a submission")
	add("listTrends", "GET", "/trending", schema.CallerUser, "List trending terms, most popular first")
	add("askQuestion", "GET", "/quiz/question", schema.CallerUser, "Get the next question of the quiz")
	add("answerQuestion", "POST", "/quiz/answer", schema.CallerUser, "Answer the question")
	add("readQuiz", "GET", "/quiz/progress", schema.CallerUser, "Read how a quiz stands")
	add("endQuiz", "POST", "/quiz/end", schema.CallerUser, "End a quiz")
	add("readQuizHistory", "GET", "/quiz/history", schema.CallerUser, "Read one's quizzes by day, newest first")
	add("readDocument", "GET", "/openapi.json", schema.CallerAnyone, "Read this API's OpenAPI document")
	add("readHealth", "GET", "/health", schema.CallerAnyone, "See that the API answers")
	return routes
}
