// Package lingible declares Lingible: the platform that translates slang.
//
//	lingible.New(stack, "Lingible", lingible.Props{})
//
// gives tables, functions, HTTP API, schedules, user pool, bucket and secret, with secure
// defaults.
package lingible

import (
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/bucket"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// module is the path of the module with the main packages of the functions.
const module = "github.com/onesynth-cdk/onesynth"

// Lingible is the platform.
type Lingible struct {
	constructs.Construct
	// Platform has tables, API, user pool, alarms and dashboard.
	platform.Platform
	// LingibleAPI serves the routes. ProfileCreator creates the profile of a user who has signed up. It is nil if users
	// sign up elsewhere: their first request then creates the profile. LexiconSeeder loads the lexicon, when `onesynth
	// seed lingible` invokes it.
	LingibleAPI, ProfileCreator, LexiconSeeder *gofunction.Function
	// SubmissionValidator, which Validation invokes, validates new submissions. Revalidator, which Revalidation runs,
	// tries failed validations again.
	SubmissionValidator, Revalidator *gofunction.Function
	// Exporter, which Exporting invokes, puts the changed lexicon into the bucket Exports. TrendingJob, which Scoring
	// runs, scores the trending terms. AccountCleaner, which Cleaning invokes, removes everything of users who have
	// deleted their accounts.
	Exporter, TrendingJob, AccountCleaner *gofunction.Function
	// WebPage serves the page for people. It is nil without Props.Page.
	WebPage *gofunction.Function
	// Validation, Exporting and Cleaning hand the changes of tables to functions.
	Validation, Exporting, Cleaning *stream.Mapping
	// Revalidation runs every 5 minutes, and Scoring every day at 06:00 UTC. Their dead-letter
	// queues receive the runs that could not be started or that failed.
	Revalidation, Scoring *schedule.Schedule
	// Exports has the lexicon as lexicon/lexicon.json.
	Exports *bucket.Bucket
	// CursorSecret is the generated key that signs the cursors of lists. Another key makes earlier cursors invalid.
	CursorSecret awssecretsmanager.ISecret
}

// Handlers returns the source of the platform's functions, for [gofunction.Start].
func Handlers(architecture gofunction.Architecture) gofunction.Source {
	return platform.Handlers(module, lingible.With(lingible.Parts{Page: true}).Publishing(), architecture)
}

// New declares the platform. It ends the program, by props.Fatal, with the error of
// [Props.Validate], or of [gofunction.Build.Wait], before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Lingible {
	l := &Lingible{}
	platform.Declare(l, scope, id, p.Described(), p.declaration())
	l.LingibleAPI, l.ProfileCreator, l.LexiconSeeder = l.Functions["lingibleapi"], l.Functions["profilecreator"],
		l.Functions["lexiconseeder"]
	l.SubmissionValidator, l.Revalidator = l.Functions["submissionvalidator"], l.Functions["revalidator"]
	l.Exporter, l.TrendingJob, l.AccountCleaner = l.Functions["exporter"], l.Functions["trendingjob"],
		l.Functions["accountcleaner"]
	l.WebPage = l.Functions["webpage"]
	l.Validation, l.Exporting, l.Cleaning = l.Streams["submissionvalidator"], l.Streams["exporter"],
		l.Streams["accountcleaner"]
	l.Revalidation, l.Scoring = l.Schedules["revalidator"], l.Schedules["trendingjob"]
	l.Exports, l.CursorSecret = l.Buckets["Exports"], l.Secrets["CursorSecret"]
	return l
}

// Described returns the platform with the parts that the props choose. Only the construct's own user pool invokes the
// function of sign-ups.
func (p Props) Described() schema.Platform {
	ownPool := p.HasOwnPool(p.JWTIssuer)
	described := p.Publishing(lingible.With(lingible.Parts{Page: p.Page && ownPool}))
	if !ownPool {
		return described.Without("profilecreator")
	}
	return described
}

// environment is what functions read beside tables, bucket and secret, by function.
func (p Props) environment() map[string]map[string]string {
	votes := strconv.Itoa(p.VotesToApprove)
	return map[string]map[string]string{
		"lingibleapi": {"VOTES_TO_APPROVE": votes, "TIME_ZONE": p.TimeZone},
	}
}
