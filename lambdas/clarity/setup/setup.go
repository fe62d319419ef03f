// Package setup wires what several functions of Clarity have.
package setup

import (
	"context"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/bedrock"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/rubric"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Service returns the service and the store of a function of schema.Clarity.
//
// Its variable EVALUATIONS_PER_DAY is how many evaluations are begun for a user on a day, at least 1
// and by default [clarity.DefaultEvaluationsPerDay]. Attempts are evaluated by the model that
// schema.ModelVariable names, or without it by the embedded rubric.
func Service(environment kit.Environment, function string) (*clarity.Service, *dynamodb.Store, error) {
	store, err := dynamodb.Open(environment, function)
	if err != nil {
		return nil, nil, err
	}
	service := &clarity.Service{
		Store: store, Scenarios: &clarity.Catalog{Store: store, Now: time.Now}, Evaluator: rubric.Evaluator{}, EvaluationTime: rubricTime,
		EvaluationsPerDay: clarity.DefaultEvaluationsPerDay, Log: environment.Log, Count: Count(environment.Metrics),
	}
	if environment.Getenv(schema.ModelVariable) != "" {
		service.EvaluationTime = 0
		if service.Evaluator, err = bedrock.Open(environment); err != nil {
			return nil, nil, err
		}
	}
	if environment.Getenv("EVALUATIONS_PER_DAY") != "" {
		service.EvaluationsPerDay, err = environment.Int("EVALUATIONS_PER_DAY", 1)
	}
	return service, store, err
}

// rubricTime is how long the embedded rubric may take. It takes milliseconds.
const rubricTime = 2 * time.Second

// Count is for [clarity.Service]: it emits a metric for each thing that happened.
func Count(metrics *kit.Metrics) func(context.Context, string) {
	return func(ctx context.Context, metric string) { metrics.Emit(ctx, kit.Count(metric, 1)) }
}
