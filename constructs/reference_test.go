package constructs

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// docs/reference has the props of the platforms, those of the other constructs, and the language of the contracts.
func TestPropsReference(t *testing.T) {
	t.Parallel()
	source := reference.Read(t, "constructs/*", "schema")
	all := slices.Sorted(maps.Keys(source))
	named := func(pattern string) (names []string) {
		for _, name := range all {
			if regexp.MustCompile(pattern).MatchString(name) {
				names = append(names, name)
			}
		}
		return names
	}
	pages := []*reference.TypesPage{
		{Name: "props", Title: "Props of the platforms",
			Roots: []string{"platform.Props", "platform.UserProps", "platform.LakeProps"},
			About: "What you may set on a platform. A field that you leave out has its default. cdk.json sets the " +
				"fields by the same names with a small first letter, such as jwtIssuer, except for those that are " +
				"for Go alone."},
		{Name: "parts", Title: "Props of the parts", Roots: named("Props$"),
			About: "What you may set on the constructs that make up a platform of your own, one in each package of " +
				"constructs. A field that you leave out has its default."},
		{Name: "schema", Title: "The contract of a platform",
			Roots: append([]string{"schema.Platform", "schema.Own", "schema.Extra", "schema.Description",
				"schema.Strict"}, named(`^schema\.On[A-Z]`)...),
			About: "The contract of a platform is a value of schema.Platform. The constructs make the template of " +
				"it, and the functions their requests. This is all that it consists of."},
	}
	for _, name := range listed(t) {
		pages[0].Roots = append(pages[0].Roots, name+".Props")
	}
	reference.CheckTypes(t, source, pages...)
}
