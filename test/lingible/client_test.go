package lingible

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// caller is a user with a token.
type caller struct{ platform.Caller }

func newUser(t testing.TB, on *target) caller {
	t.Helper()
	return caller{platform.NewCaller(t, on.Target)}
}

// newPremium returns a user who has upgraded.
func newPremium(t testing.TB, on *target) caller {
	t.Helper()
	c := newUser(t, on)
	onesynthtest.Call(t, c, lingible.UpgradeUser, schema.None{}, schema.None{})
	return c
}

// newAdmin returns a user in the group admin.
func newAdmin(t testing.TB, on *target) caller {
	t.Helper()
	groups := []string{"admin"}
	if on.Run != nil { // A user pool has no other group.
		groups = append([]string{"staff"}, groups...)
	}
	return caller{platform.NewCaller(t, on.Target, groups...)}
}

// with returns the user with a token that has further claims.
func (c caller) with(t testing.TB, on *target, claims map[string]any) caller {
	t.Helper()
	own := *c.Client
	own.Header = http.Header{"Authorization": {"Bearer " +
		on.Token(t, map[string]any{"sub": c.ID, "claims": claims})}}
	c.Client = &own
	return c
}

func (c caller) translate(t testing.TB, text string) lingible.ChargedTranslation {
	t.Helper()
	return onesynthtest.Call(t, c, lingible.Translate, schema.None{}, lingible.TranslationInput{Text: text}).Value
}

// proposal is a valid submission of a term.
func proposal(term string) lingible.Proposal {
	return lingible.Proposal{Term: term, Meaning: "to wait for a long time in bad weather",
		Example: "We had to " + term + " outside the station for an hour."}
}

// weak is a valid submission whose example says little: people have to vote on it.
func weak(term string) lingible.Proposal {
	p := proposal(term)
	p.Example = "we love " + term + " here"
	return p
}

// newTerm is a term that no lexicon has.
func newTerm() string { return "zor" + letters() }

// letters are five random vowels and consonants by turns, which look like a word: no vowel is the one before it, since
// a pair that comes three times, as in "zororor", is what the validation takes for random letters.
func letters() string {
	const vowels, consonants = "aeiou", "bdfgklmnprstv"
	var b strings.Builder
	vowel := 0
	random := onesynthtest.Random(10)
	for i := 0; i < len(random); i += 2 {
		vowel = (vowel + 1 + int(random[i])%(len(vowels)-1)) % len(vowels)
		b.WriteByte(vowels[vowel])
		b.WriteByte(consonants[int(random[i+1])%len(consonants)])
	}
	return b.String()
}

// propose submits a term.
func (c caller) propose(t testing.TB, p lingible.Proposal) lingible.Submission {
	t.Helper()
	return onesynthtest.Call(t, c, lingible.SubmitTerm, schema.None{}, p).Value
}

// own are the user's submissions, newest first.
func (c caller) own(t testing.TB) []lingible.Submission {
	t.Helper()
	return onesynthtest.Call(t, c, lingible.ListOwnSubmissions, lingible.PageParams{Limit: 100},
		schema.None{}).Value.Submissions
}

// submit submits a term, and waits until it is validated.
func (c caller) submit(t testing.TB, p lingible.Proposal) lingible.Submission {
	t.Helper()
	made := c.propose(t, p)
	wait.Until(t, "the submission is validated", func() (any, bool) {
		for _, s := range c.own(t) {
			if s.ID == made.ID && s.Status != lingible.Pending {
				made = s
				return made, true
			}
		}
		return made, false
	})
	return made
}

// vote votes for a submission.
func (c caller) vote(t testing.TB, id string) {
	t.Helper()
	onesynthtest.Call(t, c, lingible.VoteForSubmission, lingible.SubmissionParams{ID: id}, schema.None{})
}

// question is the next question of the user's quiz.
func (c caller) question(t testing.TB) lingible.QuizQuestion {
	t.Helper()
	return onesynthtest.Call(t, c, lingible.AskQuestion, lingible.QuestionParams{}, schema.None{}).Value
}

// leave deletes the user's account.
func (c caller) leave(t testing.TB) {
	t.Helper()
	onesynthtest.Call(t, c, lingible.DeleteUser, schema.None{}, lingible.AccountDeletion{Confirmation: "DELETE"})
}
