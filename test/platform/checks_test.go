package platform

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/schema"
)

// A table is provisioned as the schema says, or paid by the request. DynamoDB describes the
// latter with units of 0, and a provisioned one without a summary.
func TestCapacityOf(t *testing.T) {
	t.Parallel()
	units := func(read, write int64) *types.ProvisionedThroughputDescription {
		return &types.ProvisionedThroughputDescription{ReadCapacityUnits: aws.Int64(read), WriteCapacityUnits: aws.Int64(write)}
	}
	for name, test := range map[string]struct {
		table types.TableDescription
		want  schema.Capacity
	}{
		"Requests": {types.TableDescription{BillingModeSummary: &types.BillingModeSummary{BillingMode: types.BillingModePayPerRequest}, ProvisionedThroughput: units(0, 0)}, schema.Capacity{}},
		"Provisioned": {types.TableDescription{
			BillingModeSummary: &types.BillingModeSummary{BillingMode: types.BillingModeProvisioned}, ProvisionedThroughput: units(5, 1),
		}, schema.Capacity{ReadUnits: 5, WriteUnits: 1}},
		"WithoutSummary": {types.TableDescription{ProvisionedThroughput: units(5, 1)}, schema.Capacity{ReadUnits: 5, WriteUnits: 1}},
	} {
		if got := capacityOf(&test.table); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
