package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/cron"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Trigger invokes a function, beside the routes that it serves: [OnStream], [OnStreams], [OnSchedule], [OnQueue],
// [OnObjects], [OnAuthorize], [OnSignUp], [OnSeed] or [OnOther].
type Trigger interface {
	// validate adds what is wrong with the trigger of function fn of the platform.
	validate(f *findings, path string, p Platform, fn Function)
}

// OnStream invokes a function with the changes of a table, oldest first. AWS Lambda retries a failed batch for up to 23
// hours, in ever smaller parts, and meanwhile holds back the later records of its shard. Then it sends the batch's
// place in the stream to the queue of [Failures]. A function that reports item failures by lambdas/kit/trigger never
// waits so long. It sends a record itself to that queue, with the cause of the failure: at once if no attempt can
// handle it, and otherwise after ten minutes of attempts.
type OnStream struct {
	// ID is the construct id of the mapping. The alarm on late changes is <ID>AgeAlarm.
	// Default: the function's ID and "Stream".
	ID string
	// Table is the logical name of the table, which has a [StreamView].
	Table string
	// Filters are patterns of records ("Lambda event filtering"); the function gets the
	// records that any of them matches. At most 5. Default: every record.
	Filters []map[string]any
	// BatchSize limits the records of one invocation: 1 to 10,000, as far as they fit into 6 MB. Default: 100.
	BatchSize int `min:"1" max:"10000" default:"100"`
	// BatchWindow is how long records are gathered for a batch: whole seconds up to 5
	// minutes. Default: none.
	BatchWindow time.Duration `min:"0s" max:"5m" step:"1s" default:"none"`
	// Whole retries a failed batch unchanged. Default: AWS Lambda retries it in two halves.
	Whole bool
	// After names a function whose time-out is added to BatchWindow, so that its requests have
	// ended when their records are handled. Default: none.
	After string
	// ReportItemFailures says that the function's answer names the record that failed
	// (events.DynamoDBEventResponse), so that the records before it do not come again.
	// trigger.Stream of lambdas/kit makes such answers.
	// Default: a batch fails as a whole.
	ReportItemFailures bool
	// Changes describes the records to people, such as "deletions of users". Default: "changes of" and the table's
	// name.
	Changes string
	// Failures describe the queue of the changes that the function gave up.
	Failures Failures
}

// OnStreams invokes a function with the changes of several tables. They have one queue of failures.
type OnStreams struct {
	// ID begins the construct ids of the mappings: each is ID, the name of the table and "Stream". Default: the
	// function's ID.
	ID string
	// Streams are the tables, each with what the function reads of it. Their own ID and Failures are ignored.
	Streams []OnStream
	// Failures describe the queue of the changes that the function gave up.
	Failures Failures
}

// OnSchedule invokes a function at intervals (Every) or at times of a calendar (Cron). State one of the two.
type OnSchedule struct {
	// ID is the construct id of the schedule. The alarm on missing runs is named by the function: <ID of the
	// function>NotRunAlarm. There is no such alarm if two runs can be almost a week apart, or more. Default: the
	// function's ID and "Schedule".
	ID string
	// Every is the time from one run to the next, in whole minutes up to a day.
	Every time.Duration
	// Cron says when the function runs, in the six fields of Amazon EventBridge Scheduler:
	// minutes, hours, day of month, month, day of week, year. "0 3 * * ? *" is every day at
	// 03:00.
	Cron string
	// TimeZone is the IANA name of the zone that Cron is read in, such as "Europe/Vienna".
	// A time that the zone skips in spring is skipped, and one that it repeats in autumn
	// runs once. Default: UTC.
	TimeZone string
	// Failures describe the queue of the runs that failed or could not be started. The
	// queue is part of the schedule.
	Failures Failures
}

// OnSignUp invokes a function when a user of the platform's own user pool has confirmed the sign-up ("Post confirmation
// Lambda trigger", Amazon Cognito). An existing user pool, or another issuer of tokens, does not invoke it.
//
// The function answers with the event. Its Timeout is at most the 5 seconds that Amazon Cognito waits. If it does not
// answer, Amazon Cognito invokes it up to three times, and it does so when a user has set a forgotten password, too
// (triggerSource "PostConfirmation_ConfirmForgotPassword"): make it idempotent. The user is confirmed even if it fails.
type OnSignUp struct{}

// OnSeed invokes a function with `onesynth seed`, in a local run and in a deployed stack.
// The function loads the platform's initial data, by lambdas/kit/seed.
type OnSeed struct{}

// OnOther is anything that the construct of the platform connects itself, such as a
// topic, or events of the platform's own bus (Platform.On of constructs/platform).
type OnOther struct{}

// Failures describe the queue of what a function could not handle.
type Failures struct {
	// ID is the construct id of a stream's queue, and begins the names of the alarm, <ID>Alarm, and
	// of the output: "DeadLetters" gives DeadLetterQueueUrl. Default: the trigger's ID and
	// "DeadLetters".
	ID string
	// Description tells people what is in the queue. Default: for a stream, its Changes and "that could not be
	// handled"; for a schedule, "runs of the" and the function's name.
	Description string
}

// FailureQueueVariable is the environment variable in which a function finds the address of the queue of its
// [Failures], if an OnStream or an OnQueue invokes it. lambdas/kit/trigger sends to it what no
// attempt can handle.
const FailureQueueVariable = "FAILURE_QUEUE_URL"

// Secret is a secret that functions read when they start. Its text is generated, and
// outlives the stack.
type Secret struct {
	// Name is the construct id, such as "CursorSecret".
	Name string
	// Description is shown in the AWS console.
	Description string
	// Variable is the environment variable in which functions find the secret's ARN,
	// such as "CURSOR_SECRET_ARN".
	Variable string
	// Template is a JSON object to which the generated text is added as the member Generated. Default: the secret is
	// the generated text alone, 64 random letters and digits.
	Template, Generated string
}

// CursorSecretVariable is the Variable of [CursorSecret].
const CursorSecretVariable = "CURSOR_SECRET_ARN"

// CursorSecret returns the secret "CursorSecret", with which lambdas/kit/dynamo signs cursors.
func CursorSecret() Secret {
	return Secret{Name: "CursorSecret", Variable: CursorSecretVariable,
		Description: "Key that signs the cursors of lists"}
}

// Limits of AWS Lambda ("CreateEventSourceMapping", AWS Lambda API reference; "Lambda
// quotas") and of this library's environment variables.
const (
	maxBatchWindow = 5 * time.Minute
	maxFilters     = 5
	maxFilterBytes = 4096
	maxSignUp      = 5 * time.Second // Amazon Cognito's ("Customizing user pool workflows with Lambda triggers")
)

var variableName = expression(`^[A-Z][A-Z0-9_]*$`)

// ConstructID returns the construct id of the function: ID, or its name with a capital.
func (f Function) ConstructID() string {
	if f.ID != "" || f.Name == "" {
		return f.ID
	}
	return strings.ToUpper(f.Name[:1]) + f.Name[1:]
}

// WithDefaults returns the trigger of a function with its defaults filled in.
func (s OnStream) WithDefaults(of Function) OnStream {
	s.ID = cmp.Or(s.ID, of.ConstructID()+"Stream")
	s.Changes = cmp.Or(s.Changes, "changes of "+s.Table)
	s.Failures = s.Failures.withDefaults(s.ID, s.Changes+" that could not be handled")
	return s
}

// Streams returns the tables whose changes invoke the function, with defaults filled in.
func (f Function) Streams() []OnStream {
	switch trigger := f.Trigger.(type) {
	case OnStream:
		return []OnStream{trigger.WithDefaults(f)}
	case OnStreams:
		all := slices.Clone(trigger.Streams)
		for i, s := range all {
			all[i].ID, all[i].Failures = cmp.Or(trigger.ID, f.ConstructID())+s.Table+"Stream", trigger.failures(f)
			all[i] = all[i].WithDefaults(f)
		}
		return all
	}
	return nil
}

func (s OnStreams) failures(of Function) Failures {
	return s.Failures.withDefaults(cmp.Or(s.ID, of.ConstructID()), "changes that could not be handled")
}

// WithDefaults returns the trigger of a function with its defaults filled in.
func (s OnSchedule) WithDefaults(of Function) OnSchedule {
	s.ID = cmp.Or(s.ID, of.ConstructID()+"Schedule")
	s.Failures = s.Failures.withDefaults(s.ID, "runs of the "+of.Name)
	return s
}

// Failures returns the construct id of the function's trigger and the queue of what the function could not handle, with
// defaults filled in. id is "" for a trigger on several streams. ok is false if the function has no such queue.
func (f Function) Failures() (id string, failures Failures, ok bool) {
	switch trigger := f.Trigger.(type) {
	case OnStream:
		trigger = trigger.WithDefaults(f)
		return trigger.ID, trigger.Failures, true
	case OnStreams:
		return "", trigger.failures(f), true
	case OnSchedule:
		trigger = trigger.WithDefaults(f)
		return trigger.ID, trigger.Failures, true
	case OnObjects:
		trigger = trigger.WithDefaults(f)
		return trigger.ID, trigger.Failures, true
	case OnQueue:
		trigger = trigger.WithDefaults(f)
		return trigger.ID, trigger.Failures, true
	}
	return "", Failures{}, false
}

func (f Failures) withDefaults(id, description string) Failures {
	f.ID = cmp.Or(f.ID, id+"DeadLetters")
	f.Description = cmp.Or(f.Description, description)
	return f
}

func (s OnStream) validate(f *findings, path string, p Platform, fn Function) {
	path += ".Trigger"
	table, ok := p.Database.Table(s.Table)
	switch {
	case !ok:
		f.add(path+".Table", quoted(s.Table), "name a declared table")
	case table.Stream == StreamNone:
		f.add(path+".Table", quoted(s.Table), "set Stream of the table, or name one that has a stream")
	}
	s.Check(&f.list, path)
	for i, filter := range s.Filters {
		s.validateFilter(f, fmt.Sprintf("%s.Filters[%d]", path, i), filter, table)
	}
	if after, ok := p.Function(s.After); s.After != "" && (!ok || s.After == fn.Name) {
		f.add(path+".After", quoted(s.After), "name another declared function, or none")
	} else if ok && after.Timeout+s.BatchWindow > maxBatchWindow {
		f.add(path+".After", quoted(s.After), "its Timeout and BatchWindow are more than %s together: shorten one",
			maxBatchWindow)
	}
}

// Check adds a finding for each limit of AWS Lambda that the trigger breaks. Their paths begin with path.
func (s OnStream) Check(f *finding.List, path string) {
	f.Limits(path, s)
	if len(s.Filters) > maxFilters {
		f.Append(finding.Finding{Path: path + ".Filters", Got: fmt.Sprintf("%d patterns", len(s.Filters)),
			Allowed: fmt.Sprintf("at most %d", maxFilters), Remedy: "write several values into one pattern"})
	}
	for i, filter := range s.Filters {
		if text, err := json.Marshal(filter); err != nil || len(filter) == 0 || len(text) > maxFilterBytes {
			f.Append(finding.Finding{Path: fmt.Sprintf("%s.Filters[%d]", path, i), Got: fmt.Sprint(filter),
				Allowed: fmt.Sprintf("a pattern of up to %d bytes of JSON", maxFilterBytes),
				Remedy:  `write it as in {"eventName": ["INSERT"]}`})
		}
	}
}

// validateFilter checks what a filter says of the table's items: a misspelt attribute
// would match nothing, silently.
func (s OnStream) validateFilter(f *findings, path string, filter map[string]any, table Table) {
	record, _ := filter["dynamodb"].(map[string]any)
	for _, part := range []string{"Keys", "NewImage", "OldImage"} {
		attributes, _ := record[part].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			if _, ok := table.Attribute(name); !ok {
				f.add(path+".dynamodb."+part, quoted(name),
					"declare the attribute in the table, or name one that is declared")
			}
		}
	}
}

func (s OnStreams) validate(f *findings, path string, p Platform, fn Function) {
	if len(s.Streams) == 0 {
		f.add(path+".Trigger.Streams", "", "name the tables whose changes invoke the function")
	}
	unique(f, path+".Trigger.Streams", s.Streams, func(one OnStream) string { return one.Table })
	for i, one := range s.Streams {
		one.validate(f, fmt.Sprintf("%s.Trigger.Streams[%d]", path, i), p, fn)
	}
}

func (s OnSchedule) validate(f *findings, path string, _ Platform, _ Function) {
	s.Check(&f.list, path+".Trigger")
}

// Check adds a finding for each fault of Every, Cron and TimeZone. Their paths begin with path.
func (s OnSchedule) Check(f *finding.List, path string) {
	zone, err := cron.Zone(s.TimeZone)
	switch {
	case err != nil:
		f.Add(path+".TimeZone", s.TimeZone, "the IANA name of a time zone",
			`write it as in "Europe/Vienna", or leave it out for UTC`)
		zone = time.UTC
	case s.TimeZone != "" && s.Cron == "":
		f.Add(path+".TimeZone", s.TimeZone, "empty without Cron", "leave it out: only Cron is read in a time zone")
	}
	switch {
	case s.Every != 0 && s.Cron != "":
		f.Add(path+".Cron", s.Cron, "empty with Every", "write Every or Cron, not both")
	case s.Cron != "":
		if _, err := s.expression(zone); err != nil {
			f.Add(path+".Cron", s.Cron, "six fields: minutes hours day-of-month month day-of-week year", err.Error())
		}
	case s.Every < time.Minute || s.Every > 24*time.Hour || s.Every%time.Minute != 0:
		f.Add(path+".Every", s.Every, "1m0s to 24h0m0s in whole minutes",
			"write how often the function runs, or write Cron")
	}
}

// Expression parses Cron, in TimeZone. The error says which of them is invalid.
func (s OnSchedule) Expression() (cron.Expression, error) {
	zone, err := cron.Zone(s.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("TimeZone: %w", err)
	}
	return s.expression(zone)
}

func (s OnSchedule) expression(zone *time.Location) (cron.Expression, error) {
	return cron.Parse("cron("+s.Cron+")", zone, time.Time{})
}

func (OnSignUp) validate(f *findings, path string, p Platform, fn Function) {
	if !slices.ContainsFunc(p.Routes, func(r Route) bool { return r.Caller.Token == TokenOfUser }) {
		f.add(path+".Trigger", "OnSignUp", "add a route whose Caller has a TokenOfUser, such as CallerUser: a "+
			"platform without users has no user pool")
	}
	if fn.Timeout <= 0 || fn.Timeout > maxSignUp {
		f.add(path+".Timeout", fn.Timeout.String(),
			"write whole seconds, 1s to %s: Amazon Cognito waits no longer, and the default is 10 seconds", maxSignUp)
	}
	if first, _ := p.SignUpHandler(); first.Name != fn.Name {
		f.add(path+".Trigger", "OnSignUp", "let one function handle sign-ups: Amazon Cognito calls one, and %s does "+
			"already", first.Name)
	}
}

func (OnSeed) validate(f *findings, path string, p Platform, fn Function) {
	if first, _ := p.Seeder(); first.Name != fn.Name {
		f.add(path+".Trigger", "OnSeed", "let one function load the initial data: onesynth seed invokes one, and %s "+
			"does already", first.Name)
	}
}

func (OnOther) validate(*findings, string, Platform, Function) {}

// validateFunction checks what a function is and needs, except for its access patterns.
func (p Platform) validateFunction(f *findings, fn Function) {
	path := "Functions[" + fn.Name + "]"
	f.list.Limits(path, fn)
	for i, name := range fn.Secrets {
		at := fmt.Sprintf("%s.Secrets[%d]", path, i)
		if _, ok := p.Secret(name); !ok {
			f.add(at, quoted(name), "name a declared secret")
		}
	}
	unique(f, path+".Secrets", fn.Secrets, itself)
	p.validateObjects(f, path, fn)
	p.validateSends(f, path, fn)
	p.validateSignIn(f, path, fn)
	if fn.CallsModel && fn.Timeout == 0 {
		f.add(path+".Timeout", "0s", "write a time-out: a model takes seconds to reply, and the default is 10 seconds")
	}
	if fn.Trigger != nil {
		fn.Trigger.validate(f, path, p, fn)
		return
	}
	if !slices.ContainsFunc(p.Routes, func(r Route) bool { return r.Function == fn.Name }) {
		f.add(path+".Trigger", "",
			"say what invokes it (OnStream, OnStreams, OnSchedule, OnQueue, OnObjects, OnAuthorize, "+
				"OnSignUp, OnSeed or OnOther), let it serve a route, or leave the function out")
	}
}

// validateSecrets checks the secrets, and that a function reads each.
func (p Platform) validateSecrets(f *findings) {
	unique(f, "Secrets", p.Secrets, func(s Secret) string { return s.Name })
	for _, s := range p.Secrets {
		path := "Secrets[" + s.Name + "]"
		var object map[string]any
		switch {
		case (s.Template == "") != (s.Generated == ""):
			f.add(path+".Generated", quoted(s.Generated),
				"write both Template and Generated, or neither for a secret that is a random text")
		case s.Template != "" && json.Unmarshal([]byte(s.Template), &object) != nil:
			f.add(path+".Template", quoted(s.Template), "write a JSON object")
		case s.Template != "" && object[s.Generated] != nil:
			f.add(path+".Generated", quoted(s.Generated), "name a member that Template does not have")
		}
		if !slices.ContainsFunc(p.Functions, func(fn Function) bool { return slices.Contains(fn.Secrets, s.Name) }) {
			f.add(path, "a secret that no function reads", "name it in the Secrets of a function, or leave it out")
		}
	}
}

// SignUpHandler returns the function that handles sign-ups.
func (p Platform) SignUpHandler() (Function, bool) { return invokedBy[OnSignUp](p) }

// Seeder returns the function that loads the initial data.
func (p Platform) Seeder() (Function, bool) { return invokedBy[OnSeed](p) }

// invokedBy returns the first function with such a trigger.
func invokedBy[T Trigger](p Platform) (Function, bool) {
	for _, fn := range p.Functions {
		if _, ok := fn.Trigger.(T); ok {
			return fn, true
		}
	}
	return Function{}, false
}

// SeedOutput returns the name of the stack output that has the physical name of the [Platform.Seeder]:
// "SeedLinksFunctionName" for the platform links. The id of the platform's construct precedes it.
func (p Platform) SeedOutput() string {
	return "Seed" + strings.ToUpper(p.Name[:1]) + p.Name[1:] + "FunctionName"
}

// LakeID returns the construct id of the lake of that name, which begins the ids of its alarms and outputs: "Lake" for
// the platform's first, and "LakeClickEvents" for another with the name click_events.
func (p Platform) LakeID(name string) string {
	id := "Lake"
	if len(p.Lakes) > 0 && p.Lakes[0].Name == name {
		return id
	}
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			id += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return id
}

// Secret returns the secret of that name.
func (p Platform) Secret(name string) (Secret, bool) {
	return named(p.Secrets, name, func(x Secret) string { return x.Name })
}

// constructIDs are the ids that constructs/platform uses below a platform's construct.
var constructIDs = []string{"Agents", "AlarmTopic", "API", "Dashboard", "Database", "EventBus", "Lake", "Users"}

// validateVariables checks the environment variables in which functions find secrets, buckets, queues and the model.
func (p Platform) validateVariables(f *findings) {
	taken := map[string]string{}
	if p.CallsModel() {
		for _, name := range []string{ModelVariable, GuardrailVariable, GuardrailVersionVariable} {
			taken[name] = "the model"
		}
	}
	take := func(path, variable, example string) {
		path += ".Variable"
		if !matches(variableName, variable) {
			f.add(path, quoted(variable), "write capitals, digits and _, such as %q", example)
		} else if of, ok := taken[variable]; ok {
			f.add(path, quoted(variable), "write another name: %s has this one", of)
		}
		taken[variable] = path
	}
	for _, s := range p.Secrets {
		take("Secrets["+s.Name+"]", s.Variable, "CURSOR_SECRET_ARN")
	}
	for _, b := range p.Buckets {
		take("Buckets["+b.Name+"]", b.Variable, "EXPORTS_BUCKET")
	}
	for _, fn := range p.Functions {
		if q, ok := fn.Trigger.(OnQueue); ok {
			take("Functions["+fn.Name+"].Trigger", q.Variable, "WEBHOOK_QUEUE_URL")
		}
	}
}

// validateIDs checks that each part of the platform has a construct id that no other part has.
func (p Platform) validateIDs(f *findings) {
	taken := map[string]string{}
	for _, id := range constructIDs {
		taken[id] = "every platform"
	}
	valid := func(path, id string) bool {
		right := id == "" || matches(logicalName, id)
		if !right {
			f.add(path, quoted(id), "write letters and digits beginning with a capital: it is a construct id")
		}
		return right
	}
	take := func(path, id string) bool {
		right := valid(path, id)
		if of, ok := taken[id]; ok && right && id != "" {
			f.add(path, quoted(id), "choose another construct id: %s has this one", of)
		}
		taken[id] = path
		return right
	}
	for _, s := range p.Secrets {
		take("Secrets["+s.Name+"].Name", s.Name)
	}
	for _, b := range p.Buckets {
		take("Buckets["+b.Name+"].Name", b.Name)
	}
	for i, l := range p.Lakes {
		// The first has an id that every platform keeps for it.
		if i > 0 {
			take("Lakes["+l.Name+"].Name", p.LakeID(l.Name))
		}
	}
	for _, fn := range p.Functions {
		path := "Functions[" + fn.Name + "]"
		// The ids of its trigger follow from its own, and that from its name.
		if fn.ID == "" && !matches(functionName, fn.Name) || !take(path+".ID", fn.ConstructID()) {
			continue
		}
		several, _ := fn.Trigger.(OnStreams)
		id, failures, ok := fn.Failures()
		if !ok || !valid(path+".Trigger.ID", several.ID) || !take(path+".Trigger.ID", id) {
			continue
		}
		take(path+".Trigger.Failures.ID", failures.ID)
		if several.Streams != nil {
			for _, s := range fn.Streams() {
				take(path+".Trigger.Streams["+s.Table+"]", s.ID)
			}
		}
	}
}
