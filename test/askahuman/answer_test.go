package askahuman

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Unicode comes back as it was sent.
func TestAnswerKeepsText(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker := c.newAgent()
	texts := []string{"naïve — 日本語 🇩🇪 👩‍👩‍👧", "  blanks around  ", `quotes " and \ and </script>`, "line\nbreak\ttab",
		strings.Repeat("ü", 5000)}
	asked := asker.ask(t, textQuestion(len(texts)))
	for _, text := range texts {
		c.newPerson().answer(t, answer{QuestionID: asked.QuestionID, Answer: text})
	}
	for _, r := range asker.question(t, asked.QuestionID).Responses {
		if !slices.Contains(texts, *r.Answer) {
			t.Errorf("got %q, which no one sent", *r.Answer)
		}
	}
}

// Stats and badges follow from the answers given.
func TestStatsAndBadges(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker, one := c.newAgent(), c.newPerson()
	if got := one.stats(t); got.TotalPoints != 0 || got.TotalAnswers != 0 || got.StreakDays != 0 ||
		len(got.Badges) != 0 || got.Badges == nil || got.Rank != nil || got.AnswersByCategory == nil {
		t.Errorf("got %+v for a person who never answered", got)
	}
	total := 0
	var badges []string
	for i := range 10 {
		question := textQuestion(5)
		question.Audience = []string{[]string{"technical", "ethics"}[i%2], "creative"}
		given := textAnswer(asker.ask(t, question).QuestionID)
		given.Confidence = 5
		given.ResponseTimeMS = 20_000
		got := one.answer(t, given)
		if total += got.PointsEarned; got.TotalPoints != total {
			t.Errorf("answer %d: got total_points %d; want %d", i+1, got.TotalPoints, total)
		}
		for _, b := range got.NewBadges {
			if b.Name == "" || b.EarnedAt.IsZero() {
				t.Errorf("got badge %+v", b)
			}
			badges = append(badges, b.ID)
		}
	}
	// night_owl depends on the hour.
	badges = slices.DeleteFunc(badges, func(id string) bool { return id == "night_owl" })
	if want := []string{"first_answer", "early_bird", "speed_demon", "answers_10", "confident"}; !slices.Equal(badges,
		want) {
		t.Errorf("got badges %v; want %v", badges, want)
	}
	got := one.stats(t)
	if got.TotalPoints != total || got.TotalAnswers != 10 || got.StreakDays != 1 {
		t.Errorf("got %+v; want %d points, 10 answers, a streak of 1", got, total)
	}
	if got.AnswersByCategory["technical"] != 5 || got.AnswersByCategory["ethics"] != 5 ||
		got.AnswersByCategory["creative"] != 0 {
		t.Errorf("got categories %v; want 5 technical, 5 ethics", got.AnswersByCategory)
	}
	names := map[string]string{}
	for _, b := range got.Badges {
		names[b.ID] = b.Name
	}
	for id, name := range map[string]string{"first_answer": "First Steps", "answers_10": "Getting Started",
		"confident": "Confident"} {
		if names[id] != name {
			t.Errorf("badge %s: got name %q; want %q", id, names[id], name)
		}
	}
}

// stored reads an answer as it is stored.
func (p *target) stored(t testing.TB, questionID string, got receipt) map[string]any {
	t.Helper()
	item := p.Item(t, "Responses", "question_id", questionID, "response_id", got.ResponseID)
	if item == nil {
		t.Fatalf("response %s to %s is not stored", got.ResponseID, questionID)
	}
	return item
}

// A day earns at most 500 points; answers beyond it still count.
func TestDailyLimitOfPoints(t *testing.T) {
	t.Parallel()
	avoidEndOfHour(t) // which may be the end of the day
	c := newClient(t, shared(t))
	asker, one := c.newAgent(), c.newPerson()
	total := 0
	for i := range 25 {
		given := answer{QuestionID: asker.ask(t, textQuestion(5)).QuestionID,
			Answer: strings.Repeat("Every word counts. ", 6), Confidence: 3}
		got := one.answer(t, given)
		// 10 for a text, 5 for its length, 5 for an early answer, 2 for the confidence.
		if want := min(22, 500-total); got.PointsEarned != want {
			t.Errorf("answer %d: got %d points; want %d", i+1, got.PointsEarned, want)
		}
		total += got.PointsEarned
	}
	if got := one.stats(t); got.TotalPoints != 500 || got.TotalAnswers != 25 {
		t.Errorf("got %+v; want 500 points for 25 answers", got)
	}
	badges := one.stats(t).Badges
	if !slices.ContainsFunc(badges, func(b badge) bool { return b.ID == "generalist" }) {
		t.Errorf("got badges %+v; want generalist for 25 answers", badges)
	}
}

// A streak goes on with the next day in the person's own time zone, earns its bonus
// and its badge, and ends with a day left out.
func TestStreak(t *testing.T) {
	t.Parallel()
	avoidEndOfHour(t) // which may be the end of the day
	target := shared(t)
	c := newClient(t, target)
	asker, one := c.newAgent(), c.newPerson()
	asked := asker.ask(t, textQuestion(5)).QuestionID
	first := one.answer(t, textAnswer(asked))
	hash := target.stored(t, asked, first)["fingerprint_hash"].(string)
	if strings.Contains(hash, one.fingerprint) || len(hash) != 64 {
		t.Errorf("got fingerprint hash %q; want an HMAC alone", hash)
	}
	yesterday := func(days int) map[string]any {
		then := time.Now().UTC().AddDate(0, 0, -days)
		return map[string]any{"streak_last_date": then.Format(time.DateOnly),
			"updated_at": then.Format("2006-01-02T15:04:05.000Z"), "streak_days": 2}
	}
	// Only time has to pass: it passes in the table.
	target.Set(t, "UserStats", "fingerprint_hash", hash, yesterday(1))
	got := one.answer(t, textAnswer(asker.ask(t, textQuestion(5)).QuestionID))
	// 10 for a text, 5 for an early answer, 10 for the third day.
	if got.PointsEarned != 25 || !slices.ContainsFunc(got.NewBadges, func(b badge) bool {
		return b.ID == "streak_3" && b.Name == "On a Roll"
	}) {
		t.Errorf("got %+v on the third day; want 25 points and the badge streak_3", got)
	}
	if has := one.stats(t); has.StreakDays != 3 {
		t.Errorf("got a streak of %d; want 3", has.StreakDays)
	}
	target.Set(t, "UserStats", "fingerprint_hash", hash, yesterday(3))
	if has := one.stats(t); has.StreakDays != 0 {
		t.Errorf("got a streak of %d with days left out; want 0", has.StreakDays)
	}
	one.answer(t, textAnswer(asker.ask(t, textQuestion(5)).QuestionID))
	if has := one.stats(t); has.StreakDays != 1 {
		t.Errorf("got a streak of %d; want a new one", has.StreakDays)
	}
}

// An answer is long with more than 100 characters, without the white space around it.
func TestLengthWithoutBlanks(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker := c.newAgent()
	// 10 for a text, 5 for an early answer, and 5 for a long one.
	for length, points := range map[int]int{100: 15, 101: 20} {
		text := " \t" + strings.Repeat("ж", length) + " \n"
		asked := asker.ask(t, textQuestion(5)).QuestionID
		if got := c.newPerson().answer(t, answer{QuestionID: asked, Answer: text}); got.PointsEarned != points {
			t.Errorf("%d characters: got %+v; want %d points", length, got, points)
		}
		if got := *asker.question(t, asked).Responses[0].Answer; got != text {
			t.Errorf("got %q; want it as written, %q", got, text)
		}
	}
}

// Suspicious answers are stored, earn points, and are flagged.
func TestSuspiciousAnswersAreFlagged(t *testing.T) {
	t.Parallel()
	target := shared(t)
	c := newClient(t, target)
	asker, one := c.newAgent(), c.newPerson()
	give := func(text string, milliseconds int) []string {
		t.Helper()
		asked := asker.ask(t, textQuestion(5)).QuestionID
		got := one.answer(t, answer{QuestionID: asked, Answer: text, ResponseTimeMS: milliseconds})
		if got.PointsEarned < 15 {
			t.Errorf("got %+v; want the points of any answer", got)
		}
		// The agent sees the flag, because the agent judges.
		return asker.question(t, asked).Responses[0].Flags
	}
	for _, test := range []struct {
		text         string
		milliseconds int
		want         []string
	}{
		{"Only if it is our fault.", 6000, nil},
		{"Say what to do instead.", 4999, []string{"suspicious_timing"}},
		{"only  if it is OUR fault.", 6000, []string{"duplicate_content"}},
		// Ten characters are few, without the white space around them.
		{"yes", 6000, nil}, {"no", 6000, nil}, {" it's so, 3 ", 6000, nil}, {"\tit's so, 4\n", 6000, nil},
		{"  it's so, 5  ", 6000, []string{"pattern_match"}},
		{"it's so, 11", 6000, nil},
	} {
		if got := give(test.text, test.milliseconds); !slices.Equal(got, test.want) {
			t.Errorf("answer %q: got flags %v; want %v", test.text, got, test.want)
		}
	}
}
