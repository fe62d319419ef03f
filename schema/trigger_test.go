package schema_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// triggers are right ones for a platform like minimal, by the name of a function.
var triggers = map[string]schema.Trigger{
	"stream": schema.OnStream{Table: "Notes"},
	"filtered": schema.OnStream{Table: "Notes",
		Filters: []map[string]any{{"eventName": []any{"INSERT"},
			"dynamodb": map[string]any{"NewImage": map[string]any{"text": map[string]any{"S": []any{"x"}}}}}},
		BatchSize: 10000, BatchWindow: 4 * time.Minute, After: "api", ReportItemFailures: true},
	"every":   schema.OnSchedule{Every: 24 * time.Hour},
	"nightly": schema.OnSchedule{Cron: "0 3 * * ? *", TimeZone: "Europe/Vienna"},
	"weekly": schema.OnSchedule{ID: "Mondays", Cron: "0 3 ? * MON *",
		Failures: schema.Failures{ID: "Lost", Description: "weeks"}},
	"signup":    schema.OnSignUp{},
	"seed":      schema.OnSeed{},
	"connected": schema.OnOther{},
}

// Wrong triggers, secrets and sizes are refused, with where they are and what to write instead.
func TestValidateFunctions(t *testing.T) {
	t.Parallel()
	trigger := func(trigger schema.Trigger) func(*schema.Platform) {
		return func(p *schema.Platform) { p.Functions[0].Trigger = trigger }
	}
	filter := func(part, attribute string) schema.OnStream {
		return schema.OnStream{Table: "Notes", Filters: []map[string]any{
			{"dynamodb": map[string]any{part: map[string]any{attribute: []any{"x"}}}}}}
	}
	secret := func(change func(*schema.Secret)) func(*schema.Platform) {
		return func(p *schema.Platform) {
			s := schema.Secret{Name: "Key", Variable: "KEY_ARN"}
			change(&s)
			p.Secrets, p.Functions[0].Secrets = []schema.Secret{s}, []string{s.Name}
		}
	}
	for name, test := range map[string]struct {
		spoil           func(*schema.Platform)
		path, got, text string
	}{
		"ErrNoTrigger": {func(p *schema.Platform) {
			p.Functions = append(p.Functions, schema.Function{Name: "idle"})
		}, "Functions[idle].Trigger", "nothing", "OnSchedule"},
		"ErrSignInNowhere": {func(p *schema.Platform) { p.Functions[0].SignsInAt = "/notes/{id}" },
			"Functions[api].SignsInAt", `"/notes/{id}"`, "CallerAnyone"},
		"ErrSignInOfNoUsers": {func(p *schema.Platform) {
			p.Functions[0].SignsInAt, p.Routes[0].Caller = "/notes/{id}", schema.CallerAnyone
		}, "Functions[api].SignsInAt", `"/notes/{id}"`, "CallerUser"},
		"ErrNoTable": {trigger(schema.OnStream{Table: "Nope"}), "Functions[api].Trigger.Table", `"Nope"`,
			"declared table"},
		"ErrNoStream": {func(p *schema.Platform) {
			p.Database.Tables[0].Stream = ""
			p.Functions[0].Trigger = triggers["stream"]
		}, "Functions[api].Trigger.Table", `"Notes"`, "set Stream"},
		"ErrManyFilters": {trigger(schema.OnStream{Table: "Notes", Filters: make([]map[string]any, 6)}),
			"Functions[api].Trigger.Filters", "6 patterns", "at most 5"},
		"ErrEmptyFilter": {trigger(schema.OnStream{Table: "Notes", Filters: []map[string]any{{}}}),
			"Functions[api].Trigger.Filters[0]", "map[]", "INSERT"},
		"ErrFilterOfNoJSON": {trigger(schema.OnStream{Table: "Notes", Filters: []map[string]any{{"a": func() {}}}}),
			"Functions[api].Trigger.Filters[0]", "map[a:", "JSON"},
		"ErrFilterOnUnknown": {trigger(filter("NewImage", "txet")),
			"Functions[api].Trigger.Filters[0].dynamodb.NewImage", `"txet"`, "declare the attribute"},
		"ErrFilterOnOld": {trigger(filter("OldImage", "txet")), "Functions[api].Trigger.Filters[0].dynamodb.OldImage",
			`"txet"`, "declare the attribute"},
		"ErrBatchSize": {trigger(schema.OnStream{Table: "Notes", BatchSize: 10001}),
			"Functions[api].Trigger.BatchSize", "10001", "1 to 10000"},
		"ErrBatchWindow": {trigger(schema.OnStream{Table: "Notes", BatchWindow: time.Millisecond}),
			"Functions[api].Trigger.BatchWindow", "1ms", "whole seconds"},
		"ErrAfterItself": {trigger(schema.OnStream{Table: "Notes", After: "api"}), "Functions[api].Trigger.After",
			`"api"`, "another declared function"},
		"ErrAfterUnknown": {trigger(schema.OnStream{Table: "Notes", After: "nope"}), "Functions[api].Trigger.After",
			`"nope"`, "another declared function"},
		"ErrAfterLong": {func(p *schema.Platform) {
			p.Functions = append(p.Functions, schema.Function{Name: "late",
				Trigger: schema.OnStream{Table: "Notes", After: "api", BatchWindow: 5 * time.Minute}})
			p.Functions[0].Timeout = time.Second
		}, "Functions[late].Trigger.After", `"api"`, "shorten"},
		"ErrStreamID": {trigger(schema.OnStream{Table: "Notes", ID: "a b"}), "Functions[api].Trigger.ID",
			`"a b"`, "construct id"},
		"ErrFailuresID": {trigger(schema.OnStream{Table: "Notes", Failures: schema.Failures{ID: "a b"}}),
			"Functions[api].Trigger.Failures.ID", `"a b"`, "construct id"},
		"ErrNever": {trigger(schema.OnSchedule{}), "Functions[api].Trigger.Every", "0s", "write Cron"},
		"ErrHalfMinutes": {trigger(schema.OnSchedule{Every: 90 * time.Second}), "Functions[api].Trigger.Every",
			"1m30s", "whole minutes"},
		"ErrRarely": {trigger(schema.OnSchedule{Every: 48 * time.Hour}), "Functions[api].Trigger.Every",
			"48h0m0s", "24h0m0s"},
		"ErrEveryAndCron": {trigger(schema.OnSchedule{Every: time.Hour, Cron: "0 3 * * ? *"}),
			"Functions[api].Trigger.Cron", `"0 3 * * ? *"`, "not both"},
		"ErrUnixCron": {trigger(schema.OnSchedule{Cron: "0 3 * * *"}), "Functions[api].Trigger.Cron",
			`"0 3 * * *"`, "six fields"},
		"ErrCronWithoutAny": {trigger(schema.OnSchedule{Cron: "0 3 * * * *"}), "Functions[api].Trigger.Cron",
			`"0 3 * * * *"`, `"?"`},
		"ErrCronHour": {trigger(schema.OnSchedule{Cron: "0 24 * * ? *"}), "Functions[api].Trigger.Cron",
			`"0 24 * * ? *"`, "six fields"},
		"ErrTimeZone": {trigger(schema.OnSchedule{Cron: "0 3 * * ? *", TimeZone: "Vienna"}),
			"Functions[api].Trigger.TimeZone", `"Vienna"`, "IANA"},
		"ErrLocalTimeZone": {trigger(schema.OnSchedule{Cron: "0 3 * * ? *", TimeZone: "Local"}),
			"Functions[api].Trigger.TimeZone", `"Local"`, "IANA"},
		"ErrTimeZoneOfMachine": {trigger(schema.OnSchedule{Cron: "0 3 * * ? *", TimeZone: "posixrules"}),
			"Functions[api].Trigger.TimeZone", `"posixrules"`, "IANA"},
		"ErrTimeZoneOfEvery": {trigger(schema.OnSchedule{Every: time.Hour, TimeZone: "UTC"}),
			"Functions[api].Trigger.TimeZone", `"UTC"`, "leave it out"},
		"ErrSignUpOfNoUsers": {func(p *schema.Platform) {
			p.Routes[0].Caller = schema.CallerAnyone
			p.Functions[0].Trigger = schema.OnSignUp{}
		}, "Functions[api].Trigger", "OnSignUp", "CallerUser"},
		"ErrTwoSignUps": {func(p *schema.Platform) {
			p.Functions[0].Trigger = schema.OnSignUp{}
			p.Functions = append(p.Functions, schema.Function{Name: "greeter", Trigger: schema.OnSignUp{}})
		}, "Functions[greeter].Trigger", "OnSignUp", "api does already"},
		"ErrSignUpTimeout": {func(p *schema.Platform) {
			p.Functions[0].Trigger, p.Functions[0].Timeout = schema.OnSignUp{}, 6*time.Second
		}, "Functions[api].Timeout", "6s", "5s"},
		"ErrSignUpNoTimeout": {trigger(schema.OnSignUp{}), "Functions[api].Timeout", "0s", "the default is 10 seconds"},
		"ErrTwoSeeders": {func(p *schema.Platform) {
			p.Functions[0].Trigger = schema.OnSeed{}
			p.Functions = append(p.Functions, schema.Function{Name: "further", Trigger: schema.OnSeed{}})
		}, "Functions[further].Trigger", "OnSeed", "api does already"},
		"ErrFunctionID": {func(p *schema.Platform) {
			p.Functions[0].ID = "api"
		}, "Functions[api].ID", `"api"`, "capital"},
		"ErrSameID": {func(p *schema.Platform) {
			p.Functions = append(p.Functions, schema.Function{Name: "other", ID: "Api", Trigger: schema.OnOther{}})
		}, "Functions[other].ID", `"Api"`, "another construct id"},
		"ErrTakenID": {func(p *schema.Platform) {
			p.Functions[0].ID = "Database"
		}, "Functions[api].ID", `"Database"`, "every platform"},
		"ErrTimeout": {func(p *schema.Platform) {
			p.Functions[0].Timeout = 16 * time.Minute
		}, "Functions[api].Timeout", "16m0s", "whole seconds"},
		"ErrUnknownSecret": {func(p *schema.Platform) {
			p.Functions[0].Secrets = []string{"Nope"}
		}, "Functions[api].Secrets[0]", `"Nope"`, "declared secret"},
		"ErrSecretTwice": {func(p *schema.Platform) {
			secret(func(*schema.Secret) {})(p)
			p.Functions[0].Secrets = []string{"Key", "Key"}
		}, "Functions[api].Secrets[1]", `"Key"`, "once"},
		"ErrUnreadSecret": {func(p *schema.Platform) {
			p.Secrets = []schema.Secret{{Name: "Key", Variable: "KEY_ARN"}}
		}, "Secrets[Key]", "no function reads", "Secrets of a function"},
		"ErrSecretName": {secret(func(s *schema.Secret) { s.Name = "key" }), "Secrets[key].Name", `"key"`,
			"capital"},
		"ErrSecretVariable": {secret(func(s *schema.Secret) { s.Variable = "KeyARN" }), "Secrets[Key].Variable",
			`"KeyARN"`, "CURSOR_SECRET_ARN"},
		"ErrTemplateAlone": {secret(func(s *schema.Secret) { s.Template = "{}" }), "Secrets[Key].Generated", "nothing",
			"both"},
		"ErrTemplate": {secret(func(s *schema.Secret) { s.Template, s.Generated = "[]", "key" }),
			"Secrets[Key].Template", `"[]"`, "JSON object"},
		"ErrModelTimeout": {func(p *schema.Platform) {
			p.Functions[0].CallsModel = true
		}, "Functions[api].Timeout", "0s", "time-out"},
		"ErrModelVariable": {func(p *schema.Platform) {
			secret(func(s *schema.Secret) { s.Variable = schema.ModelVariable })(p)
			p.Functions[0].CallsModel, p.Functions[0].Timeout = true, time.Minute
		}, "Secrets[Key].Variable", `"MODEL_ID"`, "another name"},
		"ErrGuardrailVariable": {func(p *schema.Platform) {
			p.Buckets = []schema.Bucket{{Name: "Rails", Variable: schema.GuardrailVariable}}
			p.Functions[0].CallsModel, p.Functions[0].Timeout, p.Functions[0].Gets = true, time.Minute,
				[]schema.Objects{{Bucket: "Rails", Prefix: "a/"}}
		}, "Buckets[Rails].Variable", `"GUARDRAIL_ID"`, "another name"},
		"ErrGeneratedIsThere": {secret(func(s *schema.Secret) { s.Template, s.Generated = `{"key":"x"}`, "key" }),
			"Secrets[Key].Generated", `"key"`, "does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := minimal()
			test.spoil(&p)
			found, _ := errors.AsType[finding.List](p.Validate())
			wants(t, found, test.path, test.got, test.text)
		})
	}
}

// A trigger without names gets them from its function.
func TestTriggerDefaults(t *testing.T) {
	t.Parallel()
	f := schema.Function{Name: "sweeper"}
	stream := schema.OnStream{Table: "Notes"}.WithDefaults(f)
	if diff := cmp.Diff(schema.OnStream{
		ID: "SweeperStream", Table: "Notes", Changes: "changes of Notes",
		Failures: schema.Failures{ID: "SweeperStreamDeadLetters",
			Description: "changes of Notes that could not be handled"},
	}, stream); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	schedule := schema.OnSchedule{Every: time.Hour}.WithDefaults(f)
	if diff := cmp.Diff(schema.OnSchedule{
		ID: "SweeperSchedule", Every: time.Hour,
		Failures: schema.Failures{ID: "SweeperScheduleDeadLetters", Description: "runs of the sweeper"},
	}, schedule); diff != "" {
		t.Errorf("schedule (-want +got):\n%s", diff)
	}
	id, failures, ok := schema.Function{Name: "sweeper", Trigger: schema.OnObjects{}}.Failures()
	if id != "SweeperObjects" || failures.ID != "SweeperObjectsDeadLetters" ||
		failures.Description != "new objects that the sweeper could not handle" || !ok {
		t.Errorf("got %s, %+v, %t of new objects", id, failures, ok)
	}
	if _, _, ok := (schema.Function{Name: "greeter", Trigger: schema.OnSignUp{}}).Failures(); ok {
		t.Error("sign-ups have a queue, want none")
	}
	if got := (schema.Function{Name: "api", ID: "TheAPI"}).ConstructID(); got != "TheAPI" {
		t.Errorf("got the id %s, want the function's own", got)
	}
}
