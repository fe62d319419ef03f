package lingible_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// moderated is a moderation on tables of its own.
type moderated struct {
	*lingibletest.World
	t       *testing.T
	speaker *lingibletest.Speaker
	people  int
}

func newModerated(t *testing.T, votes int) *moderated {
	t.Helper()
	w, speaker := lingibletest.New(t), &lingibletest.Speaker{}
	w.Language, w.VotesToApprove = speaker, votes
	return &moderated{World: w, t: t, speaker: speaker}
}

func proposal(term string) lingible.Proposal {
	return lingible.Proposal{Term: term, Meaning: "The meaning of " + term, Example: "They said " + term + " to us."}
}

// submitted is a new submission of a term by a premium user of its own.
func (m *moderated) submitted(term string) lingible.Submission {
	m.t.Helper()
	m.people++
	return must.Get(m.Submit(m.t.Context(), m.Premium(m.t, fmt.Sprint("author ", m.people)),
		proposal(term)))(m.t)
}

// open is a new submission that is open to votes.
func (m *moderated) open(term string) lingible.Submission {
	m.t.Helper()
	submission := m.submitted(term)
	must.OK(m.t, m.Validate(m.t.Context(), lingible.Slug(term), submission.ID))
	return m.stored(submission)
}

// digest is what reviewed_by says of an administrator.
func digest(administrator string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(administrator)))
}

// stored is a submission as the table has it.
func (m *moderated) stored(submission lingible.Submission) lingible.Submission {
	m.t.Helper()
	stored, found, err := service.StoredSubmission(context.WithoutCancel(m.t.Context()), m.Service,
		lingible.Slug(submission.Term), submission.ID)
	if err != nil || !found {
		m.t.Fatalf("got %v, %v", found, err)
	}
	return stored
}

// voters makes the users voter 0, voter 1 and so on.
func (m *moderated) voters(n int) {
	m.t.Helper()
	for i := range n {
		must.Get(m.Usage(m.t.Context(), m.Caller(fmt.Sprint("voter ", i))))(m.t)
	}
}

// terms are the terms of the lexicon, and how often each is there.
func (m *moderated) terms() map[string]int {
	terms := map[string]int{}
	for _, item := range m.Items(m.t, "Lexicon") {
		terms[item["term"].(string)]++
	}
	return terms
}

// references are the sort keys of a user's items with a prefix.
func (m *moderated) references(user, prefix string) (keys []string) {
	for _, item := range m.Items(m.t, "Users") {
		if sort := item["SK"].(string); item["PK"] == "USER#"+user && strings.HasPrefix(sort, prefix) {
			keys = append(keys, sort)
		}
	}
	return keys
}

// A language that is unavailable is not asked about each submission, and submissions that it can never judge do not
// keep others from their turn.
func TestRevalidateAmidFailures(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx := t.Context()
	var asked atomic.Int64
	m.speaker.Judge = func(p lingible.Proposal) (lingible.Verdict, error) {
		if asked.Add(1); strings.HasPrefix(p.Term, "hopeless") {
			return lingible.Verdict{}, lingibletest.Failure()
		}
		return lingible.Verdict{Valid: true}, nil
	}
	const allowed, hopeless = 20, 30
	for i := range hopeless {
		m.submitted(fmt.Sprint("hopeless ", i))
	}
	others := []lingible.Submission{m.submitted("one"), m.submitted("another")}
	m.Advance(time.Minute)
	isLeft := func(submission lingible.Submission) bool {
		return m.stored(submission).ValidationStatus == lingible.Pending
	}
	if run, err := m.Revalidate(worldtest.Leaving(ctx, 10*time.Second)); err != nil ||
		run != (service.Revalidation{Unfinished: true}) {
		t.Errorf("without time: got %+v, %v", run, err)
	}
	for runs := 0; slices.ContainsFunc(others, isLeft); runs++ {
		asked.Store(0)
		run, err := m.Revalidate(ctx)
		// Those that had begun end: four at once, one of them while the last allowed one was failing.
		if failed := run.Failed; err != nil || failed < allowed || failed > allowed+4 || !run.Unfinished ||
			int(asked.Load()) != failed+run.Validated {
			t.Errorf("got %+v, %v after %d questions; want %d failures and an end", run, err, asked.Load(), allowed)
		}
		if runs == 100 {
			t.Fatal("others still wait behind the hopeless ones after 100 runs")
		}
	}
}
