package check_test

import (
	"fmt"

	"github.com/onesynth-cdk/onesynth/check"
)

// Giving a table a name makes CloudFormation replace it by an empty one.
func ExampleCompare() {
	deployed,
		err := check.Parse([]byte(`{"Resources": {"Orders": {"Type": "AWS::DynamoDB::Table", "Properties": {}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	proposed,
		err := check.Parse(
		[]byte(`{"Resources": {"Orders": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "orders"}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, finding := range check.Compare(deployed, proposed, check.Environment{Stack: "shop", Region: "eu-west-1"}) {
		fmt.Println(finding.Severity, finding.ID)
		fmt.Println(finding.Got)
		fmt.Println(finding.Steps[0])
	}
	// Output:
	// refusal rename:Orders
	// the name of the table changes from one that CloudFormation has given to orders
	// Leave the name as it is deployed (none: CloudFormation has given it one).
}
