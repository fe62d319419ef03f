package props

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
)

// Optional returns a pointer to the value, or nil for the zero value, for which the CDK has a default of its own.
func Optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// OptionalList returns a pointer to the list, or nil for an empty one.
func OptionalList[T any](list []T) *[]T {
	if len(list) == 0 {
		return nil
	}
	return &list
}

// ARN returns the ARN of a resource in the account and region of the scope.
func ARN(scope constructs.IConstruct, service, resource string) string {
	stack := awscdk.Stack_Of(scope)
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", *stack.Partition(), service, *stack.Region(), *stack.Account(), resource)
}

// Map returns what convert makes of each element.
func Map[T, R any](list []T, convert func(T) R) []R {
	var all []R
	for _, one := range list {
		all = append(all, convert(one))
	}
	return all
}
