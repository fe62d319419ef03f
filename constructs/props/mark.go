package props

import (
	"github.com/aws/constructs-go/constructs/v10"
)

// Mark notes values of a kind, such as "onesynth:table", for the whole app that the scope is in; [Marked] then finds
// them. The note is metadata of the app: importers who walk the tree do not meet it, and the CDK writes it into no
// template.
func Mark(scope constructs.Construct, kind string, values ...string) {
	app := scope.Node().Root().Node()
	for _, value := range values {
		app.AddMetadata(&kind, value, nil)
	}
}

// Marked returns the values of that kind that [Mark] noted for the app that the scope is in.
func Marked(scope constructs.Construct, kind string) map[string]bool {
	values := map[string]bool{}
	for _, entry := range *scope.Node().Root().Node().Metadata() {
		if value, ok := entry.Data.(string); ok && *entry.Type == kind {
			values[value] = true
		}
	}
	return values
}
