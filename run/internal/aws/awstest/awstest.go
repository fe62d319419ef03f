// Package awstest serves services of a run to the SDK in tests.
package awstest

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
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
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, "secret", "session"),
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

// Signed returns an Authorization header of a request to a service by an access key.
func Signed(accessKey, region, service string) string {
	return "AWS4-HMAC-SHA256 Credential=" + accessKey + "/20260101/" + region + "/" + service +
		"/aws4_request, SignedHeaders=host, Signature=0"
}

// Exchange sends a request as an SDK would, without one. The error says why there is no answer.
func Exchange(t testing.TB, method, url, body string, header http.Header) (*http.Response, string, error) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	maps.Copy(request.Header, header)
	request.Close = true // the end of another test's server closes what http.DefaultClient keeps
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}
