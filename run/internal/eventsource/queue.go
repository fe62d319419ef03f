package eventsource

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// queue is a queue whose messages a function gets, several batches at once ("Using Lambda with Amazon SQS").
type queue struct {
	*mapping
	concurrency int
	// receiving is held by the reader that receives: together they gather one batch at a time.
	receiving sync.Mutex
}

// Limits of AWS Lambda ("Using Lambda with Amazon SQS").
const (
	defaultMessages  = 10
	maxMessages      = 10000
	maxWithoutWait   = 10
	longestWindow    = 300 * time.Second
	leastConcurrency = 2
	maxConcurrency   = 1000
	// recommendedTimeouts is how many time-outs of its function a queue is to hide a message for, as AWS recommends.
	recommendedTimeouts = 6
	// unlimited is how many invocations run at once where the mapping does not say: Lambda begins with five, and the
	// run's functions have few instances.
	unlimited = 5
)

func (m *mapping) readQueue(of *assembly.Assembly, declared declaration) ([]right, error) {
	q := &queue{mapping: m, concurrency: unlimited}
	m.source = q
	if m.from = of.ByARN(declared.EventSourceArn); m.from == nil || m.from.Type != "AWS::SQS::Queue" {
		return nil, fmt.Errorf("got event source %q: a local run reads the assembly's queues", declared.EventSourceArn)
	}
	m.delivery.Queue, m.origin = m.from.Name, trace.Origin{Kind: trace.Queue, Path: m.from.Name}
	if err := m.checkHidden(); err != nil {
		return nil, err
	}
	if m.window < 0 || m.window > longestWindow {
		return nil, fmt.Errorf("got MaximumBatchingWindowInSeconds %d: write 0 to %.0f",
			declared.MaximumBatchingWindowInSeconds, longestWindow.Seconds())
	}
	m.batchSize = defaultMessages
	if declared.BatchSize != nil {
		m.batchSize = *declared.BatchSize
	}
	most := maxMessages
	if m.window == 0 {
		most = maxWithoutWait
	}
	if m.batchSize < 1 || m.batchSize > most {
		return nil, fmt.Errorf("got BatchSize %d: write 1 to %d, and more than %d only with a "+
			"MaximumBatchingWindowInSeconds",
			m.batchSize, maxMessages, maxWithoutWait)
	}
	if most := declared.ScalingConfig.MaximumConcurrency; most != nil {
		if q.concurrency = *most; *most < leastConcurrency || *most > maxConcurrency {
			return nil, fmt.Errorf("got MaximumConcurrency %d: write %d to %d",
				*most, leastConcurrency, maxConcurrency)
		}
	}
	return []right{
		{"sqs:ReceiveMessage", m.from.ARN}, {"sqs:DeleteMessage", m.from.ARN}, {"sqs:GetQueueAttributes", m.from.ARN},
	}, nil
}

// checkHidden checks that the queue hides a message for as long as the function may work on it: AWS Lambda makes no
// other mapping ("Using Lambda with Amazon SQS").
func (m *mapping) checkHidden() error {
	var function struct{ Timeout int }
	visible, err := sqs.VisibilityTimeout(m.from)
	if err = errors.Join(err, m.function.Decode(&function)); err != nil {
		return err
	}
	hidden := int(visible / time.Second)
	works := cmp.Or(function.Timeout, int(lambda.DefaultTimeout/time.Second))
	if hidden < works {
		return fmt.Errorf("the queue %s: got VisibilityTimeout %d, below the Timeout of its function %s: write %d or "+
			"more, better %d", m.from.Name, hidden, m.function.Name, works, recommendedTimeouts*works)
	}
	return nil
}

// open implements source: a queue knows itself which messages it has.
func (q *queue) open(context.Context, *checkpoints, *mapping) error { return nil }

func (q *queue) close() {}

func (q *queue) run(_, _ context.Context, deliver func(reader)) {
	var working sync.WaitGroup
	for range q.concurrency {
		working.Go(func() { deliver(&receiver{queue: q}) })
	}
	working.Wait()
}

// receiver receives batches of messages.
type receiver struct {
	*queue
	// holding is the queue that the batch is from: another assembly may have put another one behind the name.
	holding *sqs.Queue
}

func (r *receiver) next(_, reading context.Context) []record {
	r.receiving.Lock()
	defer r.receiving.Unlock()
	if reading.Err() != nil {
		return nil
	}
	if r.holding = r.options.Queue(r.from.ARN); r.holding == nil {
		return nil
	}
	for reading.Err() == nil {
		messages := r.gather(reading)
		var batch []record
		for _, message := range messages {
			event := message.Event(r.holding, r.from.Stack.Region)
			text := encoded(event)
			if r.passes(event, message.Body) {
				batch = append(batch, record{text: text, id: message.ID, read: time.Now(), receipt: message.Receipt})
				continue
			}
			r.holding.Acknowledge(message.Receipt, true)
		}
		r.note(func(d *Delivery) {
			d.Read += len(messages)
			d.Filtered += len(messages) - len(batch)
		})
		r.noteWaiting(r, batch)
		if len(batch) > 0 || len(messages) == 0 {
			return batch
		}
	}
	return nil
}

func encoded(event map[string]any) []byte {
	text, err := json.Marshal(event)
	if err != nil {
		panic(err) // texts, numbers and JSON that was read before always encode
	}
	return text
}

// passes reports whether the function gets a message. Lambda deletes the others. It reads a body that is JSON ("Using
// event filtering with an Amazon SQS event source").
func (r *receiver) passes(event map[string]any, body string) bool {
	var within json.RawMessage
	if len(r.filter) > 0 && json.Unmarshal([]byte(body), &within) == nil && (within[0] == '{' || within[0] == '[') {
		event["body"] = within
	}
	passes, err := r.filter.Passes(encoded(event))
	return err == nil && passes
}

// gather receives a batch: what is there, or what comes within the window. None: ctx ended.
func (r *receiver) gather(ctx context.Context) []sqs.Received {
	batch := r.holding.Take(ctx, min(r.batchSize, maxWithoutWait))
	if r.window == 0 || len(batch) == 0 {
		return batch
	}
	waiting, cancel := context.WithTimeout(ctx, r.window)
	defer cancel()
	size := 0
	for _, one := range batch {
		size += len(one.Body)
	}
	for len(batch) < r.batchSize && size < largestEvent/2 {
		more := r.holding.Take(waiting, min(r.batchSize-len(batch), maxWithoutWait))
		if len(more) == 0 {
			break
		}
		for _, one := range more {
			size += len(one.Body)
		}
		batch = append(batch, more...)
	}
	return batch
}

// deliver implements reader. What the function does not take comes again when its visibility time-out ends.
func (r *receiver) deliver(ctx context.Context, batch []record) {
	ids := make([]string, len(batch))
	for i, message := range batch {
		ids[i] = message.id
	}
	failed, err := r.invoke(ctx, batch, ids...)
	done := 0
	for _, message := range batch {
		handled := err == nil && !failed[message.id]
		if handled {
			done++
		}
		r.holding.Acknowledge(message.receipt, handled)
	}
	r.noteInvocation(batch, done, err)
	r.noteWaiting(r, nil)
	if err != nil {
		r.log(ctx, "function failed on messages of its queue", err)
	}
}
