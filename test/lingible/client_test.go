package lingible

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// newPremium returns a user who has upgraded.
func newPremium(t testing.TB, on *platform.Target) platform.Caller {
	t.Helper()
	c := platform.NewCaller(t, on)
	platform.Call(t, c, lingible.UpgradeUser, schema.None{})
	return c
}

// proposal is a valid submission of a term that no lexicon has.
func proposal() lingible.Proposal {
	term := routes.NewWord()
	return lingible.Proposal{Term: term, Meaning: "to wait for a long time in bad weather",
		Example: "We had to " + term + " outside the station for an hour."}
}

// weak is a valid submission whose example says little: people have to vote on it.
func weak() lingible.Proposal {
	p := proposal()
	p.Example = "we love " + p.Term + " here"
	return p
}

// own are the user's submissions, newest first.
func own(t testing.TB, c platform.Caller) []lingible.Submission {
	t.Helper()
	return platform.Call(t, c, lingible.ListOwnSubmissions, lingible.PageParams{Limit: 100}).Submissions
}

// submit submits a term, and waits until it is validated.
func submit(t testing.TB, c platform.Caller, p lingible.Proposal) lingible.Submission {
	t.Helper()
	made := platform.Post(t, c, lingible.SubmitTerm, p)
	wait.Until(t, "the submission is validated", func() (any, bool) {
		for _, s := range own(t, c) {
			if s.ID == made.ID && s.Status != lingible.Pending {
				made = s
				return made, true
			}
		}
		return made, false
	})
	return made
}
