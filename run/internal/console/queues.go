package console

// Queues, and what can be done with their messages.

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
)

// queueView is a queue on the console.
type queueView struct {
	Name     string `json:"name"`
	ARN      string `json:"arn"`
	URL      string `json:"url"`
	Messages int    `json:"messages"`
	// Functions are those that get the messages.
	Functions []eventsource.Delivery `json:"functions,omitempty"`
	Content   []messageView          `json:"content,omitempty"`
}

// messageView is a message, with what can be done about it.
type messageView struct {
	sqs.Message
	// Cut says that the body is longer.
	Cut bool `json:"cut,omitempty"`
	// Failure is what went wrong before, if anything did.
	Failure failureView `json:"failure,omitzero"`
	// Again is what doing it again would be, and Cannot why it cannot be done.
	Again  string `json:"again,omitempty"`
	Cannot string `json:"cannot,omitempty"`
}

// longestBody is how much of a body a list of messages shows.
const longestBody = 8 << 10

func (c *Console) messageViews(queue *sqs.Queue, messages []sqs.Message) []messageView {
	failures := c.failures(messages)
	var views []messageView
	for _, message := range messages {
		view := messageView{Message: message, Failure: failures[message.ID]}
		if plan := c.planAgain(queue, message); plan.why != "" {
			view.Cannot = plan.why
		} else {
			view.Again = plan.String()
		}
		views = append(views, view)
	}
	return views
}

func (c *Console) queues() []queueView {
	views := []queueView{}
	for _, queue := range c.parts.AWS.Queues() {
		views = append(views, c.queueView(queue))
	}
	return views
}

func (c *Console) queueView(queue *sqs.Queue) queueView {
	return queueView{
		Name: queue.Name, ARN: queue.ARN, URL: queue.URL, Messages: len(queue.Messages()),
		Functions: c.deliveries(queue.Name),
	}
}

// queueOf returns the queue that a request names.
func (c *Console) queueOf(r *http.Request) (*sqs.Queue, error) {
	queue := c.parts.AWS.Queue(r.PathValue("name"))
	if queue == nil {
		return nil, &Problem{http.StatusNotFound,
			fmt.Sprintf("no queue %q: GET /queues lists them", r.PathValue("name"))}
	}
	return queue, nil
}

// queue answers with a queue and its oldest messages. With a limit there are no more, and their bodies are cut.
func (c *Console) queue(r *http.Request) (queueView, error) {
	most, err := number(r, "limit", 0, limitListed)
	if err != nil {
		return queueView{}, err
	}
	queue, err := c.queueOf(r)
	if err != nil {
		return queueView{}, err
	}
	view := c.queueView(queue)
	messages := queue.Messages()
	if most > 0 {
		messages = messages[:min(most, len(messages))]
	}
	view.Content = c.messageViews(queue, messages)
	for i, one := range view.Content {
		if most > 0 && len(one.Body) > longestBody {
			view.Content[i].Body, view.Content[i].Cut = strings.ToValidUTF8(one.Body[:longestBody], ""), true
		}
	}
	return view, nil
}

// deliveries tells how far the delivery of the queue's messages to each function is.
func (c *Console) deliveries(name string) (to []eventsource.Delivery) {
	for _, delivery := range c.parts.Mappings.Queues() {
		if delivery.Queue == name {
			to = append(to, delivery)
		}
	}
	return to
}

// MadeDue is the answer to POST /queues/{name}/due.
type MadeDue struct {
	// Messages is how many messages no longer wait.
	Messages int `json:"messages"`
}

func (c *Console) dueMessages(r *http.Request) (MadeDue, error) {
	queue, err := c.queueOf(r)
	if err != nil {
		return MadeDue{}, err
	}
	return MadeDue{queue.Due()}, nil
}

// NewMessage is the body of POST /queues/{name}/messages.
type NewMessage struct {
	// Body is the text of the message.
	Body string `json:"body"`
	// Attributes are message attributes of the type String, by name.
	Attributes map[string]string `json:"attributes,omitempty"`
}

// SentID is the answer to POST /queues/{name}/messages.
type SentID struct {
	// ID is that of the message.
	ID string `json:"id"`
}

// sendMessage adds a message to a queue, past all roles.
func (c *Console) sendMessage(r *http.Request, request NewMessage) (SentID, error) {
	queue, err := c.queueOf(r)
	if err != nil {
		return SentID{}, err
	}
	attributes := map[string]sqs.MessageAttribute{}
	for name, value := range request.Attributes {
		attributes[name] = sqs.MessageAttribute{DataType: "String", StringValue: value}
	}
	id, err := queue.Put(request.Body, attributes)
	if err != nil {
		return SentID{}, &Problem{http.StatusBadRequest, err.Error()}
	}
	return SentID{id}, nil
}

func (c *Console) message(r *http.Request) (messageView, error) {
	queue, err := c.queueOf(r)
	if err != nil {
		return messageView{}, err
	}
	messages := queue.Messages()
	at := slices.IndexFunc(messages, func(message sqs.Message) bool { return message.ID == r.PathValue("id") })
	if at < 0 {
		return messageView{}, &Problem{http.StatusNotFound,
			fmt.Sprintf("no message %q in queue %q", r.PathValue("id"), queue.Name)}
	}
	return c.messageViews(queue, messages[at:at+1])[0], nil
}

func (c *Console) dropMessage(r *http.Request) (nothing, error) {
	queue, err := c.queueOf(r)
	if err != nil {
		return nothing{}, err
	}
	_, release, err := queue.Reserve(r.PathValue("id"))
	if err == nil {
		release(true)
	}
	return nothing{}, err
}
