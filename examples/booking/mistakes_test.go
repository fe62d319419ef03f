package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	construct "example.com/booking/constructs/booking"
	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/schema"
)

// mistakeVariable names the mistake with which this program, as a CDK app, synthesises the platform.
const mistakeVariable = "BOOKING_MISTAKE"

// mistakes are made in the contract. A synth refuses each with a text that names it, and says what to do.
var mistakes = map[string]struct {
	plant func(*schema.Platform)
	says  []string
}{
	"misspelt pattern": {
		func(p *schema.Platform) {
			*pattern(p, "GetBooking") = schema.Existing("GetBoking").UsedBy(hotel.GuestAPI)
		},
		[]string{"AccessPatterns[GetBoking]", "name a pattern of the platform"},
	},
	"attribute that the index lacks": {
		func(p *schema.Platform) {
			due := pattern(p, "ListDue")
			*due = due.Returning("id", "guest")
		},
		[]string{"AccessPatterns[ListDue]", `"guest"`, "ByReminder"},
	},
	"function without its pattern": {
		func(p *schema.Platform) { pattern(p, schema.CountRequest).Functions = []string{hotel.StaffAPI} },
		[]string{"Routes[POST /bookings].RateLimit", `let the function "guestapi" count calls`},
	},
	"group nobody has": {
		func(p *schema.Platform) { route(p, "putRoom").Caller.Group = "manger" },
		[]string{"Routes[PUT /webhook].Caller", `it has the group "manger" and this one "manager"`},
	},
	"zone that does not exist": {
		func(p *schema.Platform) {
			function(p, hotel.Reporter).Trigger = schema.OnSchedule{Cron: "0 5 * * ? *", TimeZone: "Europe/Wien"}
		},
		[]string{"Functions[reporter].Trigger.TimeZone", "Europe/Wien", "write it as in"},
	},
	"limit of zero": {
		func(p *schema.Platform) { p.RateLimits[0].Requests = 0 },
		[]string{"RateLimits[book].Requests", "at least 1"},
	},
	"secret that no function may read": {
		func(p *schema.Platform) {
			function(p, hotel.StaffAPI).Secrets = []string{"CursorSecret"}
			function(p, hotel.HotelHook).Secrets = nil
		},
		[]string{"Secrets[WebhookSecret]", "name it in the Secrets of a function"},
	},
	"undeclared attribute": {
		func(p *schema.Platform) {
			due := pattern(p, "ListArrivals")
			*due = due.Filtering("state")
		},
		[]string{"AccessPatterns[ListArrivals]", `"state"`, "declare"},
	},
	"number as the key in one place": {
		func(p *schema.Platform) {
			waiting, _ := p.Database.Table("Waiting")
			guest := slices.IndexFunc(waiting.Attributes, func(a schema.Attribute) bool { return a.Name == "guest" })
			waiting.Attributes[guest].Type = schema.Number
		},
		[]string{"Tables[Waiting].Attributes[guest].Type", "give it one type"},
	},
}

// hidden is the mistake of an app: a queue of its own shows a message again before the function's time is over.
const hidden = "queue that hides messages too shortly"

// of returns the part of that name, as nameOf names parts.
func of[T any](parts []T, name string, nameOf func(T) string) *T {
	return &parts[slices.IndexFunc(parts, func(part T) bool { return nameOf(part) == name })]
}

func pattern(p *schema.Platform, name string) *schema.AccessPattern {
	return of(p.Database.AccessPatterns, name, func(a schema.AccessPattern) string { return a.Name })
}

func function(p *schema.Platform, name string) *schema.Function {
	return of(p.Functions, name, func(f schema.Function) string { return f.Name })
}

func route(p *schema.Platform, id string) *schema.Route {
	return of(p.Routes, id, func(r schema.Route) string { return r.ID })
}

// synthesise is this program as the CDK app of a platform with a mistake.
func synthesise(mistake string) {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("booking"), nil)
	if mistake == hidden {
		b := construct.New(stack, "Booking", settings(app))
		own := awssqs.NewQueue(stack, jsii.String("Own"), &awssqs.QueueProps{
			QueueName: jsii.String("own"), VisibilityTimeout: awscdk.Duration_Seconds(jsii.Number(5))})
		waitList := b.Functions[hotel.WaitList]
		own.GrantConsumeMessages(waitList.Role)
		awslambda.NewEventSourceMapping(stack, jsii.String("Mapping"), &awslambda.EventSourceMappingProps{
			Target: waitList.Resource, EventSourceArn: own.QueueArn()})
		app.Synth(nil)
		return
	}
	contract := hotel.Platform()
	mistakes[mistake].plant(&contract)
	platform.Declare(&construct.Booking{}, stack, "Booking", contract,
		platform.Declaration{Module: "example.com/booking", Props: platform.Props{Events: true}})
	app.Synth(nil)
}

// synth runs this program as an app with a mistake, and returns what it prints.
func synth(t *testing.T, mistake, assembly string) (string, error) {
	t.Helper()
	app := exec.Command(os.Args[0])
	app.Env = append(os.Environ(), mistakeVariable+"="+mistake, "CDK_VALIDATION=false", "CDK_OUTDIR="+assembly)
	output, err := app.CombinedOutput()
	return string(output), err
}

// A synth refuses each mistake in the contract, and says what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, mistake := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, err := synth(t, name, filepath.Join(t.TempDir(), "cdk.out"))
			if err == nil {
				t.Fatal("the synth takes it")
			}
			for _, part := range mistake.says {
				if !strings.Contains(output, part) {
					t.Errorf("got %s; want a text that names %q", output, part)
				}
			}
		})
	}
}

// A run refuses a mapping that AWS would not make.
func TestMistakeOfApp(t *testing.T) {
	if testing.Short() {
		t.Skip("synthesises all of the platform, and starts a run: go test without -short does")
	}
	t.Parallel()
	assembly := filepath.Join(t.TempDir(), "cdk.out")
	if output, err := synth(t, hidden, assembly); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	runner, err := run.Start(t.Context(), run.Options{Assembly: assembly, NoSchedules: true})
	if err == nil {
		runner.Close()
		t.Fatal("the run takes it")
	}
	want := "the queue own: got VisibilityTimeout 5, below the Timeout of its function"
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got %v; want a text that names %q", err, want)
	}
}
