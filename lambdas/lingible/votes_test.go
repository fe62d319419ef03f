package lingible_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/historytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// ballot is a submission, with a bit for each user who has voted for it.
type ballot struct {
	status lingible.SubmissionStatus
	voters uint64
}

// decision is a call about the submission of a term: "vote" by a voter, "validate", "approve", "reject", or "look".
type decision struct {
	term, does string
	voter      int
}

// Of users who vote, validations and administrators who approve and reject, all at once, each sees what could be if one
// came after the other: a vote of a user counts once, also when it is repeated, the one that reaches the threshold
// approves, and one administrator decides. In the end the lexicon has an approved term once, and a rejected one never.
func TestDecisionHistories(t *testing.T) {
	t.Parallel()
	const threshold, voters = 6, 12
	m := newModerated(t, threshold)
	ctx := t.Context()
	m.voters(voters)
	shown := func(b ballot, terms, approvals int) string {
		return fmt.Sprint(b.status, " with ", bits.OnesCount64(b.voters), " votes, ", terms, " terms, ", approvals)
	}
	h := historytest.New(historytest.Model[ballot, decision]{
		Start: ballot{status: lingible.Pending},
		Key:   func(d decision) string { return d.term },
		Step: historytest.Returns(func(b ballot, d decision) (ballot, string) {
			approved := 0
			if b.status.ApprovalType() != "" {
				approved = 1
			}
			undecided := b.status == lingible.Pending || b.status == lingible.Validated
			switch d.does {
			case "look":
				return b, shown(b, approved, approved)
			case "validate":
				if b.status == lingible.Pending {
					b.status = lingible.Validated
				}
				return b, "done"
			case "approve", "reject":
				if !undecided {
					return b, "decided"
				}
				b.status = map[string]lingible.SubmissionStatus{"approve": lingible.AdminApproved,
					"reject": lingible.AdminRejected}[d.does]
				return b, "done"
			}
			if b.status != lingible.Validated && b.status != lingible.CommunityApproved {
				return b, "not open"
			}
			if b.voters&(1<<d.voter) != 0 {
				return b, "voted"
			}
			if b.voters |= 1 << d.voter; bits.OnesCount64(b.voters) >= threshold {
				b.status = lingible.CommunityApproved
			}
			return b, "done"
		}),
	})
	for round := range 6 {
		term := fmt.Sprint("term ", round)
		submission := m.submitted(term)
		call := func(does string, voter int) (decision, func() string) {
			return decision{term, does, voter}, func() string {
				var err error
				switch does {
				case "validate":
					err = m.Validate(ctx, lingible.Slug(term), submission.ID)
				case "approve":
					_, err = m.Approve(ctx, "approver", submission.ID)
				case "reject":
					_, err = m.Reject(ctx, "rejecter", submission.ID)
				default:
					_, err = m.Vote(ctx, m.Caller(fmt.Sprint("voter ", voter)), submission.ID)
				}
				switch {
				case is[*lingible.DecidedError](err):
					return "decided"
				case errors.Is(err, lingible.ErrNotOpen):
					return "not open"
				case errors.Is(err, lingible.ErrAlreadyVoted):
					return "voted"
				case err != nil:
					return historytest.Error(err)
				}
				return "done"
			}
		}
		before := metricstest.Sums(t, m.Counted())["Approvals"]
		m.Tables.Wire.Answers(dynamotest.Refusing)
		h.Together(8, 4, func(client, number int) (decision, func() string) {
			switch {
			case number == 0:
				return call("validate", 0)
			// In every other round the votes decide.
			case round%2 == 0 && number == 2 && client%3 == 0:
				return call([]string{"approve", "reject"}[client/3%2], 0)
			}
			return call("vote", (3*client+number)%voters)
		})
		m.Tables.Wire.Answers(nil)
		h.Call(0, decision{term: term, does: "look"}, func() string {
			got := m.stored(submission)
			seen := ballot{status: got.Status}
			for _, voter := range got.UpvotedBy {
				var n int
				if _, err := fmt.Sscanf(voter, "voter %d", &n); err != nil {
					t.Errorf("a vote of %s: %v", voter, err)
				}
				seen.voters |= 1 << n
			}
			isApprover := got.ReviewedBy == digest("approver")
			if got.Upvotes != len(got.UpvotedBy) || got.ApprovalType != got.Status.ApprovalType() ||
				got.ReviewedBy != "" && isApprover != (got.Status == lingible.AdminApproved) {
				t.Errorf("got %+v", got)
			}
			return shown(seen, m.terms()[term], int(metricstest.Sums(t, m.Counted())["Approvals"]-before))
		})
	}
	h.Judge(t)
}

// kill lets the next request of that operation be the last one of a process, whose answer is lost. It returns a
// function that says whether it was made, and starts the next process.
func (m *moderated) kill(last schema.Action) (killed func() bool) {
	made := false
	m.Recorder.Faults(nil, func(operation schema.Action) error {
		if operation != last {
			return nil
		}
		made = true
		m.Kill(0, false)
		return worldtest.ErrKilled
	})
	return func() bool {
		m.Heal()
		return made
	}
}

// The submissions of one term by several users, approved at once, make one entry, and all are
// approved.
func TestOneEntry(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	var same []lingible.Submission
	for range 3 {
		same = append(same, m.open("low-key"), m.open("Low Key!"))
	}
	var all sync.WaitGroup
	for _, submission := range same {
		all.Go(func() {
			if got, err := m.Approve(t.Context(), "admin", submission.ID); err != nil ||
				got.Status != lingible.AdminApproved {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	all.Wait()
	for _, submission := range same {
		if got := m.stored(submission); got.Status != lingible.AdminApproved {
			t.Errorf("got %+v", got)
		}
	}
	if terms := m.terms(); len(m.Stored(t, "Lexicon")) != 1 || terms["low-key"]+terms["Low Key!"] != 1 {
		t.Errorf("the lexicon has %v", terms)
	}
}

// A validation that comes again, at once or after its process died at any write, is one.
func TestOneValidation(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx := t.Context()
	m.speaker.Judge = func(lingible.Proposal) (lingible.Verdict, error) {
		return lingible.Verdict{Valid: true, Confidence: 0.9, Usage: 8}, nil
	}
	validate := func(submission lingible.Submission) error {
		return m.Validate(ctx, lingible.Slug(submission.Term), submission.ID)
	}
	same := m.submitted("same")
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if err := validate(same); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	killed := m.submitted("killed")
	after := m.kill(schema.BatchGetItem)
	if err := validate(killed); !after() || !errors.Is(err, worldtest.ErrKilled) ||
		m.stored(killed).Status != lingible.Pending {
		t.Errorf("killed before its write: got %v", err)
	}
	after = m.kill(schema.TransactWriteItems)
	if err := validate(killed); !after() || !errors.Is(err, worldtest.ErrKilled) ||
		m.stored(killed).Status != lingible.AutoApproved {
		t.Errorf("killed after its write: got %v", err)
	}
	lost := m.submitted("lost")
	m.Tables.Wire.Lose(1)
	if err := validate(lost); err != nil {
		t.Error(err)
	}
	for _, submission := range []lingible.Submission{same, killed, lost} {
		before := m.stored(submission)
		m.Advance(time.Minute)
		if err := validate(submission); err != nil {
			t.Error(err)
		}
		if got := m.stored(submission); got.Status != lingible.AutoApproved ||
			!got.ReviewedAt.Equal(before.ReviewedAt) {
			t.Errorf("got %+v", got)
		}
	}
	for term, n := range m.terms() {
		if n != 1 {
			t.Errorf("the lexicon has %s %d times", term, n)
		}
	}
	// The one that was killed after its write did not count.
	if n := metricstest.Sums(t, m.Counted())["Approvals"]; n != 2 || len(m.terms()) != 3 {
		t.Errorf("counted %v approvals of %v", n, m.terms())
	}
	// What an administrator decides during the validation stays.
	rejected := m.submitted("rejected")
	m.speaker.Judge = func(lingible.Proposal) (lingible.Verdict, error) {
		_, err := m.Reject(ctx, "admin", rejected.ID)
		return lingible.Verdict{Valid: true, Confidence: 0.9, Usage: 8}, err
	}
	if err := validate(rejected); err != nil || m.stored(rejected).Status != lingible.AdminRejected ||
		m.terms()["rejected"] != 0 {
		t.Errorf("got %v, %+v", err, m.stored(rejected))
	}
}

// Lists have the submissions of one user, newest first, and those open to votes, oldest first, with
// their meaning and votes, and go on where a page ends. They name no user.
func TestSubmissionLists(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx := t.Context()
	var mine, open []string
	ann := m.Premium(t, "ann")
	for i := range 7 {
		own := must.Get(m.Submit(ctx, ann, proposal(fmt.Sprint("own ", i))))(t)
		mine = append([]string{own.ID}, mine...)
		m.Advance(time.Millisecond)
		other := m.open(fmt.Sprint("open ", i))
		open = append(open, other.ID)
		m.submitted(fmt.Sprint("pending ", i))
	}
	for _, test := range []struct {
		name  string
		pages func(most int, from string) (lingible.SubmissionList, error)
		want  []string
	}{
		{"mine", func(most int, from string) (lingible.SubmissionList, error) {
			return m.OwnSubmissions(ctx, "ann", most, from)
		}, mine},
		{"pending", func(most int, from string) (lingible.SubmissionList, error) {
			return m.OpenSubmissions(ctx, most, from)
		}, open},
		{"nobody's", func(most int, from string) (lingible.SubmissionList, error) {
			return m.OwnSubmissions(ctx, "bob", most, from)
		}, nil},
	} {
		for _, most := range []int{1, 3, 7, 100} {
			all := dynamotest.Pages(t, func(from string) ([]lingible.Submission, string, error) {
				list, err := test.pages(most, from)
				if len(list.Submissions) > most {
					t.Errorf("%s: got %d for %d", test.name, len(list.Submissions), most)
				}
				return list.Submissions, list.NextCursor, err
			})
			var got []string
			for _, submission := range all {
				text, err := json.Marshal(submission)
				if err != nil || submission.Meaning == "" || submission.Example == "" ||
					strings.Contains(string(text), "author") || strings.Contains(string(text), "ann") {
					t.Errorf("%s: got %v, %s", test.name, err, text)
				}
				got = append(got, submission.ID)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s in pages of %d: got %v, want %v", test.name, most, got, test.want)
			}
		}
	}
	list := must.Get(m.OwnSubmissions(ctx, "ann", 1, ""))(t)
	if _, err := m.OpenSubmissions(ctx, 1, list.NextCursor); err == nil {
		t.Error("a cursor of another list was taken")
	}
}

// Nothing is written for a user whose account is deleted.
func TestDeletedSubmitter(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx := t.Context()
	submission := m.open("term")
	for name, attempt := range map[string]func(service.Caller) error{
		"submit": func(ann service.Caller) error { _, err := m.Submit(ctx, ann, proposal("other")); return err },
		"vote":   func(ann service.Caller) error { _, err := m.Vote(ctx, ann, submission.ID); return err },
	} {
		before, during := m.Premium(t, name+" before"), m.Premium(t, name+" during")
		remove := func(caller service.Caller) error { return m.DeleteAccount(ctx, caller) }
		must.OK(t, remove(before))
		if err := attempt(before); !errors.Is(err, lingible.ErrUserDeleted) {
			t.Errorf("%s after the deletion: got %v", name, err)
		}
		m.Tables.Recorder.Faults(nil, func(schema.Action) error {
			m.Tables.Recorder.Faults(nil, nil)
			return remove(during)
		})
		if err := attempt(during); !errors.Is(err, lingible.ErrUserDeleted) {
			t.Errorf("%s during the deletion: got %v", name, err)
		}
		for _, user := range []string{before.ID, during.ID} {
			if left := append(m.references(user, "VOTE#"), m.references(user, "SUBMITTED#")...); len(left) != 0 {
				t.Errorf("%s left %v", user, left)
			}
		}
	}
	if got := m.stored(submission); got.Upvotes != 0 || len(m.Stored(t, "Submissions")) != 1 {
		t.Errorf("got %+v", got)
	}
}
