package askahuman

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// waiting is a platform on which time passes only while an agent waits or reads. At each whole second
// from the beginning of a wait, something may happen. It notes when a question is read.
type waiting struct {
	*platform
	at map[time.Duration]func()

	took      time.Duration // by each read of a question
	questions []time.Time
	responses int
	failing   error
}

func newWaiting(t *testing.T) *waiting {
	w := &waiting{platform: newPlatform(t), at: map[time.Duration]func(){}}
	w.MoveTo(w.Now().Truncate(time.Second))
	began := w.Now()
	w.Pause = func(ctx context.Context, d time.Duration) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for end := w.Now().Add(d); w.Now().Before(end); {
			step := min(w.Now().Truncate(time.Second).Add(time.Second).Sub(w.Now()), end.Sub(w.Now()))
			w.MoveTo(w.Now().Add(step))
			if happens := w.at[w.Now().Sub(began)]; happens != nil {
				happens()
			}
		}
		return nil
	}
	return w
}

// watch notes the reads from now on.
func (w *waiting) watch() {
	w.faults(func(r dynamotest.Request) error {
		switch {
		case readsAnswers(r):
			w.responses++
		case r.Table == "Questions" && r.Action == schema.GetItem:
			w.questions = append(w.questions, w.Now())
			w.MoveTo(w.Now().Add(w.took))
			if w.failing != nil && len(w.questions) > 2 {
				return w.failing
			}
		}
		return nil
	})
}

func TestReadNews(t *testing.T) {
	t.Parallel()
	failed := errors.New("the store failed")
	over, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		ctx     context.Context
		answers int // before
		close   bool
		seconds int // the question's life; 0: an hour
		took    time.Duration
		failing error
		happens map[time.Duration]string // "answer", "close"
		longest time.Duration
		seen    *int

		remaining time.Duration // of the context

		waited         time.Duration
		status         askahuman.Status
		current, looks int
		err            error
		unread         bool // no answers are read
	}{
		"NoNews":   {longest: 20 * time.Second, waited: 20 * time.Second, status: "OPEN", looks: 21},
		"ASecond":  {longest: time.Second, waited: time.Second, status: "OPEN", looks: 2},
		"NotAtAll": {status: "OPEN", looks: 1},
		"TooLong":  {longest: time.Hour, waited: 20 * time.Second, status: "OPEN", looks: 21},
		"Answer": {longest: 20 * time.Second, happens: map[time.Duration]string{3 * time.Second: "answer"},
			waited: 3 * time.Second, status: "PARTIAL", current: 1, looks: 4},
		"FurtherAnswer": {answers: 2, longest: 20 * time.Second,
			happens: map[time.Duration]string{time.Second: "answer"}, waited: time.Second, status: "PARTIAL",
			current: 3, looks: 2},
		"LastAnswer": {answers: 4, longest: 20 * time.Second,
			happens: map[time.Duration]string{2 * time.Second: "answer"}, waited: 2 * time.Second, status: "CLOSED",
			current: 5, looks: 3},
		"Close": {longest: 20 * time.Second, happens: map[time.Duration]string{2 * time.Second: "close"},
			waited: 2 * time.Second, status: "CLOSED", looks: 3},
		"Expiry": {seconds: 60, took: 0, longest: 20 * time.Second,
			happens: map[time.Duration]string{4 * time.Second: "deadline"}, waited: 4 * time.Second, status: "EXPIRED",
			looks: 5},
		"Ended": {close: true, longest: 20 * time.Second, status: "CLOSED", looks: 1},
		"SeenFewer": {answers: 2, seen: new(1), longest: 20 * time.Second, status: "PARTIAL", current: 2,
			looks: 1},
		"SeenNone": {answers: 1, seen: new(0), longest: 20 * time.Second, status: "PARTIAL", current: 1,
			looks: 1},
		"SeenAll": {answers: 2, seen: new(2), longest: 3 * time.Second, waited: 3 * time.Second,
			status: "PARTIAL", current: 2, looks: 4},
		"SeenMore": {answers: 1, seen: new(3), longest: 4 * time.Second,
			happens: map[time.Duration]string{time.Second: "answer"}, waited: 4 * time.Second, status: "PARTIAL",
			current: 2, looks: 5},
		"SlowReads": {took: 1500 * time.Millisecond, longest: 6 * time.Second, waited: 6 * time.Second,
			status: "OPEN", looks: 4},
		"FunctionEnds":     {remaining: 1900 * time.Millisecond, longest: 20 * time.Second, status: "OPEN", looks: 1},
		"EndsDuringAPause": {ctx: over, longest: 20 * time.Second, looks: 1, err: context.Canceled, unread: true},
		"Failure": {failing: failed, longest: 20 * time.Second, waited: 2 * time.Second, looks: 3, err: failed,
			unread: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWaiting(t)
			w.took, w.failing = test.took, test.failing
			ask := textAsk()
			if test.seconds != 0 {
				ask.TimeoutSeconds = &test.seconds
			}
			question := w.ask(t, ask)
			for i := range test.answers {
				w.answer(t, string(rune('a'+i)), text(question.ID, "an answer"))
			}
			if test.close {
				must.OK(t, w.Close(t.Context(), "agent", question.ID))
			}
			w.watch()
			for at, what := range test.happens {
				w.at[at] = map[string]func(){
					"answer": func() { w.answer(t, "another", text(question.ID, "news")) },
					"close": func() {
						must.Get(w.notifying.endQuestion(t.Context(), question, w.Now()))(t)
					},
					"deadline": func() { w.MoveTo(time.Time(question.Deadline)) },
				}[what]
			}
			ctx := test.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			if test.remaining != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.remaining)
				defer cancel()
			}
			read, waited, err := w.ReadNews(ctx, "agent", question.ID, Wait{Longest: test.longest, Seen: test.seen})
			if waited != test.waited || !errors.Is(err, test.err) {
				t.Errorf("got %v after %v; want %v after %v", err, waited, test.err, test.waited)
			}
			if len(w.questions) != test.looks {
				t.Errorf("got %d looks; want %d", len(w.questions), test.looks)
			}
			for i, look := range w.questions[:len(w.questions)-1] {
				if next := w.questions[i+1]; next.Sub(look) < time.Second {
					t.Errorf("got a look %v after another; want at most one a second", next.Sub(look))
				}
			}
			if test.unread {
				if w.responses != 0 {
					t.Errorf("got %d reads of the answers; want none", w.responses)
				}
				return
			}
			if read.Status != test.status || read.CurrentResponses != test.current ||
				len(read.Responses) != test.current || w.responses != 1 {
				t.Errorf("got %s with %d answers, counted %d, in %d reads; want %s with %d in 1", read.Status,
					len(read.Responses), read.CurrentResponses, w.responses, test.status, test.current)
			}
		})
	}
}

// An answer that comes between the reads of the question and of its answers is not lost.
func TestReadNewsAgreesWithItself(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	q := p.ask(t, textAsk())
	p.growing(t, q.ID)
	read, _, err := p.ReadNews(t.Context(), "agent", q.ID, Wait{})
	if err != nil || read.CurrentResponses != 1 || len(read.Responses) != 1 {
		t.Errorf("read %d of %d answers, %v", len(read.Responses), read.CurrentResponses, err)
	}
	_, _, err = p.ReadNews(t.Context(), "another agent", q.ID, Wait{Longest: MaxWait})
	wantError(t, err, askahuman.ErrQuestionNotFound)
}
