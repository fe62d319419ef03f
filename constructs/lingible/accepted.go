package lingible

import "github.com/onesynth-cdk/onesynth/constructs/nag"

// Accepted returns the findings of cdk-nag that the platform accepts with these props, in addition
// to the findings that every platform accepts.
func (p Props) Accepted() []nag.Accepted {
	return append(append(
		nag.OpenRoutes("Monitors of the API send no token; the answer has no data.", "GET /health"),
		nag.Accepted{
			Rule: "AwsSolutions-SMG4", Resource: "CursorSecret/Resource",
			Reason: "It protects no data: with a known key a cursor only pages through the lists that the token's " +
				"user may read anyway.",
		},
	), nag.OpenPage(p.Described().Routes, "webpage")...)
}
