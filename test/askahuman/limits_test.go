package askahuman

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// avoidEndOfHour waits when the windows of the limits are about to end, because counts
// begin at zero then.
func avoidEndOfHour(t testing.TB) {
	t.Helper()
	if rest := time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)); rest < time.Minute {
		time.Sleep(rest)
	}
}

// stringSet is a String Set of an item.
type stringSet []string

// MarshalDynamoDBAttributeValue implements attributevalue.Marshaler.
func (s stringSet) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	return &types.AttributeValueMemberSS{Value: s}, nil
}

// fillQuota takes all places of an agent's quota, by asks that have not stored their questions yet: asks come one after
// the other, and an agent may ask fewer in an hour than it may have open.
func fillQuota(t testing.TB, target *platform.Target, asker agent) {
	t.Helper()
	ids := make(stringSet, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("ffffffff-ffff-7000-8000-%012d", i) // asked in the distant future
	}
	target.Set(t, "Guards", "guard_key", "OPEN#"+ratelimit.Digest(asker.id), map[string]any{"open_question_ids": ids})
}
