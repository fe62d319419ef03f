package props

import (
	"slices"

	"github.com/aws/constructs-go/constructs/v10"
)

// Mark notes a value of a kind, such as "onesynth:table", for the whole app that the
// scope is in; [Marked] then finds it. The note is metadata of the app: it is no child
// that an importer who walks the tree would meet, and the CDK writes it into no
// template.
func Mark(scope constructs.Construct, kind, value string) {
	scope.Node().Root().Node().AddMetadata(&kind, value, nil)
}

// Marked reports whether [Mark] noted that value of that kind for the app that the
// scope is in.
func Marked(scope constructs.Construct, kind, value string) bool {
	return slices.ContainsFunc(*scope.Node().Root().Node().Metadata(), func(entry *constructs.MetadataEntry) bool {
		return *entry.Type == kind && entry.Data == value
	})
}
