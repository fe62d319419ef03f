package askahuman

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/historytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func answersOf(t *testing.T, s *platform, questionID string) []askahuman.Response {
	t.Helper()
	return must.Get(s.responses(t.Context(), questionID))(t)
}

func TestSubmitResponseRefused(t *testing.T) {
	s := newFew(t)
	for name, test := range map[string]struct {
		prepare func(t *testing.T, q askahuman.Question)
		at      time.Duration
		want    error
	}{
		"AtTheDeadline": {at: time.Hour, want: askahuman.ErrQuestionClosed},
		"Closed": {want: askahuman.ErrQuestionClosed, prepare: func(t *testing.T, q askahuman.Question) {
			must.Get(s.notifying.endQuestion(t.Context(), q, ten))(t)
		}},
		"Expired": {want: askahuman.ErrQuestionClosed, prepare: func(t *testing.T, q askahuman.Question) {
			must.Get(s.notifying.endQuestion(t.Context(), q, time.Time(q.Deadline)))(t)
		}},
		"Full": {want: askahuman.ErrQuestionClosed, prepare: func(t *testing.T, q askahuman.Question) {
			for i := range q.RequiredResponses {
				mustSubmit(t, s, q.ID, person(i), ten)
			}
		}},
		"Answered": {want: askahuman.ErrAlreadyAnswered, prepare: func(t *testing.T, q askahuman.Question) {
			mustSubmit(t, s, q.ID, person(99), ten)
		}},
		"AnsweredAndClosed": {want: askahuman.ErrAlreadyAnswered, prepare: func(t *testing.T, q askahuman.Question) {
			mustSubmit(t, s, q.ID, person(99), ten)
			must.Get(s.notifying.endQuestion(t.Context(), q, ten))(t)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			q := questionAt("agent", ten)
			mustCreate(t, s, q)
			if test.prepare != nil {
				test.prepare(t, q)
			}
			question, answers, stats := mustRead(t, s, q.ID), answersOf(t, s, q.ID), statsOf(t, s, person(99))
			at := ten.Add(test.at)
			_, err := s.people.submitResponse(t.Context(), question, responseTo(q, person(99), at),
				counting(stats, 10, at))
			wantError(t, err, test.want)
			wantEqual(t, "question", mustRead(t, s, q.ID), question)
			wantEqual(t, "answers", answersOf(t, s, q.ID), answers)
			wantEqual(t, "stats", statsOf(t, s, person(99)), stats)
		})
	}
}

// TestSubmitResponseStale checks that stats are written only on the version that was read. A changed count of
// the question is not always stale, but must never be lost.
func TestSubmitResponseStale(t *testing.T) {
	s := newFew(t)
	first, second := questionAt("agent", ten), questionAt("agent", ten)
	mustCreate(t, s, first, second)
	stats := statsOf(t, s, person(0))
	mustSubmit(t, s, first.ID, person(0), ten)
	_, err := s.people.submitResponse(t.Context(), second, responseTo(second, person(0), ten), counting(stats, 10, ten))
	wantError(t, err, retry.ErrStale)
	wantEqual(t, "question", mustRead(t, s, second.ID), second)
	if got := statsOf(t, s, person(0)); got.TotalAnswers != 1 {
		t.Errorf("total answers = %d, want 1", got.TotalAnswers)
	}

	before := mustRead(t, s, second.ID)
	mustSubmit(t, s, second.ID, person(1), ten)
	late, err := s.people.submitResponse(t.Context(), before, responseTo(second, person(2), ten),
		counting(statsOf(t, s, person(2)), 10, ten))
	if late == 1 {
		t.Error("the second answer counts as the first: it was begun before there was one")
	}
	stored := 2
	if errors.Is(err, retry.ErrStale) {
		stored = 1
	} else if err != nil || late != 2 {
		t.Errorf("SubmitResponse on an older count: %d, %v; want the second answer", late, err)
	}
	if got := mustRead(t, s, second.ID).CurrentResponses; got != stored {
		t.Errorf("the question counts %d answers, want %d", got, stored)
	}
	if got := len(answersOf(t, s, second.ID)); got != stored {
		t.Errorf("%d answers are stored, want %d", got, stored)
	}
}

// TestSubmitResponseHalfWay checks that no answer is stored with points for a question under
// half of its answers when it no longer is, also where the answer that makes half
// is the last but one.
func TestSubmitResponseHalfWay(t *testing.T) {
	s := newFew(t)
	for _, required := range []int{2, 3, 4, 5} {
		q := questionAt("agent", ten)
		q.RequiredResponses = required
		mustCreate(t, s, q)
		read := mustRead(t, s, q.ID)
		half := (required + 1) / 2
		for i := range half {
			mustSubmit(t, s, q.ID, person(i), ten)
		}
		_, err := s.people.submitResponse(t.Context(), read, responseTo(q, person(99), ten),
			counting(statsOf(t, s, person(99)), 15, ten))
		wantError(t, err, retry.ErrStale)
		if got := mustRead(t, s, q.ID).CurrentResponses; got != half {
			t.Errorf("of %d: the question counts %d answers, want %d", required, got, half)
		}
	}
}

func TestRecentAnswers(t *testing.T) {
	s := newFew(t)
	var want []askahuman.Response
	for i := range 6 {
		q := questionAt("agent", ten)
		mustCreate(t, s, q)
		at := ten.Add(time.Duration(i) * time.Minute)
		mustSubmit(t, s, q.ID, person(0), at)
		mustSubmit(t, s, q.ID, person(1), at)
		want = append([]askahuman.Response{{
			QuestionID: q.ID, ContentDigest: "digest of " + person(0), ContentLength: 70, CreatedAt: at,
		}}, want...)
	}
	for _, test := range []struct {
		since time.Duration
		limit int
		want  []askahuman.Response
	}{
		{0, 0, want},
		{0, 4, want[:4]},
		{0, 100, want},
		{3 * time.Minute, 0, want[:3]},
		{3*time.Minute + time.Millisecond, 0, want[:2]},
		{time.Hour, 0, nil},
	} {
		got := must.Get(s.people.recentAnswers(t.Context(), person(0), ten.Add(test.since), test.limit))(t)
		wantEqual(t, fmt.Sprintf("since %v, limit %d", test.since, test.limit), got, test.want)
	}
}

// answering is an answer of a person to a question, or without a person a look at the question.
type answering struct{ person, question int }

// handed reports whether the question was handed to the person, so that a late answer earns points.
func (a answering) handed() bool { return a.person%2 == 0 }

// Many people race for the last places of questions, and with themselves, while requests are refused and processes die.
// Each is told what could be if one answered after the other: as many answers are stored as a question takes, one of
// each person, with points by their order; of the others, those to whom it was handed have the points of a late answer,
// once. A person's points are the sum of them.
func TestAnswerHistories(t *testing.T) {
	s := newFew(t)
	const people = 12
	places := []int{1, 2, 5, people + 1}
	var asked []askahuman.Question
	for _, required := range places {
		q := questionAt("agent", ten)
		q.RequiredResponses = required
		mustCreate(t, s, q)
		asked = append(asked, q)
	}
	s.MoveTo(ten.Add(time.Minute))
	// The state has a bit for each person who has answered, and another one for each late answer.
	const late = 16
	h := historytest.New(historytest.Model[uint32, answering]{
		Key: func(call answering) string { return fmt.Sprint(call.question) },
		Step: historytest.Returns(func(answered uint32, call answering) (uint32, string) {
			there, all, points := bits.OnesCount16(uint16(answered)), places[call.question], 10
			switch {
			case call.person < 0 && there == all:
				return answered, fmt.Sprint("CLOSED with ", there)
			case call.person < 0:
				return answered, fmt.Sprint("open with ", there)
			case answered&(1<<call.person|1<<(call.person+late)) != 0:
				return answered, askahuman.ErrAlreadyAnswered.Error()
			case there == all && call.handed():
				return answered | 1<<(call.person+late), "10 points, late"
			case there == all:
				return answered, askahuman.ErrQuestionClosed.Error()
			case 2*there < all:
				points = 15
			}
			return answered | 1<<call.person, fmt.Sprint(points, " points, ", there == 0, there == all-1)
		}),
	})
	look := func(q int) string {
		got, err := s.people.question(t.Context(), asked[q].ID, ten)
		if err != nil {
			return err.Error()
		} else if got.Status == askahuman.StatusClosed {
			return fmt.Sprint("CLOSED with ", got.CurrentResponses)
		}
		return fmt.Sprint("open with ", got.CurrentResponses)
	}
	words, died := "An answer that is neither short nor long.", errors.New("the process is dead")
	var told [people]struct{ points, unknown atomic.Int64 }
	s.Tables.Wire.Answers(dynamotest.Refusing)
	dies := dynamotest.Dying(died)
	s.Tables.Recorder.Faults(dies, dies)
	h.Together(people, 12, func(_, number int) (answering, func() string) {
		in := answering{rand.IntN(people), number % len(asked)}
		if number > 8 {
			in.person = -1
			return in, func() string { return look(in.question) }
		}
		return in, func() string {
			answer := askahuman.Answer{QuestionID: asked[in.question].ID, Text: &words}
			if in.handed() {
				answer.HandedAt = ten
			}
			got, err := s.people.Answer(t.Context(), person(in.person), time.UTC, answer)
			if err != nil {
				said := historytest.Error(err, died)
				if said == historytest.Unknown {
					told[in.person].unknown.Add(1)
				}
				return said
			}
			told[in.person].points.Add(int64(got.PointsEarned))
			if got.Late {
				return fmt.Sprint(got.PointsEarned, " points, late")
			}
			return fmt.Sprint(got.PointsEarned, " points, ", got.Answers == 1, got.Completed)
		}
	})
	s.Tables.Wire.Answers(nil)
	s.Tables.Recorder.Faults(nil, nil)
	for i, q := range asked {
		h.Call(0, answering{-1, i}, func() string { return look(i) })
		if stored, counted := len(answersOf(t, s, q.ID)), mustRead(t, s, q.ID).CurrentResponses; stored != counted {
			t.Errorf("%d answers are stored, and %d counted", stored, counted)
		}
	}
	h.Judge(t)
	for i := range told {
		got, want := int64(statsOf(t, s, person(i)).TotalPoints), told[i].points.Load()
		if got < want || got > want+15*told[i].unknown.Load() {
			t.Errorf("person %d has %d points, and was told %d; %d calls are unknown", i, got, want,
				told[i].unknown.Load())
		}
	}
}
