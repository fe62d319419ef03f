package clarity

import "github.com/onesynth-cdk/onesynth/constructs/nag"

// Accepted returns the findings of cdk-nag that the platform accepts with these props, in addition
// to the findings that every platform accepts.
func (p Props) Accepted() []nag.Accepted {
	return append([]nag.Accepted{{
		Rule: "AwsSolutions-SMG4", Resource: "CursorSecret/Resource",
		Reason: "It protects no data: a cursor with a known key still only pages through the attempts of the token's " +
			"own user, whose key the request's token gives.",
	}}, nag.OpenPage(p.Described().Routes, "webpage")...)
}
