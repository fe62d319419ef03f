package askahuman

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/policy"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// roles are the roles of a run's functions and schedule, as synthesised.
type roles struct {
	mutex  sync.Mutex
	byName map[string]*policy.Role
}

// keep is for local.Options.Role.
func (r *roles) keep(name string, role *policy.Role) *policy.Role {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.byName == nil {
		r.byName = map[string]*policy.Role{}
	}
	r.byName[name] = role
	return role
}

// caller is what the run calls who acts under a role: schedules are told apart from
// functions.
func (p *target) caller(t testing.TB, name string) string {
	t.Helper()
	if name == p.Schedule(t) {
		return "schedule/" + name
	}
	return name
}

// act lets a function or the schedule go on under another role. Its instances end:
// they know what they once were allowed to read.
func (p *target) act(t testing.TB, name string, role *policy.Role) {
	t.Helper()
	p.Run.AWS().Register(platform.Unique("TEST"), p.caller(t, name), role)
	if name == p.Schedule(t) {
		return
	}
	for {
		if _, err := p.Run.Kill(name); errors.Is(err, lambda.ErrNotRunning) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// No grant is for more than one action on one resource. The end of a log group's
// ARN, by which CloudFormation means its streams, is the one wildcard.
func TestNoGrantHasWildcard(t *testing.T) {
	t.Parallel()
	var all roles
	ownRun(t, local.Options{Role: all.keep})
	if len(all.byName) != 4 {
		t.Errorf("got %d roles; want those of three functions and a schedule", len(all.byName))
	}
	for name, role := range all.byName {
		for _, grant := range role.Grants() {
			if grant.Effect == "Allow" && (strings.ContainsAny(grant.Action, "*?") || strings.ContainsAny(withoutStreams(grant.Resource), "*?")) {
				t.Errorf("%s: got %v", name, grant)
			}
		}
	}
}

func withoutStreams(resource string) string {
	if strings.HasPrefix(resource, "arn:aws:logs:") {
		return strings.TrimSuffix(resource, ":*")
	}
	return resource
}

// Every permission is used by some request: none is too much.
func TestEveryGrantIsUsed(t *testing.T) {
	t.Parallel()
	var all roles
	target := ownRun(t, local.Options{Role: all.keep, RetryDelay: func(int) time.Duration { return 0 }})
	s := newScene(t, target)
	for _, probe := range probes() {
		r, err := probe.do(t, s)
		if err != nil || r.Status >= 400 {
			t.Errorf("%s: got %v, %v", probe.name, r, err)
		}
	}
	for _, refusal := range target.Run.AWS().Refused() {
		t.Errorf("got refusal %+v under the roles as synthesised", refusal)
	}
	notifier := target.Function(t, "Notifier")
	deadLetter(t, target, failNotifier(t, target, all.byName[notifier]))
	target.act(t, notifier, all.byName[notifier])
	for name := range all.byName {
		for _, grant := range target.Run.AWS().UnusedGrants(target.caller(t, name)) {
			if name == target.Schedule(t) && grant.Action == "sqs:SendMessage" {
				continue // TestUndeliveredRunIsKept uses it
			}
			t.Errorf("%s: nothing has used %v", name, grant)
		}
	}
}

// Without any one grant the request that needs it is refused: none is too little.
func TestEveryGrantIsNeeded(t *testing.T) {
	t.Parallel()
	var all roles
	target := ownRun(t, local.Options{Role: all.keep, RetryDelay: func(int) time.Duration { return 0 }})
	removed := 0
	for _, name := range slices.Sorted(maps.Keys(all.byName)) {
		role := all.byName[name]
		for _, grant := range role.Grants() {
			if name == target.Schedule(t) && grant.Action == "sqs:SendMessage" {
				continue // TestUndeliveredRunIsKept
			}
			removed++
			t.Run(fmt.Sprintf("%s/%s/%s", short(name), grant.Action, short(grant.Resource)), func(t *testing.T) {
				s := newScene(t, target)
				caller := target.caller(t, name)
				before := refusedTimes(target, caller, grant)
				target.act(t, name, role.Without(grant))
				defer func() {
					target.act(t, name, role)
					s.end(t)
				}()
				var failed []platform.Reply
				for _, probe := range probes() {
					if !strings.Contains(name, probe.function) {
						continue
					}
					r, err := probe.do(t, s)
					if err == nil && r.Status >= 500 {
						failed = append(failed, r)
					}
				}
				if grant.Action == "sqs:SendMessage" {
					failNotifier(t, target, role.Without(grant))
				}
				platform.Settled(t, "the refusal is recorded", func() bool { return refusedTimes(target, caller, grant) > before })
				onlyLogs := strings.HasPrefix(grant.Action, "logs:")
				if strings.Contains(name, "API") && !onlyLogs && len(failed) == 0 {
					t.Error("no request failed")
				}
				for _, r := range failed {
					refused(t, r, http.StatusInternalServerError, "SERVER_ERROR")
					if strings.Contains(string(r.Body), "arn:") || strings.Contains(string(r.Body), "AccessDenied") {
						t.Errorf("got %v, which tells what happened inside", r)
					}
				}
			})
		}
	}
	t.Logf("%d grants were taken away one by one", removed)
	if removed < 30 {
		t.Errorf("got %d grants; want those of all access patterns", removed)
	}
}

// short is the end of a name or ARN, for test names.
func short(name string) string {
	if i := strings.LastIndex(name, "AskAHuman"); i >= 0 {
		name = name[i+len("AskAHuman"):]
	}
	return name
}

// A run that the schedule may not start is kept in the dead-letter queue, if the
// schedule may write there.
func TestUndeliveredRunIsKept(t *testing.T) {
	t.Parallel()
	for name, mayWrite := range map[string]bool{"Kept": true, "Refused": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var scheduler string
			target := suite.ScheduledRun(t, "dev", local.Options{Role: func(name string, role *policy.Role) *policy.Role {
				if !role.Trusts(policy.Scheduler, map[string]string{policy.SourceAccount: "000000000000"}) {
					return role
				}
				scheduler = "schedule/" + name
				for _, grant := range role.Grants() {
					if grant.Action == "lambda:InvokeFunction" || !mayWrite {
						role = role.Without(grant)
					}
				}
				return role
			}})
			queue := target.Run.AWS().Queues()[0]
			if mayWrite {
				platform.Settled(t, "the queue has the run", func() bool { return len(queue.Messages()) > 0 })
				if code := queue.Messages()[0].Attributes["ERROR_CODE"].StringValue; code != "AccessDeniedException" {
					t.Errorf("got error code %q; want AccessDeniedException", code)
				}
				for _, grant := range target.Run.AWS().UnusedGrants(scheduler) {
					t.Errorf("nothing has used %v", grant)
				}
				return
			}
			platform.Settled(t, "writing to the queue is refused", func() bool {
				for _, refusal := range target.Run.AWS().Refused() {
					if refusal.Function == scheduler && refusal.Action == "sqs:SendMessage" {
						return true
					}
				}
				return false
			})
			if n := len(queue.Messages()); n != 0 {
				t.Errorf("got %d messages; want none", n)
			}
		})
	}
}

// failNotifier makes a run of the notifier fail for good: it may not read what is
// due. Who has started it by the schedule does not wait, so its failure goes to the
// dead-letter queue. It returns the run's event.
func failNotifier(t testing.TB, target *target, role *policy.Role) string {
	t.Helper()
	for _, grant := range role.Grants() {
		if strings.HasSuffix(grant.Resource, "/index/ByDue") {
			role = role.Without(grant)
		}
	}
	name, event := target.Function(t, "Notifier"), platform.Unique("run")
	target.act(t, name, role)
	if _, err := target.Run.Functions().InvokeAsync(name, []byte(`"`+event+`"`)); err != nil {
		t.Fatal(err)
	}
	return event
}

// deadLetter waits until the dead-letter queue has the event.
func deadLetter(t testing.TB, target *target, event string) {
	t.Helper()
	queue := target.Run.AWS().Queues()[0]
	platform.Settled(t, "the dead-letter queue has the run", func() bool {
		return slices.ContainsFunc(queue.Messages(), func(m awsapi.Message) bool { return strings.Contains(m.Body, event) })
	})
}

// refusedTimes is how often the use of a grant was refused.
func refusedTimes(target *target, caller string, grant policy.Grant) int {
	times := 0
	for _, refusal := range target.Run.AWS().Refused() {
		if refusal.Function == caller && grant.Matches(refusal.Action, refusal.Resource) {
			times += refusal.Times
		}
	}
	return times
}

// scene is what the probes need to be there before grants are taken away.
type scene struct {
	*client
	target *target
	asker  agent
	// answered has an answer of one; toClose wants one more, toDelete is open; toPart
	// wants many.
	answered, toClose, toDelete, toPart string
	one                                 person
	// own is a subscription of one, taken the token of another's.
	own, others             string
	ownToken, othersToken   string
	subscribed              []string
	dueToken, deadToken     string
	failingToken, overdueID string
}

func newScene(t testing.TB, target *target) *scene {
	t.Helper()
	c := newClient(t, target)
	s := &scene{client: c, target: target, asker: c.newAgent(), one: c.newPerson()}
	many := textQuestion(50)
	s.answered, s.toPart = s.asker.ask(t, many).QuestionID, s.asker.ask(t, many).QuestionID
	s.toClose, s.toDelete = s.asker.ask(t, textQuestion(1)).QuestionID, s.asker.ask(t, textQuestion(1)).QuestionID
	s.one.answer(t, textAnswer(s.answered))

	s.ownToken, s.othersToken = platform.Unique("token"), platform.Unique("token")
	s.dueToken, s.deadToken, s.failingToken = platform.Unique("token"), platform.Unique("unregistered"), platform.Unique("third-party")
	for _, token := range []string{s.ownToken, s.othersToken, s.dueToken, s.deadToken, s.failingToken} {
		s.subscribed = append(s.subscribed, c.newPerson().subscribe(t, subscribe{Token: token, Interval: 5}).SubscriptionID)
	}
	s.own, s.others = s.subscribed[0], s.subscribed[1]

	s.overdueID = s.asker.ask(t, textQuestion(1)).QuestionID
	for _, attribute := range []string{"deadline", "due_at"} {
		target.turnBack(t, "Questions", "question_id", s.overdueID, attribute, time.Minute)
	}
	return s
}

// end removes what a later scene's notifications would meet.
func (s *scene) end(t testing.TB) {
	t.Helper()
	for _, id := range s.subscribed {
		s.MustSend(t, http.MethodDelete, "/human/push/subscribe/"+id, nil, nil)
	}
	for _, id := range []string{s.answered, s.toPart, s.toClose, s.toDelete} {
		s.asker.close(t, id)
	}
}

// probe is a request, or a run of the notifier.
type probe struct {
	function, name string
	do             func(t testing.TB, s *scene) (platform.Reply, error)
}

// probes are requests that together use every operation of every function.
func probes() []probe {
	request := func(function, name, method string, path func(s *scene) string, header func(s *scene) http.Header, body func(s *scene) any) probe {
		return probe{function, name, func(t testing.TB, s *scene) (platform.Reply, error) {
			var content any
			if body != nil {
				content = body(s)
			}
			return s.Send(t.Context(), method, path(s), header(s), content)
		}}
	}
	agent := func(name, method string, path func(s *scene) string, body func(s *scene) any) probe {
		return request("AgentAPI", name, method, path, func(s *scene) http.Header { return s.asker.header() }, body)
	}
	human := func(name, method string, path func(s *scene) string, body func(s *scene) any) probe {
		return request("HumanAPI", name, method, path, func(s *scene) http.Header { return s.one.header() }, body)
	}
	at := func(path string) func(*scene) string { return func(*scene) string { return path } }
	return []probe{
		agent("Ask", "POST", at("/agent/questions"), func(*scene) any {
			question := textQuestion(1)
			question.IdempotencyKey = platform.Unique("key")
			return question
		}),
		agent("Read", "GET", func(s *scene) string { return "/agent/questions/" + s.answered }, nil),
		agent("List", "GET", at("/agent/questions"), nil),
		agent("Delete", "DELETE", func(s *scene) string { return "/agent/questions/" + s.toDelete }, nil),
		agent("Document", "GET", at("/openapi.json"), nil),
		human("Feed", "GET", at("/human/questions"), nil),
		human("Question", "GET", func(s *scene) string { return "/human/questions/" + s.answered }, nil),
		human("Answer", "POST", at("/human/responses"), func(s *scene) any { return textAnswer(s.toPart) }),
		human("LastAnswer", "POST", at("/human/responses"), func(s *scene) any { return textAnswer(s.toClose) }),
		human("Stats", "GET", at("/human/stats"), nil),
		human("Daily", "GET", at("/human/leaderboard?period=daily"), nil),
		human("Weekly", "GET", at("/human/leaderboard?period=weekly"), nil),
		human("AllTime", "GET", at("/human/leaderboard"), nil),
		human("Subscribe", "POST", at("/human/push/subscribe"), func(s *scene) any { return subscribe{Token: s.ownToken, Interval: 10} }),
		human("TakeToken", "PUT", func(s *scene) string { return "/human/push/subscribe/" + s.own }, func(s *scene) any { return subscribe{Token: s.othersToken} }),
		human("Unsubscribe", "DELETE", func(s *scene) string { return "/human/push/subscribe/" + s.own }, nil),
		{"Notifier", "Run", func(t testing.TB, s *scene) (platform.Reply, error) {
			return platform.Reply{}, s.target.Run.RunSchedule(t.Context(), s.target.Schedule(t))
		}},
		{"Schedule", "Deliver", func(t testing.TB, s *scene) (platform.Reply, error) {
			return platform.Reply{}, s.target.Run.RunSchedule(t.Context(), s.target.Schedule(t))
		}},
	}
}
