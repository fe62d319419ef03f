// Package nag names the findings of cdk-nag that a construct accepts, and why.
package nag

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
)

// Accepted is an accepted finding. cdk-nag calls it an acknowledgment, and before its version 3 a suppression.
// Templates contain none: [Acknowledge] hands the findings to cdk-nag.
type Accepted struct {
	// Rule is the rule, such as "AwsSolutions-SMG4".
	Rule string
	// Resource is the construct path of the resource below the platform's construct, such
	// as "CursorSecret/Resource".
	Resource string
	// Reason says in whole sentences why the finding is acceptable.
	Reason string
}

// OpenRoutes accepts, for one reason, that API Gateway requires no token on the routes. Each is a method and a path,
// such as "GET /health".
func OpenRoutes(reason string, routes ...string) []Accepted {
	var all []Accepted
	for _, route := range routes {
		// The CDK writes a slash within an id as two hyphens.
		id := strings.ReplaceAll(route, "/", "--")
		all = append(all, Accepted{Rule: "AwsSolutions-APIG4", Resource: "API/" + id + "/Resource", Reason: reason})
	}
	return all
}

// Acknowledge hands accepted findings about resources below a construct to the packs of cdk-nag, from version 3.0.1 on
// ("Acknowledging a Rule", cdk-nag's README). It returns an error that names each resource that does not exist.
func Acknowledge(of constructs.Construct, accepted []Accepted) error {
	var missing []string
	for _, a := range accepted {
		at := constructs.IConstruct(of)
		for id := range strings.SplitSeq(a.Resource, "/") {
			if at = at.Node().TryFindChild(&id); at == nil {
				missing = append(missing, a.Resource)
				break
			}
		}
		if at != nil {
			awscdk.Validations_Of(at).Acknowledge(&awscdk.Acknowledgment{Id: &a.Rule, Reason: &a.Reason})
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s has no %s: leave the findings about it out", *of.Node().Path(),
			strings.Join(missing, ", "))
	}
	return nil
}
