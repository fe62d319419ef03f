package clarity

import (
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// The errors that the API returns to callers. Match them with errors.Is.
var (
	// ErrAttemptNotFound says that there is no such attempt.
	ErrAttemptNotFound = problem.New(http.StatusNotFound, "", "there is no such attempt")
	// ErrForbidden says that the attempt is another user's.
	ErrForbidden = problem.New(http.StatusForbidden, "", "this attempt is another user's")
	// ErrNotInProgress says that the attempt is completed or abandoned, and stays as it is.
	ErrNotInProgress = problem.New(http.StatusConflict, "",
		"the attempt is no longer in progress, so it stays as it is: begin another one")
	// ErrNotCompleted says that the attempt is not completed, and so cannot be evaluated.
	ErrNotCompleted = problem.New(http.StatusConflict, "",
		"the attempt is not completed: complete it first, which also evaluates it")
	// ErrScenarioNotFound says that there is no such scenario.
	ErrScenarioNotFound = problem.New(http.StatusNotFound, "", "there is no such scenario")
	// ErrNoScenarios says that no scenario is active: the initial data is missing.
	ErrNoScenarios = problem.New(http.StatusNotFound, "",
		"there is no such scenario, and no active one: an operator loads the first ones with onesynth seed clarity")
	// ErrScenarioInactive says that the scenario takes no new attempts.
	ErrScenarioInactive = problem.New(http.StatusConflict, "",
		"the scenario is not active any more: choose another one of GET /scenarios")
	// ErrNoProfile says that the user has no profile yet.
	ErrNoProfile = problem.New(http.StatusNotFound, "",
		"there is no profile yet: the first evaluated attempt makes one")
)

// RunningError says that the evaluation of the attempt is running.
type RunningError struct {
	// Until is when the evaluation will have ended.
	Until time.Time
}

// Error implements error.
func (e *RunningError) Error() string {
	return "the attempt is stored, and its evaluation is running: read the attempt shortly"
}

// Problem implements [problem.Problem].
func (e *RunningError) Problem() *problem.Error { return &problem.Error{Status: http.StatusConflict} }

// Is reports whether target is a *RunningError, with any time.
func (e *RunningError) Is(target error) bool { _, ok := target.(*RunningError); return ok }

// RetryAt returns when the evaluation will have ended.
func (e *RunningError) RetryAt() time.Time { return e.Until }

// LimitError says that the user has reached the limit of evaluations of the day.
type LimitError struct {
	// Until is when the next day begins.
	Until time.Time
}

// Error implements error.
func (e *LimitError) Error() string {
	return "the limit of evaluations a day is reached: try again after midnight UTC"
}

// Problem implements [problem.Problem].
func (e *LimitError) Problem() *problem.Error {
	return &problem.Error{Status: http.StatusTooManyRequests}
}

// Is reports whether target is a *LimitError, with any time.
func (e *LimitError) Is(target error) bool { _, ok := target.(*LimitError); return ok }

// RetryAt returns when the next day begins.
func (e *LimitError) RetryAt() time.Time { return e.Until }
