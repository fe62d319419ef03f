package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	construct "example.com/booking/constructs/booking"
	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
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
		[]string{"GetBoking"},
	},
	"attribute that the index lacks": {
		func(p *schema.Platform) {
			due := pattern(p, "ListDue")
			*due = due.Returning("id", "guest")
		},
		[]string{"ListDue", "guest", "ByReminder"},
	},
	"zone that does not exist": {
		func(p *schema.Platform) {
			function(p, hotel.Reporter).Trigger = schema.OnSchedule{Cron: "0 5 * * ? *", TimeZone: "Europe/Wien"}
		},
		[]string{"Europe/Wien", "IANA"},
	},
	"limit of zero": {
		func(p *schema.Platform) { p.RateLimits[0].Requests = 0 },
		[]string{"RateLimits[book].Requests"},
	},
	"secret that no function may read": {
		func(p *schema.Platform) {
			function(p, hotel.StaffAPI).Secrets = []string{"CursorSecret"}
			function(p, hotel.HotelHook).Secrets = nil
		},
		[]string{"WebhookSecret"},
	},
	"undeclared attribute": {
		func(p *schema.Platform) {
			due := pattern(p, "ListArrivals")
			*due = due.Filtering("state")
		},
		[]string{"ListArrivals", "state"},
	},
}

func pattern(p *schema.Platform, name string) *schema.AccessPattern {
	for i := range p.Database.AccessPatterns {
		if p.Database.AccessPatterns[i].Name == name {
			return &p.Database.AccessPatterns[i]
		}
	}
	panic(name)
}

func function(p *schema.Platform, name string) *schema.Function {
	for i := range p.Functions {
		if p.Functions[i].Name == name {
			return &p.Functions[i]
		}
	}
	panic(name)
}

// synthesise is this program as the CDK app of a platform with a mistake.
func synthesise(mistake string) {
	defer props.Close()
	contract := hotel.Platform()
	mistakes[mistake].plant(&contract)
	app := awscdk.NewApp(nil)
	b := &construct.Booking{}
	platform.Declare(b, awscdk.NewStack(app, jsii.String("booking"), nil), "Booking", contract,
		platform.Declaration{Module: "example.com/booking", Props: platform.Props{Events: true}})
	app.Synth(nil)
}

// A synth refuses each mistake in the contract, and says what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, mistake := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := exec.Command(os.Args[0])
			app.Env = append(os.Environ(), mistakeVariable+"="+name, "CDK_VALIDATION=false",
				"CDK_OUTDIR="+filepath.Join(t.TempDir(), "cdk.out"))
			output, err := app.CombinedOutput()
			if err == nil {
				t.Fatal("the synth takes it")
			}
			for _, part := range mistake.says {
				if !strings.Contains(string(output), part) {
					t.Errorf("got %s; want a text that names %q", output, part)
				}
			}
		})
	}
}
