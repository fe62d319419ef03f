package clarity

import (
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// A submitted attempt is stored, evaluated, and read back as it was submitted. It adds a profile, by the stream; an
// attempt in progress adds none.
func TestSubmit(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	some := one.scenarios(t, on)[0]
	open := one.begin(t, begun(some.ID))
	body := completed(some, "naïve ✓ — because the sample of 40 people is small, the figure may be off by 15 percent")
	made := one.begin(t, body)
	if err := made.CheckEvaluated(); err != nil {
		t.Fatal(err)
	}
	got := one.read(t, made.ID)
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
		profiles = one.profiles(t)
		return profiles, len(profiles) > 0
	}, wait.On(on))
	if len(profiles) != 1 || profiles[0].UserID != one.ID || profiles[0].AttemptID != made.ID ||
		profiles[0].OverallAverage != float64(made.Evaluation.OverallScore) {
		t.Errorf("got profiles %+v; want one, of %s", profiles, made.ID)
	}
	var listed []string
	wait.Until(t, "the list has both", func() (any, bool) {
		listed = nil
		for _, a := range one.all(t, 1) {
			listed = append(listed, a.ID)
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
	if again := one.profiles(t); len(again) != 1 {
		t.Errorf("got %d profiles after the record came again; want 1", len(again))
	}
}
