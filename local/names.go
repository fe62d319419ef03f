package local

import (
	"errors"
	"fmt"

	"github.com/onesynth-cdk/onesynth/local/assembly"
)

// refuseSameNames finds resources that a run could not tell apart. AWS has tables and catalogs of one name in several accounts
// and regions, and so has a run; of the rest it has one of a name.
func refuseSameNames(a *assembly.Assembly) error {
	type identity struct{ kind, place, name string }
	known := map[identity]*assembly.Resource{}
	var problems []error
	for _, resource := range a.Resources() {
		one := identity{kind: resource.Type, name: resource.Name}
		switch resource.Type {
		case "AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable":
			one.kind, one.place = "table", resource.Stack.Environment()
		case "AWS::Glue::Database", "AWS::SSM::Parameter":
			one.place = resource.Stack.Environment()
		case "AWS::IAM::Role":
			one.place = resource.Stack.Account
		case "AWS::Lambda::Function", "AWS::SQS::Queue", "AWS::SecretsManager::Secret", "AWS::S3::Bucket", "AWS::Scheduler::Schedule":
		default:
			continue
		}
		if other := known[one]; other != nil {
			problems = append(problems, fmt.Errorf("stack %s: %s and, of stack %s, %s have one name, %s: a run has one of it; choose one of the stacks with --stack %s",
				resource.Stack.DisplayID, resource, other.Stack.DisplayID, other, resource.Name, other.Stack.DisplayID))
			continue
		}
		known[one] = resource
	}
	return errors.Join(problems...)
}
