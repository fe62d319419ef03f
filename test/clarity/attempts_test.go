package clarity

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
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

// A submitted attempt is stored, evaluated, and read back as it was submitted.
func TestSubmit(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	some := one.scenarios(t, on, "")[0]
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
	if again := one.read(t, made.AttemptID).Evaluation; again.OverallScore != made.Evaluation.OverallScore ||
		again.EvaluatedAt != made.Evaluation.EvaluatedAt {
		t.Errorf("got evaluation %+v; want %+v", again, made.Evaluation)
	}
	// An evaluated attempt is not evaluated again.
	if r := one.Try(t, http.MethodPost, made.path()+"/evaluate", nil); r.Status != http.StatusOK ||
		!strings.Contains(string(r.Body), made.Evaluation.EvaluatedAt) {
		t.Errorf("got %v; want the same evaluation", r)
	}
}

// An attempt is begun, saved, and completed; from then on it stays as it is.
func TestSave(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	some := one.scenarios(t, on, "")[1]
	made := one.begin(t, input{"scenarioId": some.ScenarioID, "status": "in-progress",
		"answers": []answer{{QuestionID: some.Questions[0].QuestionID, Answer: "a"}}})
	if made.Evaluation != nil {
		t.Errorf("got evaluation %+v of an attempt in progress", made.Evaluation)
	}
	refused(t, one.Try(t, http.MethodPost, made.path()+"/evaluate", nil), http.StatusConflict)
	saved := onesynthtest.Read[attempt](t, one.Try(t, http.MethodPut, made.path(),
		input{"answers": []answer{{QuestionID: some.Questions[0].QuestionID, Answer: "begun"}}, "durationSeconds": 30}),
		http.StatusOK)
	saved = one.read(t, saved.AttemptID)
	if saved.Status != "in-progress" || len(saved.Answers) != 1 || saved.Answers[0].Answer != "begun" ||
		saved.DurationSeconds == nil || *saved.DurationSeconds != 30 {
		t.Errorf("got %+v", saved)
	}
	// A completed attempt has an answer of ten characters for each question.
	refused(t, one.Try(t, http.MethodPut, made.path(), input{"status": "completed"}), http.StatusBadRequest)
	done := onesynthtest.Read[attempt](t, one.Try(t, http.MethodPut, made.path(),
		input{"status": "completed", "answers": completed(some, "done")["answers"]}), http.StatusOK)
	done.Evaluation.check(t)
	for _, body := range []input{{"durationSeconds": 1}, {"status": "abandoned"}, {"status": "completed"}} {
		refused(t, one.Try(t, http.MethodPut, made.path(), body), http.StatusConflict)
	}
	left := one.begin(t, input{"scenarioId": some.ScenarioID, "status": "in-progress", "answers": []answer{}})
	if gone := onesynthtest.Read[attempt](t, one.Try(t, http.MethodPut, left.path(), input{"status": "abandoned"}),
		http.StatusOK); gone.Status != "abandoned" {
		t.Errorf("got %+v; want it abandoned", gone)
	}
}

// Two users never see each other's attempts or profiles, by any route, id or cursor.
func TestIsolation(t *testing.T) {
	t.Parallel()
	on := shared(t)
	ann, bob := newUser(t, on), newUser(t, on)
	some := ann.scenarios(t, on, "")[0]
	begun := ann.begin(t, input{"scenarioId": some.ScenarioID, "status": "in-progress", "answers": []answer{}})
	done := ann.begin(t, completed(some, "of Ann alone"))
	for _, a := range []attempt{begun, done} {
		refused(t, bob.Try(t, http.MethodGet, a.path(), nil), http.StatusForbidden)
		refused(t, bob.Try(t, http.MethodPut, a.path(), input{"status": "abandoned"}), http.StatusForbidden)
		refused(t, bob.Try(t, http.MethodPost, a.path()+"/evaluate", nil), http.StatusForbidden)
	}
	type page struct {
		Attempts, Profiles []any
		NextToken          string
	}
	for list, most := range map[string]int{"/attempts": 2, "/users/me/profile/history": 2} {
		if list != "/attempts" {
			ann.begin(t, completed(some, "for a second profile"))
			onesynthtest.Settled(t, "two profiles", func() bool { return len(on.profiles(t, ann)) == 2 })
		}
		next := onesynthtest.Read[page](t, ann.Try(t, http.MethodGet, list+"?limit=1", nil), http.StatusOK).NextToken
		if next == "" {
			t.Fatalf("%s: got no cursor after 1 of %d", list, most)
		}
		refused(t, bob.Try(t, http.MethodGet, list+"?limit=1&nextToken="+next, nil), http.StatusBadRequest)
	}
	if all := bob.all(t, 100); len(all) != 0 {
		t.Errorf("got attempts %+v of a user who has none", all)
	}
	refused(t, bob.Try(t, http.MethodGet, "/users/me/profile", nil), http.StatusNotFound)
	if got := on.profiles(t, bob); len(got) != 0 {
		t.Errorf("got profiles %+v of a user who has none", got)
	}
	refused(t, bob.Try(t, http.MethodGet, "/attempts/550e8400-e29b-41d4-a716-446655440000", nil), http.StatusNotFound)
}

// Pages of any size have each attempt once, newest first.
func TestPages(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	some := one.scenarios(t, on, "")[0]
	var made []string
	for range 5 {
		made = append(made, one.begin(t, input{"scenarioId": some.ScenarioID, "status": "in-progress",
			"answers": []answer{}}).AttemptID)
	}
	slices.Reverse(made)
	for _, limit := range []int{1, 2, 5, 100} {
		var got []string
		onesynthtest.Settled(t, "the list has all", func() bool {
			got = nil
			for _, a := range one.all(t, limit) {
				got = append(got, a.AttemptID)
			}
			return len(got) >= len(made)
		})
		if !slices.Equal(got, made) {
			t.Errorf("limit %d: got %v; want %v", limit, got, made)
		}
	}
	for _, limit := range []string{"0", "101", "-1", "x", "1.5"} {
		refused(t, one.Try(t, http.MethodGet, "/attempts?limit="+limit, nil), http.StatusBadRequest)
	}
}

// What is wrong with an attempt is refused before anything is stored or evaluated.
func TestInvalid(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	some := one.scenarios(t, on, "")[0]
	with := func(change func(input, []answer)) input {
		body := completed(some, "this is long enough")
		change(body, body["answers"].([]answer))
		return body
	}
	for name, body := range map[string]input{
		"NoScenario":      with(func(b input, _ []answer) { delete(b, "scenarioId") }),
		"NoAnswers":       with(func(b input, _ []answer) { delete(b, "answers") }),
		"MissingAnswer":   with(func(b input, a []answer) { b["answers"] = a[1:] }),
		"RepeatedAnswer":  with(func(b input, a []answer) { b["answers"] = append(a, a[0]) }),
		"UnknownQuestion": with(func(_ input, a []answer) { a[0].QuestionID = "q99" }),
		"ShortAnswer":     with(func(_ input, a []answer) { a[0].Answer = "123456789" }),
		"BlankAnswer":     with(func(_ input, a []answer) { a[0].Answer = strings.Repeat(" ", 20) }),
		"LongAnswer":      with(func(_ input, a []answer) { a[0].Answer = strings.Repeat("ä", 5001) }),
		"Duration":        with(func(b input, _ []answer) { b["durationSeconds"] = -1 }),
		"LongDuration":    with(func(b input, _ []answer) { b["durationSeconds"] = 86_401 }),
		"HalfDuration":    with(func(b input, _ []answer) { b["durationSeconds"] = 1.5 }),
		"Status":          with(func(b input, _ []answer) { b["status"] = "done" }),
	} {
		if f := refused(t, one.Try(t, http.MethodPost, "/attempts", body), http.StatusBadRequest); len(f.Details) == 0 {
			t.Errorf("%s: got %+v; want details", name, f)
		}
	}
	refused(t, one.Try(t, http.MethodPost, "/attempts", with(func(b input, _ []answer) { b["scenarioId"] = "none" })),
		http.StatusNotFound)
	if all := one.all(t, 100); len(all) != 0 {
		t.Errorf("got attempts %+v; want none", all)
	}
	// The limits themselves are allowed.
	one.begin(t, with(func(b input, a []answer) {
		a[0].Answer, b["durationSeconds"] = strings.Repeat("ä", 5000), 86_400
	}))
	one.begin(t, with(func(b input, a []answer) { a[0].Answer, b["durationSeconds"] = "1234567890", 0 }))
}

// The list of scenarios has all of a difficulty, and a scenario is read by its id.
func TestScenarios(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	all := one.scenarios(t, on, "")
	if len(all) != 12 {
		t.Errorf("got %d scenarios; want 12", len(all))
	}
	// Loading them again adds none.
	on.load(t)
	if items := on.Items(t, "Scenarios"); len(items) != 12 {
		t.Errorf("got %d items; want 12", len(items))
	}
	count := 0
	for _, difficulty := range []string{"beginner", "intermediate", "advanced"} {
		some := one.scenarios(t, on, difficulty)
		for _, s := range some {
			if s.Difficulty != difficulty || !s.Active {
				t.Errorf("got %+v of the difficulty %s", s, difficulty)
			}
		}
		count += len(some)
	}
	if count != len(all) {
		t.Errorf("got %d scenarios by difficulty; want %d", count, len(all))
	}
	got, err := json.Marshal(onesynthtest.Read[scenario](t,
		one.Try(t, http.MethodGet, "/scenarios/"+all[0].ScenarioID, nil), http.StatusOK))
	if want, _ := json.Marshal(all[0]); err != nil || string(got) != string(want) {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	refused(t, one.Try(t, http.MethodGet, "/scenarios/none", nil), http.StatusNotFound)
	refused(t, one.Try(t, http.MethodGet, "/scenarios?difficulty=easy", nil), http.StatusBadRequest)
}

// A user has no more evaluations on a day than the limit, however many attempts come at once. Those
// beyond are stored.
func TestCostFuse(t *testing.T) {
	t.Parallel()
	on := shared(t)
	on.LocalOnly(t, "the limit of a deployed stack is its owner's")
	one := newUser(t, on)
	one.Retry = onesynthtest.Busy
	some := one.scenarios(t, on, "")[0]
	const limit, submitted = 20, 30
	evaluated := make([]bool, submitted)
	if err := onesynthtest.Together(submitted, func(i int) error {
		r, err := one.Send(t.Context(), http.MethodPost, "/attempts", nil,
			completed(some, fmt.Sprint("attempt number ", i)))
		if err != nil || r.Status != http.StatusCreated {
			return fmt.Errorf("%v: %w", r, err)
		}
		var made attempt
		err = json.Unmarshal(r.Body, &made)
		evaluated[i] = made.Evaluation != nil
		return err
	}); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, e := range evaluated {
		if e {
			count++
		}
	}
	if count != limit {
		t.Errorf("got %d evaluations; want %d", count, limit)
	}
	var all []attempt
	onesynthtest.Settled(t, "the list has all", func() bool { all = one.all(t, 100); return len(all) == submitted })
	waiting := all[slices.IndexFunc(all, func(a attempt) bool { return a.Evaluation == nil })]
	r := one.Try(t, http.MethodPost, waiting.path()+"/evaluate", nil)
	refused(t, r, http.StatusTooManyRequests)
	if _, told := r.RetryAfter(); !told {
		t.Errorf("got %v; want the time of the next day", r)
	}
}
