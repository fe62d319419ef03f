package clarity

import (
	"cmp"
	"maps"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/model"
	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Props configure Clarity. The zero value gives all of it with secure defaults.
type Props struct {
	// Props are the props of every platform. JWTIssuer issues the tokens of users. LocalPort is 8082 by default.
	// Functions are "clarityapi", which has 29 seconds by default, "webpage", "evaluator" with 290, "accounteraser"
	// with 300, and "profiler" and "scenarioseeder" with 60.
	platform.Props
	// UserProps are the props of every platform that people sign in to.
	platform.UserProps

	// Model is the model of Amazon Bedrock that evaluates attempts. A model takes its time: with one, the default of
	// SlowAlarm is 25 seconds. Default: the functions evaluate by the rules of docs/platforms/clarity.md.
	Model model.Props
	// EvaluationsPerDay is how many evaluations of one user can begin on a UTC day, failed ones included: 1 to 10,000.
	// Further attempts are stored, and evaluated on the next day. Default: 20.
	EvaluationsPerDay int `min:"1" max:"10000" default:"20"`
	// ProfileRetentionDays is how many days a profile stays, except each user's latest, which stays longer: 7 to
	// 36,500. Default: 365.
	ProfileRetentionDays int `min:"7" max:"36500" default:"365"`
	// Page adds the page / on which people train. They sign in at the construct's own user pool. Default: there is
	// none, and people use the API.
	Page bool
}

// Validate returns a [finding.List] with all invalid props, or nil. [New] does the same first, and
// also checks what depends on the stack's region.
func (p Props) Validate() error { return p.declaration().Validate(p.Described()) }

// Accepted returns the findings of cdk-nag that the platform accepts with these props, in addition
// to the findings that every platform accepts.
func (p Props) Accepted() []nag.Accepted { return platform.AcceptedIn(p.Described()) }

// declaration is what the platform is declared with, with the defaults that are its own.
func (p Props) declaration() platform.Declaration {
	p.LocalPort = cmp.Or(p.LocalPort, 8082)
	p.EvaluationsPerDay = cmp.Or(p.EvaluationsPerDay, 20)
	p.ProfileRetentionDays = cmp.Or(p.ProfileRetentionDays, 365)
	slow := p.Alarms["SlowAlarm"]
	if len(p.Model.Environment()) > 0 && slow.Threshold == 0 && !slow.Off && !p.NoAlarms {
		slow.Threshold = 25_000
		alarms := map[string]alarm.Options{}
		maps.Copy(alarms, p.Alarms)
		alarms["SlowAlarm"] = slow
		p.Alarms = alarms
	}
	return platform.Declaration{
		Module: module, Accepted: p.Accepted(), Props: p.Props, UserProps: p.UserProps, Model: p.Model,
		Environment: p.environment(),
		Check: func(f *finding.List, _ string) {
			f.Limits("Props", p)
			p.CheckPage(f, p.Page, p.JWTIssuer)
		},
	}
}

// Described returns the platform with the parts that the props choose.
func (p Props) Described() schema.Platform {
	return p.Publishing(clarity.With(clarity.Parts{Page: p.Page && p.HasOwnPool(p.JWTIssuer)}))
}
