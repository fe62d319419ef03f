package schema

import (
	"slices"
	"time"
)

// Lingible is the platform that translates slang: the five tables of the seed and its ten indexes.
// docs/DEVIATIONS.md gives the reason for each addition.
func Lingible() Platform {
	lexicon := []Objects{{Bucket: "Exports", Prefix: "lexicon/"}}
	// What every use of the language needs: the latest export of the lexicon.
	language := []string{"GetExport"}
	return Platform{
		Name:        "lingible",
		Title:       "Lingible",
		Description: "People translate slang, and keep its lexicon",
		Database: Database{
			Prefix:         "lingible",
			Tables:         []Table{lingibleSubmissions(), lingibleLexicon(), lingibleTrending(), lingibleUsers(), lingibleTranslations()},
			AccessPatterns: lingibleAccessPatterns(),
		},
		RateLimits: []RateLimit{{Name: "translate", Requests: 120, Window: time.Minute, Per: PerUser}},
		Functions: []Function{
			{
				Name:        "lingibleapi",
				ID:          "LingibleAPI",
				Description: "Serves the routes of translations, users, submissions, trends and the quiz",
				Timeout:     15 * time.Second,
				Secrets:     []string{"CursorSecret"},
				Gets:        lexicon,
				CallsModel:  true,
				AccessPatterns: slices.Concat(language, []string{
					"GetUser", "GetUsage", "CreateUser", "UpgradeUser", "BeginAccountDeletion",
					"ChargeTranslation", "StoreTranslation", "ListTranslations", "ListTranslationKeys", "DeleteTranslation",
					"GetEntry", "Submit", "GetSubmissions", "GetSubmissionByID", "ListSubmissionsByStatus", "ListUserSubmissions", "ReviewSubmission", "Vote",
					"CountTerm", "ListTrending", "ListTrendingByCategory",
					"GetWrongAnswers", "GetQuizSession", "GetLatestQuizSession", "AskQuestion", "AnswerQuestion", "EndQuiz", "ListQuizDays",
					CountRequest, ClaimIdempotencyKey, SettleIdempotencyKey,
				}),
			},
			{
				Name:           "profilecreator",
				ID:             "ProfileCreator",
				Description:    "Creates the profile of a user whose sign-up is confirmed",
				Timeout:        4 * time.Second, // Amazon Cognito waits 5
				Trigger:        OnSignUp{},
				AccessPatterns: []string{"CreateUser"},
			},
			{
				Name:        "submissionvalidator",
				ID:          "SubmissionValidator",
				Description: "Validates new submissions",
				Timeout:     time.Minute,
				Gets:        lexicon,
				CallsModel:  true,
				Trigger: OnStream{
					Table: "Submissions", Changes: "new submissions",
					Filters: []map[string]any{{
						"eventName": []any{"INSERT"},
						"dynamodb":  map[string]any{"NewImage": map[string]any{"llm_validation_status": map[string]any{"S": []any{"pending"}}}},
					}},
					BatchSize: 5, ReportItemFailures: true,
					Failures: Failures{Description: "new submissions that could not be read; the revalidator validates them"},
				},
				AccessPatterns: slices.Concat(language, []string{"GetSubmissions", "JudgeSubmission", "ReviewSubmission"}),
			},
			{
				Name:        "revalidator",
				Description: "Validates the submissions whose validation failed or died",
				// A run ends before the next one begins.
				Timeout:    4*time.Minute + 50*time.Second,
				Gets:       lexicon,
				CallsModel: true,
				Trigger: OnSchedule{
					Every:    5 * time.Minute,
					Failures: Failures{Description: "runs of the revalidator"},
				},
				AccessPatterns: slices.Concat(language, []string{"ListByValidationStatus", "GetSubmissions", "JudgeSubmission", "ReviewSubmission"}),
			},
			{
				Name:        "exporter",
				Description: "Exports the lexicon when it has changed",
				Timeout:     time.Minute,
				Puts:        lexicon,
				Gets:        lexicon,
				Trigger: OnStream{
					Table: "Lexicon", Changes: "changes of terms",
					Filters:   []map[string]any{{"dynamodb": map[string]any{"Keys": map[string]any{"SK": map[string]any{"S": []any{"METADATA#lexicon"}}}}}},
					BatchSize: 1000, BatchWindow: 2 * time.Second, ReportItemFailures: true,
					Failures: Failures{Description: "changes of terms that no export has"},
				},
				AccessPatterns: []string{"GetExport", "ClaimExport", "SettleExport", "ListEntriesBySource", "GetEntries"},
			},
			{
				Name:        "trendingjob",
				ID:          "TrendingJob",
				Description: "Scores the trending terms",
				Timeout:     2 * time.Minute,
				Gets:        lexicon,
				CallsModel:  true,
				Trigger: OnSchedule{
					Cron:     "0 6 * * ? *",
					Failures: Failures{Description: "runs of the trending job"},
				},
				AccessPatterns: slices.Concat(language, []string{"ListTrending", "GetTrends", "ScoreTrend"}),
			},
			{
				Name:        "accountcleaner",
				ID:          "AccountCleaner",
				Description: "Removes everything of users who have deleted their accounts",
				Timeout:     5 * time.Minute,
				Trigger: OnStream{
					Table: "Users", Changes: "deletions of accounts",
					Filters: []map[string]any{{"dynamodb": map[string]any{"NewImage": map[string]any{
						"SK":     map[string]any{"S": []any{"PROFILE"}},
						"status": map[string]any{"S": []any{"deleting"}},
					}}}},
					// The requests that began before the deletion have ended then.
					BatchSize: 10, After: "lingibleapi", BatchWindow: 2 * time.Second, ReportItemFailures: true,
					Failures: Failures{Description: "deletions of accounts that could not be finished"},
				},
				AccessPatterns: []string{
					"GetUser", "ListUserItems", "DeleteUserItem", "WithdrawVote", "ListUserSubmissions", "GetSubmissions", "DeleteSubmission",
					"ListTranslationKeys", "DeleteTranslation",
				},
			},
			{
				Name:           "lexiconseeder",
				ID:             "LexiconSeeder",
				Description:    "Loads the terms and the wrong answers of the quiz",
				Timeout:        time.Minute,
				Trigger:        OnSeed{},
				AccessPatterns: []string{"AddEntry"},
			},
		},
		Secrets: []Secret{
			CursorSecret(),
		},
		Buckets: []Bucket{
			{Name: "Exports", Variable: "EXPORTS_BUCKET", Description: "exports of the lexicon"},
		},
		RequestHeaders:  []string{"Authorization", "Content-Type", "Idempotency-Key"},
		ResponseHeaders: []string{"Idempotency-Replayed", "Location", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics: []Metric{
			{Name: "Translations", Function: "lingibleapi", Unit: Count, Description: "translations charged; a repeat with the same idempotency key is none"},
			{Name: "LanguageFailures", Function: "lingibleapi", Unit: Count, Description: "translations that failed; no one is charged"},
			{Name: "TermsNotCounted", Function: "lingibleapi", Unit: Count, Description: "terms of translations whose counts of trends are wrong by a use, because the table did not take them"},
			{Name: "Submissions", Function: "lingibleapi", Unit: Count, Description: "terms submitted"},
			{Name: "Approvals", Function: "lingibleapi", Unit: Count, Description: "submissions approved by votes or an administrator"},
			{Name: "QuizAnswers", Function: "lingibleapi", Unit: Count, Description: "questions of the quiz answered; a repeat is none"},
			{Name: "Approvals", Function: "submissionvalidator", Unit: Count, Description: "submissions approved by their validation"},
			{Name: "LanguageFailures", Function: "submissionvalidator", Unit: Count, Description: "validations that failed; the revalidator tries again"},
			{Name: "Approvals", Function: "revalidator", Unit: Count, Description: "submissions approved by a later validation"},
			{Name: "LanguageFailures", Function: "revalidator", Unit: Count, Description: "later validations that failed: for those the second time at least", AlarmAt: 1},
			{Name: "TermsExported", Function: "exporter", Unit: Count, Description: "terms of each export"},
			{Name: "TrendsScored", Function: "trendingjob", Unit: Count, Description: "trending terms scored"},
			{Name: "LanguageFailures", Function: "trendingjob", Unit: Count, Description: "runs without proposals from the model; the counts are scored"},
			{Name: "AccountsCleaned", Function: "accountcleaner", Unit: Count, Description: "deletions of accounts finished"},
		},
		Routes: lingibleRoutes(),
	}
}

// callerLingibleAdmin is a user in the group admin, who reviews submissions.
var callerLingibleAdmin = Caller{Name: "admin", Token: TokenOfUser, Group: "admin"}

func lingibleRoutes() []Route {
	var routes []Route
	add := func(method, path string, caller Caller, summary string) {
		route := Route{Method: method, Path: path, Function: "lingibleapi", Caller: caller, Summary: summary}
		if path == "/translate" {
			route.RateLimit = "translate"
		}
		routes = append(routes, route)
	}
	add("POST", "/translate", CallerUser, "Translate slang into standard English, or back")
	add("GET", "/translations", CallerUser, "List one's translations, newest first")
	add("DELETE", "/translations", CallerUser, "Delete all of one's translations")
	add("DELETE", "/translations/{id}", CallerUser, "Delete a translation")
	add("GET", "/user/profile", CallerUser, "Read one's profile")
	add("GET", "/user/usage", CallerUser, "Read what one has left today")
	add("POST", "/user/upgrade", CallerUser, "Become a premium user")
	add("DELETE", "/user/account", CallerUser, "Delete one's account and everything of it")
	add("POST", "/slang/submit", CallerUser, "Submit a term for the lexicon")
	add("GET", "/slang/mine", CallerUser, "List one's submissions, newest first")
	add("GET", "/slang/pending", CallerUser, "List the submissions to vote on, oldest first")
	add("POST", "/slang/upvote/{submission_id}", CallerUser, "Vote for a submission")
	add("POST", "/slang/admin/approve/{submission_id}", callerLingibleAdmin, "Approve a submission")
	add("POST", "/slang/admin/reject/{submission_id}", callerLingibleAdmin, "Reject a submission")
	add("GET", "/trending", CallerUser, "List trending terms, most popular first")
	add("GET", "/quiz/question", CallerUser, "Get the next question of the quiz")
	add("POST", "/quiz/answer", CallerUser, "Answer the question")
	add("GET", "/quiz/progress", CallerUser, "Read how a quiz stands")
	add("POST", "/quiz/end", CallerUser, "End a quiz")
	add("GET", "/quiz/history", CallerUser, "Read one's quizzes by day, newest first")
	add("GET", "/openapi.json", CallerAnyone, "Read this API's OpenAPI document")
	add("GET", "/health", CallerAnyone, "See that the API answers")
	return routes
}

const (
	lingibleMoment   = "RFC 3339 in UTC with milliseconds"
	lingibleTermKey  = "Partition key: TERM# and the slug of the term"
	lingibleTTL      = "in Unix seconds (TTL attribute)"
	lingibleCategory = "praise, criticism, feelings, people, talk, effort, money, food or outings"
)

func lingibleSubmissions() Table {
	return Table{
		Name:         "Submissions",
		PhysicalName: "submissions",
		Description:  "Terms that users have submitted, with their votes and reviews.",
		Key:          Key{"PK", "SK"},
		TimeToLive:   "ttl",
		Stream:       StreamNewImage,
		Attributes: []Attribute{
			{"PK", String, lingibleTermKey},
			{"SK", String, "Sort key: SUBMISSION# and submission_id"},
			{"submission_id", String, "UUID"},
			{"user_id", String, "Subject of the token of the user who submitted it"},
			{"slang_term", String, "The term, as it was submitted"},
			{"meaning", String, "What it means, up to 500 characters"},
			{"example_usage", String, "A sentence with it, up to 500 characters"},
			{"context", String, "Where it is from, up to 500 characters; absent when not given"},
			{"status", String, "pending, validated (to vote on), auto_approved, community_approved, admin_approved, rejected or admin_rejected"},
			{"created_at", String, "Submission: " + lingibleMoment},
			{"reviewed_at", String, "Approval or rejection: " + lingibleMoment},
			{"approval_type", String, "llm_auto, community_vote or admin_manual; absent unless it is approved"},
			{"reviewed_by", String, "SHA-256 of the subject of the token of the administrator who reviewed it, hexadecimal; absent unless one did"},
			{"llm_validation_status", String, "pending, validated or rejected; absent when an administrator decided before the validation"},
			{"llm_validation_result", Map, "valid, confidence, usage_score, reasons and model_used; absent until it is validated"},
			{"upvotes", Number, "Votes"},
			{"upvoted_by", StringSet, "Subjects of the tokens of those who voted; absent when there is none"},
			{"ttl", Number, "End of a rejected submission " + lingibleTTL},
		},
		Indexes: []Index{
			{Name: "SubmissionsStatusIndex", Key: Key{"status", "created_at"}, Projection: ProjectInclude, Include: []string{"submission_id", "user_id", "slang_term", "context"}, Description: "Moderation queues and voting flows."},
			{Name: "SubmissionsByUserIndex", Key: Key{"user_id", "created_at"}, Projection: ProjectKeysOnly, Description: "User submission history."},
			{Name: "SubmissionsByIdIndex", Key: Key{Partition: "submission_id"}, Description: "Direct lookup by submission ID."},
			{Name: "ValidationStatusIndex", Key: Key{Partition: "llm_validation_status"}, Projection: ProjectInclude, Include: []string{"submission_id", "user_id", "slang_term"}, Description: "Async validation processor. In no order."},
		},
	}
}

func lingibleLexicon() Table {
	quiz := []string{"term", "gloss", "examples", "tags"}
	return Table{
		Name:         "Lexicon",
		PhysicalName: "lexicon",
		Description:  "Terms of the lexicon, the wrong answers of the quiz, and what was exported.",
		Key:          Key{"PK", "SK"},
		Stream:       StreamKeysOnly,
		Attributes: []Attribute{
			{"PK", String, lingibleTermKey + "; WRONG_ANSWERS# and a category; EXPORT"},
			{"SK", String, "Sort key: METADATA#lexicon, METADATA#wrong_answers or METADATA#export"},
			{"term", String, "The term in its base form"},
			{"source", String, "The first of sources"},
			{"gloss", String, "What it means, up to 500 characters"},
			{"plain", Map, "The standard English in its place: text and part_of_speech; absent when only the gloss explains the term"},
			{"variants", List, "Other spellings and names"},
			{"examples", List, "1 to 10 sentences"},
			{"tags", List, "Tags"},
			{"regions", List, "Countries by ISO 3166-1 alpha-2"},
			{"sources", List, "Where the entry is from: onesynth, community, or others"},
			{"first_attested", String, "Year or decade, such as 1987 or 1980s"},
			{"attestation_note", String, "What is known of the first use"},
			{"is_quiz_eligible", Boolean, "Whether the quiz asks about it"},
			{"quiz_difficulty", String, "beginner, intermediate or advanced, by quiz_score; absent unless the quiz asks about it"},
			{"quiz_category", String, lingibleCategory + "; absent unless the quiz asks about it"},
			{"quiz_score", Number, "confidence × momentum; absent unless the quiz asks about it"},
			{"confidence", Number, "How sure the meaning is, 0 to 1"},
			{"momentum", Number, "How much the term is in use, 0 to 1"},
			{"last_updated", String, lingibleMoment},
			{"wrong_answers", List, "WRONG_ANSWERS#: meanings that are right for no term of the category"},
			{"exported_at", String, "EXPORT: when the latest export was made: " + lingibleMoment},
			{"index_key", String, "EXPORT: key of the object with the index of the latest export; absent of one of an earlier version"},
			{"digest", String, "EXPORT: SHA-256 of the latest export, hexadecimal"},
			{"claim", String, "EXPORT: random token of the export that is being made; absent when none is"},
			{"claimed_until", String, "EXPORT: until when that may be: " + lingibleMoment},
		},
		Indexes: []Index{
			{Name: "LexiconSourceIndex", Key: Key{"source", "term"}, Projection: ProjectKeysOnly, Description: "Bulk exports and import verification."},
			{Name: "LexiconQuizDifficultyIndex", Key: Key{"quiz_difficulty", "quiz_score"}, Projection: ProjectInclude, Include: quiz, Description: "Quiz generation by difficulty. Sparse: only terms that the quiz asks about."},
			{Name: "LexiconQuizCategoryIndex", Key: Key{"quiz_category", "quiz_score"}, Projection: ProjectInclude, Include: quiz, Description: "Category-specific quizzes. Sparse: only terms that the quiz asks about."},
		},
	}
}

func lingibleTrending() Table {
	return Table{
		Name:         "Trending",
		PhysicalName: "trending",
		Description:  "How much terms are used.",
		Key:          Key{"PK", "SK"},
		TimeToLive:   "ttl",
		Attributes: []Attribute{
			{"PK", String, lingibleTermKey},
			{"SK", String, "Sort key: METADATA#trending"},
			{"term", String, "The term"},
			{"definition", String, "What it means"},
			{"category", String, "slang, phrase, expression, meme or hashtag"},
			{"popularity_score", Number, "0 to 100, as of the last run of the trending job; 0 before the first"},
			{"search_count", Number, "Look-ups: translations whose text is the term alone"},
			{"translation_count", Number, "Other translations with the term"},
			{"first_seen", String, lingibleMoment},
			{"last_updated", String, "Last run of the trending job, or creation: " + lingibleMoment},
			{"is_active", String, "\"true\" or \"false\": whether the term is in use"},
			{"example_usage", String, "A sentence with it"},
			{"origin", String, "Where it is from; absent when unknown"},
			{"related_terms", List, "Terms like it"},
			{"heat", Number, "Uses; a use counts half after a week. popularity_score follows from it"},
			{"counted_uses", Number, "Uses that heat has in it"},
			{"ttl", Number, "90 days after the last use or proposal, " + lingibleTTL},
		},
		Indexes: []Index{
			{Name: "TrendingActiveIndex", Key: Key{"is_active", "popularity_score"}, Projection: ProjectInclude, Include: []string{"term", "category", "definition"}, Description: "Global top-N trending lists."},
			{Name: "TrendingCategoryIndex", Key: Key{"category", "popularity_score"}, Projection: ProjectInclude, Include: []string{"term", "definition", "is_active"}, Description: "Category-specific trending queries."},
		},
	}
}

func lingibleUsers() Table {
	return Table{
		Name:         "Users",
		PhysicalName: "users",
		Description:  "Profiles, usage and quizzes of users, and the short-lived items that guard these.",
		Key:          Key{"PK", "SK"},
		TimeToLive:   "ttl",
		Stream:       StreamNewImage,
		Attributes: slices.Concat([]Attribute{
			{"PK", String, "Partition key: USER# and the subject of the user's token; DELETED# and its SHA-256; RATE# and a counter"},
			{"SK", String, "Sort key: PROFILE, USAGE#LIMITS, QUIZ_DAILY#YYYY-MM-DD, QUIZ_SESSION#id, VOTE#submission, SUBMITTED#slug, KEY#digest; METADATA of other partition keys"},
			{"user_id", String, "Subject of the user's token"},
			{"email", String, "PROFILE: email address, as the token or the sign-up has it; absent when they have none"},
			{"tier", String, "free or premium; on PROFILE and USAGE#LIMITS, which change together"},
			{"status", String, "PROFILE: active or deleting"},
			{"created_at", String, "Creation: " + lingibleMoment},
			{"updated_at", String, "PROFILE: last change: " + lingibleMoment},
			{"daily_used", Number, "USAGE#LIMITS: translations charged since the last midnight before reset_daily_at"},
			{"reset_daily_at", String, "USAGE#LIMITS: the midnight from which daily_used counts from 0: " + lingibleMoment},
			{"charges", List, "USAGE#LIMITS: translation_id of the latest ten translations that were charged by a write of their own; absent when there is none"},
			{"submitted_at", List, "USAGE#LIMITS: when the submissions of the last 24 hours were made: " + lingibleMoment},
			{"quiz_session_id", String, "USAGE#LIMITS: the active quiz; absent when there is none"},
			{"quiz_count", Number, "QUIZ_DAILY: questions asked on the day; QUIZ_SESSION: questions asked"},
			{"correct_count", Number, "QUIZ_DAILY and QUIZ_SESSION: right answers"},
			{"total_score", Number, "QUIZ_DAILY and QUIZ_SESSION: points"},
			{"total_possible", Number, "QUIZ_DAILY and QUIZ_SESSION: points of right answers at once, 10 for each answer"},
			{"session_id", String, "QUIZ_SESSION: UUID of version 7, which sorts by time"},
			{"session_status", String, "QUIZ_SESSION: active or ended"},
			{"started_at", String, "QUIZ_SESSION: " + lingibleMoment},
			{"last_activity_at", String, "QUIZ_SESSION: last question or answer; 15 minutes later the quiz has ended: " + lingibleMoment},
			{"asked", List, "QUIZ_SESSION: slugs of the terms asked about"},
			{"question", Map, "QUIZ_SESSION: the question that was asked last, with its answer once it has one"},
			{"version", Number, "QUIZ_SESSION: 1, and one more with each change"},
			{"submission_id", String, "VOTE: the submission; SUBMITTED: the user's submission of the term"},
			{"term_key", String, "VOTE and SUBMITTED: partition key of the submission"},
			{"deleted_at", String, "DELETED: when the account was deleted: " + lingibleMoment},
			{"ttl", Number, "End of use of every item but PROFILE, USAGE#LIMITS and VOTE, " + lingibleTTL},
		}, RateLimitAttributes(), IdempotencyAttributes()),
		Indexes: []Index{
			{Name: "UsersTierIndex", Key: Key{"tier", "updated_at"}, Projection: ProjectKeysOnly, Description: "Admin reports by subscription tier. Sparse: only profiles."},
		},
	}
}

func lingibleTranslations() Table {
	return Table{
		Name:         "Translations",
		PhysicalName: "translations",
		Description:  "Translations of premium users, for 30 days.",
		Key:          Key{"PK", "SK"},
		TimeToLive:   "ttl",
		Attributes: []Attribute{
			{"PK", String, "Partition key: USER# and the subject of the user's token"},
			{"SK", String, "Sort key: TRANSLATION# and translation_id"},
			{"translation_id", String, "UUID of version 7, which sorts by time"},
			{"original_text", String, "The text"},
			{"translated_text", String, "Its translation"},
			{"direction", String, "to_standard or to_slang"},
			{"confidence_score", Number, "0 to 1"},
			{"model_used", String, "What translated it, such as onesynth.language-1 or the id of a model of Amazon Bedrock"},
			{"created_at", String, lingibleMoment},
			{"ttl", Number, "30 days after created_at, " + lingibleTTL},
		},
	}
}

func lingibleAccessPatterns() []AccessPattern {
	const users = "Users"
	write := func(table string, operation Operation, description string) Write {
		return Write{Table: table, Operation: operation, Description: description}
	}
	optional := func(w Write) Write { w.Optional = true; return w }
	get := func(name, table, description, seed string) AccessPattern {
		return AccessPattern{Name: name, Description: description, Operation: GetItem, Table: table, Consistent: true, Seed: seed}
	}
	one := func(name string, operation Operation, table, description string) AccessPattern {
		return AccessPattern{Name: name, Description: description, Operation: operation, Table: table}
	}
	query := func(name, table, index, description, seed string, conditions ...KeyCondition) AccessPattern {
		return AccessPattern{Name: name, Description: description, Operation: Query, Table: table, Index: index, KeyConditions: conditions, Seed: seed}
	}
	descending := func(p AccessPattern) AccessPattern { p.Descending = true; return p }
	consistent := func(p AccessPattern) AccessPattern { p.Consistent = true; return p }
	returning := func(p AccessPattern, attributes ...string) AccessPattern { p.Attributes = attributes; return p }
	filtering := func(p AccessPattern, attributes ...string) AccessPattern { p.Filter = attributes; return p }
	offered := func(p AccessPattern) AccessPattern { p.Offered = true; return p }
	transaction := func(name, description string, writes ...Write) AccessPattern {
		return AccessPattern{Name: name, Description: description, Operation: TransactWriteItems, Writes: writes}
	}
	return slices.Concat([]AccessPattern{
		get("GetUser", users, "A user's profile.", "Get user profile"),
		get("GetUsage", users, "A user's tier, the translations and submissions that count, and the active quiz.", "Get usage limits"),
		transaction("CreateUser", "Create a user.",
			write(users, ConditionCheckItem, "no deletion of the user's account after the token was issued"),
			write(users, PutItem, "the profile, unless there is one"),
			write(users, PutItem, "the usage, unless there is some")),
		transaction("UpgradeUser", "Change a user's tier, in both items that have it.",
			write(users, UpdateItem, "the profile, if it is active and has the tier that was read"),
			write(users, UpdateItem, "the usage, if it has the tier that was read")),
		transaction("BeginAccountDeletion", "Delete a user's usage. From then on nothing can be added.",
			write(users, UpdateItem, "the profile: that it is being deleted"),
			write(users, DeleteItem, "the usage"),
			write(users, PutItem, "when the account was deleted, for a day: tokens from before make no new one")),
		consistent(returning(query("ListUserItems", users, "", "All items of a user.", "", KeyCondition{"PK", Equal}), "PK", "SK", "submission_id", "term_key")),
		one("DeleteUserItem", DeleteItem, users, "Delete one item of a deleted account, or the note of a vote whose submission is gone."),
		offered(descending(query("ListUsersByTier", users, "UsersTierIndex", "The keys of the users of a tier, those first that changed last. For reports.", "Query by tier", KeyCondition{"tier", Equal}))),

		one("ChargeTranslation", UpdateItem, users, "Charge a translation that is neither kept nor has an idempotency key, if the tier is as read and its limit is not reached."),
		transaction("StoreTranslation", "Charge a translation, and keep it for premium users.",
			write(users, UpdateItem, "one more translation, if the tier is as read and its limit is not reached"),
			optional(write("Translations", PutItem, "the translation")),
			KeepAnswer(users)),
		descending(query("ListTranslations", "Translations", "", "A user's translations, newest first.", "Get user translations", KeyCondition{"PK", Equal}, KeyCondition{"SK", BeginsWith})),
		offered(get("GetTranslation", "Translations", "A translation. No route reads a single one.", "Get single translation")),
		consistent(returning(query("ListTranslationKeys", "Translations", "", "The keys of a user's translations.", "", KeyCondition{"PK", Equal}), "PK", "SK")),
		one("DeleteTranslation", DeleteItem, "Translations", "Delete a translation."),

		transaction("Submit", "Store a submission.",
			write("Submissions", PutItem, "the submission"),
			write(users, PutItem, "that the user has submitted the term, unless within 7 days"),
			write(users, UpdateItem, "the times of the user's submissions, if they and the tier are as read"),
			KeepAnswer(users)),
		{Name: "GetSubmissions", Description: "A submission as it is now, or those of a list.", Operation: BatchGetItem, Table: "Submissions", Consistent: true},
		query("GetSubmissionByID", "Submissions", "SubmissionsByIdIndex", "A submission by its id.", "Get by ID", KeyCondition{"submission_id", Equal}),
		query("ListSubmissionsByStatus", "Submissions", "SubmissionsStatusIndex", "Submissions of one status, oldest first.", "Query by status", KeyCondition{"status", Equal}),
		descending(query("ListUserSubmissions", "Submissions", "SubmissionsByUserIndex", "The keys of a user's submissions, newest first.", "Query by user", KeyCondition{"user_id", Equal})),
		query("ListByValidationStatus", "Submissions", "ValidationStatusIndex", "Submissions of one status of validation.", "Query validation status", KeyCondition{"llm_validation_status", Equal}),
		one("JudgeSubmission", UpdateItem, "Submissions", "Store what a validation said that did not approve a submission, if that is as read."),
		transaction("ReviewSubmission", "Approve or reject a submission.",
			write("Submissions", UpdateItem, "the review, if the submission is as read"),
			optional(write("Lexicon", PutItem, "the term of an approved one, unless the lexicon has it"))),
		transaction("Vote", "Count a user's vote for a submission.",
			write("Submissions", UpdateItem, "the vote, and the approval by the last one, if its status is as read and the user has not voted"),
			optional(write("Lexicon", PutItem, "the term of an approved one, unless the lexicon has it")),
			write(users, ConditionCheckItem, "the usage: the user exists and is not being deleted"),
			write(users, PutItem, "that the user has voted")),
		one("WithdrawVote", UpdateItem, "Submissions", "Take back the vote of a user who has deleted the account."),
		one("DeleteSubmission", DeleteItem, "Submissions", "Delete a submission of a user who has deleted the account."),

		get("GetEntry", "Lexicon", "A term of the lexicon.", "Get by term"),
		{Name: "GetEntries", Description: "Terms of the lexicon.", Operation: BatchGetItem, Table: "Lexicon", Consistent: true},
		query("ListEntriesBySource", "Lexicon", "LexiconSourceIndex", "The keys of the terms from a source, by term.", "Export by source", KeyCondition{"source", Equal}),
		offered(query("ListQuizByDifficulty", "Lexicon", "LexiconQuizDifficultyIndex", "Terms that the quiz asks about, of one difficulty. The quiz has them in the index of the export.", "Quiz by difficulty",
			KeyCondition{"quiz_difficulty", Equal})),
		offered(query("ListQuizByCategory", "Lexicon", "LexiconQuizCategoryIndex", "Terms that the quiz asks about, of one category and a range of scores. The quiz has them in the index of the export.", "Quiz by category",
			KeyCondition{"quiz_category", Equal}, KeyCondition{"quiz_score", Between})),
		get("GetWrongAnswers", "Lexicon", "The wrong answers for a category.", ""),
		one("AddEntry", PutItem, "Lexicon", "Store a term, or the wrong answers for a category, unless they are there."),
		get("GetExport", "Lexicon", "When the lexicon was last exported, and its digest.", ""),
		one("ClaimExport", UpdateItem, "Lexicon", "Claim the export for one try, unless another one is running."),
		one("SettleExport", UpdateItem, "Lexicon", "End a try to export, if the claim is still its own."),

		one("CountTerm", UpdateItem, "Trending", "Count a use of a term, or take it back if its translation is not charged."),
		descending(query("ListTrending", "Trending", "TrendingActiveIndex", "Terms that are in use, or are not, most popular first.", "Global trending", KeyCondition{"is_active", Equal})),
		filtering(descending(query("ListTrendingByCategory", "Trending", "TrendingCategoryIndex", "Terms of a category, most popular first.", "Category trending", KeyCondition{"category", Equal})), "is_active"),
		{Name: "GetTrends", Description: "Trending terms with their counts.", Operation: BatchGetItem, Table: "Trending", Consistent: true},
		one("ScoreTrend", UpdateItem, "Trending", "Store the score of a term, if no other run has scored it meanwhile."),

		get("GetQuizSession", users, "A quiz.", "Get quiz session"),
		consistent(descending(query("GetLatestQuizSession", users, "", "The quiz of a user that was begun last.", "", KeyCondition{"PK", Equal}, KeyCondition{"SK", BeginsWith}))),
		transaction("AskQuestion", "Ask the next question of a quiz.",
			write(users, UpdateItem, "the usage: the active quiz, if the tier and the active quiz are as read"),
			write(users, UpdateItem, "one more question of the day, if the limit is not reached"),
			write(users, PutItem, "the quiz, if it is as it was read")),
		transaction("AnswerQuestion", "Answer the question of a quiz.",
			write(users, PutItem, "the quiz, if it is as it was read"),
			write(users, UpdateItem, "answer and points of the day")),
		transaction("EndQuiz", "End a quiz.",
			write(users, PutItem, "the quiz, if it is as it was read"),
			optional(write(users, UpdateItem, "the usage: no active quiz, if it is this one"))),
		descending(query("ListQuizDays", users, "", "The days on which a user was asked, newest first.", "", KeyCondition{"PK", Equal}, KeyCondition{"SK", BeginsWith})),
	}, RateLimitPatterns(users), IdempotencyPatterns(users))
}
