package askahuman

import (
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// late is an answer to a question that the person was handed at ten.
func late(questionID string) askahuman.Answer {
	return askahuman.Answer{QuestionID: questionID, Text: new("An answer that is neither short nor long."),
		HandedAt: ten}
}

// lateAnswerer is the person of these checks.
var lateAnswerer = person(99)

// TestAnswerLate checks that a late answer earns its points, whichever way the question ended, and leaves all else as
// it was; after a minute, or of who was handed the question after its end, it earns nothing.
func TestAnswerLate(t *testing.T) {
	s := newFew(t)
	moderation := s.as(t, "moderationapi")
	end := func(t *testing.T, q askahuman.Question) {
		must.Get(s.notifying.endQuestion(t.Context(), q, s.Now()))(t)
	}
	expire := func(*testing.T, askahuman.Question) { s.MoveTo(ten.Add(time.Hour)) }
	for name, test := range map[string]struct {
		end    func(t *testing.T, q askahuman.Question)
		after  time.Duration
		handed time.Duration // after ten; negative: never
		points int
		want   error
	}{
		"Complete": {points: 10, end: func(t *testing.T, q askahuman.Question) {
			for i := range q.RequiredResponses {
				mustSubmit(t, s, q.ID, person(i), s.Now())
			}
		}},
		"Closed":        {points: 15, end: end},
		"After60s":      {points: 15, end: end, after: time.Minute},
		"AfterMore":     {end: end, after: time.Minute + time.Millisecond, want: askahuman.ErrQuestionClosed},
		"Expired":       {points: 15, end: expire, after: time.Minute},
		"ExpiredBefore": {end: expire, after: time.Minute + time.Millisecond, want: askahuman.ErrQuestionClosed},
		"MarkedExpired": {points: 15, end: func(t *testing.T, q askahuman.Question) { expire(t, q); end(t, q) }},
		"HandedAtEnd":   {points: 15, end: end, handed: time.Minute},
		"HandedAfter":   {end: end, handed: time.Minute + 10*time.Second, want: askahuman.ErrQuestionClosed},
		"NeverHanded":   {end: end, handed: -1, want: askahuman.ErrQuestionClosed},
		"Hidden": {want: askahuman.ErrQuestionNotFound, end: func(t *testing.T, q askahuman.Question) {
			must.OK(t, moderation.HideQuestion(t.Context(), as("olga"), q.ID, true))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s.MoveTo(ten.Add(time.Minute))
			q := questionAt("agent", ten)
			mustCreate(t, s, q)
			before := statsOf(t, s, lateAnswerer)
			test.end(t, q)
			question, answers := mustRead(t, s, q.ID), answersOf(t, s, q.ID)
			s.MoveTo(s.Now().Add(test.after))
			answer := late(q.ID)
			if answer.HandedAt = ten.Add(test.handed); test.handed < 0 {
				answer.HandedAt = time.Time{}
			}
			receipt, err := s.people.Answer(t.Context(), lateAnswerer, nil, answer)
			wantError(t, err, test.want)
			stats := statsOf(t, s, lateAnswerer)
			if receipt.Late != (test.want == nil) || receipt.PointsEarned != test.points ||
				test.want == nil && receipt.TotalPoints != stats.TotalPoints {
				t.Errorf("got %+v; want %d points", receipt, test.points)
			}
			wantEqual(t, "question", mustRead(t, s, q.ID), question)
			wantEqual(t, "answers", answersOf(t, s, q.ID), answers)
			if got := stats.TotalPoints - before.TotalPoints; got != test.points || stats.TotalAnswers != 0 ||
				stats.StreakDays != 0 || len(stats.Badges) > 0 || len(stats.AnswersByCategory) > 0 ||
				stats.DailyPoints != stats.TotalPoints || stats.WeeklyPoints != stats.TotalPoints {
				t.Errorf("got %d points and %+v; want %d, and no answer", got, stats, test.points)
			}
			if test.want != nil {
				return
			}
			_, err = s.people.Answer(t.Context(), lateAnswerer, nil, answer)
			wantError(t, err, askahuman.ErrAlreadyAnswered)
			wantEqual(t, "stats after a repeat", statsOf(t, s, lateAnswerer), stats)
		})
	}
}

// TestAnswerLateRefused checks who gets no points: who is blocked, has answered in time, or sends what does not fit;
// and that the most of a day holds.
func TestAnswerLateRefused(t *testing.T) {
	s := newFew(t)
	q := questionAt("agent", ten)
	q.RequiredResponses = 1
	mustCreate(t, s, q)
	blocked, capped := person(1), person(2)
	for _, other := range []string{blocked, capped} {
		of := questionAt("agent", ten)
		mustCreate(t, s, of)
		mustSubmit(t, s, of.ID, other, ten)
	}
	must.OK(t, s.as(t, "moderationapi").BlockPerson(t.Context(), as("olga"), blocked, true))
	mustSubmit(t, s, q.ID, lateAnswerer, ten.Add(time.Second))
	s.MoveTo(ten.Add(time.Minute))
	side := s.people
	rules := askahuman.DefaultRules()
	rules.DailyPoints = 7
	side.Rules = &rules
	answer := late(q.ID)
	_, err := side.Answer(t.Context(), blocked, nil, answer)
	wantError(t, err, askahuman.ErrBlocked)
	_, err = side.Answer(t.Context(), lateAnswerer, nil, answer)
	wantError(t, err, askahuman.ErrAlreadyAnswered)
	choice := askahuman.Answer{QuestionID: q.ID, Option: new(0), HandedAt: ten}
	if _, err = side.Answer(t.Context(), capped, nil, choice); err == nil {
		t.Error("a choice is taken for an answer to a text question")
	}
	if got := must.Get(side.Answer(t.Context(), capped, nil, answer))(t); got.PointsEarned != 7 ||
		got.TotalPoints != 17 {
		t.Errorf("got %+v; want the 7 points of a day", got)
	}
}
