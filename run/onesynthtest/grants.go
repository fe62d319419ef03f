package onesynthtest

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
)

// schedulePrefix begins a run's name for the user of a schedule's role.
const schedulePrefix = "schedule/"

// CheckGrants checks that the roles of functions and schedules allow exactly what these do, while use makes them do all
// their work on a run of its own:
//
//   - No grant has a wildcard for more than one action on one resource. Allowed are the streams of a log group and the
//     objects below a prefix of a bucket.
//   - No request is refused.
//   - Every grant is needed: the run recorded a request that the role would deny without it, by the run's own decision.
//
// use need not make a run of a function or of a schedule fail: that a role allows to report it is checked as well.
func (s *Suite) CheckGrants(t *testing.T, use func(testing.TB, *Target)) {
	t.Helper()
	target := s.OwnRun(t, run.Options{})
	in := target.Run.Parts()
	// A refusal may be why use fails.
	defer func() {
		for _, refusal := range in.AWS.Refused() {
			t.Errorf("got refusal %+v under the roles as synthesised", refusal)
		}
	}()
	var callers []string
	// mayReport adds a caller, and asks for its role what the run asks before it reports a failure to a queue.
	mayReport := func(caller, queue string) {
		callers = append(callers, caller)
		if queue == "" {
			return
		}
		// Refusals are recorded.
		_ = in.AWS.Authorise(caller, "sqs:SendMessage", queue)
	}
	queues := map[string]string{} // of functions
	for _, r := range in.Assembly.Resources("AWS::Lambda::EventInvokeConfig") {
		var declared struct {
			FunctionName      string
			DestinationConfig struct{ OnFailure struct{ Destination string } }
		}
		must.OK(t, r.Decode(&declared))
		queues[in.Assembly.Function(declared.FunctionName).Name] = declared.DestinationConfig.OnFailure.Destination
	}
	for _, f := range in.Functions.Functions() {
		mayReport(f.Name, queues[f.Name])
	}
	for _, schedule := range in.Schedules.Schedules() {
		mayReport(schedulePrefix+schedule.Name, schedule.DeadLetter)
	}
	use(t, target)
	grants := 0
	for _, caller := range callers {
		role := in.AWS.Role(caller)
		if role == nil {
			t.Errorf("%s: got no role", caller)
			continue
		}
		for _, grant := range role.Grants() {
			grants++
			if grant.Effect == "Allow" && (strings.ContainsAny(grant.Action, "*?") ||
				strings.ContainsAny(withoutAllowed(grant.Resource), "*?")) {
				t.Errorf("%s: got %v", caller, grant)
			}
		}
		for _, grant := range in.AWS.UnneededGrants(caller) {
			t.Errorf("%s: nothing needs %v: nothing has used it, or other grants allow the same", caller, grant)
		}
	}
	if least := len(s.Platform.Database.AccessPatterns); grants < least {
		t.Errorf("got %d grants; want those of %d access patterns", grants, least)
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
