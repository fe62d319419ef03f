package routes

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// given is what a request says beside what the contract requires and has examples of.
type given map[string]any

// caller is one client of a platform's API, which makes requests one after another.
type caller struct {
	run   *Run
	of    *Measured
	route Route
	http  *http.Client
	// header has who the client is.
	header http.Header
	// known is what identifies the client, and what answers have said, by name: parameters and bodies have it.
	known map[string]any
	// made are the values of the names of [Measured.makers], in the order in which they were made.
	made map[string][]any
	// used counts the requests since a name was made known, and counts those of each operation.
	used, counts map[string]int
	// operators are tokens of members of groups. key is that of a route whose requests have the same.
	operators map[string]string
	key       string
	// answered, unless nil, gets each answered request.
	answered func(Exchange)
}

func newCaller(run *Run, of *Measured, route Route) *caller {
	return &caller{run: run, of: of, route: route, http: &http.Client{Transport: &http.Transport{}},
		header: http.Header{}, known: map[string]any{}, made: map[string][]any{}, used: map[string]int{},
		counts: map[string]int{}, operators: map[string]string{}}
}

// forget forgets names, and what is theirs.
func (c *caller) forget(names ...string) {
	for _, name := range names {
		delete(c.known, name)
		delete(c.made, name)
		delete(c.used, name)
		for _, inner := range c.of.within[name] {
			if c.made[inner] != nil {
				c.forget(inner)
			}
		}
	}
}

// asUser makes the client a user, unless it is one.
func asUser(ctx context.Context, c *caller) error {
	if c.known["sub"] != nil {
		return nil
	}
	name := "bench-" + rand.Text()
	c.known["sub"], c.known["email"] = name, name+"@example.com"
	token, err := c.run.Token(ctx, name)
	c.header.Set("Authorization", "Bearer "+token)
	return err
}

func (c *caller) prepare(ctx context.Context) error {
	r := c.route
	if r.Operation.Caller == schema.CallerAnyone || r.Status != 0 {
		time.Sleep(time.Millisecond) // below the APIs' throttle of 1,000 requests a second
		return nil
	}
	for name, limit := range c.of.limits {
		if limit = cmp.Or(r.per, limit); limit > 0 && c.used[name] >= limit {
			c.forget(name)
		}
	}
	c.forget(r.fresh...)
	if err := c.need(ctx, r.has...); err != nil {
		return err
	}
	if r.before != nil {
		if err := r.before(ctx, c); err != nil {
			return err
		}
	}
	if err := c.need(ctx, c.needs(r.Operation)...); err != nil || !r.same || c.key != "" {
		return err
	}
	c.key = rand.Text()
	err := c.do(ctx, r)
	if err != nil {
		c.key = "" // the first request is to come
	}
	return err
}

// need makes the client someone, and makes what there has to be, in this order: as many of a name as it stands there.
func (c *caller) need(ctx context.Context, names ...string) error {
	if err := c.run.load(ctx, c.of.platform); err != nil {
		return err
	}
	if err := c.of.identify(ctx, c); err != nil {
		return err
	}
	times := map[string]int{}
	for _, name := range names {
		times[name]++
		maker, ok := c.of.makers[name]
		if !ok || c.known[name] != nil && (times[name] == 1 || len(c.made[name]) >= times[name]) {
			continue
		}
		if err := c.call(ctx, maker); err != nil {
			return err
		}
		if c.known[name] == nil {
			return fmt.Errorf("%s answers without %s", maker.Describe().ID, name)
		}
	}
	return nil
}

// needs are the names that requests of an operation have in paths, parameters and bodies, without what it makes itself.
func (c *caller) needs(d schema.Description) []string {
	names := slices.Clone(c.of.usual)
	for _, p := range d.Parameters() {
		if p.Required {
			names = append(names, c.alias(d, p))
		}
	}
	names = append(names, required(d, nil)...)
	return slices.DeleteFunc(names, func(name string) bool { return c.makes(d, name) })
}

// makes reports whether the operation is the one that makes a name.
func (c *caller) makes(d schema.Description, name string) bool {
	maker, ok := c.of.makers[name]
	return ok && maker.Describe().ID == d.ID
}

// alias is the name by which answers have what a parameter says: {id} after /attempts/ is attemptId or attempt_id.
func (c *caller) alias(d schema.Description, p schema.Parameter) string {
	before, _, _ := strings.Cut(d.Route, "s/{"+p.Name+"}")
	one := before[strings.LastIndex(before, "/")+1:]
	for _, name := range []string{one + "Id", one + "_id"} {
		if c.of.makers[name] != nil {
			return name
		}
	}
	return p.Name
}

// call makes a request of an operation, and those that it needs.
func (c *caller) call(ctx context.Context, of schema.Described) error {
	r := Route{Operation: of.Describe()}
	if err := c.need(ctx, c.needs(r.Operation)...); err != nil {
		return err
	}
	return c.do(ctx, r)
}

// do makes a request, which has to be answered with success, or with the route's status. It learns from the answer.
func (c *caller) do(ctx context.Context, r Route) error {
	request, err := c.request(ctx, r)
	if err != nil {
		return err
	}
	reply, err := request.Send(ctx, c)
	if err != nil {
		return err
	}
	for name := range c.of.limits {
		c.used[name]++
	}
	if r.Status != reply.Status && (r.Status != 0 || !r.Operation.Succeeds(reply.Status)) {
		return fmt.Errorf("got %v; want %d", reply, cmp.Or(r.Status, r.Operation.Status, http.StatusOK))
	}
	if err := c.learn(r.Operation, reply); err != nil || r.then == nil {
		return err
	}
	return r.then(ctx, c, reply)
}

// request returns a request of a route, which says what is known.
func (c *caller) request(ctx context.Context, r Route) (client.Request, error) {
	d, body := r.Operation, r.body
	c.counts[d.ID]++
	if body == nil {
		body = c.of.bodies[d.ID]
	}
	var says given
	if body != nil {
		says = body(c, c.counts[d.ID])
	}
	content, err := Sample(d, says, c.known)
	if err != nil {
		return client.Request{}, err
	}
	options := []client.Option{func(h http.Header) { maps.Copy(h, c.header) }}
	switch {
	case r.same:
		options = append(options, client.Key(c.key))
	case r.keyed:
		options = append(options, client.Key(rand.Text()))
	}
	if group := d.Caller.Group; group != "" {
		if c.operators[group] == "" {
			if c.operators[group], err = c.run.Token(ctx, "bench-"+rand.Text(), group); err != nil {
				return client.Request{}, err
			}
		}
		options = append(options, client.Header("Authorization", "Bearer "+c.operators[group]))
	}
	return client.NewRequest(d, c.params(d, r.Params), content, options...)
}

// Send implements [client.Sender].
func (c *caller) Send(ctx context.Context, method, path string, header http.Header, body any) (client.Reply, error) {
	by := client.Client{URL: c.run.API, HTTP: c.http, Header: c.header}
	reply, err := by.Send(ctx, method, path, header, body)
	if err != nil {
		return reply, err
	}
	if c.answered != nil {
		c.answered(Exchange{client.Request{Method: method, Path: path, Header: header, Body: body}, reply})
	}
	if reply.Status == http.StatusTooManyRequests {
		return reply, fmt.Errorf("%v: %w", reply, ErrThrottled)
	}
	return reply, nil
}

// until reads an operation's answer again and again, until it is as wanted.
func until[P, A any](ctx context.Context, c *caller, op schema.Operation[P, schema.None, A], params P,
	wanted func(A) bool) error {
	for {
		answer, err := client.Call(ctx, c, op, params, schema.None{})
		if err != nil || wanted(answer.Value) {
			return err
		}
		if err := Pause(ctx); err != nil {
			return err
		}
	}
}

// learn keeps what an answer to a change or a maker says, and forgets what is deleted.
func (c *caller) learn(d schema.Description, reply client.Reply) error {
	var makes []string
	for name := range c.of.makers {
		if c.makes(d, name) {
			makes = append(makes, name)
		}
	}
	method, _, _ := strings.Cut(d.Route, " ")
	if (method != http.MethodGet || makes != nil) && len(reply.Body) > 0 {
		if err := json.Unmarshal(reply.Body, &c.known); err != nil {
			return fmt.Errorf("%v: %w", reply, err)
		}
	}
	for _, name := range makes {
		c.made[name] = append(c.made[name], c.known[name])
	}
	for _, p := range d.Parameters() {
		if method == http.MethodDelete && p.Place == "path" {
			c.forget(c.alias(d, p))
		}
	}
	return nil
}

// params returns the parameters of a request: those that are set, and of the others what is known.
func (c *caller) params(d schema.Description, set any) any {
	value := reflect.New(d.Params()).Elem()
	if set != nil {
		value.Set(reflect.ValueOf(set))
	}
	for _, p := range d.Parameters() {
		if known := c.known[c.alias(d, p)]; known != nil && p.Required {
			text, _ := json.Marshal(known) // it is an id
			// What the parameter cannot be stays out, and the request is refused.
			_ = json.Unmarshal(text, value.FieldByIndex(p.Field.Index).Addr().Interface())
		}
	}
	return value.Interface()
}
