package schema

import (
	"slices"
	"time"
)

// Clarity is the platform on which people train critical thinking: the three tables of the
// seed, and a fourth for items that only guard these. docs/DEVIATIONS.md gives the reason
// for each addition.
func Clarity() Platform {
	return Platform{
		Name:        "clarity",
		Title:       "Clarity",
		Description: "People train critical thinking",
		Database: Database{
			Prefix:         "clarity",
			Tables:         []Table{clarityAttempts(), clarityProfiles(), clarityScenarios(), clarityGuards()},
			AccessPatterns: clarityAccessPatterns(),
		},
		Functions: []Function{
			{
				Name:        "clarityapi",
				ID:          "ClarityAPI",
				Description: "Serves the routes of attempts, scenarios and profiles",
				// A request that completes an attempt waits for its evaluation, within the 30
				// seconds of Amazon API Gateway.
				Timeout:    29 * time.Second,
				Secrets:    []string{"CursorSecret"},
				CallsModel: true,
				AccessPatterns: []string{
					"GetAttempt", "ListUserAttempts", "StoreAttempt", "SubmitAttempt", "SaveAttempt", "ClaimEvaluation", "SettleEvaluation", "AnswerEvaluation",
					"GetScenario", "ListActiveScenarios", "ListScenariosByDifficulty", "GetLatestProfile", "ListProfiles",
					ClaimIdempotencyKey, SettleIdempotencyKey,
				},
			},
			{
				Name:        "evaluator",
				Description: "Evaluates the attempts whose evaluation failed, was put off or died",
				// A run ends before the next one begins.
				Timeout:    4*time.Minute + 50*time.Second,
				CallsModel: true,
				Trigger: OnSchedule{
					Every:    5 * time.Minute,
					Failures: Failures{Description: "runs of the evaluator"},
				},
				AccessPatterns: []string{"ListPendingEvaluations", "GetAttempt", "GetScenario", "ClaimEvaluation", "SettleEvaluation"},
			},
			{
				Name:        "profiler",
				Description: "Adds a profile for each evaluated attempt",
				Timeout:     time.Minute,
				// An attempt that has been evaluated does not change, so each comes here once.
				Trigger: OnStream{
					Table: "Attempts", Changes: "evaluated attempts",
					Filters: []map[string]any{{"dynamodb": map[string]any{"NewImage": map[string]any{
						"status":           map[string]any{"S": []any{"completed"}},
						"evaluationStatus": map[string]any{"S": []any{"done"}},
					}}}},
					BatchSize: 10, ReportItemFailures: true,
					Failures: Failures{Description: "evaluated attempts without a profile"},
				},
				AccessPatterns: []string{"GetLatestProfile", "AddProfile"},
			},
			{
				Name:           "scenarioseeder",
				ID:             "ScenarioSeeder",
				Description:    "Loads the scenarios",
				Timeout:        time.Minute,
				Trigger:        OnSeed{},
				AccessPatterns: []string{"AddScenario"},
			},
		},
		Secrets: []Secret{
			CursorSecret(),
		},
		RequestHeaders:  []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match"},
		ResponseHeaders: []string{"ETag", "Idempotency-Replayed", "Location", "Retry-After"},
		Metrics: []Metric{
			{Name: "AttemptsCompleted", Function: "clarityapi", Unit: Count, Description: "attempts completed; a repeat with the same idempotency key is none"},
			{Name: "Evaluations", Function: "clarityapi", Unit: Count, Description: "attempts evaluated during a request"},
			{Name: "EvaluationFailures", Function: "clarityapi", Unit: Count, Description: "evaluations that failed during a request; the evaluator tries again"},
			{Name: "Evaluations", Function: "evaluator", Unit: Count, Description: "attempts evaluated later"},
			{Name: "EvaluationFailures", Function: "evaluator", Unit: Count, Description: "later evaluations that failed: for those the second time at least", AlarmAt: 1},
			{Name: "ProfilesAdded", Function: "profiler", Unit: Count, Description: "profiles added; a repeated change adds none"},
		},
		Routes: clarityRoutes(),
	}
}

func clarityRoutes() []Route {
	var routes []Route
	add := func(method, path string, caller Caller, summary string) {
		routes = append(routes, Route{Method: method, Path: path, Function: "clarityapi", Caller: caller, Summary: summary})
	}
	add("POST", "/attempts", CallerUser, "Begin an attempt, or submit a completed one")
	add("GET", "/attempts", CallerUser, "List one's attempts, newest first")
	add("GET", "/attempts/{id}", CallerUser, "Read an attempt")
	add("PUT", "/attempts/{id}", CallerUser, "Save, complete or abandon an attempt in progress")
	add("POST", "/attempts/{id}/evaluate", CallerUser, "Evaluate a completed attempt whose evaluation failed")
	add("GET", "/scenarios", CallerUser, "List the active scenarios")
	add("GET", "/scenarios/{id}", CallerUser, "Read a scenario")
	add("GET", "/users/me/profile", CallerUser, "Read one's latest profile")
	add("GET", "/users/me/profile/history", CallerUser, "List one's profiles, newest first")
	add("GET", "/openapi.json", CallerAnyone, "Read this API's OpenAPI document")
	return routes
}

const clarityMoment = "RFC 3339 in UTC with milliseconds"

// schemaVersion is on every item of the seed's tables.
var schemaVersion = Attribute{"schemaVersion", String, "Version of the item's form: 1.0"}

func clarityAttempts() Table {
	return Table{
		Name:         "Attempts",
		PhysicalName: "attempts",
		Description:  "Attempts of users at scenarios, with their evaluations.",
		Key:          Key{Partition: "attemptId"},
		Stream:       StreamNewImage,
		Attributes: []Attribute{
			{"attemptId", String, "Partition key: UUID"},
			{"userId", String, "Subject of the user's token"},
			{"scenarioId", String, "The scenario"},
			{"timestamp", String, "When the attempt was begun, and from its completion on when it was submitted: " + clarityMoment},
			{"answers", List, "The user's answers, in the order of the questions: questionId, questionText, answer and wordCount of each"},
			{"evaluation", Map, "overallScore, dimensions, feedback, modelId and evaluatedAt; absent until the attempt is evaluated"},
			{"durationSeconds", Number, "Time spent on the attempt"},
			{"status", String, "completed, in-progress or abandoned"},
			{"version", Number, "1, and one more with each change by the user; a write is conditional on the version that it read"},
			{"evaluationStatus", String, "Of a completed attempt: pending, running, done or failed"},
			{"evaluationFailure", String, "Why the last try to evaluate it failed: timed-out, throttled, unusable, declined, unavailable or limit; absent otherwise"},
			{"evaluationTries", Number, "How often its evaluation was begun"},
			{"claim", String, "Random token of the try that is running; absent when none is"},
			{"claimedUntil", String, "Until when that try may be running: " + clarityMoment},
			{"pendingEvaluation", String, "\"pending\" while the attempt waits for an evaluation; absent otherwise"},
			{"evaluateAfter", String, "When the evaluator may try next: " + clarityMoment + "; absent with pendingEvaluation"},
			schemaVersion,
		},
		Indexes: []Index{
			{Name: "UserAttempts", Key: Key{"userId", "timestamp"}, Description: "A user's attempts by time."},
			{Name: "PendingEvaluations", Key: Key{"pendingEvaluation", "evaluateAfter"}, Projection: ProjectKeysOnly, Description: "Attempts that wait for an evaluation. Sparse: only those."},
		},
	}
}

func clarityProfiles() Table {
	return Table{
		Name:         "Profiles",
		PhysicalName: "profiles",
		Description:  "Profiles of users over time: one for each evaluated attempt.",
		Key:          Key{"userId", "timestamp"},
		TimeToLive:   "expiresAt",
		Attributes: []Attribute{
			{"userId", String, "Partition key: subject of the user's token"},
			{"timestamp", String, "Sort key: when the attempt was evaluated, " + clarityMoment + ", then # and the attempt's id. \"#\" is the item before the first profile, and has schemaVersion alone"},
			{"attemptId", String, "The attempt that the profile was made for"},
			{"attemptCount", Number, "Evaluated attempts of the user up to this one, all of them"},
			{"dimensions", List, "Of each dimension: name, movingAverage, standardDeviation, trend and recentScores"},
			{"recentOverallScores", List, "The overall scores of the attempts that recentScores are of, oldest first"},
			{"weaknesses", List, "Up to 3 dimensions: dimension, score and gap; may be empty"},
			{"improvements", List, "Up to 3 dimensions: dimension, improvement, from and to; may be empty"},
			{"recommendations", List, "Texts, one for each weakness; may be empty"},
			{"overallAverage", Number, "Mean of recentOverallScores, 0 to 100"},
			{"previous", String, "Sort key of the profile before this one, or \"#\""},
			{"latest", Boolean, "true on the latest profile of a user; absent from the others"},
			{"expiresAt", Number, "End of retention in Unix seconds (TTL attribute); absent from the latest profile of a user"},
			schemaVersion,
		},
	}
}

func clarityScenarios() Table {
	return Table{
		Name:         "Scenarios",
		PhysicalName: "scenarios",
		Description:  "Scenarios with their questions.",
		Key:          Key{Partition: "scenarioId"},
		Capacity:     Capacity{ReadUnits: 5, WriteUnits: 1},
		Attributes: []Attribute{
			{"scenarioId", String, "Partition key: unique name of the scenario, such as city-bike-lanes"},
			{"title", String, "Title, 5 characters or more"},
			{"description", String, "The situation, 50 characters or more"},
			{"difficulty", String, "beginner, intermediate or advanced"},
			{"tags", StringSet, "Tags; absent when there is none"},
			{"questions", List, "1 to 10 questions: questionId, text, type, targetWordCount and focusAreas of each"},
			{"active", String, "\"true\" or \"false\": whether the scenario is available"},
			{"createdAt", String, "Creation: " + clarityMoment},
			{"estimatedMinutes", Number, "Expected time to complete"},
			schemaVersion,
		},
		Indexes: []Index{
			{Name: "ActiveScenarios", Key: Key{"active", "difficulty"}, Description: "Active scenarios by difficulty."},
		},
	}
}

func clarityGuards() Table {
	return Table{
		Name:         "Guards",
		PhysicalName: "guards",
		Description:  "Short-lived items that guard the other tables: idempotency keys, and the evaluations of a user on a day.",
		Key:          Key{Partition: "guardKey"},
		TimeToLive:   "expiresAt",
		Attributes: slices.Concat([]Attribute{
			{"guardKey", String, "Partition key: KEY# and the digest of user and idempotency key, or EVALUATIONS#day#user"},
			{"evaluations", Number, "EVALUATIONS#: evaluations begun for the user on the day (UTC), failed ones included"},
			{"expiresAt", Number, "End of use in Unix seconds (TTL attribute)"},
		}, IdempotencyAttributes()),
	}
}

func clarityAccessPatterns() []AccessPattern {
	update := func(table, description string) Write {
		return Write{Table: table, Operation: UpdateItem, Description: description}
	}
	return slices.Concat([]AccessPattern{
		{
			Name: "GetAttempt", Seed: "Get attempt by ID",
			Description: "An attempt as it is now.",
			Operation:   GetItem, Table: "Attempts", Consistent: true,
		},
		{
			Name: "ListUserAttempts", Seed: "List user attempts; Get recent attempts for profile",
			Description: "A user's attempts, newest first.",
			Operation:   Query, Table: "Attempts", Index: "UserAttempts", Descending: true,
			KeyConditions: []KeyCondition{{"userId", Equal}},
		},
		{
			Name:        "SubmitAttempt",
			Description: "Store a completed attempt before it is evaluated, under the claim of its first try.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Attempts", Operation: PutItem, Description: "the attempt, unless its id exists; or a changed one, if it still has the version that was read, and is in progress"},
				update("Guards", "one more evaluation of the user on the day, if the limit is not reached"),
				ClaimKey("Guards"),
			},
		},
		{
			Name:        "StoreAttempt",
			Description: "Store a new attempt that is not evaluated now, without an idempotency key, unless its id exists.",
			Operation:   PutItem, Table: "Attempts",
		},
		{
			Name:        "SaveAttempt",
			Description: "Store an attempt that is not evaluated now.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Attempts", Operation: PutItem, Description: "the attempt, unless its id exists; or a changed one, if it still has the version that was read, and is in progress"},
				KeepAnswer("Guards"),
			},
		},
		{
			Name:        "ClaimEvaluation",
			Description: "Claim the evaluation of a completed attempt for one try.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				update("Attempts", "the claim, if the attempt is not evaluated and no other try is running"),
				update("Guards", "one more evaluation of the user on the day, if the limit is not reached"),
			},
		},
		{
			Name:        "SettleEvaluation",
			Description: "End a try to evaluate an attempt: its evaluation, or why it failed and when to try again, if the claim is still this try's.",
			Operation:   PutItem, Table: "Attempts",
		},
		{
			Name:        "AnswerEvaluation",
			Description: "SettleEvaluation for a request with an idempotency key.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Attempts", Operation: PutItem, Description: "the attempt with its evaluation, or with why it failed and when to try again, if the claim is still this try's"},
				KeepAnswer("Guards"),
			},
		},
		{
			Name:        "ListPendingEvaluations",
			Description: "Attempts whose evaluation may be tried again now, longest overdue first.",
			Operation:   Query, Table: "Attempts", Index: "PendingEvaluations",
			KeyConditions: []KeyCondition{{"pendingEvaluation", Equal}, {"evaluateAfter", LessOrEqual}},
		},
		{
			Name: "GetLatestProfile", Seed: "Get latest profile",
			Description: "The latest profile of a user, and before it those that are later than an attempt which comes out of order.",
			Operation:   Query, Table: "Profiles", Descending: true, Consistent: true,
			KeyConditions: []KeyCondition{{"userId", Equal}, {"timestamp", Greater}},
		},
		{
			Name: "ListProfiles", Seed: "Get profile history",
			Description: "A user's profiles, newest first.",
			Operation:   Query, Table: "Profiles", Descending: true,
			KeyConditions: []KeyCondition{{"userId", Equal}, {"timestamp", Greater}},
		},
		{
			Name: "AddProfile", Seed: "Update profile",
			Description: "Add the profile of an evaluated attempt at its place in time.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Profiles", Operation: UpdateItem, Optional: true, Description: "the latest profile so far, if it is as it was read: its end of retention; or the item before the first one, if there is none"},
				{Table: "Profiles", Operation: PutItem, Description: "the profile, unless there is one for the attempt"},
				{Table: "Profiles", Operation: PutItem, Optional: true, Repeated: true, Description: "a later profile with the attempt in it, if it is as it was read"},
			},
		},
		{
			Name: "GetScenario", Seed: "Get scenario by ID",
			Description: "A scenario.",
			Operation:   GetItem, Table: "Scenarios",
		},
		{
			Name: "ListActiveScenarios", Seed: "List active scenarios",
			Description: "All active scenarios, by difficulty.",
			Operation:   Query, Table: "Scenarios", Index: "ActiveScenarios",
			KeyConditions: []KeyCondition{{"active", Equal}},
		},
		{
			Name: "ListScenariosByDifficulty", Seed: "List scenarios by difficulty",
			Description: "The active scenarios of one difficulty.",
			Operation:   Query, Table: "Scenarios", Index: "ActiveScenarios",
			KeyConditions: []KeyCondition{{"active", Equal}, {"difficulty", Equal}},
		},
		{
			Name:        "AddScenario",
			Description: "Store a scenario, unless its id exists.",
			Operation:   PutItem, Table: "Scenarios",
		},
	}, IdempotencyPatterns("Guards"))
}
