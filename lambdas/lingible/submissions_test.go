package lingible_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
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

// key is the key of a submission's item.
func key(submission lingible.Submission) []any {
	return []any{"TERM#" + lingible.Slug(submission.Term), "SUBMISSION#" + submission.ID}
}

// spoil sets an attribute of a submission to a value.
func (m *moderated) spoil(submission lingible.Submission, attribute string, value any) {
	m.t.Helper()
	m.Tables.Set(m.t, "Submissions", key(submission), map[string]any{attribute: value})
}

// Free users submit nothing, premium users ten terms in 24 hours, also of many at once. An upgrade
// counts at once.
func TestSubmissionLimit(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx := t.Context()
	caller := m.Caller("ann")
	_, err := m.Submit(ctx, caller, proposal("term"))
	if _, ok := errors.AsType[*lingible.SubscriptionError](err); !ok || len(m.Stored(t, "Submissions")) != 0 {
		t.Fatalf("a free user: got %v", err)
	}
	m.Premium(t, "ann")
	must.Get(m.Submit(ctx, caller, proposal("first")))(t)
	first := m.Read()
	m.Advance(time.Hour)
	var all sync.WaitGroup
	var taken atomic.Int32
	for i := range 14 {
		all.Go(func() {
			_, err := m.Submit(ctx, caller, proposal(fmt.Sprint("term ", i)))
			limit, ok := errors.AsType[*lingible.UsageError](err)
			switch {
			case err == nil:
				taken.Add(1)
			case !ok || limit.Limit != 10 || !limit.Until.Equal(first.Add(24*time.Hour)):
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
	if taken.Load() != 9 || len(m.Stored(t, "Submissions")) != 10 {
		t.Errorf("%d more were taken, want 9", taken.Load())
	}
	for _, step := range []struct {
		at   time.Time
		term string
		ok   bool
	}{
		{first.Add(24*time.Hour - time.Millisecond), "late", false},
		{first.Add(24 * time.Hour), "later", true},
		{first.Add(24 * time.Hour), "one more", false},
		{first.Add(25*time.Hour - time.Millisecond), "one more", false},
		{first.Add(25 * time.Hour), "one more", true},
	} {
		m.Advance(step.at.Sub(m.Read()))
		if _, err := m.Submit(ctx, caller, proposal(step.term)); (err == nil) != step.ok {
			t.Errorf("at %s: got %v", step.at, err)
		}
	}
	if got := metricstest.Sums(t, m.Counted())["Submissions"]; got != 12 {
		t.Errorf("counted %v submissions", got)
	}
}

// A user submits a term once in seven days, in any spelling. After them a left-over item does not
// refuse it. A term of the lexicon is refused.
func TestSameTerm(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx := t.Context()
	ann, bob := m.Premium(t, "ann"), m.Premium(t, "bob")
	for _, step := range []struct {
		caller  service.Caller
		term    string
		advance time.Duration
		want    error
	}{
		{ann, "Low-Key", 0, nil},
		{ann, "low key!", 0, lingible.ErrAlreadySubmitted},
		{bob, "low key", 0, nil},
		{ann, "lowkey", 0, nil},
		{ann, "low key", 7*24*time.Hour - time.Millisecond, lingible.ErrAlreadySubmitted},
		{ann, "low key", time.Millisecond, nil},
		{ann, "low key", time.Millisecond, lingible.ErrAlreadySubmitted},
	} {
		m.Advance(step.advance)
		if _, err := m.Submit(ctx, step.caller, proposal(step.term)); !errors.Is(err, step.want) {
			t.Errorf("%s: %q: got %v, want %v", step.caller.ID, step.term, err, step.want)
		}
	}
	var all sync.WaitGroup
	var taken atomic.Int32
	for range 4 {
		all.Go(func() {
			if _, err := m.Submit(ctx, bob, proposal("no cap")); err == nil {
				taken.Add(1)
			} else if !errors.Is(err, lingible.ErrAlreadySubmitted) {
				t.Errorf("at once: got %v", err)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Errorf("of the same term at once, %d were taken", taken.Load())
	}
	approved := m.open("rizz")
	must.Get(m.Approve(ctx, "admin", approved.ID))(t)
	if _, err := m.Submit(ctx, bob, proposal("RIZZ")); !errors.Is(err, lingible.ErrTermKnown) {
		t.Errorf("a known term: got %v", err)
	}
}

// A submission comes back as it was stored, and votes as a set.
func TestSubmissionItem(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx := t.Context()
	in := proposal("Über-“e\u0301” 🌉")
	in.Context = "Heard at school"
	made := must.Get(m.Submit(ctx, m.Premium(t, "us-east-1:ann"), in))(t)
	if diff := cmp.Diff(made, m.stored(made)); diff != "" {
		t.Errorf("(-made +read):\n%s", diff)
	}
	must.OK(t, m.Validate(ctx, lingible.Slug(in.Term), made.ID))
	must.Get(m.Vote(ctx, m.Caller("bob"), made.ID))(t)
	decided := must.Get(m.Approve(ctx, "the admin", made.ID))(t)
	if diff := cmp.Diff(decided, m.stored(made)); diff != "" || decided.ReviewedBy != digest("the admin") ||
		decided.ApprovalType != "admin_manual" ||
		decided.Validation.ModelUsed != "speaker" || decided.Upvotes != 1 {
		t.Errorf("(-decided +read):\n%s", diff)
	}
	item := m.Stored(t, "Submissions")[0]
	if set, ok := item["upvoted_by"].(*types.AttributeValueMemberSS); !ok || !slices.Equal(set.Value, []string{"bob"}) {
		t.Errorf("upvoted_by is %#v", item["upvoted_by"])
	}
	entry, found, err := service.StoredEntry(m.Service, ctx, lingible.Slug(in.Term))
	want := lingible.Entry{Term: in.Term, Gloss: in.Meaning, Examples: []string{in.Example},
		Sources: []string{"community"}, Confidence: 0.8, Momentum: 0.5}
	if diff := cmp.Diff(want, entry); diff != "" || !found || err != nil {
		t.Errorf("got %v (-want +read):\n%s", err, diff)
	}
	text := must.Get(attributevalue.MarshalMapJSON(m.Stored(t, "Lexicon")[0]))(t)
	for _, user := range []string{"ann", "bob", "admin"} {
		if strings.Contains(string(text), user) {
			t.Errorf("the entry names %s", user)
		}
	}
}

// The contract's numbers decide about a verdict, not the language's recommendation.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	for _, test := range []struct {
		verdict    lingible.Verdict
		status     lingible.SubmissionStatus
		validation lingible.SubmissionStatus
	}{
		{lingible.Verdict{Valid: true, Confidence: 0.85, Usage: 7}, lingible.AutoApproved, lingible.Validated},
		{lingible.Verdict{Valid: true, Confidence: 1, Usage: 10, Recommended: true}, lingible.AutoApproved,
			lingible.Validated},
		{lingible.Verdict{Valid: true, Confidence: 0.85, Usage: 6, Recommended: true}, lingible.Validated,
			lingible.Validated},
		{lingible.Verdict{Valid: true, Confidence: 0.849, Usage: 7, Recommended: true}, lingible.Validated,
			lingible.Validated},
		{lingible.Verdict{Valid: true, Confidence: 0, Usage: 1}, lingible.Validated, lingible.Validated},
		{lingible.Verdict{Confidence: 1, Usage: 10, Recommended: true, Reasons: []string{"No."}}, lingible.Rejected,
			lingible.Rejected},
	} {
		m.speaker.Judge = func(lingible.Proposal) (lingible.Verdict, error) { return test.verdict, nil }
		got := m.open(fmt.Sprintf("term %s %v", test.status, test.verdict))
		if got.Status != test.status || got.ValidationStatus != test.validation ||
			got.Validation.Confidence != test.verdict.Confidence {
			t.Errorf("%+v: got %+v", test.verdict, got)
		}
		approved := test.status == lingible.AutoApproved
		if got.ReviewedAt.IsZero() != (test.status == lingible.Validated) ||
			(got.ApprovalType == "llm_auto") != approved || m.terms()[got.Term] > 0 != approved {
			t.Errorf("%+v: got %+v, and the lexicon %v", test.verdict, got, m.terms())
		}
	}
	rejected := 0
	for _, item := range m.Stored(t, "Submissions") {
		ends, ok := item["ttl"].(*types.AttributeValueMemberN)
		if !ok {
			continue
		}
		rejected++
		if want := fmt.Sprint(m.Read().AddDate(0, 0, 90).Unix()); ends.Value != want ||
			item["status"].(*types.AttributeValueMemberS).Value != "rejected" {
			t.Errorf("%v ends at %s, want %s", item["status"], ends.Value, want)
		}
	}
	if rejected != 1 {
		t.Errorf("%d submissions end, want 1", rejected)
	}
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

// A validation that fails leaves a submission as it is, for the revalidator, which waits a minute.
// One that died or that can be read no longer does not keep it from the others.
func TestRevalidate(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx := t.Context()
	m.speaker.Judge = func(lingible.Proposal) (lingible.Verdict, error) {
		return lingible.Verdict{}, lingibletest.Failure()
	}
	var waiting []lingible.Submission
	for i := range 3 {
		waiting = append(waiting, m.open(fmt.Sprint("old ", i)))
	}
	broken := m.submitted("broken")
	m.spoil(broken, "meaning", []string{})
	decided := m.submitted("decided")
	must.Get(m.Approve(ctx, "admin", decided.ID))(t)
	m.Advance(time.Minute)
	young := m.submitted("young")
	run, err := m.Revalidate(ctx)
	if err == nil || !strings.Contains(err.Error(), broken.ID) || strings.Count(err.Error(), "submission ") != 1 ||
		run != (service.Revalidation{Failed: 3}) {
		t.Errorf("got %+v, %v", run, err)
	}
	if got := metricstest.Sums(t, m.Counted())["LanguageFailures"]; got != 6 {
		t.Errorf("counted %v failures, want 6", got)
	}
	m.speaker.Judge = nil
	m.spoil(broken, "meaning", "now a text")
	late, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if run, err := m.Revalidate(late); err != nil || run != (service.Revalidation{Unfinished: true}) {
		t.Errorf("without time: got %+v, %v", run, err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := m.Revalidate(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, submission := range append(waiting, broken) {
		if got := m.stored(submission); got.Status != lingible.Validated || got.ValidationStatus != lingible.Validated {
			t.Errorf("got %+v", got)
		}
	}
	if got := m.stored(young); got.Status != lingible.Pending {
		t.Errorf("a young one: got %+v", got)
	}
	if got := m.stored(decided); got.Status != lingible.AdminApproved || got.ValidationStatus != "" {
		t.Errorf("a decided one: got %+v", got)
	}
	m.Advance(time.Minute)
	if run, err := m.Revalidate(ctx); err != nil || run != (service.Revalidation{Validated: 1}) {
		t.Errorf("later: got %+v, %v", run, err)
	}
	if run, err := m.Revalidate(ctx); err != nil || run != (service.Revalidation{}) {
		t.Errorf("with nothing to do: got %+v, %v", run, err)
	}
}
