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

// Trigger is what invokes a function beside the routes that it serves: [OnStream], [OnStreams],
// [OnSchedule], [OnQueue], [OnObjects], [OnAuthorize], [OnSignUp], [OnSeed] or [OnOther].
type Trigger interface {
	// validate adds what is wrong with the trigger of function fn of the platform.
	validate(f *findings, path string, p Platform, fn Function)
}

// OnStream invokes a function with the changes of a table, oldest first. AWS Lambda retries a batch on which the
// function fails for 23 hours, in ever smaller parts. The batch holds up what follows in its shard. Then the queue of
// [Failures] gets the batch's place in the stream. A function that reports item failures does not let it come to that:
// by lambdas/kit/trigger, it sends a change that no attempt can handle to that queue at once, with the cause, and one
// that may heal after ten minutes.
type OnStream struct {
	// ID is the construct id of the mapping. The alarm on late changes is <ID>AgeAlarm.
	// Default: the function's ID and "Stream".
	ID string
	// Table is the logical name of the table, which has a [StreamView].
	Table string
	// Filters are patterns of records ("Lambda event filtering"); the function gets the
	// records that any of them matches. At most 5. Default: every record.
	Filters []map[string]any
	// BatchSize is how many records one invocation gets at most: 1 to 10,000, as far as they fit into 6 MB.
	// Default: 100.
	BatchSize int `min:"1" max:"10000" default:"100"`
	// BatchWindow is how long records are gathered for a batch: whole seconds up to 5
	// minutes. Default: none.
	BatchWindow time.Duration `min:"0s" max:"5m" step:"1s" default:"none"`
	// Parallel is how many batches of one shard may be handled at once: 1 to 10. Records of one item stay in order.
	// Default: 1.
	Parallel int `min:"1" max:"10" default:"1"`
	// Retries is how often a failed batch is tried again, up to 10,000 times. Default: until MaximumAge.
	Retries int `min:"1" max:"10000" default:"retries until MaximumAge"`
	// MaximumAge is how old a record may get before AWS Lambda gives it up: whole seconds, a minute to 23 hours. A
	// stream keeps it an hour longer, for readers of the place that the queue of failures names ("Change data capture
	// for DynamoDB Streams"). Default: 23 hours.
	MaximumAge time.Duration `min:"1m" max:"23h" step:"1s" default:"23 hours"`
	// Whole tries a failed batch again as it was. Default: in two halves.
	Whole bool
	// After names a function whose time-out is added to BatchWindow, so that its requests have
	// ended when their records are handled. Default: none.
	After string
	// ReportItemFailures says that the function's answer names the record that failed
	// (events.DynamoDBEventResponse), so that the records before it do not come again.
	// events.Stream of lambdas/kit makes such answers.
	// Default: a batch fails as a whole.
	ReportItemFailures bool
	// Changes names the records for people, such as "deletions of users". Default:
	// "changes of" and the table's name.
	Changes string
	// Failures describe the queue of the changes that the function gave up.
	Failures Failures
}

// OnStreams invokes a function with the changes of several tables. They have one queue of failures.
type OnStreams struct {
	// ID begins the construct ids of the mappings: each is ID, the name of the table and "Stream". Default: the
	// function's ID.
	ID string
	// Streams are the tables, each with what the function reads of it. Their own ID and Failures do not count.
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
	// Description says for people what is in the queue. Default: for a stream, its Changes
	// and "that could not be handled"; for a schedule, "runs of the" and the function's
	// name.
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
	// Template is a JSON object, for a secret that is one: the generated text is added to
	// it as the member Generated. Default: the secret is 64 random letters and digits.
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
	if s.ID == "" {
		s.ID = of.ConstructID() + "Stream"
	}
	if s.Changes == "" {
		s.Changes = "changes of " + s.Table
	}
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
	if s.ID == "" {
		s.ID = of.ConstructID() + "Schedule"
	}
	s.Failures = s.Failures.withDefaults(s.ID, "runs of the "+of.Name)
	return s
}

// Failures returns the construct id of the function's trigger, "" where it has several, and the queue of
// what the function could not handle, with defaults filled in; false if there is no queue.
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
	if f.ID == "" {
		f.ID = id + "DeadLetters"
	}
	if f.Description == "" {
		f.Description = description
	}
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
	validateTriggerIDs(f, path, s.ID, s.Failures)
}

// Check adds a finding for each limit of AWS Lambda that the trigger breaks. path leads to it.
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
	validateTriggerIDs(f, path+".Trigger", s.ID, s.Failures)
}

func (s OnSchedule) validate(f *findings, path string, _ Platform, _ Function) {
	s.Check(&f.list, path+".Trigger")
	validateTriggerIDs(f, path+".Trigger", s.ID, s.Failures)
}

// Check adds a finding if the trigger names no times. path leads to it.
func (s OnSchedule) Check(f *finding.List, path string) {
	zone, err := time.LoadLocation(s.TimeZone)
	switch {
	case err != nil || s.TimeZone == "Local":
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

// Expression returns when the function runs by Cron. The error says what is wrong with Cron or TimeZone.
func (s OnSchedule) Expression() (cron.Expression, error) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("read the time zone %q: %w", s.TimeZone, err)
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

func validateTriggerIDs(f *findings, path, id string, failures Failures) {
	if id != "" && !matches(logicalName, id) {
		f.add(path+".ID", quoted(id), "write letters and digits beginning with a capital: it is a construct id")
	}
	if failures.ID != "" && !matches(logicalName, failures.ID) {
		f.add(path+".Failures.ID", quoted(failures.ID),
			"write letters and digits beginning with a capital: it is a construct id")
	}
}

// validateFunction checks what a function is and needs, except for its access patterns.
func (p Platform) validateFunction(f *findings, fn Function) {
	path := "Functions[" + fn.Name + "]"
	if fn.ID != "" && !matches(logicalName, fn.ID) {
		f.add(path+".ID", quoted(fn.ID), "write letters and digits beginning with a capital: it is a construct id")
	}
	f.list.Limits(path, fn)
	for i, name := range fn.Secrets {
		at := fmt.Sprintf("%s.Secrets[%d]", path, i)
		if _, ok := p.Secret(name); !ok {
			f.add(at, quoted(name), "name a declared secret")
		}
		if slices.Index(fn.Secrets, name) < i {
			f.add(at, quoted(name), "name each secret once")
		}
	}
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
	unique(f, "Secrets", p.Secrets, func(s Secret) string { return s.Variable })
	for _, s := range p.Secrets {
		path := "Secrets[" + s.Name + "]"
		if !matches(logicalName, s.Name) {
			f.add(path+".Name", quoted(s.Name), "write letters and digits beginning with a capital: it is a "+
				"construct id")
		}
		if !matches(variableName, s.Variable) {
			f.add(path+".Variable", quoted(s.Variable), `write capitals, digits and _, such as "CURSOR_SECRET_ARN"`)
		}
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

// SeedOutput returns the name of the stack output with the name of the [Platform.Seeder]: "SeedLinksFunctionName" for
// the platform links. The id of the platform's construct goes before it.
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

// validateIDs checks that no two parts of the platform have the same construct id.
func (p Platform) validateIDs(f *findings) {
	taken := map[string]string{}
	for _, id := range constructIDs {
		taken[id] = "every platform"
	}
	take := func(path, id string) {
		if of, ok := taken[id]; ok && id != "" {
			f.add(path, quoted(id), "choose another construct id: %s has this one", of)
		}
		taken[id] = path
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
		take(path+".ID", fn.ConstructID())
		if id, failures, ok := fn.Failures(); ok {
			take(path+".Trigger.ID", id)
			take(path+".Trigger.Failures.ID", failures.ID)
		}
		if _, several := fn.Trigger.(OnStreams); several {
			for _, s := range fn.Streams() {
				take(path+".Trigger.Streams["+s.Table+"]", s.ID)
			}
		}
	}
}
