package clarity

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// weights are the contract's.
var weights = map[string]float64{
	"clarity": 1.2, "relevance": 1.0, "logic": 1.5, "evidence": 1.3, "assumptions": 1.2, "alternatives": 1.2,
	"quantitative-reasoning": 0.8, "humility-uncertainty": 1.0,
}

// check checks an evaluation against the contract.
func (e *evaluation) check(t testing.TB) {
	t.Helper()
	if e == nil || len(e.Dimensions) != len(weights) || e.Feedback == "" || e.ModelID == "" || e.EvaluatedAt == "" {
		t.Fatalf("got evaluation %+v; want eight dimensions, feedback, model and time", e)
	}
	sum, seen := 0.0, map[string]bool{}
	for _, d := range e.Dimensions {
		weight, known := weights[d.Name]
		if !known || seen[d.Name] || d.Score < 0 || d.Score > 4 || len(d.Rationale) < 1 || len(d.Rationale) > 5 {
			t.Errorf("got dimension %+v", d)
		}
		seen[d.Name] = true
		sum += weight * float64(d.Score)
	}
	if want := int(math.Round(sum / 9.2 * 25)); e.OverallScore != want {
		t.Errorf("got overall score %d; want %d", e.OverallScore, want)
	}
}

// A submitted attempt is stored, evaluated, and read back as it was submitted. It adds a profile, by the stream; an
// attempt in progress adds none.
func TestSubmit(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	some := one.scenarios(t, on)[0]
	begun := one.begin(t, input{"scenarioId": some.ScenarioID, "status": "in-progress", "answers": []answer{}})
	body := completed(some, "naïve ✓ — because the sample of 40 people is small, the figure may be off by 15 percent")
	made := one.begin(t, body)
	made.Evaluation.check(t)
	got := one.read(t, made.AttemptID)
	if got.UserID != one.ID || got.ScenarioID != some.ScenarioID || got.Status != "completed" ||
		got.EvaluationStatus != "done" || got.DurationSeconds == nil || *got.DurationSeconds != 600 {
		t.Errorf("got %+v", got)
	}
	for i, given := range body["answers"].([]answer) {
		want := answer{given.QuestionID, some.Questions[i].Text, given.Answer, len(strings.Fields(given.Answer))}
		if i >= len(got.Answers) || got.Answers[i] != want {
			t.Errorf("got answers %+v; want %+v", got.Answers, want)
		}
	}
	var profiles []profile
	onesynthtest.Settled(t, "a profile of the evaluated attempt", func() bool {
		profiles = on.profiles(t, one)
		return len(profiles) > 0
	})
	if len(profiles) != 1 || profiles[0].UserID != one.ID || profiles[0].AttemptID != made.AttemptID ||
		profiles[0].OverallAverage != float64(made.Evaluation.OverallScore) {
		t.Errorf("got profiles %+v; want one, of %s", profiles, made.AttemptID)
	}
	var listed []string
	onesynthtest.Settled(t, "the list has both", func() bool {
		listed = nil
		for _, a := range one.all(t, 1) {
			listed = append(listed, a.AttemptID)
		}
		return len(listed) == 2
	})
	if want := []string{made.AttemptID, begun.AttemptID}; !slices.Equal(listed, want) {
		t.Errorf("got %v; want %v", listed, want)
	}
	if on.Run == nil {
		return
	}
	// Records of the stream that come again add no profile.
	on.Set(t, "Attempts", "attemptId", made.AttemptID, map[string]any{"durationSeconds": 1})
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	if again := on.profiles(t, one); len(again) != 1 {
		t.Errorf("got %d profiles after the record came again; want 1", len(again))
	}
}
