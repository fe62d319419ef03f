package lingible_test

import (
	"errors"
	"fmt"
	"math/bits"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/historytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
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
