// Package lingible is what Lingible is: the platform that translates slang, as its construct, its functions and its
// tests
// read it.
package lingible

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Platform is the platform that translates slang: the five tables of the seed and its ten indexes.
// docs/DEVIATIONS.md gives the reason for each addition.
func Platform() schema.Platform {
	lexicon := []schema.Objects{{Bucket: "Exports", Prefix: "lexicon/"}}
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
		Functions: []schema.Function{
			{
				Name:        "lingibleapi",
				ID:          "LingibleAPI",
				Description: "Serves the routes of translations, users, submissions, trends and the quiz",
				Timeout:     15 * time.Second,
				Secrets:     []string{"CursorSecret"},
				Gets:        lexicon,
				CallsModel:  true,
			},
			{
				Name:        "profilecreator",
				ID:          "ProfileCreator",
				Description: "Creates the profile of a user whose sign-up is confirmed",
				Timeout:     4 * time.Second, // Amazon Cognito waits 5
				Trigger:     schema.OnSignUp{},
			},
			{
				Name:        "submissionvalidator",
				ID:          "SubmissionValidator",
				Description: "Validates new submissions",
				Timeout:     time.Minute,
				Gets:        lexicon,
				CallsModel:  true,
				Trigger: schema.OnStream{
					Table: "Submissions", Changes: "new submissions",
					Filters: []map[string]any{{
						"eventName": []any{"INSERT"},
						"dynamodb": map[string]any{"NewImage": map[string]any{
							"llm_validation_status": map[string]any{"S": []any{"pending"}}}},
					}},
					BatchSize: 5, ReportItemFailures: true,
					Failures: schema.Failures{Description: "new submissions that could not be read; the revalidator " +
						"validates them"},
				},
			},
			{
				Name:        "revalidator",
				Description: "Validates the submissions whose validation failed or died",
				// A run ends before the next one begins.
				Timeout:    4*time.Minute + 50*time.Second,
				Gets:       lexicon,
				CallsModel: true,
				Trigger: schema.OnSchedule{
					Every:    5 * time.Minute,
					Failures: schema.Failures{Description: "runs of the revalidator"},
				},
			},
			{
				Name:        "exporter",
				Description: "Exports the lexicon when it has changed",
				Timeout:     time.Minute,
				Puts:        lexicon,
				Gets:        lexicon,
				Trigger: schema.OnStream{
					Table: "Lexicon", Changes: "changes of terms",
					Filters: []map[string]any{{"dynamodb": map[string]any{
						"Keys": map[string]any{"SK": map[string]any{"S": []any{"METADATA#lexicon"}}}}}},
					BatchSize: 1000, BatchWindow: 2 * time.Second, ReportItemFailures: true,
					Failures: schema.Failures{Description: "changes of terms that no export has"},
				},
			},
			{
				Name:        "trendingjob",
				ID:          "TrendingJob",
				Description: "Scores the trending terms",
				Timeout:     2 * time.Minute,
				Gets:        lexicon,
				CallsModel:  true,
				Trigger: schema.OnSchedule{
					Cron:     "0 6 * * ? *",
					Failures: schema.Failures{Description: "runs of the trending job"},
				},
			},
			{
				Name:        "accountcleaner",
				ID:          "AccountCleaner",
				Description: "Removes everything of users who have deleted their accounts",
				Timeout:     5 * time.Minute,
				Trigger: schema.OnStream{
					Table: "Users", Changes: "deletions of accounts",
					Filters: []map[string]any{{"dynamodb": map[string]any{"NewImage": map[string]any{
						"SK":     map[string]any{"S": []any{"PROFILE"}},
						"status": map[string]any{"S": []any{"deleting"}},
					}}}},
					// The requests that began before the deletion have ended then.
					BatchSize: 10, After: "lingibleapi", BatchWindow: 2 * time.Second, ReportItemFailures: true,
					Failures: schema.Failures{Description: "deletions of accounts that could not be finished"},
				},
			},
			{
				Name:        "lexiconseeder",
				ID:          "LexiconSeeder",
				Description: "Loads the terms and the wrong answers of the quiz",
				Timeout:     time.Minute,
				Trigger:     schema.OnSeed{},
			},
		},
		Secrets: []schema.Secret{
			schema.CursorSecret(),
		},
		Buckets: []schema.Bucket{
			{Name: "Exports", Variable: "EXPORTS_BUCKET", Description: "exports of the lexicon"},
		},
		RequestHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key"},
		ResponseHeaders: []string{"Idempotency-Replayed", "Location", "Retry-After", "X-RateLimit-Limit",
			"X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics: []schema.Metric{
			{Name: "Translations", Function: "lingibleapi", Unit: schema.Count,
				Description: "translations charged; a repeat with the same idempotency key is none"},
			{Name: "LanguageFailures", Function: "lingibleapi", Unit: schema.Count,
				Description: "translations that failed; no one is charged"},
			{Name: "TermsNotCounted", Function: "lingibleapi", Unit: schema.Count,
				Description: "terms of translations whose counts of trends are wrong by a use, because the table did " +
					"not take them"},
			{Name: "Submissions", Function: "lingibleapi", Unit: schema.Count, Description: "terms submitted"},
			{Name: "Approvals", Function: "lingibleapi", Unit: schema.Count,
				Description: "submissions approved by votes or an administrator"},
			{Name: "QuizAnswers", Function: "lingibleapi", Unit: schema.Count,
				Description: "questions of the quiz answered; a repeat is none"},
			{Name: "Approvals", Function: "submissionvalidator", Unit: schema.Count,
				Description: "submissions approved by their validation"},
			{Name: "LanguageFailures", Function: "submissionvalidator", Unit: schema.Count,
				Description: "validations that failed; the revalidator tries again"},
			{Name: "Approvals", Function: "revalidator", Unit: schema.Count,
				Description: "submissions approved by a later validation"},
			{Name: "LanguageFailures", Function: "revalidator", Unit: schema.Count,
				Description: "later validations that failed: for those the second time at least", AlarmAt: 1},
			{Name: "TermsExported", Function: "exporter", Unit: schema.Count, Description: "terms of each export"},
			{Name: "TrendsScored", Function: "trendingjob", Unit: schema.Count, Description: "trending terms scored"},
			{Name: "LanguageFailures", Function: "trendingjob", Unit: schema.Count,
				Description: "runs without proposals from the model; the counts are scored"},
			{Name: "AccountsCleaned", Function: "accountcleaner", Unit: schema.Count,
				Description: "deletions of accounts finished"},
		},
		Routes: routes(),
		Events: Events(),
	}
}

// callerAdmin is a user in the group admin, who reviews submissions.
var callerAdmin = schema.Caller{Name: "admin", Token: schema.TokenOfUser, Group: "admin"}

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
	add("approveSubmission", "POST", "/slang/admin/approve/{submission_id}", callerAdmin, "Approve a submission")
	add("rejectSubmission", "POST", "/slang/admin/reject/{submission_id}", callerAdmin, "Reject a submission")
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
