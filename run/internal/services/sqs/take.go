package sqs

// What mappings of functions do with a queue, and how tests make time pass for it.

import (
	"context"
	"strconv"
	"time"
)

// Received is a message that [Queue.Take] took.
type Received struct {
	Message
	// Receipt is what [Queue.Acknowledge] needs, and a function that changes the message's visibility.
	Receipt string
	// First is when it was first received.
	First time.Time
}

// Take receives up to most messages for a function, for as long as the queue's visibility time-out, and waits for the
// first of them. It returns none when ctx ends.
func (q *Queue) Take(ctx context.Context, most int) []Received {
	for {
		taken, next, arrived := q.take(most, q.settings().visibility, true)
		if len(taken) > 0 {
			received := make([]Received, len(taken))
			for i, message := range taken {
				received[i] = Received{Message: message, Receipt: message.receipt, First: message.first}
			}
			return received
		}
		timer := time.NewTimer(next)
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

// Acknowledge removes a message that a function has handled. Otherwise the message comes again when its visibility
// time-out ends, which the function may have changed.
func (q *Queue) Acknowledge(receipt string, handled bool) {
	if handled {
		q.remove(receipt)
		return
	}
	q.find(receipt, func(at int) { q.messages[at].inFlight = false })
}

// Due makes every message visible that waits for the end of a delay or of a visibility time-out, and returns how many
// there are. It leaves out those that a function or the console has just now. Tests carry out in seconds what takes a
// day.
func (q *Queue) Due() (messages int) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	now := time.Now()
	for _, message := range q.messages {
		if message.VisibleAt.After(now) && !message.inFlight && !message.reserved {
			message.VisibleAt = now
			messages++
		}
	}
	close(q.arrived)
	q.arrived = make(chan struct{})
	return messages
}

// attributes are those that SQS says of a received message.
func (r Received) attributes() map[string]string {
	return map[string]string{
		"SentTimestamp":                    strconv.FormatInt(r.Sent.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(r.Message.Received),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(r.First.UnixMilli(), 10),
	}
}

// Event is the record that AWS Lambda hands to a function ("Using Lambda with Amazon SQS").
func (r Received) Event(queue *Queue, region string) map[string]any {
	attributes := r.attributes()
	attributes["SenderId"] = "AIDALOCALRUN"
	typed := map[string]any{}
	for name, a := range r.Attributes {
		one := map[string]any{"dataType": a.DataType, "stringListValues": []string{}, "binaryListValues": []string{}}
		if a.BinaryValue != nil {
			one["binaryValue"] = a.BinaryValue
		} else {
			one["stringValue"] = a.StringValue
		}
		typed[name] = one
	}
	return map[string]any{
		"messageId": r.ID, "receiptHandle": r.Receipt, "body": r.Body, "md5OfBody": digest([]byte(r.Body)),
		"attributes": attributes, "messageAttributes": typed,
		"eventSource": "aws:sqs", "eventSourceARN": queue.ARN, "awsRegion": region,
	}
}
