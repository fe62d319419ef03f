// Package clarity describes Clarity, the platform on which people train critical thinking. Its construct and its
// handlers read it.
package clarity

import (
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Platform returns the contract: the three tables of the origin, and a fourth for items that only guard these.
// docs/project/deviations.md gives the reason for each addition.
func Platform() schema.Platform { return With(Parts{}) }

// Parts are the parts of Clarity that a stack can have beside those that every stack has.
type Parts struct {
	// Page adds the page on which people train.
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
		Name:        "clarity",
		Title:       "Clarity",
		Description: "People train critical thinking",
		Database: schema.Database{
			Prefix:         "clarity",
			Tables:         []schema.Table{attempts(), profiles(), scenarios(), guards()},
			AccessPatterns: accessPatterns(),
		},
		Functions:       functions(),
		Secrets:         []schema.Secret{schema.CursorSecret()},
		RequestHeaders:  []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match"},
		ResponseHeaders: []string{"ETag", "Idempotency-Replayed", "Location", "Retry-After"},
		Metrics:         metrics(),
		Routes:          schema.Routes(Operations()...),
		API:             overHTTP(),
		Events:          Events(),
		Owned:           Owned(),
		Records: []schema.Record{
			{Name: "Attempt", Table: "Attempts", Form: Attempt{}},
			{Name: "Profile", Table: "Profiles", Form: Profile{}},
			{Name: "Scenario", Table: "Scenarios", Form: Scenario{}},
		},
	}
}

func functions() []schema.Function {
	return []schema.Function{
		{
			Name:        "clarityapi",
			ID:          "ClarityAPI",
			Description: "Serves the routes of attempts, scenarios and profiles",
			// A request that completes an attempt waits for its evaluation, within the 30
			// seconds of Amazon API Gateway.
			Timeout:    29 * time.Second,
			Secrets:    []string{"CursorSecret"},
			CallsModel: true,
		},
		{
			Name:        "evaluator",
			Description: "Evaluates the attempts whose evaluation failed, was put off or died",
			// A run ends before the next one begins.
			Timeout:    4*time.Minute + 50*time.Second,
			CallsModel: true,
			Trigger: schema.OnSchedule{
				Every:    5 * time.Minute,
				Failures: schema.Failures{Description: "runs of the evaluator"},
			},
		},
		{
			Name:        "profiler",
			Description: "Adds a profile for each evaluated attempt",
			Timeout:     time.Minute,
			Trigger: schema.OnStream{
				Table: "Attempts", Changes: "evaluated attempts", Filters: evaluated(),
				BatchSize: 10, ReportItemFailures: true,
				Failures: schema.Failures{Description: "evaluated attempts without a profile"},
			},
		},
		{
			Name:        "scenarioseeder",
			ID:          "ScenarioSeeder",
			Description: "Loads the scenarios",
			Timeout:     time.Minute,
			Trigger:     schema.OnSeed{},
		},
		eraser(),
	}
}

func metrics() []schema.Metric {
	return []schema.Metric{
		{Name: "AttemptsCompleted", Function: "clarityapi", Unit: schema.Count,
			Description: "attempts completed; a repeat with the same idempotency key is none"},
		{Name: "Evaluations", Function: "clarityapi", Unit: schema.Count,
			Description: "attempts evaluated during a request"},
		{Name: "EvaluationFailures", Function: "clarityapi", Unit: schema.Count,
			Description: "evaluations that failed during a request; the evaluator tries again"},
		{Name: "Evaluations", Function: "evaluator", Unit: schema.Count, Description: "attempts evaluated later"},
		{Name: "EvaluationFailures", Function: "evaluator", Unit: schema.Count,
			Description: "later evaluations that failed: for those the second time at least", AlarmAt: 1},
		{Name: "ProfilesAdded", Function: "profiler", Unit: schema.Count,
			Description: "profiles added; a repeated change adds none"},
		{Name: "UsersErased", Function: "accounteraser", Unit: schema.Count,
			Description: "deletions of users that are complete"},
	}
}

const moment = "RFC 3339 in UTC with milliseconds"

// schemaVersion is on every item of the origin's tables.
var schemaVersion = schema.String.Attribute("schemaVersion", "Version of the item's form: 1.0")

func attempts() schema.Table {
	attributes := schema.After(schema.AttributesOf(Attempt{}), "timestamp",
		schema.List.Attribute("answers", "The user's answers, in the order of the questions: questionId, "+
			"questionText, answer and wordCount of each"),
		schema.Map.Attribute("evaluation",
			"overallScore, dimensions, feedback, modelId and evaluatedAt; absent until the attempt is evaluated"))
	attributes = schema.After(attributes, "claimedUntil",
		schema.String.Attribute("pendingEvaluation",
			"\"pending\" while the attempt waits for an evaluation; absent otherwise"))
	return schema.Table{
		Name:         "Attempts",
		PhysicalName: "attempts",
		Description:  "Attempts of users at scenarios, with their evaluations.",
		Key:          schema.Key{Partition: "attemptId"},
		Stream:       schema.StreamNewImage,
		Attributes:   append(attributes, schemaVersion),
		Indexes: []schema.Index{
			{Name: "UserAttempts", Key: schema.Key{Partition: "userId", Sort: "timestamp"},
				Description: "A user's attempts by time."},
			{Name: "PendingEvaluations", Key: schema.Key{Partition: "pendingEvaluation", Sort: "evaluateAfter"},
				Projection: schema.ProjectKeysOnly, Description: "Attempts that wait for an evaluation. Sparse: only " +
					"those."},
		},
	}
}

func profiles() schema.Table {
	return schema.Table{
		Name:         "Profiles",
		PhysicalName: "profiles",
		Description:  "Profiles of users over time: one for each evaluated attempt.",
		Key:          schema.Key{Partition: "userId", Sort: "timestamp"},
		TimeToLive:   "expiresAt",
		Attributes: []schema.Attribute{
			schema.String.Attribute("userId", "Partition key: subject of the user's token"),
			schema.String.Attribute("timestamp", "Sort key: when the attempt was evaluated, "+moment+", then # "+
				"and the attempt's id. \"#\" is the item before the first profile, and has schemaVersion alone"),
			schema.String.Attribute("attemptId", "The attempt that the profile was made for"),
			schema.Number.Attribute("attemptCount", "Evaluated attempts of the user up to this one, all of them"),
			schema.List.Attribute("dimensions",
				"Of each dimension: name, movingAverage, standardDeviation, trend and recentScores"),
			schema.List.Attribute("recentOverallScores",
				"The overall scores of the attempts that recentScores are of, oldest first"),
			schema.List.Attribute("weaknesses", "Up to 3 dimensions: dimension, score and gap; may be empty"),
			schema.List.Attribute("improvements",
				"Up to 3 dimensions: dimension, improvement, from and to; may be empty"),
			schema.List.Attribute("recommendations", "Texts, one for each weakness; may be empty"),
			schema.Number.Attribute("overallAverage", "Mean of recentOverallScores, 0 to 100"),
			schema.String.Attribute("previous", "Sort key of the profile before this one, or \"#\""),
			schema.Boolean.Attribute("latest", "true on the latest profile of a user; absent from the others"),
			schema.Number.Attribute("expiresAt",
				"End of retention in Unix seconds (TTL attribute); absent from the latest profile of a user"),
			schemaVersion,
		},
	}
}

func scenarios() schema.Table {
	return schema.Table{
		Name:         "Scenarios",
		PhysicalName: "scenarios",
		Description:  "Scenarios with their questions.",
		Key:          schema.Key{Partition: "scenarioId"},
		Capacity:     schema.Capacity{ReadUnits: 5, WriteUnits: 1},
		Attributes: append(schema.After(schema.AttributesOf(Scenario{}), "questions", schema.String.Attribute("active",
			"\"true\" or \"false\": whether the scenario is available")), schemaVersion),
		Indexes: []schema.Index{
			{Name: "ActiveScenarios", Key: schema.Key{Partition: "active", Sort: "difficulty"},
				Description: "Active scenarios by difficulty."},
		},
	}
}

func guards() schema.Table {
	return schema.Table{
		Name:         "Guards",
		PhysicalName: "guards",
		Description: "Short-lived items that guard the other tables: idempotency keys, the evaluations of a user on " +
			"a day, and deletions of users.",
		Key:        schema.Key{Partition: "guardKey"},
		TimeToLive: "expiresAt",
		Stream:     schema.StreamNewImage,
		Attributes: slices.Concat([]schema.Attribute{
			schema.String.Attribute("guardKey",
				"Partition key: KEY# and the digest of user and idempotency key, EVALUATIONS#day#user, or DELETION# "+
					"and the digest of the user"),
			schema.Number.Attribute("evaluations",
				"EVALUATIONS#: evaluations begun for the user on the day (UTC), failed ones included"),
			schema.String.Attribute("deletion",
				"DELETION#: random id of the deletion of the user that goes on; absent when it is over"),
			schema.String.Attribute("deletedUser", "DELETION#: the user, as long as the deletion goes on"),
			schema.String.Attribute("deletedAt", "DELETION#: when the user last asked for it: "+moment),
			schema.Number.Attribute("expiresAt", "End of use in Unix seconds (TTL attribute)"),
		}, schema.IdempotencyAttributes()),
	}
}

func accessPatterns() []schema.AccessPattern {
	return schema.UsedBy("clarityapi", slices.Concat([]schema.AccessPattern{
		schema.GetItem.Pattern("GetAttempt", "Attempts", "An attempt as it is now.").InOrigin("Get attempt by ID").
			UsedBy("clarityapi", "evaluator", "profiler"),
		schema.Query.Pattern("ListUserAttempts", "Attempts", "A user's attempts, newest first.").
			By("UserAttempts", schema.Where("userId", schema.Equal)).Downwards().
			InOrigin("List user attempts; Get recent attempts for profile").UsedBy("clarityapi", "accounteraser"),
		schema.Transaction("SubmitAttempt",
			"Store a completed attempt before it is evaluated, under the claim of its first try.",
			schema.PutItem.On("Attempts",
				"the attempt, unless its id exists; or a changed one, if it still has the version that was "+
					"read, and is in progress"),
			schema.UpdateItem.On("Guards",
				"one more evaluation of the user on the day, if the limit is not reached"),
			schema.ClaimKey("Guards")),
		schema.PutItem.Pattern("StoreAttempt", "Attempts",
			"Store a new attempt that is not evaluated now, without an idempotency key, unless its id exists."),
		schema.Transaction("SaveAttempt", "Store an attempt that is not evaluated now.",
			schema.PutItem.On("Attempts",
				"the attempt, unless its id exists; or a changed one, if it still has the version that was "+
					"read, and is in progress"),
			schema.KeepAnswer("Guards")),
		schema.Transaction("ClaimEvaluation", "Claim the evaluation of a completed attempt for one try.",
			schema.UpdateItem.On("Attempts",
				"the claim, if the attempt is not evaluated and no other try is running"),
			schema.UpdateItem.On("Guards",
				"one more evaluation of the user on the day, if the limit is not reached")).
			UsedBy("clarityapi", "evaluator"),
		schema.PutItem.Pattern("SettleEvaluation", "Attempts",
			"End a try to evaluate an attempt: its evaluation, or why it failed and when to try again, if "+
				"the claim is still this try's.").UsedBy("clarityapi", "evaluator"),
		schema.Transaction("AnswerEvaluation", "SettleEvaluation for a request with an idempotency key.",
			schema.PutItem.On("Attempts",
				"the attempt with its evaluation, or with why it failed and when to try again, if the claim "+
					"is still this try's"),
			schema.KeepAnswer("Guards")),
		schema.Query.Pattern("ListPendingEvaluations", "Attempts",
			"Attempts whose evaluation may be tried again now, longest overdue first.").
			By("PendingEvaluations", schema.Where("pendingEvaluation", schema.Equal),
				schema.Where("evaluateAfter", schema.LessOrEqual)).UsedBy("evaluator"),
		schema.Query.Pattern("GetLatestProfile", "Profiles",
			"The latest profile of a user, and before it those that are later than an attempt which comes "+
				"out of order.").By("", schema.Where("userId", schema.Equal),
			schema.Where("timestamp", schema.Greater)).
			Downwards().Consistently().InOrigin("Get latest profile").UsedBy("clarityapi", "profiler"),
		schema.Query.Pattern("ListProfiles", "Profiles", "A user's profiles, newest first.").
			By("", schema.Where("userId", schema.Equal), schema.Where("timestamp", schema.Greater)).Downwards().
			InOrigin("Get profile history"),
		schema.Transaction("AddProfile", "Add the profiles of a user's evaluated attempts at their places in time.",
			schema.UpdateItem.On("Profiles",
				"the latest profile so far, if it is as it was read: its end of retention; or the item "+
					"before the first one, if there is none").IfNeeded(),
			schema.PutItem.On("Profiles", "a profile, unless there is one for the attempt").ForEach(),
			schema.PutItem.On("Profiles",
				"a later profile with the attempt in it, if it is as it was read").ForEach().IfNeeded()).
			InOrigin("Update profile").UsedBy("profiler"),
		schema.GetItem.Pattern("GetScenario", "Scenarios", "A scenario.").Eventually().InOrigin("Get scenario by ID").
			UsedBy("clarityapi", "evaluator"),
		schema.Query.Pattern("ListActiveScenarios", "Scenarios", "All active scenarios, by difficulty.").
			By("ActiveScenarios", schema.Where("active", schema.Equal)).InOrigin("List active scenarios"),
		schema.Query.Pattern("ListScenariosByDifficulty", "Scenarios", "The active scenarios of one difficulty.").
			By("ActiveScenarios", schema.Where("active", schema.Equal), schema.Where("difficulty", schema.Equal)).
			InOrigin("List scenarios by difficulty"),
		schema.PutItem.Pattern("AddScenario", "Scenarios", "Store a scenario, unless its id exists.").
			UsedBy("scenarioseeder"),
		schema.ReadIdempotency("Guards"),
	}, deletionPatterns(), schema.IdempotencyPatterns("Guards"))...)
}
