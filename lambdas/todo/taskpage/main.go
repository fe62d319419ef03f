// Command taskpage is the Lambda function that serves the page on which people keep their tasks.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/page"
)

func main() { webapp.Start("todo", page.New) }
