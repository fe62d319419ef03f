package lingible_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// Every change of a submission and of a user keeps what a team has added to them, and records have it where they are
// read.
func TestWritesKeepExtra(t *testing.T) {
	t.Parallel()
	ctx, platform := t.Context(), dynamotest.Extended(lingible.Platform())
	m := &moderated{World: lingibletest.Of(t, platform), t: t, speaker: &lingibletest.Speaker{}}
	m.Language, m.VotesToApprove = m.speaker, 2
	ann, voter := m.Premium(t, "ann"), m.Premium(t, "voter")
	submission := must.Get(m.Submit(ctx, ann, proposal("measured")))(t)
	slug := lingible.Slug(submission.Term)
	key, added := []string{"TERM#" + slug, "SUBMISSION#" + submission.ID}, ""
	for _, change := range []func() error{
		func() error { return m.Validate(ctx, slug, submission.ID) },
		func() error { return second(m.Vote(ctx, voter, submission.ID)) },
		func() error { return second(m.Approve(ctx, "admin", submission.ID)) },
	} {
		added = m.Tables.KeepsExtra(t, platform, "Submission", key, change)
	}
	list, err := m.OwnSubmissions(ctx, ann.ID, 10, "")
	if want := `{"added_submission":"` + added + `"}`; err != nil || len(list.Submissions) != 1 ||
		string(list.Submissions[0].Extra) != want || list.Submissions[0].Status != lingible.AdminApproved {
		t.Errorf("the list has %+v, %v, want it approved, with %s", list.Submissions, err, want)
	}

	translation := must.Get(m.Translate(ctx, ann, lingible.TranslationInput{Text: "no cap"}))(t)
	key = []string{"USER#ann", "TRANSLATION#" + translation.ID}
	m.Tables.KeepsExtra(t, platform, "Translation", key, func() error {
		return second(m.Translate(ctx, ann, lingible.TranslationInput{Text: "cap"}))
	})
	kept, err := m.Translations(ctx, ann, 10, "")
	history := kept.Translations
	if err != nil || len(history) != 2 || history[0].Extra != "" || history[1].Extra == "" {
		t.Errorf("the history has %+v, %v, want what was added with the older one alone", history, err)
	}

	bob := m.Caller("bob")
	must.Get(m.Profile(ctx, bob))(t)
	added = m.Tables.KeepsExtra(t, platform, "User", []string{"USER#bob", "PROFILE"}, func() error {
		return second(m.Upgrade(ctx, bob))
	})
	user, err := m.Profile(ctx, bob)
	want := `{"added_user":"` + added + `"}`
	if err != nil || string(user.Extra) != want || user.Tier != lingible.Premium {
		t.Errorf("the user is %+v, %v, want a premium user with %s", user, err, want)
	}
}
