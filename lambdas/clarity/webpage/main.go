// Command webpage is the Lambda function that serves the page on which people train critical thinking.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/page"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
)

func main() { webapp.Start("clarity", page.New) }
