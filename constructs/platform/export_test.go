package platform

import (
	"fmt"

	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/schema"
)

// DeclareTimes is [Declare] of a platform whose functions are there several times, under
// ids that end with a number. They share one build.
func DeclareTimes(of Construct, scope constructs.Construct, id string, described schema.Platform, d Declaration,
	times int) {
	p := of.parts()
	p.initialise(of, scope, id, described, d)
	for i := range times {
		for _, f := range described.Functions {
			p.addFunction(fmt.Sprint(f.ConstructID(), i), f)
		}
	}
	p.addAPI()
	p.addLakes()
	p.addMonitoring()
	p.addOutputs(scope, id)
}
