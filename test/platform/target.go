package platform

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Target is a platform that runs on this machine or on AWS.
type Target struct {
	*onesynthtest.Target

	// Nil in a local run.
	users  *cognitoidentityprovider.Client
	athena *athena.Client
	// lacks is what an emulator lacks, and slots limits its concurrent requests; nil: any number.
	lacks lacks
	slots chan struct{}
}

// Local is a target that runs on this machine.
func Local(target *onesynthtest.Target) *Target { return &Target{Target: target} }

// Put stores an item in a table, past the platform.
func (p *Target) Put(t testing.TB, table string, item map[string]any) {
	t.Helper()
	must.Get(p.Database.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(p.Tables[table]),
		Item: must.Get(attributevalue.MarshalMap(item))(t)}))(t)
}

// KillAll kills all instances of a local run's function.
func (p *Target) KillAll(t testing.TB, function string) {
	t.Helper()
	for p.Kill(t, function) {
		time.Sleep(time.Millisecond)
	}
}

// LocalOnly skips the test on AWS.
func (p *Target) LocalOnly(t testing.TB, reason string) {
	t.Helper()
	if p.Run == nil {
		t.Skip("skipped on AWS: " + reason)
	}
}

// Emulated reports whether the platform runs on an emulator of AWS.
func (p *Target) Emulated() bool { return p.slots != nil }

// AtOnce bounds a number of requests that wait for others: half of what an emulator gets at once, and the number itself
// elsewhere.
func (p *Target) AtOnce(requests int) int {
	if p.slots == nil {
		return requests
	}
	return min(requests, cap(p.slots)/2)
}

// NewClient returns a client of the target. An emulator gets as many requests at once as it has
// slots.
func NewClient(t testing.TB, target *Target) *onesynthtest.Client {
	t.Helper()
	client := onesynthtest.NewClient(t, target.Target)
	if target.slots != nil {
		client.HTTP.Transport = &queued{client.HTTP.Transport, target.slots}
	}
	return client
}

// queued limits concurrent requests to the number of slots.
type queued struct {
	through http.RoundTripper
	slots   chan struct{}
}

func (q *queued) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case q.slots <- struct{}{}:
		defer func() { <-q.slots }()
		return q.through.RoundTrip(r)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
