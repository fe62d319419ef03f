package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// functions remember what they get.
type functions struct {
	mutex sync.Mutex
	got   []string
	// fails returns the error of an attempt, counted from 0.
	fails    func(attempt int) error
	attempts int
}

func (f *functions) InvokeAsync(_ context.Context, _ string, payload []byte) (string, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.attempts++
	if f.fails != nil {
		if err := f.fails(f.attempts - 1); err != nil {
			return "", err
		}
	}
	f.got = append(f.got, string(payload))
	return "id", nil
}

const (
	account = "000000000000"
	worker  = `{"Id": "worker", "Arn": {"Fn::GetAtt": ["Worker", "Arn"]}`
	inbox   = `{"Id": "inbox", "Arn": {"Fn::GetAtt": ["Inbox", "Arn"]}`
	asked   = `{"Source": "platform", "DetailType": "Asked", "EventBusName": "own", ` +
		`"Detail": "{\"id\": \"q1\", \"size\": 7, ` +
		`\"text\": \"<a> & \\\"b\\\"\", \"tags\": [\"x\", \"y\"], \"by\": {\"name\": \"Dora\"}}"}`
)

// rule is a rule on the bus own with one target.
func rule(pattern, target string) string {
	return fmt.Sprintf(`"Rule": {"Type": "AWS::Events::Rule", "Properties": {"Name": "asked", "EventBusName": {"Ref": "Bus"},
		"EventPattern": %s, "Targets": [%s]}}`, pattern, target)
}

type fixture struct {
	service   *events.Service
	functions *functions
	queues    *sqs.Service
	endpoint  *aws.Server
	slept     []time.Duration
}

// start serves the resources together with those of testdata/surroundings.json. These are a bus, a function, two
// queues, the permissions for any rule to reach them, and the role of the function asker.
func start(t *testing.T, resources string, change ...func(*events.Options)) *fixture {
	t.Helper()
	a := assemblytest.LoadFile(t, "testdata/surroundings.json", "RESOURCES", resources)
	f := &fixture{functions: &functions{}, queues: sqs.New()}
	apply := must.Get(f.queues.Prepare(a))(t)
	apply()
	options := events.Options{Queue: f.queues.Queue, Sleep: func(ctx context.Context, d time.Duration) error {
		f.slept = append(f.slept, d)
		return ctx.Err()
	}}
	for _, one := range change {
		one(&options)
	}
	f.service = events.New(options)
	t.Cleanup(f.service.Close)
	f.service.DeliverTo(f.functions)
	apply = must.Get(f.service.Prepare(a))(t)
	apply()
	f.endpoint = aws.New(aws.Options{}, map[string]aws.Service{"events": f.service})
	role := must.Get(policy.ForRole(a, "arn:aws:iam::000000000000:role/asker"))(t)
	f.endpoint.Register("KEY", "asker", role)
	return f
}

// put puts entries on buses, as the function asker, and waits for the deliveries.
func (f *fixture) put(t *testing.T, entries ...string) (status int, answer string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
		strings.NewReader(`{"Entries": [`+strings.Join(entries, ",")+`]}`))
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=KEY/20261126/us-east-1/events/aws4_request, x")
	request.Header.Set("X-Amz-Target", "AWSEvents.PutEvents")
	recorder := httptest.NewRecorder()
	f.endpoint.ServeHTTP(recorder, request)
	f.settle(t)
	return recorder.Code, recorder.Body.String()
}

// settle waits until no delivery is under way.
func (f *fixture) settle(t *testing.T) {
	t.Helper()
	wait.Until(t, "all deliveries have ended", func() (any, bool) {
		all := f.service.Events(events.MaxEvents, "")
		return all, !slices.ContainsFunc(all, func(e events.Event) bool {
			return slices.ContainsFunc(e.Deliveries, func(d events.Delivery) bool { return d.State == events.Waiting })
		})
	})
}

func (f *fixture) bodies(queue string) (bodies []string) {
	for _, message := range f.queues.Queue(queue).Messages() {
		bodies = append(bodies, message.Body)
	}
	return bodies
}

// An event has AWS's form, and comes to the function and the queue of each rule that lets it through.
func TestPutEvents(t *testing.T) {
	t.Parallel()
	f := start(t, ","+rule(`{"source": ["platform"]}`, worker+"},"+inbox+"}")+`,
		"Other": {"Type": "AWS::Events::Rule", "Properties": {"EventBusName": "own", "EventPattern": {"source": ["other"]}, "Targets": [`+worker+`}]}},
		"Default": {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": {"source": ["platform"]}, "Targets": [`+worker+`}]}}`)
	status, answer := f.put(t, asked)
	var put struct {
		FailedEntryCount int
		Entries          []struct{ EventId string }
	}
	if err := json.Unmarshal([]byte(answer), &put); err != nil || status != 200 || put.FailedEntryCount != 0 ||
		len(put.Entries) != 1 {
		t.Fatalf("got %d %s", status, answer)
	}
	if bodies := f.bodies("inbox"); len(f.functions.got) != 1 || !slices.Equal(bodies, f.functions.got) {
		t.Fatalf("the function got %q, and the queue %q", f.functions.got, bodies)
	}
	var got awsevents.EventBridgeEvent
	must.OK(t, json.Unmarshal([]byte(f.functions.got[0]), &got))
	want := awsevents.EventBridgeEvent{Version: "0", ID: put.Entries[0].EventId, DetailType: "Asked",
		Source: "platform", AccountID: account, Time: got.Time, Region: "us-east-1", Resources: []string{},
		Detail: json.RawMessage(`{"id":"q1","size":7,"text":"<a> & \"b\"","tags":["x","y"],"by":{"name":"Dora"}}`)}
	if diff := cmp.Diff(want, got); diff != "" || time.Since(got.Time) > time.Minute || got.ID == "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}

	f.put(t, `{"Source": "platform", "DetailType": "Asked", "Detail": "{}", "Time": 1700000000.9, "Resources": ["r"]}`)
	if len(f.functions.got) != 2 || !strings.Contains(f.functions.got[1],
		`"time":"2023-11-14T22:13:20Z","region":"us-east-1","resources":["r"],"detail":{}`) {
		t.Errorf("from the default bus: got %q", f.functions.got)
	}
	f.put(t, strings.Replace(asked, `"own"`, `"arn:aws:events:us-east-1:000000000000:event-bus/own"`, 1))
	if len(f.bodies("inbox")) != 2 {
		t.Errorf("by the ARN of the bus: the queue got %q", f.bodies("inbox"))
	}
}

// Entries fail one by one, and a request as a whole.
func TestPutEventsFails(t *testing.T) {
	t.Parallel()
	f := start(t, ","+rule(`{"source": ["platform"]}`, inbox+"}"))
	large := func(bytes int) string {
		return fmt.Sprintf(`{"Source": "s", "DetailType": "d", "Detail": "{\"a\": \"%s\"}"}`, strings.Repeat("x", bytes))
	}
	const least = len(`sd{"a": ""}`)
	for name, test := range map[string]struct {
		entries []string
		status  int
		want    string
	}{
		"no source":    {[]string{`{"DetailType": "d", "Detail": "{}"}`}, 200, `{"ErrorCode":"InvalidArgument","ErrorMessage":"Parameter Source is not valid. Reason: Source is a required argument."}`},
		"no type":      {[]string{`{"Source": "s", "Detail": "{}"}`}, 200, `Parameter DetailType is not valid.`},
		"no detail":    {[]string{`{"Source": "s", "DetailType": "d"}`}, 200, `Parameter Detail is not valid.`},
		"no JSON":      {[]string{`{"Source": "s", "DetailType": "d", "Detail": "x"}`}, 200, `{"ErrorCode":"MalformedDetail","ErrorMessage":"Detail is malformed."}`},
		"no object":    {[]string{`{"Source": "s", "DetailType": "d", "Detail": "[1]"}`}, 200, `MalformedDetail`},
		"null":         {[]string{`{"Source": "s", "DetailType": "d", "Detail": "null"}`}, 200, `MalformedDetail`},
		"AWS's source": {[]string{`{"Source": "aws.s3", "DetailType": "d", "Detail": "{}"}`}, 200, `NotAuthorizedForSourceException`},
		"no time": {[]string{`{"Source": "s", "DetailType": "d", "Detail": "{}", "Time": 253402300800}`}, 200,
			`Parameter Time is not valid.`},
		"some":        {[]string{`{}`, asked, `{}`}, 200, `"FailedEntryCount":2`},
		"no bus":      {[]string{strings.Replace(asked, `"own"`, `"gone"`, 1)}, 200, `"FailedEntryCount":0`},
		"no entry":    {nil, 400, `ValidationException","message":"1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length greater than or equal to 1"`},
		"11 entries":  {slices.Repeat([]string{asked}, 11), 400, `less than or equal to 10`},
		"10 entries":  {slices.Repeat([]string{asked}, 10), 200, `"FailedEntryCount":0`},
		"1 MiB":       {[]string{large(1<<20 - least)}, 200, `"FailedEntryCount":0`},
		"over 1 MiB":  {[]string{large(1<<19 - least), large(1<<19 - least + 1)}, 400, `Total size of the entries in the request is over the limit.`},
		"time counts": {[]string{strings.Replace(large(1<<20-least), "{", `{"Time": 1, `, 1)}, 400, `over the limit`},
		"not allowed": {[]string{asked, strings.Replace(asked, `"own"`, `"theirs"`, 1)}, 400,
			"events:PutEvents on resource: arn:aws:events:us-east-1:000000000000:event-bus/theirs"},
	} {
		if status, answer := f.put(t, test.entries...); status != test.status || !strings.Contains(answer, test.want) {
			t.Errorf("%s: got %d %s, want %d %s", name, status, answer, test.status, test.want)
		}
	}
	if got := len(f.bodies("inbox")); got != 11 {
		t.Errorf("the queue got %d events, want those of the entries that are right", got)
	}
	dropped := f.service.Events(events.MaxEvents, "gone")
	if len(dropped) != 1 || !dropped[0].Dropped {
		t.Errorf("an event for a bus that is not there: got %+v", dropped)
	}
}

// A rule hears of the objects that its pattern names, of its own account and region.
func TestCreated(t *testing.T) {
	t.Parallel()
	created := s3.Created{
		Bucket: "exports", ARN: "arn:aws:s3:::exports", Account: account, Region: "us-east-1", Sequence: 7,
		Object: s3.Object{Key: "lexicon/ä b.json", Size: 5, ETag: "e1",
			LastModified: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)},
	}
	elsewhere := created
	elsewhere.Region = "eu-west-1"
	const source = `{"source": ["aws.s3"], "detail": {"object": {"key": [{"prefix": "%s/"}]}}}`
	for name, test := range map[string]struct {
		pattern, further string
		created          s3.Created
		heard            bool
	}{
		"Matches":     {fmt.Sprintf(source, "lexicon"), "", created, true},
		"AnyObject":   {`{"source": ["aws.s3"]}`, "", created, true},
		"Everything":  {`{"account": ["000000000000"]}`, "", created, true},
		"OtherPrefix": {fmt.Sprintf(source, "uploads"), "", created, false},
		"OtherType":   {`{"source": ["aws.s3"], "detail-type": ["Object Deleted"]}`, "", created, false},
		"OtherSource": {`{"source": ["aws.ec2"]}`, "", created, false},
		"Disabled":    {`{"source": ["aws.s3"]}`, `"State": "DISABLED", `, created, false},
		"OtherBus":    {`{"source": ["aws.s3"]}`, `"EventBusName": "own", `, created, false},
		"Elsewhere":   {`{"source": ["aws.s3"]}`, "", elsewhere, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, fmt.Sprintf(`, "Rule": {"Type": "AWS::Events::Rule", "Properties": {%s"EventPattern": %s,
				"Targets": [%s}]}}`, test.further, test.pattern, worker))
			f.service.Created(test.created)
			f.settle(t)
			if !test.heard {
				if len(f.functions.got) > 0 {
					t.Errorf("got %q, want nothing", f.functions.got)
				}
				return
			}
			var event awsevents.EventBridgeEvent
			if len(f.functions.got) != 1 || json.Unmarshal([]byte(f.functions.got[0]), &event) != nil {
				t.Fatalf("got %q, want an event", f.functions.got)
			}
			want := awsevents.EventBridgeEvent{
				Version: "0", ID: event.ID, DetailType: "Object Created", Source: "aws.s3", AccountID: account,
				Region: "us-east-1",
				Time:   created.Object.LastModified, Resources: []string{"arn:aws:s3:::exports"}, Detail: event.Detail,
			}
			if diff := cmp.Diff(want, event); diff != "" || event.ID == "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			for _, part := range []string{`"bucket":{"name":"exports"}`,
				`"key":"lexicon/ä b.json","size":5,"etag":"e1","sequencer":"0000000000000007"`} {
				if !strings.Contains(string(event.Detail), part) {
					t.Errorf("got the detail %s, want %s in it", event.Detail, part)
				}
			}
		})
	}
}

// What a target gets, by the examples of "Amazon EventBridge input transformation" and what AWS was seen to do.
func TestInput(t *testing.T) {
	t.Parallel()
	transformer := func(template string) string {
		text := must.Get(json.Marshal(template))(t)
		return `, "InputTransformer": {"InputPathsMap": {"id": "$.detail.id", "size": "$.detail.size", "by": "$.detail.by",
			"tags": "$.detail.tags", "first": "$.detail.tags[0]", "all": "$.detail.tags[*]", "text": "$.detail.text",
			"detail-type": "$.detail-type", "gone": "$.detail.gone"}, "InputTemplate": ` + string(text) + `}`
	}
	for name, test := range map[string]struct{ input, want string }{
		"constant":       {`, "Input": "{\"a\": 1}"`, `{"a": 1}`},
		"path":           {`, "InputPath": "$.detail.by"`, `{"name":"Dora"}`},
		"path to a text": {`, "InputPath": "$.detail.id"`, `"q1"`},
		"path, brackets": {`, "InputPath": "$['detail'][\"tags\"][1]"`, `"y"`},
		"path, all":      {`, "InputPath": "$.detail.by.*"`, `["Dora"]`},
		"path, whole":    {`, "InputPath": "$.detail-type"`, `"Asked"`},
		"path, none":     {`, "InputPath": "$.detail.tags[7].x"`, `null`},
		"text":           {transformer(`"question <id> is <detail-type>"`), `"question q1 is Asked"`},
		"escaped quotes": {transformer(`"question \"<id>\" is <detail-type>"`), `"question \"q1\" is Asked"`},
		"JSON":           {transformer("{\n  \"id\" : <id>,\n  \"size\": <size>\n}"), `{"id":"q1","size":7}`},
		"JSON and texts": {transformer(`{"id": <id>, "type": "<detail-type>", "says": "\"<id>\" of <size>"}`),
			`{"id":"q1","type":"Asked","says":"\"q1\" of 7"}`},
		"list":              {transformer(`{"id": [9, <id>, true], "x": "Yes"}`), `{"id":[9,"q1",true],"x":"Yes"}`},
		"objects":           {transformer(`{"by": <by>, "tags": <tags>, "first": <first>, "all": <all>}`), `{"by":{"name":"Dora"},"tags":["x","y"],"first":"x","all":["x","y"]}`},
		"objects in a text": {transformer(`"by <by>"`), `"by {name:Dora}"`},
		"nothing there":     {transformer(`{"gone": <gone>, "says": "<gone>!"}`), `{"gone":"","says":"!"}`},
		"rule": {transformer(`{"arn": <aws.events.rule-arn>, "name": "<aws.events.rule-name>"}`),
			`{"arn":"arn:aws:events:us-east-1:000000000000:rule/own/asked","name":"asked"}`},
		"special characters": {transformer(`"{[/<id>"`), `"{[/q1"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, ","+rule(`{"source": ["platform"]}`, inbox+test.input+"}"))
			f.put(t, asked)
			if got := f.bodies("inbox"); len(got) != 1 || got[0] != test.want {
				t.Errorf("got %q, want %s", got, test.want)
			}
		})
	}

	f := start(t, ","+rule(`{"source": ["platform"]}`,
		inbox+transformer(`{"event": <aws.events.event>, "json": <aws.events.event.json>, "at": <aws.events.event.ingestion-time>}`)+"}"))
	f.put(t, asked)
	var got struct {
		Event map[string]any
		JSON  awsevents.EventBridgeEvent
		At    time.Time
	}
	must.OK(t, json.Unmarshal([]byte(f.bodies("inbox")[0]), &got))
	if _, has := got.Event["detail"]; has || got.Event["detailType"] != "Asked" || got.Event["id"] != got.JSON.ID ||
		!strings.Contains(string(got.JSON.Detail), `"id":"q1"`) || time.Since(got.At) > time.Minute {
		t.Errorf("got %+v", got)
	}
}

// An event that a target does not take comes again by the target's policy, and then goes to the dead-letter queue.
func TestRetries(t *testing.T) {
	t.Parallel()
	const dead = `, "DeadLetterConfig": {"Arn": {"Fn::GetAtt": ["Dead", "Arn"]}}`
	broken := errors.New("broken")
	always := func(err error) func(int) error { return func(int) error { return err } }
	for name, test := range map[string]struct {
		target, pattern string
		fails           func(int) error
		attempts, taken int
		code, exhausted string
		retries         string
	}{
		"in the end": {target: worker + dead, attempts: 3, taken: 1,
			fails: func(attempt int) error {
				if attempt < 2 {
					return broken
				}
				return nil
			}},
		"attempts": {target: worker + dead + `, "RetryPolicy": {"MaximumRetryAttempts": 2}`, fails: always(broken),
			attempts: 3, code: "ERROR_FROM_TARGET", exhausted: "MaximumRetryAttempts", retries: "2"},
		"no attempts": {target: worker + dead + `, "RetryPolicy": {"MaximumRetryAttempts": 0}`, fails: always(broken),
			attempts: 1, code: "ERROR_FROM_TARGET", exhausted: "MaximumRetryAttempts", retries: "0"},
		"age": {target: worker + dead + `, "RetryPolicy": {"MaximumEventAgeInSeconds": 64}`, fails: always(broken),
			// The eighth wait is 64 seconds at least; no time passes here between them.
			attempts: 8, code: "ERROR_FROM_TARGET", exhausted: "MaximumEventAgeInSeconds", retries: "7"},
		"default": {target: worker + dead, fails: always(broken),
			attempts: 186, code: "ERROR_FROM_TARGET", exhausted: "MaximumRetryAttempts", retries: "185"},
		"no function": {target: worker + dead, fails: always(lambda.ErrNotFound), attempts: 1, code: "NO_RESOURCE",
			retries: "0"},
		"too large": {target: worker + dead, fails: always(lambda.ErrTooLarge), attempts: 1,
			code: "INVALID_PARAMETER", retries: "0"},
		"no JSON": {target: worker + dead + `, "InputTransformer": {"InputPathsMap": {"text": "$.detail.text"},
			"InputTemplate": "\"says <text>\""}`, code: "INVALID_JSON", retries: "0"},
		"panic": {target: worker + dead + `, "RetryPolicy": {"MaximumRetryAttempts": 0}`,
			fails:    func(int) error { panic("boom") },
			attempts: 1, code: "ERROR_FROM_TARGET", exhausted: "MaximumRetryAttempts", retries: "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, ","+rule(`{"source": ["platform"]}`, test.target+"}"))
			f.functions.fails = test.fails
			f.put(t, asked)
			if f.functions.attempts != test.attempts || len(f.functions.got) != test.taken {
				t.Errorf("got %d attempts, %d taken, want %d and %d", f.functions.attempts, len(f.functions.got),
					test.attempts, test.taken)
			}
			for i, slept := range f.slept {
				if most := min(time.Second<<min(i, 20), 10*time.Minute); slept > most || slept < most/2 {
					t.Errorf("wait %d: got %v, want %v at most, and half of that at least", i, slept, most)
				}
			}
			delivery := f.service.Events(1, "")[0].Deliveries[0]
			messages := f.queues.Queue("dead").Messages()
			if test.code == "" {
				if len(messages) != 0 || delivery.State != events.Delivered || delivery.Error != "" {
					t.Errorf("got %+v, and %+v in the dead-letter queue", delivery, messages)
				}
				return
			}
			if len(messages) != 1 || delivery.State != events.Failed ||
				!strings.HasSuffix(delivery.DeadLetter, ":dead") || delivery.Error == "" {
				t.Fatalf("got %+v, and %+v in the dead-letter queue", delivery, messages)
			}
			var event awsevents.EventBridgeEvent
			if err := json.Unmarshal([]byte(messages[0].Body), &event); err != nil || event.DetailType != "Asked" {
				t.Errorf("got the body %s", messages[0].Body)
			}
			got := map[string]string{}
			for name, attribute := range messages[0].Attributes {
				got[name] = attribute.StringValue
			}
			want := map[string]string{"RULE_ARN": "arn:aws:events:us-east-1:000000000000:rule/own/asked",
				"TARGET_ARN":    "arn:aws:lambda:us-east-1:000000000000:function:worker",
				"ERROR_MESSAGE": delivery.Error, "ERROR_CODE": test.code, "RETRY_ATTEMPTS": test.retries}
			if test.exhausted != "" {
				want["EXHAUSTED_RETRY_CONDITION"] = test.exhausted
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}

// A rule that fires by time delivers an event of its own to its targets, and to no other rule's.
func TestFire(t *testing.T) {
	t.Parallel()
	f := start(t, `, "Nightly": {"Type": "AWS::Events::Rule", "Properties": {"Name": "nightly",
			"ScheduleExpression": "cron(0 3 * * ? *)", "State": "DISABLED", "Targets": [`+worker+`}, `+inbox+`, "Input": "{\"night\": true}"}]}},
		"All": {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": {"version": ["0"]}, "Targets": [`+worker+`}]}}`)
	const arn = "arn:aws:events:us-east-1:000000000000:rule/nightly"
	at := time.Date(2026, 11, 26, 3, 0, 0, 1, time.UTC)
	must.OK(t, f.service.Fire(arn, at))
	f.settle(t)
	var got awsevents.EventBridgeEvent
	if len(f.functions.got) != 1 || json.Unmarshal([]byte(f.functions.got[0]), &got) != nil {
		t.Fatalf("got %q", f.functions.got)
	}
	want := awsevents.EventBridgeEvent{Version: "0", ID: got.ID, DetailType: "Scheduled Event", Source: "aws.events",
		AccountID: account, Region: "us-east-1", Time: at.Truncate(time.Second), Resources: []string{arn},
		Detail: json.RawMessage("{}")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if got := f.bodies("inbox"); !slices.Equal(got, []string{`{"night": true}`}) {
		t.Errorf("the queue got %q", got)
	}
	if err := f.service.Fire(arn+"2", at); err == nil {
		t.Error("a rule that is not there fires")
	}
	f.put(t, `{"Source": "s", "DetailType": "d", "Detail": "{}"}`)
	if len(f.functions.got) != 2 {
		t.Errorf("an event of the bus: got %q", f.functions.got)
	}
}

// An event may come once more, with its id.
func TestRedeliver(t *testing.T) {
	t.Parallel()
	f := start(t, ","+rule(`{"source": ["platform"]}`, inbox+"}"), func(o *events.Options) {
		o.Redeliver = func() bool { return true }
	})
	f.put(t, asked)
	f.service.Close()
	bodies := f.bodies("inbox")
	if len(bodies) != 2 || bodies[0] != bodies[1] {
		t.Errorf("got %q, want the event twice", bodies)
	}
	if got := f.service.Events(1, "")[0].Deliveries[0]; got.Times != 2 {
		t.Errorf("got %+v", got)
	}
}

// The console sees buses with their rules, and the newest events with who received them.
func TestHistory(t *testing.T) {
	t.Parallel()
	f := start(t, ","+rule(`{"source": ["platform"]}`, worker+"},"+inbox+"}"))
	f.put(t, asked)
	f.put(t, `{"Source": "other", "DetailType": "Nothing", "EventBusName": "own", "Detail": "{\"a\": \"`+
		strings.Repeat("ä", 8000)+`\"}"}`)
	buses := f.service.Buses()
	want := []events.Bus{
		{Name: "default", ARN: "arn:aws:events:us-east-1:000000000000:event-bus/default", Account: account,
			Region: "us-east-1", Rules: []events.Rule{}},
		{Name: "own", ARN: "arn:aws:events:us-east-1:000000000000:event-bus/own", Account: account,
			Region: "us-east-1", Events: 2, Rules: []events.Rule{{Name: "asked",
				ARN:     "arn:aws:events:us-east-1:000000000000:rule/own/asked",
				Pattern: json.RawMessage(`{"source":["platform"]}`),
				Targets: []events.Target{
					{Name: "worker", Kind: "function", ARN: "arn:aws:lambda:us-east-1:000000000000:function:worker"},
					{Name: "inbox", Kind: "queue", ARN: "arn:aws:sqs:us-east-1:000000000000:inbox"},
				}}}},
	}
	if diff := cmp.Diff(want, buses); diff != "" {
		t.Errorf("buses (-want +got):\n%s", diff)
	}
	got := f.service.Events(events.MaxEvents, "")
	if len(got) != 2 || got[0].DetailType != "Nothing" || !got[0].Cut || len(got[0].Detail) > 8<<10 ||
		len(got[0].Deliveries) != 0 {
		t.Fatalf("got %+v", got)
	}
	wantDeliveries := []events.Delivery{
		{Rule: "asked", Target: "worker", Kind: "function", State: events.Delivered, Attempts: 1, Times: 1},
		{Rule: "asked", Target: "inbox", Kind: "queue", State: events.Delivered, Attempts: 1, Times: 1},
	}
	if diff := cmp.Diff(wantDeliveries, got[1].Deliveries); diff != "" || got[1].Function != "asker" {
		t.Errorf("got %+v; deliveries (-want +got):\n%s", got[1], diff)
	}
	if found := f.service.Events(events.MaxEvents, "Q1"); len(found) != 1 || found[0].ID != got[1].ID {
		t.Errorf("search: got %+v", found)
	}
	if found := f.service.Events(1, ""); len(found) != 1 {
		t.Errorf("limit: got %+v", found)
	}
	for range 101 {
		f.put(t, slices.Repeat([]string{asked}, 10)...)
	}
	if all := f.service.Events(2*events.MaxEvents, ""); len(all) != events.MaxEvents {
		t.Errorf("got %d events, want the newest %d", len(all), events.MaxEvents)
	}
}

// A run refuses rules that AWS would not create, or that would deliver nothing there, and counts those that fire
// nothing here.
func TestRead(t *testing.T) {
	t.Parallel()
	read := func(resources string) (*events.Rules, error) {
		return events.Read(assemblytest.LoadFile(t, "testdata/surroundings.json", "RESOURCES", ","+resources))
	}
	const topic = `{"Id": "topic", "Arn": "arn:aws:sns:us-east-1:000000000000:topic"}`
	for name, test := range map[string]struct {
		resources       string
		idle, elsewhere int
	}{
		"by time":          {`"Rule": {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "rate(1 day)", "Targets": [` + worker + `}]}}`, 0, 0},
		"other services":   {rule(`{"source": ["aws.ec2", "aws.ecs"]}`, topic), 1, 0},
		"by time, a topic": {`"Rule": {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "rate(1 day)", "Targets": [` + topic + `]}}`, 1, 0},
		"only a topic":     {rule(`{"source": ["platform"]}`, topic), 1, 0},
		"also a topic":     {rule(`{"source": ["platform"]}`, topic+","+worker+"}"), 0, 1},
		"any prefix":       {rule(`{"source": [{"prefix": "aws."}]}`, worker+"}"), 0, 0},
	} {
		if got, err := read(test.resources); err != nil || got.Idle != test.idle || got.Elsewhere != test.elsewhere {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	const everything = `{"source": ["platform"]}`
	timed := func(properties string) string {
		return `"Rule": {"Type": "AWS::Events::Rule", "Properties": {` + properties + `, "Targets": [` + worker + `}]}}`
	}
	for problem, resources := range map[string]string{
		"default bus alone":            timed(`"ScheduleExpression": "rate(1 day)", "EventBusName": "own"`),
		"write rate(…) or cron(…)":     timed(`"ScheduleExpression": "at(2030-01-01T00:00:00)"`),
		"singular for 1 alone":         timed(`"ScheduleExpression": "rate(1 minutes)"`),
		"cidr":                         rule(`{"source": [{"cidr": "x"}]}`, worker+"}"),
		"write one":                    rule(everything, worker+`, "Input": "{}", "InputPath": "$"}`),
		"Input: got x: write JSON":     rule(everything, worker+`, "Input": "x"}`),
		`InputPath: got "detail"`:      rule(everything, worker+`, "InputPath": "detail"}`),
		`InputPath: got "$.a[?(@.b)]"`: rule(everything, worker+`, "InputPath": "$.a[?(@.b)]"}`),
		`InputPath: got "$..a"`:        rule(everything, worker+`, "InputPath": "$..a"}`),
		`InputPathsMap: got the name`:  rule(everything, worker+`, "InputTransformer": {"InputPathsMap": {"a b": "$"}, "InputTemplate": "{}"}}`),
		`InputPathsMap: a: got "x"`:    rule(everything, worker+`, "InputTransformer": {"InputPathsMap": {"a": "x"}, "InputTemplate": "{}"}}`),
		`got the variable <b>`:         rule(everything, worker+`, "InputTransformer": {"InputPathsMap": {"a": "$"}, "InputTemplate": "{\"b\": <b>}"}}`),
		`write one JSON value`:         rule(everything, worker+`, "InputTransformer": {"InputPathsMap": {"a": "$"}, "InputTemplate": "<a> is"}}`),
		"dead-letter queue arn:x":      rule(everything, worker+`, "DeadLetterConfig": {"Arn": "arn:x"}}`),
		"lets events.amazonaws.com invoke other": `"Other": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "other"}},` +
			rule(everything, `{"Id": "o", "Arn": {"Fn::GetAtt": ["Other", "Arn"]}}`),
		"lets events.amazonaws.com send to other": `"Other": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "other"}},` +
			rule(everything, `{"Id": "o", "Arn": {"Fn::GetAtt": ["Other", "Arn"]}}`),
		"lets events.amazonaws.com send to letters": `"Other": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "letters"}},` +
			rule(everything, worker+`, "DeadLetterConfig": {"Arn": {"Fn::GetAtt": ["Other", "Arn"]}}}`),
	} {
		if _, err := read(resources); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q in it", err, problem)
		}
	}
}
