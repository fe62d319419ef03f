package clarity

import (
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// DeletionKept is how long it is known that a user was deleted: longer than a change of an attempt may wait for its
// profile, a day in a stream and 14 in a queue of failures.
const DeletionKept = 30 * 24 * time.Hour

// Data is a page of what is kept of a user, also on the wire.
type Data struct {
	UserID    string    `json:"userId" doc:"The subject of the user's token."`
	Attempts  []Attempt `json:"attempts" nullable:"false" doc:"Newest first."`
	Profiles  []Profile `json:"profiles" nullable:"false" doc:"Newest first, after the last attempt."`
	NextToken string    `json:"nextToken,omitempty" doc:"Where the export goes on; absent at its end."`
}

// Deletion says what becomes of a user, also on the wire.
type Deletion struct {
	Status string `json:"status" enum:"deleting"`
}

// ErrBeingDeleted says that the user is being deleted, and can add nothing meanwhile.
var ErrBeingDeleted error = &problem.Error{Status: http.StatusConflict, RetryAfter: time.Minute,
	Message: "all that is kept of you is being deleted: begin anew in a few minutes"}

// The operations on what is kept of the caller.
var (
	ExportData = schema.Operation[PageParams, schema.None, Data]{
		ID: "exportData", Route: "GET /users/me/data", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "Export all that is kept of one",
		Detail: "Returns a page of the caller's attempts, whole, and then of the profiles. What only counts requests " +
			"and evaluations is left out.",
	}
	DeleteUser = schema.Operation[schema.None, schema.None, Deletion]{
		ID: "deleteUser", Route: "DELETE /users/me", Function: "clarityapi", Caller: schema.CallerUser,
		Summary: "Delete all that is kept of one",
		Detail: "Deletes the caller's attempts and profiles in the background, in some two minutes. Until then the " +
			"caller can add nothing, and a repeat has the same answer. Afterwards the caller can begin anew.",
		Status: http.StatusAccepted,
	}
)

// Owned is what a user owns.
func Owned() []schema.Owned {
	guard := func(name, partition, until string) schema.Owned {
		return schema.Owned{Name: name, Kind: schema.LeaveOwned, Table: "Guards", Partition: partition, Until: until}
	}
	return []schema.Owned{
		{Name: "attempts", Kind: schema.DeleteOwned, List: "ListUserAttempts", Write: "EraseAttempt"},
		{Name: "profiles", Kind: schema.DeleteOwned, List: "ListProfileKeys", Write: "EraseProfile"},
		guard("counts of evaluations", "EVALUATIONS#", "for two days: who begins anew has the same limit"),
		guard("idempotency keys", "KEY#", "for 24 hours, with answers, under a digest of the user"),
		guard("when the user was deleted", deletionPrefix, "for 30 days, under a digest of the user"),
	}
}

// deletionPrefix begins the keys of deletions.
const deletionPrefix = "DELETION#"

// DeletionKey is the key of the deletion of a user in Guards, by a digest of the user's id.
func DeletionKey(digest string) string { return deletionPrefix + digest }

// eraser is the function that deletes what is kept of users.
func eraser() schema.Function {
	return schema.Function{
		Name:        "accounteraser",
		ID:          "AccountEraser",
		Description: "Deletes what is kept of users who have asked for it",
		Timeout:     5 * time.Minute,
		Trigger: schema.OnStream{
			Table: "Guards", Changes: "deletions of users",
			Filters: image(map[string]any{"deletion": map[string]any{"S": []any{map[string]any{"exists": true}}}}),
			// The requests and the additions of profiles that began before the deletion have ended then.
			BatchSize: 10, After: "profiler", BatchWindow: 2 * time.Second, ReportItemFailures: true,
			Failures: schema.Failures{Description: "deletions of users that could not be finished"},
		},
	}
}

func deletionPatterns() []schema.AccessPattern {
	return []schema.AccessPattern{
		schema.GetItem.Pattern("GetDeletion", "Guards", "The deletion of a user, if there is one, or was one lately.").
			UsedBy("clarityapi", "profiler", "accounteraser"),
		schema.UpdateItem.Pattern("BeginDeletion", "Guards",
			"Begin the deletion of a user, or hand one that goes on to the eraser again.").UsedBy("clarityapi"),
		schema.Query.Pattern("ListProfileKeys", "Profiles", "The keys of all items of a user's profiles.").
			By("", schema.Where("userId", schema.Equal)).Consistently().Returning("userId", "timestamp").
			UsedBy("accounteraser"),
		schema.DeleteItem.Pattern("EraseAttempt", "Attempts", "Delete an attempt of a user who is being deleted.").
			UsedBy("accounteraser"),
		schema.DeleteItem.Pattern("EraseProfile", "Profiles", "Delete a profile of a user who is being deleted.").
			UsedBy("accounteraser"),
		schema.UpdateItem.Pattern("FinishDeletion", "Guards",
			"End the deletion of a user, if it still goes on; it is known for 30 days.").UsedBy("accounteraser"),
	}
}
