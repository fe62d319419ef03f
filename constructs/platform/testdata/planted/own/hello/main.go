// Command hello updates an attribute that its table does not declare.
package main

import (
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

func main() {
	_ = expression.Set(dynamo.Name("name"), expression.Value(1))
}
