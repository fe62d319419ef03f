// Package setup wires the service of the functions of Clarity that evaluate. The others need neither the rubric nor a
// model, which would only make their starts longer.
package setup

import (
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/bedrock"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/rubric"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
)

// rubricTime is how long the embedded rubric may take. It takes milliseconds.
const rubricTime = 2 * time.Second

// Service returns the service of a function.
//
// Its variable EVALUATIONS_PER_DAY is how many evaluations are begun for a user on a day, at least 1
// and by default [clarity.DefaultEvaluationsPerDay]. Attempts are evaluated by the model that
// schema.ModelVariable names, or without it by the embedded rubric.
func Service(environment kit.Environment, function string) (*service.Service, error) {
	db, err := dynamo.Open(environment, clarity.Platform(), function)
	if err != nil {
		return nil, err
	}
	s := &service.Service{
		DB: db, Scenarios: service.NewScenarios(db, nil), Evaluator: rubric.Evaluate,
		EvaluationTime:    rubricTime,
		EvaluationsPerDay: clarity.DefaultEvaluationsPerDay, Log: environment.Log, Metrics: environment.Metrics,
	}
	if environment.Getenv(schema.ModelVariable) != "" {
		s.EvaluationTime = 0
		if s.Evaluator, err = bedrock.Open(environment); err != nil {
			return nil, err
		}
	}
	if environment.Getenv("EVALUATIONS_PER_DAY") != "" {
		s.EvaluationsPerDay, err = environment.Int("EVALUATIONS_PER_DAY", 1)
	}
	return s, err
}
