package console

// What failed: the attempts before a message came into a queue, and the last ones of schedules.

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// failureView is why a message is still in a queue, or came there.
type failureView struct {
	// Attempts is how often it was tried; absent if the message does not say.
	Attempts int `json:"attempts,omitempty"`
	// Attempt is the last one, as far as the run knows it.
	trace.Attempt
}

// failure is the body of a message about an invocation or a batch that failed for good.
type failure struct {
	RequestContext struct {
		RequestID   string `json:"requestId"`
		FunctionARN string `json:"functionArn"`
		Attempts    int    `json:"approximateInvokeCount"`
	} `json:"requestContext"`
	RequestPayload json.RawMessage `json:"requestPayload"`
	// Response is what the function answered in the end.
	Response struct {
		Error string `json:"errorMessage"`
	} `json:"responsePayload"`
	// Payload is the event of a stream's batch, and Batch says which one it was.
	Payload string `json:"payload"`
	Batch   struct {
		Stream string `json:"streamArn"`
		First  string `json:"startSequenceNumber"`
	} `json:"DDBStreamBatchInfo"`
	// Record is a stream's, which its function gave up for the Cause; Omitted says what the message lacks of it.
	Cause   string          `json:"cause"`
	Record  json.RawMessage `json:"record"`
	Omitted string          `json:"omitted"`
}

// readFailure reads a message's body. It returns false if the body is no failure.
func readFailure(body string) (read failure, ok bool) {
	// A function may answer with anything: what is of another type stays empty.
	_ = json.Unmarshal([]byte(body), &read)
	return read, read.RequestContext.FunctionARN != ""
}

// failures are those of messages, by their ids.
func (c *Console) failures(messages []sqs.Message) map[string]failureView {
	of := make([]failure, len(messages))
	// A trace knows an attempt by one of these: the message, the asynchronous event, or the first record of a batch.
	names := make([][]string, len(messages))
	for i, message := range messages {
		of[i], _ = readFailure(message.Body)
		names[i] = []string{message.ID, message.Attributes["RequestID"].StringValue, of[i].RequestContext.RequestID,
			of[i].Batch.Stream + "/" + of[i].Batch.First}
	}
	attempts := c.parts.Trace.Attempts(slices.Concat(names...))
	found := map[string]failureView{}
	for i, message := range messages {
		var one failureView
		for _, name := range names[i] {
			if attempt, ok := attempts[name]; ok && name != "" {
				one.Attempt = attempt
			}
		}
		attribute := func(name string) string { return message.Attributes[name].StringValue }
		one.Error = cmp.Or(attribute("ERROR_MESSAGE"), attribute("ErrorMessage"), of[i].Response.Error, of[i].Cause,
			one.Error)
		one.Attempts = of[i].RequestContext.Attempts
		if retries, err := strconv.Atoi(attribute("RETRY_ATTEMPTS")); err == nil {
			one.Attempts = retries + 1
		}
		if _, handled := attempts[message.ID]; handled && one.Attempts == 0 {
			one.Attempts = message.Received
		}
		found[message.ID] = one
	}
	return found
}

// scheduleView is a schedule on the console.
type scheduleView struct {
	scheduler.Status
	// Failure is that of the newest event; absent if it succeeded.
	Failure trace.Attempt `json:"failure,omitzero"`
}

// schedules says of each schedule whether its newest event failed: its delivery, or the function that took it.
func (c *Console) schedules() []scheduleView {
	newest := c.parts.Trace.NewestOf(trace.Schedule)
	views := []scheduleView{}
	for _, status := range c.parts.Schedules.Schedules() {
		view := scheduleView{Status: status}
		attempt, known := newest[status.Name]
		switch since := status.Last; {
		case known && since != nil && !attempt.At.Before(*since):
			if attempt.Error != "" {
				view.Failure = attempt
			}
		case since != nil && status.LastError != "":
			view.Failure = trace.Attempt{At: *since, Error: status.LastError}
		}
		views = append(views, view)
	}
	return views
}
