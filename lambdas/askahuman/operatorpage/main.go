// Command operatorpage is the Lambda function that serves the page for operators.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/operator"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
)

func main() { webapp.Start("askahuman", operator.New) }
