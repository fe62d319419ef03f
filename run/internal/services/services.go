// Package services is what functions reach through the AWS endpoint of a run: DynamoDB with an engine behind it, S3
// with gofakes3, Secrets Manager, SQS, EventBridge, the parameters of Systems Manager, and the models of Amazon
// Bedrock. Every other request is refused by name.
package services

import (
	"errors"
	"log/slog"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services/bedrock"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/services/secrets"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/services/ssm"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Options say what the endpoint serves.
type Options struct {
	// Assembly holds the tables, secrets and queues. It must not be nil.
	Assembly *assembly.Assembly
	// DynamoDB is the engine behind the endpoint.
	DynamoDB dynamodb.ServiceOptions
	// AccessKeys name the databases of the accounts and regions that have their own, by [assembly.Environment].
	// Default: the database of DynamoDB for all.
	AccessKeys map[string]string
	// Secrets are how values are generated and kept.
	Secrets secrets.Options
	// SSMParameters are values of parameters of AWS Systems Manager that the assembly does not declare, by name.
	SSMParameters map[string]string
	// ModelsURL is where requests to the models of Amazon Bedrock are forwarded, as http://HOST:PORT. Default: they
	// fail, with what to do.
	ModelsURL string
	// Buckets hold the objects of the assembly's buckets. Default: there are no buckets.
	Buckets *s3.Store
	// Trace keeps the requests of functions. Default: nothing is kept.
	Trace *trace.Recorder
	// Failed is called after a request that failed with a status of 500 or above. Default: none.
	Failed func()
	// Log gets a line per refused request. Default: none.
	Log *slog.Logger
}

// Services are the endpoint, and the services behind it that others than functions use, too.
type Services struct {
	*aws.Server
	*sqs.Service
	DynamoDB *dynamodb.Service
	// Events delivers to no function before [events.Service.DeliverTo].
	Events     *events.Service
	secrets    *secrets.Store
	parameters *ssm.Parameters
}

// Parameters are the parameters of AWS Systems Manager.
func (s *Services) Parameters() []ssm.Listed { return s.parameters.All() }

// New makes the endpoint. Errors name a queue or secret of the assembly that cannot be served.
func New(options Options) (*Services, error) {
	tables, err := dynamodb.NewService(options.DynamoDB)
	if err != nil {
		return nil, err
	}
	store, err := secrets.New(options.Secrets)
	if err != nil {
		return nil, err
	}
	models, err := bedrock.New(options.ModelsURL)
	if err != nil {
		return nil, err
	}
	s := &Services{Service: sqs.New(), DynamoDB: tables, secrets: store, parameters: ssm.New(options.SSMParameters)}
	s.Events = events.New(events.Options{Queue: s.Service.Queue, Trace: options.Trace, Log: options.Log,
		Redeliver: func() bool { return s.Redeliver() }})
	served := map[string]aws.Service{"dynamodb": tables, "secretsmanager": store, "ssm": s.parameters,
		"bedrock": models, "sqs": s.Service, "events": s.Events}
	if options.Buckets != nil {
		served["s3"] = s3.NewService(options.Buckets)
	}
	s.Server = aws.New(aws.Options{Region: options.DynamoDB.Region, Trace: options.Trace, Log: options.Log,
		Failed: options.Failed}, served)
	apply, err := s.Prepare(options.Assembly, options.AccessKeys)
	if err != nil {
		return nil, err
	}
	apply()
	return s, nil
}

// Prepare reads another assembly, and its databases as of [Options].AccessKeys. What it returns makes the endpoint
// serve it: queues, secrets and figures of the same names stay, and so do the tables of the former one, for code that
// is still at work. Errors as of New.
func (s *Services) Prepare(source *assembly.Assembly, accessKeys map[string]string) (apply func(), err error) {
	tables := s.DynamoDB.Prepare(source, accessKeys)
	queues, failedQueues := s.Service.Prepare(source)
	values, failedSecrets := s.secrets.Prepare(source)
	parameters, failedParameters := s.parameters.Prepare(source)
	rules, failedRules := s.Events.Prepare(source)
	if err := errors.Join(failedQueues, failedSecrets, failedParameters, failedRules); err != nil {
		return nil, err
	}
	return func() {
		tables()
		queues()
		values()
		parameters()
		rules()
	}, nil
}
