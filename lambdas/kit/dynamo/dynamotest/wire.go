package dynamotest

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// Answer is DynamoDB's answer to a request. The zero value leaves it to the engine.
type Answer struct {
	// Done lets the engine carry out the request before the client gets this answer.
	Done bool
	// Code is the code of an error, such as ProvisionedThroughputExceededException.
	Code string
	// Reasons are the codes that cancel a transaction, one for each of its writes.
	Reasons []string
	// Err breaks the connection.
	Err error
}

// Throttled refuses a request for load.
func Throttled() Answer { return Answer{Code: "ProvisionedThroughputExceededException"} }

// Canceled refuses a transaction for those reasons.
func Canceled(reasons ...string) Answer {
	return Answer{Code: "TransactionCanceledException", Reasons: reasons}
}

// Wire carries the attempts of a client to the engine, below the retries. It implements
// [dynamodb.HTTPClient].
type Wire struct {
	// Engine does requests.
	Engine dynamodb.HTTPClient

	mu       sync.Mutex
	attempts int
	answer   func(operation string) Answer
}

// Answers sets the function that answers attempts from now on, by operation, such as GetItem; nil leaves them to the
// engine. The wire calls it for one attempt at a time.
func (w *Wire) Answers(answer func(operation string) Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// Lose loses the answers to the next n writes: the engine does them, and the connection
// breaks.
func (w *Wire) Lose(n int) {
	w.Answers(func(operation string) Answer {
		if n == 0 || operation == "GetItem" || operation == "Query" {
			return Answer{}
		}
		n--
		return Answer{Done: true, Err: io.ErrUnexpectedEOF}
	})
}

// Refusing is a function for [Wire.Answers]. It refuses one attempt in ten for load, and cancels one transaction in ten
// because of another one.
func Refusing(operation string) Answer {
	switch n := rand.IntN(10); {
	case n == 0:
		return Throttled()
	case n == 1 && operation == "TransactWriteItems":
		return Canceled("TransactionConflict")
	}
	return Answer{}
}

// Attempts returns how many attempts the wire has carried.
func (w *Wire) Attempts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.attempts
}

// Do makes one attempt.
func (w *Wire) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if request, ok := middleware.GetStackValue(r.Context(), requestKey{}).(*Request); ok {
		if found := agent.FindStringSubmatch(r.Header.Get("User-Agent")); found != nil {
			request.Pattern = found[1]
		}
	}
	var answer Answer
	w.mu.Lock()
	w.attempts++
	if w.answer != nil {
		answer = w.answer(operation)
	}
	w.mu.Unlock()
	if answer.Done || answer.Code == "" && answer.Err == nil {
		response, err := w.Engine.Do(r)
		if answer.Code == "" && answer.Err == nil || err != nil {
			return response, err
		}
		// The engine did not do a write that it refuses: its answer must arrive.
		if response.StatusCode != http.StatusOK {
			return response, nil
		}
		response.Body.Close()
	}
	if answer.Err != nil {
		return nil, answer.Err
	}
	var reasons []string
	for _, code := range answer.Reasons {
		reasons = append(reasons, `{"Code":"`+code+`"}`)
	}
	return respond(r, http.StatusBadRequest,
		`{"__type":"com.amazonaws.dynamodb.v20120810#`+answer.Code+`","CancellationReasons":[`+
			strings.Join(reasons, ",")+`]}`), nil
}

// Engine answers requests in place of DynamoDB, by operation, such as GetItem, and body, with JSON. It implements
// [dynamodb.HTTPClient].
type Engine func(ctx context.Context, operation, body string) (answer string, err error)

// Do answers a request.
func (e Engine) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	answer, err := e(r.Context(), operation, string(body))
	if err != nil {
		return nil, err
	}
	return respond(r, http.StatusOK, answer), nil
}

func respond(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}
