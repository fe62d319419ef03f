package onesynthtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// Probe is one use of a function or a schedule.
type Probe struct {
	// Function is the name of the construct of the function, or of the schedule.
	Function string
	// Name describes the use.
	Name string
	// Do makes the request. Its error means that the platform could not be reached.
	Do func(t testing.TB) (Reply, error)
}

// Scene prepares what probes need, and returns probes that together use every operation of every function and schedule.
// end undoes what would disturb later scenes.
type Scene func(t testing.TB, target *Target) (probes []Probe, end func())

// roles are the roles of a run's functions and schedules, as synthesised.
type roles struct{ byName map[string]*policy.Role }

// schedulePrefix begins a run's name for the user of a schedule's role.
const schedulePrefix = "schedule/"

// rolesOf returns the roles of a run that none has been changed of.
func rolesOf(t testing.TB, runner *run.Runner) *roles {
	t.Helper()
	all, in := &roles{byName: map[string]*policy.Role{}}, runner.Parts()
	add := func(name, caller string) {
		if all.byName[name] = in.AWS.Role(caller); all.byName[name] == nil {
			t.Errorf("%s: got no role", caller)
		}
	}
	for _, f := range in.Functions.Functions() {
		add(f.Name, f.Name)
	}
	for _, schedule := range in.Schedules.Schedules() {
		add(schedule.Name, schedulePrefix+schedule.Name)
	}
	return all
}

func isScheduler(role *policy.Role) bool {
	return role.Trusts(policy.Scheduler, map[string]string{policy.SourceAccount: "000000000000"})
}

// caller is the run's name for the user of a role. It differs between schedules and functions.
func (r *roles) caller(name string) string {
	if isScheduler(r.byName[name]) {
		return schedulePrefix + name
	}
	return name
}

// register gives a function or schedule another role.
func (r *roles) register(target *Target, name string, role *policy.Role) {
	target.Run.Parts().AWS.ChangeRole(r.caller(name), role)
}

// act lets a function or schedule go on under another role. A function's instances end, because
// they remember what they were once allowed to read.
func (r *roles) act(t testing.TB, target *Target, name string, role *policy.Role) {
	t.Helper()
	r.register(target, name, role)
	if isScheduler(r.byName[name]) {
		return
	}
	for {
		if _, err := target.Run.Kill(name); errors.Is(err, lambda.ErrNotRunning) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// readsStream reports whether a role is a function's that gets the records of a stream. Lambda uses
// the grants for that when the mapping is made.
func readsStream(role *policy.Role) bool {
	return slices.ContainsFunc(role.Grants(), func(g policy.Grant) bool {
		return strings.Contains(g.Resource, "/stream/")
	})
}

// readsQueue reports whether a role is a function's that gets the messages of a queue. Such a function sends what no
// attempt can handle to the queue of failures itself.
func readsQueue(role *policy.Role) bool {
	return slices.ContainsFunc(role.Grants(), func(g policy.Grant) bool { return g.Action == "sqs:ReceiveMessage" })
}

// whenMapped reports whether a grant is used when the mapping of a stream or of a queue is made.
func whenMapped(target *Target, role *policy.Role, grant policy.Grant) bool {
	switch grant.Action {
	case "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes":
		return handsOver(target, grant.Resource)
	case "sqs:SendMessage":
		return readsStream(role) && !handsOver(target, grant.Resource)
	}
	return readsStream(role) && strings.Contains(grant.Resource, "/stream/")
}

// handsOver reports whether a queue, by its ARN, hands its messages to a function. Other queues keep failures.
func handsOver(target *Target, arn string) bool {
	return slices.ContainsFunc(target.Run.Parts().Assembly.Resources("AWS::Lambda::EventSourceMapping"),
		func(r *assembly.Resource) bool {
			var declared struct{ EventSourceArn string }
			return r.Decode(&declared) == nil && declared.EventSourceArn == arn
		})
}

// failsAway reports whether a grant lets a function whose runs have no waiting caller report failed
// runs.
func failsAway(target *Target, role *policy.Role, grant policy.Grant) bool {
	return grant.Action == "sqs:SendMessage" && !readsStream(role) && !readsQueue(role) && !isScheduler(role) &&
		!handsOver(target, grant.Resource)
}

// undelivered reports whether a grant lets a schedule report what it cannot deliver, which
// [Suite.CheckUndelivered] checks.
func undelivered(role *policy.Role, grant policy.Grant) bool {
	return grant.Action == "sqs:SendMessage" && isScheduler(role)
}

// checkWildcards checks that no grant is for more than one action on one resource.
// Wildcards are allowed at the end of a log group's ARN, by which CloudFormation
// means its streams, and for the objects below a prefix of a bucket.
func (r *roles) checkWildcards(t *testing.T) {
	t.Helper()
	for name, role := range r.byName {
		for _, grant := range role.Grants() {
			if grant.Effect == "Allow" && (strings.ContainsAny(grant.Action, "*?") ||
				strings.ContainsAny(withoutAllowed(grant.Resource), "*?")) {
				t.Errorf("%s: got %v", name, grant)
			}
		}
	}
}

// withoutAllowed returns a resource without the wildcard that it may end with.
func withoutAllowed(resource string) string {
	switch {
	case strings.HasPrefix(resource, "arn:aws:logs:"):
		return strings.TrimSuffix(resource, ":*")
	case strings.HasPrefix(resource, "arn:aws:s3:::"):
		prefix, ok := strings.CutSuffix(resource, "/*")
		if ok && strings.Contains(prefix, "/") {
			return prefix
		}
	}
	return resource
}

// immediate makes failures final without a wait.
func immediate(int) time.Duration { return 0 }

// CheckGrants checks that the roles of functions and schedules allow exactly what the probes do:
//
//   - No grant has a wildcard for more than one action on one resource.
//   - No request of a probe is refused.
//   - Every grant is needed: the run recorded a request that the role would deny without it, by the run's own decision.
//
// As proof that runs refuse what the decision denies, each function and schedule that a probe names then works without
// one of its grants. isFailure checks the answer to a request that its function could not carry out. Every function of
// the platform needs a probe. The probe of a function behind a queue or a bus makes new work each time.
// [Suite.CheckUndelivered] checks the grants by which schedules report what they cannot deliver.
func (s *Suite) CheckGrants(t *testing.T, scene Scene, isFailure func(testing.TB, Reply)) {
	t.Helper()
	target := s.OwnRun(t, run.Options{RetryDelay: immediate})
	runner := target.Run
	all := rolesOf(t, runner)
	all.checkWildcards(t)
	probes, end := scene(t, target)
	for _, probe := range probes {
		if r, err := probe.Do(t); err != nil || r.Status >= http.StatusBadRequest {
			t.Errorf("%s: got %v, %v", probe.Name, r, err)
		}
	}
	end()
	for _, refusal := range runner.Parts().AWS.Refused() {
		t.Errorf("got refusal %+v under the roles as synthesised", refusal)
	}
	all.reportFailures(t, target)
	all.checkNeeded(t, target, len(s.Platform.Database.AccessPatterns))
	if t.Failed() {
		return
	}
	t.Run("Refused", func(t *testing.T) { s.checkRefused(t, target, all, scene, isFailure) })
	t.Run("NotMapped", func(t *testing.T) { s.checkMappings(t, target, all) })
}

// reportFailures makes each function that reports failed runs to a queue do so.
func (r *roles) reportFailures(t *testing.T, target *Target) {
	t.Helper()
	for name, role := range r.byName {
		for _, grant := range role.Grants() {
			if !failsAway(target, role, grant) {
				continue
			}
			event := r.fail(t, target, name, role)
			wait.Until(t, "a queue has the failed run", func() (any, bool) {
				bodies := []string{}
				for _, m := range target.messages() {
					bodies = append(bodies, m.Body)
				}
				return bodies, strings.Contains(strings.Join(bodies, "\n"), event)
			}, wait.On(target))
			r.act(t, target, name, role)
		}
	}
}

// checkNeeded checks that some request needs each grant, and that there are at least so many grants.
func (r *roles) checkNeeded(t *testing.T, target *Target, least int) {
	t.Helper()
	grants := 0
	for name, role := range r.byName {
		grants += len(role.Grants())
		unused := target.Run.Parts().AWS.UnusedGrants(r.caller(name))
		for _, grant := range target.Run.Parts().AWS.UnneededGrants(r.caller(name)) {
			switch {
			case undelivered(role, grant):
				grants--
			case slices.Contains(unused, grant):
				t.Errorf("%s: nothing has used %v", name, grant)
			default:
				t.Errorf("%s: nothing needs %v: other grants allow the same", name, grant)
			}
		}
	}
	t.Logf("%d grants are needed", grants)
	if grants < least {
		t.Errorf("got %d grants; want those of %d access patterns", grants, least)
	}
}

// fail makes a run of a function without a waiting caller fail for good: the function
// may only write its log and report the failure. It returns the run's event.
func (r *roles) fail(t testing.TB, target *Target, name string, role *policy.Role) string {
	t.Helper()
	for _, grant := range role.Grants() {
		if !strings.HasPrefix(grant.Action, "logs:") && grant.Action != "sqs:SendMessage" {
			role = role.Without(grant)
		}
	}
	event := Unique("run")
	r.act(t, target, name, role)
	if _, err := target.Run.Parts().Functions.InvokeAsync(t.Context(), name, []byte(`"`+event+`"`)); err != nil {
		t.Fatal(err)
	}
	return event
}

// checkRefused takes one grant away from each function and schedule that a probe names, and checks that a request
// which needs it is refused.
func (s *Suite) checkRefused(t *testing.T, target *Target, all *roles, scene Scene, isFailure func(testing.TB, Reply)) {
	t.Helper()
	shared, end := scene(t, target)
	defer end()
	for _, name := range slices.Sorted(maps.Keys(all.byName)) {
		isOther := func(p Probe) bool { return !strings.Contains(name, p.Function) }
		own := slices.DeleteFunc(slices.Clone(shared), isOther)
		if len(own) == 0 {
			if s.declares(name) {
				t.Errorf("no probe has a Function that is part of the name %s: add one", name)
			}
			continue
		}
		grant, ok := all.usedByProbe(target, name)
		if !ok {
			t.Errorf("%s: got no grant that a probe uses", name)
			continue
		}
		t.Run(fmt.Sprintf("%s/%s/%s", s.short(name), grant.Action, s.short(grant.Resource)), func(t *testing.T) {
			probes := own
			if readsStream(all.byName[name]) {
				// Another function's turn may have let this one handle the records of the scene.
				renewed, end := scene(t, target)
				defer end()
				probes = slices.DeleteFunc(renewed, isOther)
			}
			s.checkRefusal(t, target, all, name, grant, probes, isFailure)
		})
	}
}

// usedByProbe returns a grant that a function uses to do its work: if it can, one of the data, and not of its log or of
// secrets, which it reads as it starts.
func (r *roles) usedByProbe(target *Target, name string) (policy.Grant, bool) {
	role := r.byName[name]
	candidates := slices.DeleteFunc(role.Grants(), func(g policy.Grant) bool {
		return undelivered(role, g) || failsAway(target, role, g) || whenMapped(target, role, g)
	})
	for _, late := range []string{"logs:", "xray:", "secretsmanager:"} {
		isEarly := func(g policy.Grant) bool { return strings.HasPrefix(g.Action, late) }
		if others := slices.DeleteFunc(slices.Clone(candidates), isEarly); len(others) > 0 {
			candidates = others
		}
	}
	if len(candidates) == 0 {
		return policy.Grant{}, false
	}
	return candidates[0], true
}

// checkRefusal checks that the run refuses a request of a function without a grant, and what it answers to its caller.
func (s *Suite) checkRefusal(
	t *testing.T, target *Target, all *roles, name string, grant policy.Grant, probes []Probe,
	isFailure func(testing.TB, Reply),
) {
	t.Helper()
	role, caller := all.byName[name], all.caller(name)
	before := refusedTimes(target, caller, grant)
	all.act(t, target, name, role.Without(grant))
	defer func() {
		if readsStream(role) {
			// A run that ends with its instance would keep its claims until their leases end.
			all.register(target, name, role)
			if err := target.Flush(t); err != nil {
				t.Error(err)
			}
		}
		all.act(t, target, name, role)
	}()
	answered := !s.serves(name) || strings.HasPrefix(grant.Action, "logs:")
	for _, probe := range probes {
		r, err := probe.Do(t)
		if err == nil && r.Status >= http.StatusInternalServerError {
			answered = true
			isFailure(t, r)
			if strings.Contains(string(r.Body), "arn:") || strings.Contains(string(r.Body), "AccessDenied") {
				t.Errorf("got %v, which tells what happened inside", r)
			}
		}
		if answered && refusedTimes(target, caller, grant) > before {
			return
		}
	}
	if !answered {
		t.Errorf("no request failed: no probe uses %v, or the function does without it", grant)
		return
	}
	wait.Until(t, "the refusal is recorded", func() (any, bool) {
		times := refusedTimes(target, caller, grant)
		return times, times > before
	}, wait.On(target))
}

// checkMappings checks for one stream and one queue, if the platform hands any to functions, that it cannot be mapped
// to its function without a grant.
func (s *Suite) checkMappings(t *testing.T, target *Target, all *roles) {
	t.Helper()
	checked := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all.byName)) {
		for _, grant := range all.byName[name].Grants() {
			service, _, _ := strings.Cut(grant.Action, ":")
			if !checked[service] && grant.Action != "sqs:SendMessage" && whenMapped(target, all.byName[name], grant) {
				checked[service] = true
				t.Run(s.short(name)+"/"+grant.Action, func(t *testing.T) { s.checkMapping(t, name, grant) })
			}
		}
	}
}

// checkMapping checks that a stream or a queue cannot be mapped to a function without a grant.
func (s *Suite) checkMapping(t *testing.T, name string, grant policy.Grant) {
	t.Helper()
	target, err := s.start(t.Context(), t, run.Options{NoSchedules: true,
		Revoke: func(caller, action, resource string) bool {
			return caller == name && action == grant.Action &&
				strings.Contains(resource, "/stream/") == strings.Contains(grant.Resource, "/stream/")
		}})
	if err == nil {
		target.Run.Close()
		t.Fatal("the source was still mapped")
	}
	if !strings.Contains(err.Error(), grant.Action) {
		t.Errorf("got %v; want an error that names %s", err, grant.Action)
	}
}

// refusedTimes is how often the use of a grant was refused.
func refusedTimes(target *Target, caller string, grant policy.Grant) int {
	times := 0
	for _, refusal := range target.Run.Parts().AWS.Refused() {
		if refusal.Function == caller && grant.Matches(refusal.Action, refusal.Resource) {
			times += refusal.Times
		}
	}
	return times
}

// CheckUndelivered checks that a schedule whose role may not invoke its function sends the run to the dead-letter
// queue, if the role may write there.
func (s *Suite) CheckUndelivered(t *testing.T) {
	t.Helper()
	for name, mayWrite := range map[string]bool{"Kept": true, "Refused": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var scheduler string
			target := s.FastSchedules(t, run.Options{Revoke: func(caller, action, _ string) bool {
				if !strings.HasPrefix(caller, schedulePrefix) {
					return false
				}
				scheduler = caller
				return action == "lambda:InvokeFunction" || !mayWrite
			}})
			if mayWrite {
				wait.Until(t, "the queue has the run", func() (any, bool) {
					return target.untilSchedule(), len(target.messages()) > 0
				}, wait.On(target))
				if code := target.messages()[0].Attributes["ERROR_CODE"].StringValue; code != "AccessDeniedException" {
					t.Errorf("got error code %q; want AccessDeniedException", code)
				}
				for _, grant := range target.Run.Parts().AWS.UnneededGrants(scheduler) {
					t.Errorf("nothing needs %v", grant)
				}
				return
			}
			wait.Until(t, "writing to the queue is refused", func() (any, bool) {
				refused := target.Run.Parts().AWS.Refused()
				return fmt.Sprint(target.untilSchedule(), refused), slices.ContainsFunc(refused,
					func(r aws.Refusal) bool { return r.Function == scheduler && r.Action == "sqs:SendMessage" })
			}, wait.On(target))
			if n := len(target.messages()); n != 0 {
				t.Errorf("got %d messages; want none", n)
			}
		})
	}
}

// messages returns the messages of all queues of the run.
func (p *Target) messages() (all []sqs.Message) {
	for _, queue := range p.Run.Parts().AWS.Queues() {
		all = append(all, queue.Messages()...)
	}
	return all
}

// untilSchedule returns the time until the next schedule of the run, in steps of ten seconds, so that a schedule that
// comes nearer is a change.
func (p *Target) untilSchedule() time.Duration {
	next := time.Hour
	for _, status := range p.Run.Parts().Schedules.Schedules() {
		if status.Next != nil {
			next = min(next, time.Until(*status.Next))
		}
	}
	return max(0, next.Truncate(10*time.Second))
}

// Flush lets the functions that get the records of streams handle all earlier writes. The test fails if a minute passes
// without a delivery.
func (p *Target) Flush(t testing.TB) error {
	t.Helper()
	return p.flush(t, func() error { return nil })
}

// flush is Flush, but ends with an error as soon as a condition holds.
func (p *Target) flush(t testing.TB, ends func() error) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	flushed, ended := make(chan error, 1), error(nil)
	go func() { flushed <- p.Run.FlushStreams(ctx) }()
	wait.Until(t, "all records of streams are handled", func() (any, bool) {
		ended = ends()
		return p.Run.Parts().Mappings.Streams(), ended != nil || len(flushed) > 0
	}, wait.On(p))
	if ended != nil {
		cancel()
	}
	return errors.Join(ended, <-flushed)
}

// FlushUntilRefused is Flush, but ends with an error as soon as a role refuses a function's request: the batch would be
// retried for ever.
func (p *Target) FlushUntilRefused(t testing.TB) error {
	t.Helper()
	refused := func() (times int) {
		for _, refusal := range p.Run.Parts().AWS.Refused() {
			times += refusal.Times
		}
		return times
	}
	before := refused()
	return p.flush(t, func() error {
		if refused() > before {
			return errors.New("a request was refused")
		}
		return nil
	})
}
