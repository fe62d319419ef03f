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

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
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
	// used counts the requests since a name was made known, requests those of the route since the client is someone,
	// and counts what bodies count.
	used, counts map[string]int
	requests     int
	// operators are the Authorization of members of groups. key is that of a route whose requests have the same.
	operators map[string]string
	key       string
}

func newCaller(run *Run, of *Measured, route Route) *caller {
	return &caller{run: run, of: of, route: route, http: &http.Client{Transport: &http.Transport{}},
		header: http.Header{}, known: map[string]any{}, made: map[string][]any{}, used: map[string]int{},
		counts: map[string]int{}, operators: map[string]string{}}
}

// count counts something, from 1.
func (c *caller) count(what string) int {
	c.counts[what]++
	return c.counts[what]
}

func (c *caller) knows(name string) bool { return c.known[name] != nil }

// forget forgets names, and what is theirs.
func (c *caller) forget(names ...string) {
	for _, name := range names {
		delete(c.known, name)
		delete(c.made, name)
		delete(c.used, name)
		c.forget(c.of.within[name]...)
	}
}

// asUser makes the client a user, unless it is one.
func asUser(ctx context.Context, c *caller) error {
	if c.knows("sub") {
		return nil
	}
	name := "bench-" + rand.Text()
	c.known["sub"], c.known["email"] = name, name+"@example.com"
	token, err := c.run.Token(ctx, name)
	c.header.Set("Authorization", "Bearer "+token)
	return err
}

// ready loads the initial data of the platform, once in a run, and makes the client someone.
func (c *caller) ready(ctx context.Context) error {
	if all := c.run.loaded; c.of.load != nil {
		all.Do(func() { all.known, all.err = c.of.load(ctx, newCaller(c.run, &Measured{identify: asUser}, Route{})) })
		if all.err != nil {
			return all.err
		}
		maps.Copy(c.known, all.known)
	}
	return c.of.identify(ctx, c)
}

// prepare does what comes before a request of the client's route.
func (c *caller) prepare(ctx context.Context) error {
	r, d := c.route, c.route.Of.Describe()
	if d.Caller == schema.CallerAnyone || r.anonymous {
		time.Sleep(time.Millisecond) // below the APIs' throttle of 1,000 requests a second
		return nil
	}
	for name, limit := range c.of.limits {
		if c.used[name] >= limit {
			c.forget(name)
		}
	}
	if c.requests++; r.per > 0 && c.requests > r.per {
		c.requests = 1
		c.forget(c.of.identity...)
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
	if err := c.need(ctx, c.needs(d)...); err != nil || !r.same || c.key != "" {
		return err
	}
	c.key = rand.Text()
	err := c.request(ctx)
	if err != nil {
		c.key = "" // the first request is to come
	}
	return err
}

// need makes what there has to be, in this order: as many of a name as it stands there.
func (c *caller) need(ctx context.Context, names ...string) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	times := map[string]int{}
	for _, name := range names {
		times[name]++
		maker, ok := c.of.makers[name]
		if !ok || c.knows(name) && (times[name] == 1 || len(c.made[name]) >= times[name]) {
			continue
		}
		if err := c.do(ctx, maker); err != nil {
			return err
		}
		if !c.knows(name) {
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
	fields := fieldsOf(d.Body())
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if required(fields[name]) || d.Variants != nil && slices.Contains(d.Variants[0].Required, name) {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		maker, ok := c.of.makers[name]
		return ok && maker.Describe().ID == d.ID
	})
}

// alias is the name by which answers have what a parameter says: {id} after /attempts/ is attemptId or attempt_id.
func (c *caller) alias(d schema.Description, p schema.Parameter) string {
	before, _, _ := strings.Cut(d.Route, "/{"+p.Name+"}")
	one := strings.TrimSuffix(before[strings.LastIndex(before, "/")+1:], "s")
	for _, name := range []string{one + "Id", one + "_id"} {
		if p.Place == "path" && (c.of.makers[name] != nil || c.knows(name)) {
			return name
		}
	}
	return p.Name
}

// do makes a request of an operation, and what it needs.
func (c *caller) do(ctx context.Context, operation schema.Described) error {
	d := operation.Describe()
	if err := c.need(ctx, c.needs(d)...); err != nil {
		return err
	}
	return c.send(ctx, d, Route{}, c.of.body(c, d), nil)
}

// request makes a request of the route.
func (c *caller) request(ctx context.Context) error {
	r, d := c.route, c.route.Of.Describe()
	says := c.of.body(c, d)
	if r.body != nil {
		says = r.body(c)
	}
	return c.send(ctx, d, r, says, nil)
}

// send makes one request of an operation, which has to be answered with success, or with the route's status. What a
// change or a maker answers is known from then on, unless out is there to take it.
func (c *caller) send(ctx context.Context, d schema.Description, r Route, says given, out any) error {
	content, err := Sample(d, says, c.known)
	if err != nil {
		return err
	}
	var options []client.Option
	if c.key != "" && r.same {
		options = append(options, client.Key(c.key))
	} else if c.route.keyed && d.Key == schema.KeyOptional {
		options = append(options, client.Key(rand.Text()))
	}
	request, err := client.NewRequest(d, c.params(d, r.Params), content, options...)
	if err != nil {
		return err
	}
	header := http.Header{}
	if !r.anonymous && d.Caller != schema.CallerAnyone {
		header = c.header.Clone()
	}
	if group := d.Caller.Group; group != "" {
		if c.operators[group] == "" {
			token, err := c.run.Token(ctx, "bench-"+rand.Text(), group)
			if err != nil {
				return err
			}
			c.operators[group] = "Bearer " + token
		}
		header.Set("Authorization", c.operators[group])
	}
	maps.Copy(header, request.Header)
	request.Header = header
	by := &onesynthtest.Client{URL: c.run.API, HTTP: c.http}
	if held := c.run.held; held != nil {
		*held = Request{Method: request.Method, Path: request.Path, Header: header, Known: c.known, Body: content,
			Send: func(ctx context.Context) (onesynthtest.Reply, error) { return request.Send(ctx, by) }}
		return errHeld
	}
	reply, err := request.Send(ctx, by)
	if err != nil {
		return err
	}
	for name := range c.of.limits {
		c.used[name]++
	}
	if c.run.Answered != nil {
		sent, _ := request.Body.([]byte)
		c.run.Answered(Exchange{request.Method, request.Path, header, sent, reply.Status, reply.Body})
	}
	switch {
	case reply.Status == http.StatusTooManyRequests:
		return fmt.Errorf("%v: %w", reply, ErrThrottled)
	case r.Status != 0 && reply.Status != r.Status, r.Status == 0 && !d.Succeeds(reply.Status):
		return fmt.Errorf("got %v; want %d", reply, cmp.Or(r.Status, d.Status, http.StatusOK))
	case out != nil:
		return json.Unmarshal(reply.Body, out)
	}
	return c.learn(d, reply)
}

// learn keeps what an answer says, and forgets what is deleted.
func (c *caller) learn(d schema.Description, reply onesynthtest.Reply) error {
	var makes []string
	for name, maker := range c.of.makers {
		if maker.Describe().ID == d.ID {
			makes = append(makes, name)
		}
	}
	method, _ := onesynthtest.Split(d.Route)
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
