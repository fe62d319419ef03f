package clarity

import (
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A submitted attempt is stored, evaluated, and read back as it was submitted. It adds a profile, by the stream; an
// attempt in progress adds none.
func TestSubmit(t *testing.T) {
	t.Parallel()
	on := suite.Shared(t)
	one, some := newUser(t, on)
	open := platform.Post(t, one, clarity.CreateAttempt, begun(some.ID))
	body := completed(some, "naïve ✓ — because the sample of 40 people is small, the figure may be off by 15 percent")
	made := platform.Post(t, one, clarity.CreateAttempt, body)
	must.OK(t, made.CheckEvaluated())
	got := platform.Call(t, one, clarity.ReadAttempt, clarity.AttemptParams{ID: made.ID})
	if got.UserID != one.ID || got.ScenarioID != some.ID || got.Status != "completed" ||
		got.EvaluationStatus != "done" || got.DurationSeconds == nil || *got.DurationSeconds != 600 {
		t.Errorf("got %+v", got)
	}
	for i, given := range body.Answers {
		want := clarity.Answer{QuestionID: given.QuestionID, QuestionText: some.Questions[i].Text, Text: given.Text,
			WordCount: len(strings.Fields(given.Text))}
		if i >= len(got.Answers) || got.Answers[i] != want {
			t.Errorf("got answers %+v; want %+v", got.Answers, want)
		}
	}
	var profiles []clarity.Profile
	wait.Until(t, "a profile of the evaluated attempt", func() (any, bool) {
		profiles = platform.Call(t, one, clarity.ListProfiles, clarity.PageParams{}).Profiles
		return profiles, len(profiles) > 0
	}, wait.On(on))
	if len(profiles) != 1 || profiles[0].UserID != one.ID || profiles[0].AttemptID != made.ID ||
		profiles[0].OverallAverage != float64(made.Evaluation.OverallScore) {
		t.Errorf("got profiles %+v; want one, of %s", profiles, made.ID)
	}
	var listed []string
	wait.Until(t, "the list has both", func() (any, bool) {
		listed = nil
		for at := (clarity.PageParams{Limit: 1}); ; {
			page := platform.Call(t, one, clarity.ListAttempts, at)
			for _, a := range page.Attempts {
				listed = append(listed, a.ID)
			}
			if at.NextToken = page.NextToken; len(page.Attempts) > 1 || at.NextToken == "" {
				break
			}
		}
		return listed, len(listed) == 2
	}, wait.On(on))
	if want := []string{made.ID, open.ID}; !slices.Equal(listed, want) {
		t.Errorf("got %v; want %v", listed, want)
	}
	if on.Run == nil {
		return
	}
	// Records of the stream that come again add no profile.
	on.Set(t, "Attempts", "attemptId", made.ID, map[string]any{"durationSeconds": 1})
	on.Flush(t)
	if again := platform.Call(t, one, clarity.ListProfiles, clarity.PageParams{}).Profiles; len(again) != 1 {
		t.Errorf("got %d profiles after the record came again; want 1", len(again))
	}
}
