package clarity

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema"
)

// AttemptParams name an attempt.
type AttemptParams struct {
	ID string `path:"id" strict:"uuid" doc:"The attempt's id." example:"550e8400-e29b-41d4-a716-446655440000"`
}

// PageParams are the parameters of a list.
type PageParams struct {
	Limit     int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many to return at most. A page may have fewer and still be continued."`
	NextToken string `query:"nextToken" doc:"The nextToken of the page before."`
}

// ScenariosParams narrow the list of scenarios.
type ScenariosParams struct {
	Difficulty Difficulty `query:"difficulty" enum:",beginner,intermediate,advanced" doc:"Only scenarios of this difficulty; all by default."`
}

// ScenarioParams name a scenario.
type ScenarioParams struct {
	ID string `path:"id" doc:"The scenario's id." example:"city-bike-lanes"`
}

// ScenarioList has scenarios.
type ScenarioList struct {
	Scenarios []Scenario `json:"scenarios" nullable:"false" doc:"The easiest first."`
}

const (
	// waits says how requests that complete an attempt evaluate it.
	waits = " The answer waits for the evaluation. An attempt whose evaluation fails, takes too long, or is put " +
		"off by the limit of evaluations a day is stored all the same: evaluation is null, evaluationFailure says " +
		"why, and it is evaluated later without another request."
	// versioned describes the header ETag.
	versioned = "The attempt's version, for If-Match."
)

// The operations on the caller's attempts.
var (
	CreateAttempt = schema.Operation[schema.None, Submission, Attempt]{
		ID: "createAttempt", Route: "POST /attempts", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "Begin an attempt, or submit a completed one",
		Detail:  "Stores an attempt, and evaluates a completed one." + waits,
		Status:  http.StatusCreated, Location: "/attempts/{attemptId}",
		Headers: map[string]string{"ETag": versioned, "Location": "The path of the attempt."},
		Key:     schema.KeyOptional,
		Errors: []error{ErrScenarioNotFound, ErrScenarioInactive, &RunningError{},
			ErrBeingDeleted},
	}
	ListAttempts = schema.Operation[PageParams, schema.None, AttemptList]{
		ID: "listAttempts", Route: "GET /attempts", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "List one's attempts, newest first",
		Detail: "Returns a page of the caller's attempts. A list follows a change of an attempt within a moment; the " +
			"attempt itself follows at once.",
	}
	ReadAttempt = schema.Operation[AttemptParams, schema.None, Attempt]{
		ID: "readAttempt", Route: "GET /attempts/{id}", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "Read an attempt",
		Detail:  "Returns an attempt.",
		Headers: map[string]string{"ETag": versioned},
		Errors:  []error{ErrAttemptNotFound, ErrForbidden},
	}
	SaveAttempt = schema.Operation[AttemptParams, Save, Attempt]{
		ID: "saveAttempt", Route: "PUT /attempts/{id}", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "Save, complete or abandon an attempt in progress",
		Detail: "Changes an attempt in progress. Completing it evaluates it, and makes the time of submission its " +
			"timestamp." + waits,
		Headers: map[string]string{"ETag": versioned}, IfMatch: "the attempt", Key: schema.KeyOptional,
		Errors: []error{ErrAttemptNotFound, ErrForbidden, ErrScenarioNotFound, ErrNotInProgress, &RunningError{},
			ErrBeingDeleted},
	}
	EvaluateAttempt = schema.Operation[AttemptParams, schema.None, Attempt]{
		ID: "evaluateAttempt", Route: "POST /attempts/{id}/evaluate", Function: "clarityapi",
		Caller:  schema.CallerUser,
		Summary: "Evaluate a completed attempt whose evaluation failed",
		Detail: "Evaluates a completed attempt that has no evaluation. An attempt that has one keeps it. If the " +
			"evaluation fails, the answer has none, and says why.",
		Errors: []error{ErrAttemptNotFound, ErrForbidden, ErrNotCompleted, &RunningError{}, &LimitError{},
			ErrBeingDeleted},
	}
)

// The operations on scenarios and profiles, and the one that says what the API is.
var (
	ListScenarios = schema.Operation[ScenariosParams, schema.None, ScenarioList]{
		ID: "listScenarios", Route: "GET /scenarios", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "List the active scenarios",
		Detail:  "Returns all active scenarios.",
	}
	ReadScenario = schema.Operation[ScenarioParams, schema.None, Scenario]{
		ID: "readScenario", Route: "GET /scenarios/{id}", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "Read a scenario",
		Detail:  "Returns a scenario, also one that is not active any more.",
		Errors:  []error{ErrScenarioNotFound},
	}
	ReadProfile = schema.Operation[schema.None, schema.None, Profile]{
		ID: "readProfile", Route: "GET /users/me/profile", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "Read one's latest profile",
		Detail:  "Returns the caller's latest profile. It follows the evaluation of an attempt within a moment.",
		Errors:  []error{ErrNoProfile},
	}
	ListProfiles = schema.Operation[PageParams, schema.None, ProfileList]{
		ID: "listProfiles", Route: "GET /users/me/profile/history", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "List one's profiles, newest first",
		Detail:  "Returns a page of the caller's profiles, one for each evaluated attempt.",
	}
	ReadDocument = schema.DocumentOperation("GET /openapi.json", "clarityapi", "Returns the description of all routes.")
)

// Operations are all operations, in the order of their routes.
func Operations() []schema.Described {
	return []schema.Described{CreateAttempt, ListAttempts, ReadAttempt, SaveAttempt, EvaluateAttempt, ListScenarios,
		ReadScenario, ReadProfile, ListProfiles, ExportData, DeleteUser, ReadDocument}
}
