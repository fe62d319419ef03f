package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/queuetest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// run is the function behind a queue of the local run, and the endpoints of agents.
type run struct {
	*queuetest.Queues
	output   wait.Output
	endpoint *httptest.Server
	client   *webhook.Client
	secrets  *webhooks.Secrets
	service  *service.Service

	mutex    sync.Mutex
	received map[string]int                // by path
	hanging  map[string]context.CancelFunc // by path, the attempt under way
	verified map[string]bool
	dialled  []netip.AddrPort
}

func start(t *testing.T) *run {
	t.Helper()
	r := &run{received: map[string]int{}, hanging: map[string]context.CancelFunc{}, verified: map[string]bool{}}
	r.service = &service.Service{DB: dynamotest.Open(t, askahuman.Platform().Database).DB}
	r.secrets = keys(t)
	r.endpoint = httptest.NewServer(http.HandlerFunc(r.answer))
	t.Cleanup(r.endpoint.Close)
	r.client = &webhook.Client{Addresses: webhook.Addresses{Local: []string{r.endpoint.URL}}, Timeout: time.Minute,
		Connecting: func(address netip.AddrPort, refused error) {
			r.mutex.Lock()
			defer r.mutex.Unlock()
			if refused == nil {
				r.dialled = append(r.dialled, address)
			}
		}}
	plan := askahuman.WebhookRetries()
	log := must.Get(kit.NewLogger(&r.output, "", "webhooksender"))(t)
	f := &function{
		sender:     &webhooks.Sender{Keys: r.secrets, Post: r.post},
		deliveries: r.service, plan: plan, log: log,
		metrics: &kit.Metrics{Namespace: "Onesynth/askahuman", Function: "webhooksender", Writer: &r.output},
	}
	r.Queues = queuetest.Start(t, len(plan)+1, func(c aws.Config, messages, failures string) lambda.Handler {
		f.queue, f.failures = queue.New(c, messages), queue.New(c, failures)
		return kit.NewResponder(log, f.handle)
	})
	return r
}

// patience is how long an endpoint may hang.
const patience = 300 * time.Millisecond

// post gives an endpoint that hangs less time than the others, from when it has the webhook: a slow machine times out
// no other.
func (r *run) post(ctx context.Context, address string, header http.Header, body []byte) (webhook.Answer, error) {
	if at, err := url.Parse(address); err == nil && strings.HasPrefix(at.Path, "/hangs/") {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		r.mutex.Lock()
		r.hanging[at.Path] = cancel
		r.mutex.Unlock()
		ctx = waiting
	}
	return r.client.Post(ctx, address, header, body)
}

// keys are the secrets of agents who have rotated none.
func keys(t *testing.T) *webhooks.Secrets {
	t.Helper()
	db, _ := dynamotest.Refused(t, askahuman.Platform().Database, nil)
	return &webhooks.Secrets{Key: func(context.Context) (string, error) { return "key", nil }, DB: db}
}

// answer is the endpoint of all agents: the first element of the path says how it behaves.
func (r *run) answer(w http.ResponseWriter, request *http.Request) {
	var body bytes.Buffer
	_, _ = body.ReadFrom(request.Body)
	secrets, err := r.secrets.Valid(request.Context(), "ada")
	if err == nil {
		err = webhook.Verify(request.Header, body.Bytes(), time.Now(), secrets...)
	}
	r.mutex.Lock()
	r.received[request.URL.Path]++
	r.verified[request.URL.Path] = err == nil
	timeOut := r.hanging[request.URL.Path]
	r.mutex.Unlock()
	switch kind, _, _ := strings.Cut(request.URL.Path[1:], "/"); kind {
	case "fails":
		w.WriteHeader(http.StatusInternalServerError)
	case "hangs":
		time.AfterFunc(patience, timeOut)
		<-request.Context().Done()
	case "redirects":
		http.Redirect(w, request, "http://169.254.169.254/latest/meta-data/iam", http.StatusTemporaryRedirect)
	case "gone":
		w.WriteHeader(http.StatusGone)
	case "busy":
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// delivery is what the tables have of the webhook of a question.
func (r *run) delivery(t *testing.T, questionID string) (d askahuman.Delivery) {
	t.Helper()
	must.Get(r.service.DB.Get(t.Context(), "GetDelivery", &d, "DELIVERY#"+questionID))(t)
	return d
}

func (r *run) send(t *testing.T, address string) {
	t.Helper()
	body := must.Get(json.Marshal(webhooks.Message{ID: "msg_1", AgentID: "ada", QuestionID: "question at " + address,
		URL: address, Ended: time.Now(), Body: json.RawMessage(`{"type":"question.closed"}`)}))(t)
	r.Send(string(body))
}

// settled waits until all messages that are left wait for their next attempt, and have been tried that often, or more
// often where a slow machine lets the first pause of the plan pass. left counts those that are given up, too, unless it
// is zero.
func (r *run) settled(t *testing.T, attempts, left int) (messages []queuetest.Message) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("%d messages are left after attempt %d", left, attempts), func() (any, bool) {
		// Counted first: what was returned by then has its next time in what is read after it.
		back := r.Returned()
		messages = r.Messages()
		failed := len(r.Failures())
		tried, returned := true, failed*(len(askahuman.WebhookRetries())+1)
		for _, m := range messages {
			tried = tried && m.Received >= attempts && m.VisibleAt.After(time.Now())
			returned += m.Received
		}
		kept := len(messages)
		if left > 0 {
			kept += failed
		}
		// A message that was received and not returned is still with the function.
		return fmt.Sprintf("%d messages, %d failed, %d returned", len(messages), failed, back),
			tried && kept == left && back == returned
	})
	return messages
}

// Of 500 webhooks a third goes to endpoints that fail, a third to endpoints that hang, and some are led to the metadata
// service. Every other one arrives at the first attempt. The rest is tried by the plan, and is then in the queue of
// failures.
func TestBadEndpoints(t *testing.T) {
	t.Parallel()
	r := start(t)
	const all = 500
	good, bad := 0, 0
	for i := range all {
		kind := []string{"fails", "hangs", "takes"}[i%3]
		switch {
		case i%30 == 2:
			kind = "redirects"
		case i%30 == 5:
			r.send(t, fmt.Sprint("https://169.254.169.254/", i))
			bad++
			continue
		case i%30 == 8:
			r.send(t, fmt.Sprint("https://[::ffff:10.0.0.1]/", i))
			bad++
			continue
		case kind == "takes":
			good++
		}
		if kind != "takes" {
			bad++
		}
		r.send(t, fmt.Sprintf("%s/%s/%d", r.endpoint.URL, kind, i))
	}
	plan := askahuman.WebhookRetries()
	for attempt := 1; attempt <= len(plan); attempt++ {
		for _, m := range r.settled(t, attempt, bad) {
			if m.Received > len(plan) {
				continue
			}
			wait, planned := time.Until(m.VisibleAt), plan[m.Received-1]
			// The wait began when the attempt failed, up to a minute ago in the slowest of tests.
			if wait > planned+planned/20+time.Second || wait < planned-planned/20-time.Minute {
				t.Fatalf("attempt %d: the next one is in %s, want %s", attempt, wait, planned)
			}
		}
		r.Due()
	}
	r.settled(t, 0, 0)
	if failed := len(r.Failures()); failed != bad || good+bad != all {
		t.Errorf("%d webhooks are given up, want %d", failed, bad)
	}
	arrived := 0
	for path, times := range r.received {
		want := 1
		if !strings.HasPrefix(path, "/takes/") {
			want = len(plan) + 1
		} else {
			arrived++
		}
		if times != want || !r.verified[path] {
			t.Errorf("%s: %d attempts, verified %t, want %d", path, times, r.verified[path], want)
		}
	}
	if arrived != good {
		t.Errorf("%d webhooks have arrived, want %d", arrived, good)
	}
	for _, address := range r.dialled {
		if !address.Addr().IsLoopback() {
			t.Errorf("connected to %s", address)
		}
	}
	t.Logf("%d arrived, %d given up after %d attempts, %d connections, all to loopback", arrived, bad, len(plan)+1,
		len(r.dialled))
}

// 410 ends the attempts, and Retry-After delays them. What failed once arrives later, and what the queue has besides is
// given up.
func TestAnswers(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.send(t, r.endpoint.URL+"/gone")
	r.send(t, r.endpoint.URL+"/busy")
	visible := r.settled(t, 1, 1)[0].VisibleAt
	if wait := time.Until(visible); wait < 9*time.Minute || wait > 10*time.Minute {
		t.Errorf("the next attempt is in %s, want 10 minutes", wait)
	}
	if d := r.delivery(t, "question at "+r.endpoint.URL+"/busy"); d.State != askahuman.DeliveryWaiting ||
		d.Attempts != 1 || visible.Sub(time.Time(d.NextAttemptAt)).Abs() > time.Minute {
		t.Errorf("got %+v; want the next attempt at %s", d, visible)
	}
	// What is tried comes once, whatever its endpoint says, and is no webhook of a question.
	for _, kind := range []string{"/fails/test", "/takes/test"} {
		body := must.Get(json.Marshal(webhooks.Message{ID: "msg_2", AgentID: "ada", URL: r.endpoint.URL + kind,
			Test: true,
			Body: json.RawMessage(`{"type":"webhook.test"}`)}))(t)
		r.Send(string(body))
	}
	// What is no webhook is given up at once, with the cause.
	r.Send("no webhook")
	wait.For(t, "the messages that are given up", 1, func() int { return len(r.Failures()) })
	if m := r.Failures()[0]; m.Body != "no webhook" ||
		!strings.Contains(m.Attributes["Cause"].StringValue, "read the message") {
		t.Errorf("the queue of failures has %+v", m)
	}
	r.send(t, r.endpoint.URL+"/takes")
	wait.For(t, "the messages that are given up", 2, func() int {
		r.Due()
		return len(r.Failures())
	})
	// What was delivered is not sent again, as after a fail-over to another region.
	r.send(t, r.endpoint.URL+"/takes")
	wait.Until(t, "the second message about a webhook is gone", func() (any, bool) {
		return r.output.String(), strings.Contains(r.output.String(), "delivered is not sent again")
	})
	for kind, want := range map[string]askahuman.DeliveryState{"/gone": askahuman.DeliveryGivenUp,
		"/busy": askahuman.DeliveryGivenUp, "/takes": askahuman.DeliveryDone} {
		if d := r.delivery(t, "question at "+r.endpoint.URL+kind); d.State != want || d.AttemptedAt.IsZero() ||
			!d.NextAttemptAt.IsZero() {
			t.Errorf("%s: got %+v; want %s", kind, d, want)
		}
	}
	r.mutex.Lock()
	for _, kind := range []string{"/fails/test", "/takes/test", "/takes"} {
		if r.received[kind] != 1 || !r.verified[kind] {
			t.Errorf("%s: %d attempts, verified %t; want one", kind, r.received[kind], r.verified[kind])
		}
	}
	r.mutex.Unlock()
	metricstest.Complete(t, r.output.String(), schema.MetricsOf("webhooksender", askahuman.Platform().Metrics))
	for _, want := range []string{"a test of an endpoint failed", `"WebhooksSent":1`, `"WebhooksUnwanted":1`,
		`"WebhooksGivenUp":1`, "a webhook failed, and is tried again", "a webhook is given up", "read the message"} {
		if !strings.Contains(r.output.String(), want) {
			t.Errorf("the function did not write %s", want)
		}
	}
	if strings.Contains(r.output.String(), "/busy") || strings.Contains(r.output.String(), "whsec_") {
		t.Errorf("the log has an endpoint or a secret")
	}
}

// A function that dies while it sends loses nothing: the message comes again.
func TestUndeferred(t *testing.T) {
	t.Parallel()
	var output bytes.Buffer
	log := must.Get(kit.NewLogger(&output, "", "webhooksender"))(t)
	f := &function{sender: &webhooks.Sender{Keys: keys(t), Post: (&webhook.Client{}).Post},
		plan:  askahuman.WebhookRetries(),
		queue: away(), failures: away(), log: log}
	response, err := f.handle(t.Context(), events.SQSEvent{
		Records: []events.SQSMessage{{MessageId: "1", Body: `{"agent_id":"ada","url":"https://127.0.0.1/"}`,
			Attributes: map[string]string{"ApproximateReceiveCount": "1"}}}})
	if err != nil || len(response.BatchItemFailures) != 1 ||
		!strings.Contains(output.String(), "does not wait for its next attempt as planned") ||
		!strings.Contains(output.String(), "an address of this machine") {
		t.Errorf("got %+v, %v, wrote %s", response, err, &output)
	}
}

// A test of an endpoint that could not be signed has not been sent, and comes again; one that an endpoint refused does
// not.
func TestUnsignedTest(t *testing.T) {
	t.Parallel()
	unreadable := &webhooks.Secrets{Key: func(context.Context) (string, error) {
		return "", fmt.Errorf("no key")
	}, DB: keys(t).DB}
	for name, test := range map[string]struct {
		secrets *webhooks.Secrets
		again   int
	}{"Unsigned": {unreadable, 1}, "Refused": {keys(t), 0}} {
		f := &function{sender: &webhooks.Sender{Keys: test.secrets, Post: (&webhook.Client{}).Post},
			plan: askahuman.WebhookRetries(), queue: away(), failures: away(), log: slog.New(slog.DiscardHandler)}
		response, err := f.handle(t.Context(), events.SQSEvent{
			Records: []events.SQSMessage{{MessageId: "1",
				Body: `{"agent_id":"ada","url":"https://127.0.0.1/","test":true}`}}})
		if err != nil || len(response.BatchItemFailures) != test.again {
			t.Errorf("%s: got %+v, %v; want %d that come again", name, response, err, test.again)
		}
	}
}

// away is a queue that does not answer.
func away() *queue.Queue {
	endpoint := "http://127.0.0.1:1"
	return queue.New(aws.Config{
		Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("KEY", "local", ""), RetryMaxAttempts: 1,
	}, endpoint+"/000000000000/webhooks")
}

// A webhook of a blocked agent is given up without an attempt, also between two attempts. One whose agent's block could
// not be read comes again.
func TestBlocked(t *testing.T) {
	t.Parallel()
	r := &service.Service{DB: dynamotest.Open(t, askahuman.Platform().Database).DB}
	must.OK(t, r.NoteDelivery(t.Context(), "q", askahuman.Delivery{State: askahuman.DeliveryWaiting, Attempts: 2,
		AttemptedAt: wire.At(time.Now()), NextAttemptAt: wire.At(time.Now())}))
	var output bytes.Buffer
	log := must.Get(kit.NewLogger(&output, "", "webhooksender"))(t)
	f := &function{sender: &webhooks.Sender{Keys: keys(t), CheckAgent: r.CheckAgent,
		Post: func(context.Context, string, http.Header, []byte) (webhook.Answer, error) {
			t.Error("a webhook was sent")
			return webhook.Answer{Status: http.StatusOK}, nil
		}}, deliveries: r, plan: askahuman.WebhookRetries(), queue: away(), failures: away(), log: log}
	event := events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "1", Body: `{"agent_id":"ada","question_id":"q","url":"https://127.0.0.1/"}`,
			Attributes: map[string]string{"ApproximateReceiveCount": "3"}},
		{MessageId: "2", Body: `{"agent_id":"ada","url":"https://127.0.0.1/","test":true}`}}}
	must.OK(t, r.BlockAgent(t.Context(), askahuman.Decision{Operator: "olga"}, "ada", true))
	response, err := f.handle(t.Context(), event)
	var d askahuman.Delivery
	must.Get(r.DB.Get(t.Context(), "GetDelivery", &d, "DELIVERY#q"))(t)
	if err != nil || len(response.BatchItemFailures) != 0 || d.State != askahuman.DeliveryGivenUp || d.Attempts != 2 ||
		d.AttemptedAt.IsZero() || !d.NextAttemptAt.IsZero() ||
		strings.Count(output.String(), "a webhook of a blocked agent is not sent") != 2 {
		t.Errorf("got %+v, %v, %+v, wrote %s", response, err, d, &output)
	}
	f.sender.CheckAgent = func(context.Context, string) error { return fmt.Errorf("no answer") }
	if response, err := f.handle(t.Context(), event); err != nil || len(response.BatchItemFailures) != 2 {
		t.Errorf("got %+v, %v; want both again", response, err)
	}
}
