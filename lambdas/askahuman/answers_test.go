package askahuman

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// answersOf reads what an agent sees of the answers to a question.
func answersOf(t *testing.T, s *platform, questionID string) []askahuman.Response {
	t.Helper()
	responses := Must(s.responses(t.Context(), questionID))(t)
	for i, r := range responses {
		responses[i] = seen(r)
	}
	return responses
}

// seen is what an agent sees of an answer: nothing of the person.
func seen(r askahuman.Response) askahuman.Response {
	return askahuman.Response{
		ID: r.ID, QuestionID: r.QuestionID, Answer: r.Answer, SelectedOption: r.SelectedOption,
		Confidence: r.Confidence, CreatedAt: r.CreatedAt, Flags: r.Flags,
	}
}

func checkSubmitResponse(t *testing.T, s *platform) {
	q := questionAt("agent", ten)
	mustCreate(t, s, q)
	want := q
	var answers []askahuman.Response
	for i, status := range []askahuman.Status{askahuman.StatusPartial, askahuman.StatusPartial,
		askahuman.StatusClosed} {
		at := ten.Add(time.Duration(i+1) * time.Minute)
		before := mustRead(t, s, q.ID)
		response := responseTo(before, person(i), at)
		response.Confidence, response.ResponseTimeMS = new(i+1), new(int64(i))
		response.Flags = []string{askahuman.FlagSuspiciousTiming, askahuman.FlagDuplicateContent}
		got, err := s.people.submitResponse(t.Context(), before, response, counting(statsOf(t, s, person(i)), 10, at))
		if err != nil || got != i+1 {
			t.Fatalf("answer %d: SubmitResponse = %d, %v", i, got, err)
		}
		answers = append(answers, seen(response))
		want.Status, want.CurrentResponses = status, i+1
		if status == askahuman.StatusClosed {
			want.ClosedAt, want.ExpiresAt, want.DueAt = wire.Time(at), at.Add(askahuman.KeepClosed), time.Time{}
		}
		wantEqual(t, fmt.Sprintf("question after answer %d", i), mustRead(t, s, q.ID), want)
		for p := range 3 {
			answered, err := s.people.hasAnswered(t.Context(), q.ID, person(p))
			if err != nil || answered != (p <= i) {
				t.Errorf("after answer %d: HasAnswered(person %d) = %v, %v", i, p, answered, err)
			}
		}
	}
	wantEqual(t, "answers", answersOf(t, s, q.ID), answers)
	wantEqual(t, "answers to another question", answersOf(t, s, questionAt("agent", ten).ID), nil)
}

func checkSubmitRefused(t *testing.T, s *platform) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, q askahuman.Question)
		at      time.Duration
		want    error
	}{
		"AtTheDeadline": {at: time.Hour, want: askahuman.ErrQuestionClosed},
		"Closed": {want: askahuman.ErrQuestionClosed, prepare: func(t *testing.T, q askahuman.Question) {
			Must(s.notifying.endQuestion(t.Context(), q, ten))(t)
		}},
		"Expired": {want: askahuman.ErrQuestionClosed, prepare: func(t *testing.T, q askahuman.Question) {
			Must(s.notifying.endQuestion(t.Context(), q, time.Time(q.Deadline)))(t)
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
			Must(s.notifying.endQuestion(t.Context(), q, ten))(t)
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

// checkSubmitStale checks that stats are written only on the version that was read. A changed count of
// the question is not always stale, but must never be lost.
func checkSubmitStale(t *testing.T, s *platform) {
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

// checkSubmitHalfWay checks that no answer is stored with points for a question under
// half of its answers when it no longer is, also where the answer that makes half
// is the last but one.
func checkSubmitHalfWay(t *testing.T, s *platform) {
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

func checkLastAnswerGivesPlaceBack(t *testing.T, s *platform) {
	q := questionAt("agent", ten)
	q.RequiredResponses = 2
	mustCreate(t, s, q)
	for range checkedQuota - 1 {
		mustCreate(t, s, questionAt("agent", ten))
	}
	mustSubmit(t, s, q.ID, person(0), ten)
	wantError(t, s.createQuestion(t.Context(), questionAt("agent", ten)), askahuman.ErrQuotaExceeded)
	mustSubmit(t, s, q.ID, person(1), ten)
	mustCreate(t, s, questionAt("agent", ten))
	wantError(t, s.createQuestion(t.Context(), questionAt("agent", ten)), askahuman.ErrQuotaExceeded)
}

func checkRecentAnswers(t *testing.T, s *platform) {
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
		got := Must(s.people.recentAnswers(t.Context(), person(0), ten.Add(test.since), test.limit))(t)
		wantEqual(t, fmt.Sprintf("since %v, limit %d", test.since, test.limit), got, test.want)
	}
}

// answering returns the people's side at a moment.
func answering(s *platform, now time.Time) *Service {
	s.moveTo(now)
	return s.people
}

type outcome struct {
	receipt askahuman.Receipt
	err     error
}

func answerOnce(t *testing.T, people *Service, person, questionID string) outcome {
	text := "An answer that is neither short nor long."
	receipt, err := people.Answer(t.Context(), person, time.UTC, askahuman.Answer{QuestionID: questionID, Text: &text})
	return outcome{receipt, err}
}

// wantConsistent checks that the store agrees with the receipts: as many answers as receipts, and
// each person's points are the sum of their receipts.
func wantConsistent(t *testing.T, s *platform, q askahuman.Question, outcomes map[string][]outcome) {
	t.Helper()
	accepted := 0
	for p, list := range outcomes {
		points, answers := 0, 0
		for _, o := range list {
			if o.err == nil {
				points += o.receipt.PointsEarned
				answers++
			}
		}
		accepted += answers
		stats := statsOf(t, s, p)
		if stats.TotalPoints != points || stats.TotalAnswers != answers {
			t.Errorf("person %s has %d points for %d answers, but was given %d for %d", p, stats.TotalPoints,
				stats.TotalAnswers, points, answers)
		}
	}
	stored := Must(s.people.question(t.Context(), q.ID, ten))(t)
	if stored.CurrentResponses != accepted {
		t.Errorf("the question counts %d answers, but %d were accepted", stored.CurrentResponses, accepted)
	}
	if got := len(answersOf(t, s, q.ID)); got != accepted {
		t.Errorf("%d answers are stored, but %d were accepted", got, accepted)
	}
}

func errorsOf(outcomes []outcome) []error {
	errs := make([]error, len(outcomes))
	for i, o := range outcomes {
		errs[i] = o.err
	}
	return errs
}

func checkRaceForPlaces(t *testing.T, s *platform) {
	const people, places = 64, 5
	q := questionAt("agent", ten)
	q.RequiredResponses = places
	mustCreate(t, s, q)
	side := answering(s, ten.Add(time.Minute))
	outcomes := atOnce(people, func(i int) outcome { return answerOnce(t, side, person(i), q.ID) })
	counts := tally(t, errorsOf(outcomes), askahuman.ErrQuestionClosed)
	if counts[nil] != places || counts[askahuman.ErrQuestionClosed] != people-places {
		t.Errorf("%d were accepted and %d too late; want %d and %d", counts[nil], counts[askahuman.ErrQuestionClosed],
			places, people-places)
	}
	byPerson := map[string][]outcome{}
	firsts := 0
	for i, o := range outcomes {
		byPerson[person(i)] = append(byPerson[person(i)], o)
		if o.receipt.Answers == 1 {
			firsts++
		}
	}
	if firsts != 1 {
		t.Errorf("%d answers were the first", firsts)
	}
	wantConsistent(t, s, q, byPerson)
	if got := mustRead(t, s, q.ID); got.Status != askahuman.StatusClosed || got.ClosedAt.IsZero() {
		t.Errorf("status = %s, closed at %v; want CLOSED and when", got.Status, got.ClosedAt)
	}
}

func checkRaceOneself(t *testing.T, s *platform) {
	for _, required := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("%d wanted", required), func(t *testing.T) {
			const times = 24
			q := questionAt("agent", ten)
			q.RequiredResponses = required
			mustCreate(t, s, q)
			me := person(1000 + required)
			side := answering(s, ten.Add(time.Minute))
			outcomes := atOnce(times, func(int) outcome { return answerOnce(t, side, me, q.ID) })
			counts := tally(t, errorsOf(outcomes), askahuman.ErrAlreadyAnswered)
			if counts[nil] != 1 || counts[askahuman.ErrAlreadyAnswered] != times-1 {
				t.Errorf("%d were accepted and %d refused as repeated; want 1 and %d", counts[nil],
					counts[askahuman.ErrAlreadyAnswered], times-1)
			}
			wantConsistent(t, s, q, map[string][]outcome{me: outcomes})
		})
	}
}

// checkRaceManyQuestions lets one person answer several questions at once, which all
// change the same stats.
func checkRaceManyQuestions(t *testing.T, s *platform) {
	const questions = 8
	var asked []askahuman.Question
	for range questions {
		q := questionAt("agent", ten)
		mustCreate(t, s, q)
		asked = append(asked, q)
	}
	side := answering(s, ten.Add(time.Minute))
	outcomes := atOnce(questions, func(i int) outcome { return answerOnce(t, side, person(0), asked[i].ID) })
	points, totals := 0, map[int]bool{}
	for _, o := range outcomes {
		if o.err != nil {
			t.Fatalf("Answer: %v", o.err)
		}
		points += o.receipt.PointsEarned
		totals[o.receipt.TotalPoints] = true
	}
	stats := statsOf(t, s, person(0))
	if stats.TotalPoints != points || stats.TotalAnswers != questions {
		t.Errorf("%d points for %d answers; want %d for %d", stats.TotalPoints, stats.TotalAnswers, points, questions)
	}
	if len(totals) != questions {
		t.Errorf("the %d receipts show %d different totals: some answers overwrote others", questions, len(totals))
	}
}
