package platform

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Repeat is a request of a new caller with an idempotency key. It makes one thing, and is
// answered with 201.
type Repeat struct {
	// Function is the construct of the function that serves it.
	Function string
	// Claims says that it claims its key before it commits. Otherwise one write does both.
	Claims bool
	// Send makes the request, each time the same one. Any goroutine may call it.
	Send func(context.Context) (onesynthtest.Reply, error)
	// Made returns how many things the caller has made.
	Made func(testing.TB) int
	// Other makes another request with the key, and checks that it is refused.
	Other func(testing.TB)
	// Waits checks a reply while an attempt counts as running for an hour. Nil without Claims.
	Waits func(testing.TB, onesynthtest.Reply)
}

// CheckRepeats checks that a request that is sent again makes nothing twice: many of it at once, and after one that
// died on the way.
func (s *Suite) CheckRepeats(t *testing.T, prepare func(testing.TB, *Target) Repeat) {
	t.Helper()
	for name, check := range map[string]func(*testing.T,
		func(testing.TB, *Target) Repeat){"ConcurrentRepeats": s.checkConcurrentRepeats,
		"DiedRequest": s.checkDiedRequest} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, prepare)
		})
	}
}

// checkConcurrentRepeats checks that many of the same request at once make one thing. All get its
// answer, or the answer to try again while the first is running.
func (s *Suite) checkConcurrentRepeats(t *testing.T, prepare func(testing.TB, *Target) Repeat) {
	repeat := prepare(t, s.Shared(t))
	// An attempt whose answer is lost may count twice towards a limit, of 60 calls an hour.
	const times = 30
	replies := make([]onesynthtest.Reply, times)
	must.OK(t, onesynthtest.Together(times, func(i int) (err error) {
		replies[i], err = repeat.Send(t.Context())
		return err
	}))
	bodies := map[string]int{}
	for _, r := range replies {
		_, told := r.RetryAfter()
		switch {
		case r.Status == http.StatusCreated:
			bodies[string(r.Body)]++
		case r.Status != http.StatusConflict || !told:
			t.Errorf("got %v with Retry-After %q; want 201, or 409 and when to come again", r,
				r.Header.Get("Retry-After"))
		}
	}
	if len(bodies) != 1 {
		t.Errorf("got the answers %v; want one and the same", bodies)
	}
	if made := repeat.Made(t); made != 1 {
		t.Errorf("got %d things; want 1", made)
	}
}

// checkDiedRequest checks that a request that died between its claim and its commit counts as
// running until its time is up, and that answers to repeats say when that is. Then one repeat
// carries it out. One without a claim before its commit leaves none, and a repeat carries it out at once.
func (s *Suite) checkDiedRequest(t *testing.T, prepare func(testing.TB, *Target) Repeat) {
	// The first commit of the function, under its claim, waits for the death of its process, and is lost with it.
	reached, dead := make(chan struct{}), make(chan struct{})
	var next atomic.Pointer[string] // the function whose commit it is
	var on *Target
	var repeat Repeat
	on = s.OwnRun(t, run.Options{Observe: func(caller, operation string, _ []byte) func() {
		if of := next.Load(); of != nil && *of == caller && operation == string(schema.TransactWriteItems) &&
			repeat.Claims == (len(on.claims(t, s.Platform.Database)) > 0) && next.CompareAndSwap(of, nil) {
			close(reached)
			<-dead
			panic(http.ErrAbortHandler) // it never arrives
		}
		return func() {}
	}})
	repeat = prepare(t, on)
	function := on.Function(t, repeat.Function)
	next.Store(&function)
	var died onesynthtest.Reply
	answered := make(chan error, 1)
	go func() {
		var err error
		died, err = repeat.Send(t.Context())
		answered <- err
	}()
	select {
	case <-reached:
	case err := <-answered:
		t.Fatalf("got %v, %v; want the attempt to commit first", died, err)
	}
	// Any of its instances may have the commit.
	on.KillAll(t, function)
	err := <-answered
	close(dead)
	if err != nil || died.Status < http.StatusInternalServerError {
		t.Fatalf("got %v, %v of the process that was killed", died, err)
	}
	claims := on.claims(t, s.Platform.Database)
	if (len(claims) > 0) != repeat.Claims || !repeat.Claims && repeat.Made(t) != 0 {
		t.Fatalf("the attempt that died left the claims %v and %d things", claims, repeat.Made(t))
	}
	// until says when the attempt counts as dead. Time passes in the table, not on this machine.
	until := func(end time.Time) {
		t.Helper()
		for _, c := range claims {
			c.holdUntil(t, end)
		}
	}
	again := func() onesynthtest.Reply {
		t.Helper()
		return must.Get(repeat.Send(t.Context()))(t)
	}
	if repeat.Claims {
		for _, c := range claims {
			c.check(t, s.Platform)
		}
		until(time.Now().Add(time.Hour))
		waiting := again()
		if _, told := waiting.RetryAfter(); waiting.Status != http.StatusConflict || !told {
			t.Errorf("got %v with Retry-After %q; want 409 and when to come again", waiting,
				waiting.Header.Get("Retry-After"))
		}
		repeat.Waits(t, waiting)
		repeat.Other(t)
		if made := repeat.Made(t); made != 0 {
			t.Errorf("got %d things of a request that died; want none", made)
		}
		until(time.Now())
	}
	made := again()
	if made.Status != http.StatusCreated {
		t.Fatalf("got %v; want 201", made)
	}
	if r := again(); r.Status != made.Status || string(r.Body) != string(made.Body) {
		t.Errorf("got %v; want %v", r, made)
	}
	repeat.Other(t)
	if n := repeat.Made(t); n != 1 {
		t.Errorf("got %d things; want 1", n)
	}
}

// claim is an idempotency key that an attempt holds.
type claim struct {
	target *Target
	table  schema.Table
	item   map[string]any
}

// claims returns the claims of all tables.
func (p *Target) claims(t testing.TB, database schema.Database) []claim {
	t.Helper()
	var all []claim
	for _, table := range database.Tables {
		if !slices.ContainsFunc(table.Attributes, func(a schema.Attribute) bool { return a.Name == "claimed_until" }) {
			continue
		}
		for _, item := range p.Items(t, table.Name) {
			if _, held := item["claimed_until"].(float64); held {
				all = append(all, claim{p, table, item})
			}
		}
	}
	return all
}

// check checks that a claim ends within the time-out of the platform's slowest route, and a second, and
// that its item expires.
func (c claim) check(t testing.TB, platform schema.Platform) {
	t.Helper()
	timeout := 10 * time.Second
	for _, route := range platform.Routes {
		served, _ := platform.Function(route.Function)
		timeout = max(timeout, served.Timeout)
	}
	if left := time.Until(time.UnixMilli(int64(c.item["claimed_until"].(float64)))); left > timeout+time.Second {
		t.Errorf("a claim is held for %v more; want at most %v and a second", left, timeout)
	}
	if expires, _ := c.item[c.table.TimeToLive].(float64); time.Until(time.Unix(int64(expires), 0)).Round(
		time.Hour) != 24*time.Hour {
		t.Errorf("the claimed key expires at %v; want in 24 hours", time.Unix(int64(expires), 0))
	}
}

// holdUntil changes how long the claim is held, unless it is released meanwhile.
func (c claim) holdUntil(t testing.TB, end time.Time) {
	t.Helper()
	key := map[string]types.AttributeValue{}
	for _, name := range c.table.Key.Attributes() {
		key[name] = &types.AttributeValueMemberS{Value: c.item[name].(string)}
	}
	if _, err := c.target.Database.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(c.target.Tables[c.table.Name]), Key: key,
		UpdateExpression:    aws.String("SET claimed_until = :end"),
		ConditionExpression: aws.String("attribute_exists(claimed_until)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":end": &types.AttributeValueMemberN{Value: strconv.FormatInt(end.UnixMilli(), 10)},
		},
	}); err != nil {
		t.Fatalf("change the claim %v: %v", key, err)
	}
}
