// Package webhooks tells agents by webhooks that their questions have ended: which changes of a question are news, what
// a webhook says, by which secrets it is signed, and what an endpoint's answer means. The form is that of Standard
// Webhooks.
package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// The types of webhooks.
const (
	// Closed: the question has all answers that it wanted, or its agent has closed it.
	Closed = "question.closed"
	// Expired: its deadline has passed.
	Expired = "question.expired"
	// Test: its agent tries an endpoint.
	Test = "webhook.test"
)

// Event is the body of a webhook.
type Event struct {
	// Type is Closed or Expired.
	Type string `json:"type"`
	// Timestamp is when the question ended.
	Timestamp wire.Time `json:"timestamp"`
	Data      Data      `json:"data"`
}

// Data is what an agent reads of its question, but its prompt and answers: an endpoint's logs have neither.
type Data struct {
	QuestionID        string           `json:"question_id"`
	Status            askahuman.Status `json:"status"`
	RequiredResponses int              `json:"required_responses"`
	CurrentResponses  int              `json:"current_responses"`
	CreatedAt         wire.Time        `json:"created_at"`
	ClosedAt          wire.Time        `json:"closed_at,omitzero"`
	ExpiredAt         wire.Time        `json:"expired_at,omitzero"`
	// PollURL is the path at which the agent reads the answers.
	PollURL string `json:"poll_url"`
}

// Message is a webhook on its way: what the queue has.
type Message struct {
	// ID is the same at each attempt, and for each duplicate of the message.
	ID string `json:"id"`
	// AgentID is whose secrets sign it.
	AgentID string `json:"agent_id"`
	// QuestionID is the question that ended. Messages of earlier releases have none.
	QuestionID string `json:"question_id,omitempty"`
	// URL is the endpoint.
	URL string `json:"url"`
	// Ended is when the question ended.
	Ended time.Time `json:"ended,omitzero"`
	// Test says that no question has ended: the webhook tries an endpoint, and is sent once.
	Test bool `json:"test,omitempty"`
	// Body is an [Event] as it is sent and signed.
	Body json.RawMessage `json:"body"`
}

// Of returns the webhook that a change of the table of questions makes necessary, if it does: a question that was open
// has ended, and its agent has named an endpoint. The same change always gives the same webhook.
func Of(change events.DynamoDBStreamRecord) (m Message, ok bool, err error) {
	was := askahuman.StatusOf(trigger.Text(change.OldImage, "status"))
	is := askahuman.StatusOf(trigger.Text(change.NewImage, "status"))
	if trigger.Text(change.NewImage, "callback_url") == "" ||
		!was.TakesAnswers() ||
		is != askahuman.StatusClosed && is != askahuman.StatusExpired {
		return Message{}, false, nil
	}
	var q askahuman.Question
	if err := trigger.Read(change.NewImage, &q); err != nil {
		return Message{}, false, err
	}
	q.Status = is
	q = q.At(time.Time{})
	event := Event{Type: Closed, Timestamp: q.ClosedAt, Data: Data{
		QuestionID: q.ID, Status: is, RequiredResponses: q.RequiredResponses, CurrentResponses: q.CurrentResponses,
		CreatedAt: q.CreatedAt, ClosedAt: q.ClosedAt, ExpiredAt: q.ExpiredAt, PollURL: askahuman.PollURL(q.ID),
	}}
	if is == askahuman.StatusExpired {
		event.Type, event.Timestamp = Expired, q.ExpiredAt
	}
	body, err := json.Marshal(event)
	if err != nil {
		return Message{}, false, fmt.Errorf("write the webhook: %w", err)
	}
	id := sha256.Sum256([]byte(q.ID + "\x00" + event.Type))
	return Message{ID: "msg_" + hex.EncodeToString(id[:16]), AgentID: q.AgentID, QuestionID: q.ID, URL: q.CallbackURL,
		Ended: time.Time(event.Timestamp), Body: body}, true, nil
}

// Sender sends webhooks. Keys and Post are required.
type Sender struct {
	Keys *Secrets
	// Post makes one attempt, as [webhook.Client.Post] does.
	Post func(ctx context.Context, url string, header http.Header, body []byte) (webhook.Answer, error)
	// CheckAgent returns [askahuman.ErrBlocked] for an agent whose webhooks are not sent. Nil: there is none.
	CheckAgent func(ctx context.Context, agentID string) error
	Clock      wire.Clock
}

// ErrUnsent says that a webhook was not sent, since the secrets of its agent, or whether it is blocked, could not be
// read.
var ErrUnsent = errors.New("read what a webhook needs of its agent")

// ErrAnswer says that an endpoint answered, and did not take the webhook.
var ErrAnswer = errors.New("the endpoint did not take the webhook")

// Outcome is how an attempt ended, if the webhook need not be sent again.
type Outcome struct {
	// Gone says that the endpoint wants no more of this webhook (410).
	Gone bool
	// Blocked says that there was no attempt, since the agent is blocked.
	Blocked bool
	// Took is the time from the end of the question until the endpoint had taken the webhook.
	Took time.Duration
}

// Send makes one attempt. An error says that it has failed, and never has the address of the endpoint, which may have a
// secret of the agent in it: [ErrUnsent], [ErrAnswer], a [webhook.ForbiddenError], or why there is no answer. It is a
// [trigger.LaterError] if the endpoint says when to come again.
func (s *Sender) Send(ctx context.Context, m Message) (Outcome, error) {
	if s.CheckAgent != nil {
		err := s.CheckAgent(ctx, m.AgentID)
		if errors.Is(err, askahuman.ErrBlocked) {
			return Outcome{Blocked: true}, nil
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("%w: %w", ErrUnsent, err)
		}
	}
	secrets, err := s.Keys.Valid(ctx, m.AgentID)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrUnsent, err)
	}
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"Ask-a-Human-Webhooks/1.0"}}
	webhook.Sign(header, m.ID, s.Clock.Now(), m.Body, secrets...)
	answer, err := s.Post(ctx, m.URL, header, m.Body)
	switch {
	case err != nil:
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return Outcome{}, fmt.Errorf("the endpoint gave no answer: %w", err)
	case answer.OK():
		return Outcome{Took: s.Clock.Now().Sub(m.Ended)}, nil
	case answer.Gone():
		return Outcome{Gone: true}, nil
	}
	err = fmt.Errorf("%w: got the status %d, want 200 to 299", ErrAnswer, answer.Status)
	if answer.RetryAfter > 0 {
		return Outcome{}, &trigger.LaterError{After: answer.RetryAfter, Err: err}
	}
	return Outcome{}, err
}
