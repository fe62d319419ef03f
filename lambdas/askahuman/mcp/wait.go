package mcp

// The tool wait_for_answers.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

const (
	// longestWait is in seconds.
	longestWait = int(service.MaxWait / time.Second)
	// maxAnswers is how many answers a question may want.
	maxAnswers = 50
	// maxAwaited is for how many questions one request waits.
	maxAwaited = 20
	// gathering is how long a wait for several questions goes on after the first news: the others may have
	// some already.
	gathering = 300 * time.Millisecond
	// maxText bounds the answers to several questions, in bytes. They are in the text and in the structured
	// content, of which AWS Lambda takes 6 MB at most.
	maxText = 1 << 20
)

// awaited is a question for which a call waits, with others.
type awaited struct {
	QuestionID string `json:"question_id" format:"uuid" doc:"The question_id that ask_human returned."`
	Seen       int    `json:"seen,omitempty" minimum:"0" maximum:"50" default:"0" doc:"How many of its answers you have seen: the current_responses of the last result." example:"2"`
}

func (s *Server) wait(ctx context.Context, c call) (any, string, error) {
	seconds, questions := longestWait, []awaited(nil)
	if err := errors.Join(c.read("wait_seconds", &seconds), c.read("questions", &questions)); err != nil {
		return nil, "", err
	}
	if seconds < 0 || seconds > longestWait {
		return nil, "", &argumentError{"wait_seconds",
			fmt.Sprintf("is %d; allowed are 0 to %d: call again to wait for longer", seconds, longestWait)}
	}
	if questions != nil {
		return s.waitForAny(ctx, c, questions, seconds)
	}
	id, err := c.questionID()
	if err != nil {
		return nil, "", err
	}
	var seen *int
	if err := errors.Join(c.read("seen", &seen), awaits(ctx, 1)); err != nil {
		return nil, "", err
	}
	defer s.report(ctx, c, seconds)()
	question, err := s.waitFor(ctx, c, id, seen, seconds)
	if err != nil {
		return nil, "", err
	}
	return answeredBy(question), s.answersText(question), nil
}

// news are the parameters of a read that waits for news of a question; seen may be nil.
func news(id string, seen *int, seconds int) askahuman.NewsParams {
	return askahuman.NewsParams{QuestionParams: askahuman.QuestionParams{ID: id}, Wait: seconds, Seen: seen}
}

// waitFor reads a question once it has news, or the time is over.
func (s *Server) waitFor(ctx context.Context, c call, id string, seen *int,
	seconds int) (askahuman.QuestionWithResponses, error) {
	began := s.Clock.Now()
	question, err := c.client.Question(ctx, news(id, seen, seconds))
	if err != nil {
		return question, err
	}
	// An API without waiting answers at once. The tool then waits itself, so that no model polls in a loop.
	if left := time.Duration(seconds)*time.Second - s.Clock.Now().Sub(began); left >= time.Second &&
		!isNews(question, askahuman.Or(seen, question.CurrentResponses)) && s.Live {
		if err := s.pause(ctx, left); err != nil {
			return question, err
		}
		return c.client.Question(ctx, news(id, nil, 0))
	}
	return question, nil
}

// newsOfSeveral is the result of a wait for several questions.
type newsOfSeveral struct {
	Questions []answered `json:"questions" nullable:"false" doc:"Those that have ended, or have more answers than seen."`
	Waiting   []string   `json:"waiting" nullable:"false" doc:"The question_id of each that has no news yet."`
	More      []string   `json:"more" nullable:"false" doc:"The question_id of each that has news, too, but no room in this result: call again for these."`
}

// waitForAny waits for all of the questions at once, until one of them has news.
func (s *Server) waitForAny(ctx context.Context, c call, questions []awaited, seconds int) (any, string, error) {
	if err := errors.Join(c.checkAwaited(questions), awaits(ctx, len(questions))); err != nil {
		return nil, "", err
	}
	defer s.report(ctx, c, seconds)()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	read, failed := make([]*askahuman.QuestionWithResponses, len(questions)), make([]error, len(questions))
	var all sync.WaitGroup
	for i, of := range questions {
		all.Go(func() {
			question, err := s.waitFor(waiting, c, of.QuestionID, &of.Seen, seconds)
			switch {
			case err != nil && waiting.Err() != nil:
				// Another one has ended the wait.
			case err != nil:
				failed[i] = err
				stop()
			case isNews(question, of.Seen):
				read[i] = &question
				time.AfterFunc(gathering, stop)
			}
		})
	}
	all.Wait()
	if err := cmp.Or(errors.Join(failed...), ctx.Err()); err != nil {
		return nil, "", refusedOne(questions, failed, err)
	}
	news, left := newsOfSeveral{Questions: []answered{}, Waiting: []string{}, More: []string{}}, maxText
	var texts []string
	for i, of := range questions {
		if read[i] == nil {
			news.Waiting = append(news.Waiting, of.QuestionID)
			continue
		}
		text := s.answersText(*read[i])
		if left -= len(text); left < 0 && len(news.Questions) > 0 {
			news.More = append(news.More, of.QuestionID)
			continue
		}
		news.Questions, texts = append(news.Questions, answeredBy(*read[i])), append(texts, text)
	}
	return news, severalText(news, texts), nil
}

// refusedOne is why a wait for several questions failed. A question that there is not is named.
func refusedOne(questions []awaited, failed []error, err error) error {
	for i, of := range questions {
		if refusal, ok := errors.AsType[*client.Refusal](failed[i]); ok && refusal.Code == "QUESTION_NOT_FOUND" {
			return &argumentError{fmt.Sprintf("questions[%d].question_id", i), "is " + of.QuestionID + ". " + notFound}
		}
	}
	return err
}

// checkAwaited checks the questions of a call that names several.
func (c call) checkAwaited(questions []awaited) error {
	for _, single := range []string{"question_id", "seen"} {
		if c.arguments[single] != nil {
			return &argumentError{single, "is given together with questions; give question_id and seen for one " +
				"question, or questions for several"}
		}
	}
	if len(questions) < 1 || len(questions) > maxAwaited {
		return &argumentError{"questions", fmt.Sprintf("has %d entries; allowed are 1 to %d", len(questions),
			maxAwaited)}
	}
	named := map[string]bool{}
	for i, of := range questions {
		name := fmt.Sprintf("questions[%d]", i)
		if err := checkID(name+".question_id", of.QuestionID); err != nil {
			return err
		}
		if named[of.QuestionID] {
			return &argumentError{name + ".question_id", "is there twice; give each question once"}
		}
		if named[of.QuestionID] = true; of.Seen < 0 || of.Seen > maxAnswers {
			return &argumentError{name + ".seen", fmt.Sprintf("is %d; allowed are 0 to %d", of.Seen, maxAnswers)}
		}
	}
	return nil
}

func isNews(question askahuman.QuestionWithResponses, seen int) bool {
	return !question.Status.TakesAnswers() || question.CurrentResponses > seen
}

// progressStep is the time between two reports of progress.
const progressStep = 2 * time.Second

// report tells the model's client how long a call has waited, if it asked and can hear. Call stop when
// the wait is over.
func (s *Server) report(ctx context.Context, c call, seconds int) (stop func()) {
	token := c.request.Params.GetProgressToken()
	if !s.Live || token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		began := s.Clock.Now()
		for s.pause(ctx, progressStep) == nil {
			waited := s.Clock.Now().Sub(began)
			if c.request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: min(waited.Seconds(), float64(seconds)), Total: float64(seconds),
				Message: "waiting for people to answer",
			}) != nil {
				return
			}
		}
	}()
	return func() {
		cancel()
		<-finished
	}
}
