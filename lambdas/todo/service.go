// Package todo is what runs of To-Do: [Service] works on users and tasks, and keeps them in DynamoDB. Package api
// serves it.
//
// Items that must agree are written in one transaction: a task with the keys of all four indexes, the counts that it is
// in, and the answer to the request that writes it ([idempotency.Transact]). A write succeeds only if the items that it
// was computed from are unchanged. A user's counts exist, without a deletion, as long as the user does, so nothing is
// added to a deleted user.
package todo

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Service has the operations on a user's tasks and on the user. It is safe for concurrent use.
//
// A user who is being deleted counts as deleted: methods find and change nothing of theirs, though the table may still
// have it.
//
// Package httpapi has judged the input of each method, before the request's key is claimed. A write that conflicts with
// others on the same task or user is computed again. After too many conflicts it returns an error that wraps
// [retry.ErrStale].
type Service struct {
	// DB is the platform's table, as the function may use it.
	DB *dynamo.DB
	// CursorKey signs the cursors of lists.
	CursorKey dynamo.CursorKey
	Clock     wire.Clock
	// Metrics receives TasksCreated and TasksCompleted, after the write. Nil: none.
	Metrics *kit.Metrics
}

// Platform returns the platform, as the service's tables describe it.
func (s *Service) Platform() schema.Platform { return s.DB.Platform(todo.Platform) }

// Keys are the idempotency keys in the platform's table. Their scope is the user's id.
func Keys(db *dynamo.DB) *idempotency.Keys {
	keys := idempotency.New(db, table, func(user, key string) []any {
		// The caller's key may be longer than a sort key can be.
		return []any{idempotencyPrefix + user, fmt.Sprintf("KEY#%x", sha256.Sum256([]byte(key)))}
	})
	keys.CreatedAt = "created_at"
	return keys
}

const table = "AppData"

// The keys of the items. Callers' text is the last part of a key, so that keys differ for any text.
const (
	metadata          = todo.Metadata
	userPrefix        = todo.UserPrefix
	emailPrefix       = "EMAIL#"
	taskPrefix        = todo.TaskPrefix
	countsPrefix      = "COUNTS#"
	idempotencyPrefix = "IDEMPOTENCY#"
	ownerPrefix       = "OWNER#"
)

// stopTime is how long before the invocation's deadline long work stops, to leave time for its last
// steps.
const stopTime = 3 * time.Second

func (s *Service) now() todo.Timestamp { return todo.At(s.Clock.Now()) }
