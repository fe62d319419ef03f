package platform

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// Target is a platform that runs on this machine or on AWS.
type Target struct {
	*onesynthtest.Target

	// Nil in a local run.
	users  *cognitoidentityprovider.Client
	athena *athena.Client
	// lacks is what an emulator lacks, and slots limits its concurrent requests; nil: any number.
	lacks *lacks
	slots chan struct{}
}

// Local is a target that runs on this machine.
func Local(target *onesynthtest.Target) *Target { return &Target{Target: target, lacks: &lacks{}} }

// Put stores an item in a table, past the platform.
func (p *Target) Put(t testing.TB, table string, item map[string]any) {
	t.Helper()
	encoded, err := attributevalue.MarshalMap(item)
	if err == nil {
		_, err = p.Database.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String(p.Tables[table]), Item: encoded})
	}
	if err != nil {
		t.Fatalf("put %v: %v", item, err)
	}
}

// LocalOnly skips the test on AWS.
func (p *Target) LocalOnly(t testing.TB, reason string) {
	t.Helper()
	if p.Run == nil {
		t.Skip("skipped on AWS: " + reason)
	}
}

// EmulatorOnly skips the test in a local run and on AWS itself.
func (p *Target) EmulatorOnly(t testing.TB, reason string) {
	t.Helper()
	if p.slots == nil {
		t.Skip("skipped but on an emulator of AWS: " + reason)
	}
}

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

// TimeToLive is the TTL attribute of a table; empty when it has none.
func (p *Target) TimeToLive(t testing.TB, table string) string {
	t.Helper()
	if p.Run != nil {
		described := must.Get(runtest.Of(p.Run).Tables(t.Context()))(t)
		for _, one := range described {
			if one.Name == p.Tables[table] {
				return one.TimeToLive
			}
		}
		t.Fatalf("the run has no table %s", table)
	}
	described := must.Get(p.Database.DescribeTimeToLive(t.Context(),
		&dynamodb.DescribeTimeToLiveInput{TableName: aws.String(p.Tables[table])}))(t)
	if status := described.TimeToLiveDescription.TimeToLiveStatus; status != types.TimeToLiveStatusEnabled &&
		status != types.TimeToLiveStatusEnabling {
		return ""
	}
	return aws.ToString(described.TimeToLiveDescription.AttributeName)
}
