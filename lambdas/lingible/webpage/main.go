// Command webpage is the Lambda function that serves the page on which people translate slang.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/page"
)

func main() { webapp.Start("lingible", page.New) }
