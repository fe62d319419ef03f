// Package awstest serves services of a run to the SDK in tests.
package awstest

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	endpoint "github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// AccessKey is the access key of the function asker.
const AccessKey = "ASKERKEY"

// Listen serves an endpoint of AWS to a function named asker until the test ends, and returns the function's
// configuration. The function's role is the assembly's role named reader.
func Listen(t testing.TB, server *endpoint.Server, source *assembly.Assembly) aws.Config {
	t.Helper()
	role := must.Get(policy.ForRole(source, "arn:aws:iam::000000000000:role/reader"))(t)
	server.Register(AccessKey, "asker", role)
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return aws.Config{
		Region: assembly.DefaultRegion, BaseEndpoint: aws.String(listener.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, "secret", ""),
	}
}

// Service is a service of a run, which reads what it serves from an assembly.
type Service interface {
	endpoint.Service
	Prepare(*assembly.Assembly) (apply func(), err error)
}

// Serve serves one service alone, by its name in signatures, such as "sqs", as [Listen] does. Prepare reads the
// resources of the assembly first.
func Serve(t testing.TB, name string, service Service, source *assembly.Assembly) aws.Config {
	t.Helper()
	apply := must.Get(service.Prepare(source))(t)
	apply()
	return Listen(t, endpoint.New(endpoint.Options{}, map[string]endpoint.Service{name: service}), source)
}
