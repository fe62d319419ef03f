package assembly

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// docs/reference/local-run.md has the types and properties that a run knows.
func TestLocalRunReference(t *testing.T) {
	t.Parallel()
	page := &reference.Page{}
	page.Heading(1, "What a local run takes")
	page.Text("", "These are the resource types that a run of `onesynth local` knows. Any other type ends the run, "+
		"which names the resource, unless `--allow-unsupported TYPE` leaves it without effect. docs/guide/run.md says "+
		"how a run behaves.", "")
	entries := maps.Clone(types)
	for kind := range withoutEffect {
		entries[kind] = entryOf(kind)
	}
	for _, of := range []struct {
		support        support
		heading, about string
	}{
		{running, "Types that run", "A run serves these types, or reads them for others."},
		{accepted, "Types without effect", "A run accepts these types, and they do nothing."},
		{neighbour, "Types without effect that the run names", "A run accepts these types, which teams put beside a " +
			"platform. They do nothing, and the run names them in a line at its start."},
	} {
		page.Heading(2, of.heading)
		page.Text("", of.about, "")
		services := map[string][]string{}
		for kind, entry := range entries {
			if entry.support == of.support {
				service, name := kind[:strings.LastIndex(kind, "::")], kind[strings.LastIndex(kind, "::")+2:]
				services[service] = append(services[service], name)
			}
		}
		for i, service := range slices.Sorted(maps.Keys(services)) {
			slices.Sort(services[service])
			page.Item(i == 0, "`"+service+"`:", strings.Join(services[service], ", "), "")
		}
	}
	for _, of := range []struct {
		refused        bool
		heading, about string
	}{
		{true, "Properties that end a run", "A run does not start with these properties, unless " +
			"`--allow-unsupported TYPE.PROPERTY` leaves one without effect."},
		{false, "Properties without effect", "A run goes on with these properties, and says that they have no effect."},
	} {
		page.Heading(2, of.heading)
		page.Text("", of.about, "")
		first := true
		for _, property := range Unhonoured() {
			if property.Refused == of.refused {
				page.Item(first, "`"+property.String()+"`:", property.Instead+".", "")
				first = false
			}
		}
	}
	page.Check(t, "local-run")
}
