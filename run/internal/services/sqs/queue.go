// Package sqs is Amazon SQS at the endpoint of functions, with the queues that an assembly declares: standard queues,
// their delays, visibility time-outs and dead-letter queues.
package sqs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// MessageAttribute is a message attribute of SQS.
type MessageAttribute struct {
	// DataType is String, Number or Binary, with an optional label after a dot.
	DataType    string
	StringValue string `json:",omitempty"`
	BinaryValue []byte `json:",omitempty"`
}

// Message is a message in a queue.
type Message struct {
	ID         string                      `json:"id"`
	Body       string                      `json:"body"`
	Attributes map[string]MessageAttribute `json:"attributes,omitempty"`
	Sent       time.Time                   `json:"sent"`
	// Received is how often it was received.
	Received int `json:"received"`
	// VisibleAt is from when on it can be received.
	VisibleAt time.Time `json:"visible_at"`

	receipt string
	first   time.Time
	// inFlight says that a function has it, by a mapping, and reserved that the console has.
	inFlight, reserved bool
}

// InFlight reports whether a function has the message, by a mapping.
func (m Message) InFlight() bool { return m.inFlight }

// Queue is a standard queue, as far as failure destinations and their readers need one. It is safe for concurrent use.
type Queue struct {
	// Name, ARN and URL identify the queue.
	Name, ARN, URL string

	mutex    sync.Mutex
	set      queueSettings
	messages []*Message
	arrived  chan struct{}
}

// queueSettings are what another assembly may change.
type queueSettings struct {
	visibility, retention, wait, delay time.Duration
	most                               int
	dead                               *Queue
}

func (q *Queue) settings() queueSettings {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return q.set
}

// number is a JSON number that may be written as a text, as CloudFormation and redrive policies do.
type number int

func (n *number) UnmarshalJSON(text []byte) error {
	value, err := strconv.Atoi(strings.Trim(string(text), `"`))
	*n = number(value)
	return err
}

// Service is SQS. Make one with New.
type Service struct {
	aws.Operations
	// declared are those of the assembly, by ARN. Apply replaces them.
	declared atomic.Pointer[map[string]*Queue]
}

// New makes the service, without queues.
func New() *Service {
	s := &Service{}
	s.declared.Store(&map[string]*Queue{})
	s.Operations = s.operations()
	return s
}

// VisibilityTimeout is how long a queue of an assembly hides a message that was received, unless a request says.
func VisibilityTimeout(queue *assembly.Resource) (time.Duration, error) {
	var declared struct{ VisibilityTimeout *number }
	err := queue.Decode(&declared)
	return seconds(declared.VisibilityTimeout, 30*time.Second), err
}

func seconds(given *number, otherwise time.Duration) time.Duration {
	if given == nil {
		return otherwise
	}
	return time.Duration(*given) * time.Second
}

// Prepare reads the queues of an assembly. A queue that the former assembly has, too, stays with its messages; what
// Prepare returns gives it the properties of this one. An error names a queue that cannot be served.
func (s *Service) Prepare(source *assembly.Assembly) (apply func(), err error) {
	former, next := *s.declared.Load(), map[string]*Queue{}
	type redrive struct {
		DeadLetterTargetArn string `json:"deadLetterTargetArn"`
		MaxReceiveCount     number `json:"maxReceiveCount"`
	}
	redrives, read := map[*Queue]redrive{}, map[string]*Queue{}
	for _, resource := range source.Resources("AWS::SQS::Queue") {
		var declared struct {
			MessageRetentionPeriod        *number
			ReceiveMessageWaitTimeSeconds number
			DelaySeconds                  number
			RedrivePolicy                 *redrive
		}
		if err := resource.Decode(&declared); err != nil {
			return nil, err
		}
		visibility, err := VisibilityTimeout(resource)
		if err != nil {
			return nil, err
		}
		queue := &Queue{
			Name: resource.Name, ARN: resource.ARN, URL: resource.Ref,
			set: queueSettings{
				visibility: visibility,
				retention:  seconds(declared.MessageRetentionPeriod, 4*24*time.Hour),
				wait:       seconds(&declared.ReceiveMessageWaitTimeSeconds, 0),
				delay:      seconds(&declared.DelaySeconds, 0),
			},
			arrived: make(chan struct{}),
		}
		next[resource.ARN], read[resource.ARN] = cmp.Or(former[resource.ARN], queue), queue
		if declared.RedrivePolicy != nil {
			redrives[queue] = *declared.RedrivePolicy
		}
	}
	for queue, policy := range redrives {
		queue.set.dead, queue.set.most = next[policy.DeadLetterTargetArn], int(policy.MaxReceiveCount)
		if queue.set.dead == nil {
			return nil, fmt.Errorf("queue %s: dead-letter queue %s is not in the assembly", queue.Name,
				policy.DeadLetterTargetArn)
		}
	}
	return func() {
		for arn, queue := range next {
			queue.configure(read[arn])
		}
		s.declared.Store(&next)
	}, nil
}

// configure takes the properties of another queue, and keeps its messages.
func (q *Queue) configure(other *Queue) {
	next := other.settings()
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.set = next
}

// Queue returns the queue with the ARN, URL or name, or nil.
func (s *Service) Queue(id string) *Queue {
	queues := *s.declared.Load()
	if queue := queues[id]; queue != nil {
		return queue
	}
	name := id[strings.LastIndexByte(id, '/')+1:]
	for _, queue := range queues {
		if queue.Name == name {
			return queue
		}
	}
	return nil
}

// Queues returns every queue, sorted by name.
func (s *Service) Queues() []*Queue {
	return slices.SortedFunc(maps.Values(*s.declared.Load()), func(a, b *Queue) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// Send puts a message into the queue and returns its id.
func (q *Queue) Send(body string, attributes map[string]MessageAttribute) string {
	return q.send(body, attributes, q.settings().delay)
}

// Put adds a message as SendMessage does, after the queue's delay, and returns its id. It returns an [aws.Failure] for
// what Amazon SQS refuses.
func (q *Queue) Put(body string, attributes map[string]MessageAttribute) (string, error) {
	message := entry{MessageBody: body, MessageAttributes: attributes}
	if err := message.check(); err != nil {
		return "", err
	}
	return message.sendTo(q)["MessageId"], nil
}

func (q *Queue) send(body string, attributes map[string]MessageAttribute, delay time.Duration) string {
	now := time.Now()
	message := &Message{ID: rand.Text(), Body: body, Attributes: attributes, Sent: now, VisibleAt: now.Add(delay)}
	q.push(message)
	return message.ID
}

func (q *Queue) push(message *Message) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.messages = append(q.messages, message)
	close(q.arrived)
	q.arrived = make(chan struct{})
}

// Messages returns the messages in the queue, oldest first, with those that a reader has received and not deleted.
func (q *Queue) Messages() []Message {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	messages := make([]Message, len(q.messages))
	for i, message := range q.messages {
		messages[i] = *message
	}
	return messages
}

// Purge removes every message.
func (q *Queue) Purge() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.messages = nil
}

// receive takes up to most messages, waiting up to wait for the first one.
func (q *Queue) receive(ctx context.Context, most int, visibility, wait time.Duration) []Message {
	deadline := time.Now().Add(wait)
	for {
		received, next, arrived := q.take(most, visibility, false)
		left := time.Until(deadline)
		if len(received) > 0 || left <= 0 {
			return received
		}
		timer := time.NewTimer(min(left, next))
		select {
		case <-arrived:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		timer.Stop()
	}
}

// take returns visible messages, or, if there are none, when to look again.
func (q *Queue) take(most int, visibility time.Duration, inFlight bool) (received []Message, next time.Duration,
	arrived <-chan struct{}) {
	var dead []*Message
	var to *Queue
	// After the unlock, because two queues may be each other's dead-letter queue.
	defer func() {
		for _, message := range dead {
			to.push(message)
		}
	}()
	q.mutex.Lock()
	defer q.mutex.Unlock()
	to = q.set.dead
	now, next := time.Now(), time.Minute
	q.messages = slices.DeleteFunc(q.messages, func(message *Message) bool {
		if now.Sub(message.Sent) > q.set.retention {
			return true
		}
		if message.VisibleAt.After(now) {
			next = min(next, message.VisibleAt.Sub(now))
			return false
		}
		if to != nil && message.Received >= q.set.most {
			message.VisibleAt, message.receipt, message.inFlight = now, "", false
			dead = append(dead, message)
			return true
		}
		if len(received) < most {
			message.Received++
			if message.first.IsZero() {
				message.first = now
			}
			message.receipt, message.VisibleAt, message.inFlight = rand.Text(), now.Add(visibility), inFlight
			received = append(received, *message)
		}
		return false
	})
	return received, next, q.arrived
}

// find runs change on the message of the receipt handle. A handle of an earlier receive is invalid.
func (q *Queue) find(receipt string, change func(at int)) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	at := slices.IndexFunc(q.messages, func(message *Message) bool {
		return receipt != "" && message.receipt == receipt
	})
	if at >= 0 {
		change(at)
	}
	return at >= 0
}

func (q *Queue) remove(receipt string) bool {
	return q.find(receipt, func(at int) { q.messages = slices.Delete(q.messages, at, at+1) })
}

// Errors of Reserve, to be matched with errors.Is.
var (
	// ErrNoMessage says that a queue has no message of the id.
	ErrNoMessage = errors.New("no such message in the queue")
	// ErrMessageInUse says that a reader has received the message and may still delete it, or that another call holds
	// it.
	ErrMessageInUse = errors.New("the message is in use: a reader has received it, or it is being worked off")
)

// reservation is the longest that Reserve keeps a message from readers.
const reservation = 24 * time.Hour

// Reserve takes a message from the queue's readers until release is called, which removes it, or gives it back. Errors:
// ErrNoMessage, ErrMessageInUse.
func (q *Queue) Reserve(id string) (message Message, release func(remove bool), err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	at := slices.IndexFunc(q.messages, func(message *Message) bool { return message.ID == id })
	if at < 0 {
		return Message{}, nil, fmt.Errorf("%w: got %q in queue %s", ErrNoMessage, id, q.Name)
	}
	reserved := q.messages[at]
	if reserved.VisibleAt.After(time.Now()) {
		return Message{}, nil, fmt.Errorf("%w: %s", ErrMessageInUse, id)
	}
	reserved.VisibleAt, reserved.receipt, reserved.reserved = time.Now().Add(reservation), "", true
	return *reserved, func(remove bool) {
		q.mutex.Lock()
		defer q.mutex.Unlock()
		if remove {
			q.messages = slices.DeleteFunc(q.messages, func(message *Message) bool { return message == reserved })
			return
		}
		reserved.VisibleAt, reserved.reserved = time.Now(), false
		close(q.arrived)
		q.arrived = make(chan struct{})
	}, nil
}

// Sources are the queues whose dead-letter queue this is, sorted by name.
func (s *Service) Sources(dead *Queue) (sources []*Queue) {
	for _, queue := range s.Queues() {
		if queue.settings().dead == dead {
			sources = append(sources, queue)
		}
	}
	return sources
}
