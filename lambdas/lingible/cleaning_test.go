package lingible_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership/ownershiptest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// naming are the items of all tables that have a text in any attribute.
func (m *moderated) naming(text string) []string {
	return ownershiptest.Named(m.t, m.Tables, lingible.Platform(), text)
}

// wrongVotes are the notes of votes for submissions that are gone, and the submissions whose count
// of votes is wrong.
func (m *moderated) wrongVotes() (found []string) {
	there := map[string]bool{}
	for _, read := range dynamotest.All[lingible.Submission](m.t, m.Tables, "Submissions") {
		if there[read.ID] = true; read.Upvotes != len(read.UpvotedBy) {
			found = append(found, fmt.Sprintf("%+v", read))
		}
	}
	for _, item := range m.Items(m.t, "Users") {
		if strings.HasPrefix(item["SK"].(string), "VOTE#") && !there[item["submission_id"].(string)] {
			found = append(found, fmt.Sprint(item))
		}
	}
	return found
}

// cleaner is the service with the access patterns of the cleaner's function.
func (m *moderated) cleaner() *service.Service {
	return &service.Service{DB: m.As(m.t, "accountcleaner")}
}

// leaves lets a user, who is an administrator, have something of each kind, which others have voted
// for, and begin to leave.
// It returns the term that the user has submitted, and brought into the lexicon if it is approved.
func (m *moderated) leaves(id string, shared lingible.Submission, voters []service.Caller, isApproved,
	isOld bool) (term string) {
	m.t.Helper()
	ctx, caller := m.t.Context(), m.Premium(m.t, id)
	term = "term of " + strings.TrimLeft(id, "leavr-")
	submission := must.Get(m.Submit(ctx, caller, proposal(term)))(m.t)
	must.OK(m.t, m.Validate(ctx, lingible.Slug(term), submission.ID))
	for _, voter := range voters {
		must.Get(m.Vote(ctx, voter, submission.ID))(m.t)
	}
	if isApproved {
		must.Get(m.Approve(ctx, "administrator", submission.ID))(m.t)
	}
	must.Get(m.Vote(ctx, caller, shared.ID))(m.t)
	must.Get(m.Reject(ctx, id, m.submitted("rejected with "+term).ID))(m.t)
	for range 2 {
		must.Get(m.Translate(ctx, caller, lingible.TranslationInput{Text: "no cap"}))(m.t)
	}
	if isOld {
		// 7 days later no item of the user names the submission.
		must.OK(m.t, m.Tables.Delete(ctx, "DeleteUserItem", []any{"USER#" + id, "SUBMITTED#" + lingible.Slug(term)},
			dynamo.Equal("submission_id", submission.ID)))
	}
	_, _, err := m.Keys().Begin(ctx, id, "a key", []byte("request"), time.Second)
	must.OK(m.t, err)
	m.Advance(time.Hour)
	must.OK(m.t, m.DeleteAccount(ctx, caller))
	return term
}

// A cleaner that dies after any write, and is resumed, leaves no item that names the user in any
// table, and no vote for a submission that is gone, not even in between. An approved term stays.
func TestCleanerDies(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 100)
	ctx := t.Context()
	shared := m.submitted("shared term")
	must.OK(t, m.Validate(ctx, lingible.Slug(shared.Term), shared.ID))
	voters := []service.Caller{m.Caller("voter 1"), m.Caller("voter 2")}
	cleaner := m.cleaner()
	for died := 1; ; died++ {
		id := fmt.Sprintf("leaver-%02d", died)
		isApproved := died%2 == 0
		term := m.leaves(id, shared, voters, isApproved, died%4 < 2)
		var writes atomic.Int64
		m.Tables.Recorder.Faults(func(schema.Action) error {
			if writes.Load() >= int64(died) {
				return errors.New("the process is dead")
			}
			return nil
		}, func(operation schema.Action) error {
			if operation == schema.DeleteItem || operation == schema.UpdateItem {
				writes.Add(1)
			}
			return nil
		})
		complete, err := cleaner.CleanAccount(ctx, id)
		m.Tables.Recorder.Faults(nil, nil)
		if wrong := m.wrongVotes(); len(wrong) > 0 {
			t.Errorf("died after write %d: %v", died, wrong)
		}
		if _, err := m.Usage(ctx, service.Caller{ID: id, SignedIn: m.Read().Add(-30 * time.Minute)}); !errors.Is(err,
			lingible.ErrUserDeleted) {
			t.Errorf("died after write %d: the user gets %v", died, err)
		}
		isLast := err == nil && complete
		if !isLast {
			if complete, err := cleaner.CleanAccount(ctx, id); err != nil || !complete {
				t.Errorf("died after write %d: resumed: %t, %v", died, complete, err)
			}
			if left := m.naming(id); len(left) > 0 {
				t.Errorf("died after write %d: left are %v", died, left)
			}
		}
		if wrong := m.wrongVotes(); len(wrong) > 0 {
			t.Errorf("resumed after write %d: %v", died, wrong)
		}
		if _, found, err := service.StoredEntry(m.Service, ctx, lingible.Slug(term)); err != nil ||
			found != isApproved {
			t.Errorf("died after write %d: the lexicon has the term: %t, %v", died, found, err)
		}
		if isLast {
			if died < 9 {
				t.Errorf("it makes %d writes", died-1)
			}
			break
		}
	}
	if read, _, err := service.StoredSubmission(ctx, m.Service, lingible.Slug(shared.Term), shared.ID); err != nil ||
		read.Upvotes != 0 {
		t.Errorf("got %+v, %v", read, err)
	}
}

// shrinking is a context that ends soon once so many items are deleted.
type shrinking struct {
	context.Context
	left *atomic.Int64
}

func (s shrinking) Deadline() (time.Time, bool) {
	if s.left.Load() <= 0 {
		return worldtest.Leaving(s.Context, 2*time.Second).Deadline()
	}
	return time.Now().Add(time.Hour), true
}

// A cleaner whose time ends amid a user's votes has not failed, and the next one goes on.
func TestCleanerOfManyVotes(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 100)
	ctx := t.Context()
	caller := m.Premium(t, "voter")
	const votes = 60
	for i := range votes {
		id := fmt.Sprint("gone ", i)
		m.Tables.Store(t, "Users", map[string]any{"PK": "USER#voter", "SK": "VOTE#" + id, "submission_id": id,
			"term_key": "TERM#gone"})
	}
	m.Advance(time.Hour)
	must.OK(t, m.DeleteAccount(ctx, caller))
	var left atomic.Int64
	left.Store(20)
	m.Tables.Recorder.Faults(nil, func(operation schema.Action) error {
		if operation == schema.DeleteItem {
			left.Add(-1)
		}
		return nil
	})
	cleaner := m.cleaner()
	complete, err := cleaner.CleanAccount(shrinking{ctx, &left}, "voter")
	there := len(m.references("voter", "VOTE#"))
	// Those that had begun are cleaned, too.
	if complete || err != nil || there == 0 || there > votes-20 {
		t.Errorf("in a short time: got %t, %v, and %d of %d votes are left", complete, err, there, votes)
	}
	if complete, err := cleaner.CleanAccount(ctx, "voter"); !complete || err != nil || len(m.naming("voter")) > 0 {
		t.Errorf("then: got %t, %v; left are %v", complete, err, m.naming("voter"))
	}
}
