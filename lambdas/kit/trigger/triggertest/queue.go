package triggertest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
)

// Queue is an [trigger.Failures] that keeps what it gets. The zero value is an empty queue. It is safe for concurrent
// use.
type Queue struct {
	// Err is the error of Send, which then takes no message.
	Err error

	mutex    sync.Mutex
	messages []trigger.Failure
}

// Send implements [trigger.Failures]. It refuses a message that is not about a record.
func (q *Queue) Send(_ context.Context, message string) error {
	var failure trigger.Failure
	if err := json.Unmarshal([]byte(message), &failure); err != nil {
		return fmt.Errorf("got %q: %w", message, err)
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.Err != nil {
		return q.Err
	}
	q.messages = append(q.messages, failure)
	return nil
}

// Failures returns the messages by the sequence number of their record.
func (q *Queue) Failures() map[string]trigger.Failure {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	all := map[string]trigger.Failure{}
	for _, failure := range q.messages {
		all[failure.SequenceNumber] = failure
	}
	return all
}
