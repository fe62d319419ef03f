package lingible

import (
	"cmp"

	"github.com/onesynth-cdk/onesynth/constructs/model"
	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/schema/finding"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Props configure Lingible. The zero value gives all of it with secure defaults.
type Props struct {
	// Props are the props of every platform. JWTIssuer issues the tokens of users. LocalPort is 8083 by default.
	// Functions are "lingibleapi", which has 15 seconds by default, "webpage", "profilecreator" with 4,
	// "submissionvalidator", "exporter" and "lexiconseeder" with 60, "trendingjob" with 120, "revalidator" with 290 and
	// "accountcleaner" with 300.
	platform.Props
	// UserProps are the props of every platform that people sign in to.
	platform.UserProps

	// Model is the model of Amazon Bedrock that translates, validates submissions and proposes trends. Default: the
	// functions do so by the lexicon and the rules of docs/platforms/lingible.md.
	Model model.Props
	// VotesToApprove is how many votes approve a submission: 1 to 1,000. Default: 10.
	VotesToApprove int `min:"1" max:"1000" default:"10"`
	// TimeZone is the IANA name of the zone whose midnight begins the day of every daily limit,
	// such as "Europe/Vienna". Default: America/Chicago.
	TimeZone string
	// Page adds the page / on which people translate, vote for words and take the quiz. They sign in at the construct's
	// own user pool. Default: there is none, and people use the API.
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
	p.LocalPort = cmp.Or(p.LocalPort, 8083)
	p.VotesToApprove = cmp.Or(p.VotesToApprove, 10)
	p.TimeZone = cmp.Or(p.TimeZone, "America/Chicago")
	return platform.Declaration{Module: module, Accepted: p.Accepted(), Check: p.check, Props: p.Props,
		UserProps: p.UserProps, Model: p.Model, Environment: p.environment()}
}

func (p Props) check(f *finding.List, _ string) {
	f.Limits("Props", p)
	p.CheckPage(f, p.Page, p.JWTIssuer)
	if _, err := validate.Zone(p.TimeZone); err != nil {
		f.Add("Props.TimeZone", p.TimeZone, `the IANA name of a time zone, such as "Europe/Vienna"`,
			"leave it empty for America/Chicago")
	}
}
