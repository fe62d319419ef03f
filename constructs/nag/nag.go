// Package nag names the findings of cdk-nag that a construct accepts, and why.
package nag

import "strings"

// Accepted is an accepted finding. cdk-nag calls it a suppression. Templates contain none, so an app that runs cdk-nag
// itself writes its own from these.
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
