// Package clarity declares Clarity: the platform on which people train critical
// thinking.
//
//	clarity.New(stack, "Clarity", clarity.Props{})
//
// gives tables, functions, HTTP API, schedule, user pool and secret, with secure
// defaults.
package clarity

import (
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// module is the path of the module with the main packages of the functions.
const module = "github.com/onesynth-cdk/onesynth"

// Clarity is the platform.
type Clarity struct {
	constructs.Construct
	// Platform has tables, API, user pool, alarms and dashboard.
	platform.Platform
	// ClarityAPI serves the routes. Evaluator runs on Schedule and evaluates what a request could not. Profiler reads
	// the stream of attempts through Profiling, and adds profiles. ScenarioSeeder loads the scenarios, when `onesynth
	// seed clarity` invokes it. AccountEraser reads the stream of the guards through Erasure, and deletes what is kept
	// of users who have asked for it.
	ClarityAPI, Evaluator, Profiler, ScenarioSeeder, AccountEraser *gofunction.Function
	// WebPage serves the page for people. It is nil without Props.Page.
	WebPage *gofunction.Function
	// Schedule runs the evaluator; its dead-letter queue receives the runs that could not be
	// started or that failed.
	Schedule *schedule.Schedule
	// Profiling hands evaluated attempts to the profiler.
	Profiling *stream.Mapping
	// Erasure hands deletions of users to the eraser.
	Erasure *stream.Mapping
	// CursorSecret is the generated key that signs the cursors of lists. Another key makes earlier cursors invalid.
	CursorSecret awssecretsmanager.ISecret
}

// Handlers returns the source of the platform's functions, for [gofunction.Start].
func Handlers(architecture gofunction.Architecture) gofunction.Source {
	return platform.Handlers(module, clarity.With(clarity.Parts{Page: true}).Publishing(), architecture)
}

// New declares the platform. It ends the program, by props.Fatal, with the error of
// [Props.Validate], or of [gofunction.Build.Wait], before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Clarity {
	c := &Clarity{}
	platform.Declare(c, scope, id, p.Described(), p.declaration())
	c.ClarityAPI, c.Evaluator, c.Profiler, c.ScenarioSeeder = c.Functions["clarityapi"], c.Functions["evaluator"],
		c.Functions["profiler"], c.Functions["scenarioseeder"]
	c.AccountEraser, c.WebPage = c.Functions["accounteraser"], c.Functions["webpage"]
	c.Schedule, c.Profiling, c.Erasure = c.Schedules["evaluator"], c.Streams["profiler"], c.Streams["accounteraser"]
	c.CursorSecret = c.Secrets["CursorSecret"]
	return c
}

// environment is what functions read beside tables and secrets, by function.
func (p Props) environment() map[string]map[string]string {
	evaluations := strconv.Itoa(p.EvaluationsPerDay)
	return map[string]map[string]string{
		"clarityapi": {"EVALUATIONS_PER_DAY": evaluations},
		"evaluator":  {"EVALUATIONS_PER_DAY": evaluations},
		"profiler":   {"PROFILE_RETENTION_DAYS": strconv.Itoa(p.ProfileRetentionDays)},
	}
}
