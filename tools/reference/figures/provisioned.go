package figures

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// longest is the length of a cell that names all resources of a type. A longer one stays empty.
const longest = 150

// Provisioned returns docs/reference/provisioned.md: how many resources of each type a platform has without props, and
// their names where these fit. everything returns the template of a platform with all that props switch on.
func (all Variants) Provisioned(everything func(*platforms.Platform) synthtest.Template) string {
	counts := reference.Table{{"Resources", "without props", "with all that props switch on"}}
	var parts strings.Builder
	for _, p := range platforms.All() {
		zero := all[p.Name()][platformtest.Zero].Template
		counts = append(counts, reference.Row{p.Schema.Title, resourcesOf(p, zero), resourcesOf(p, everything(p))})
		fmt.Fprintf(&parts, "\n## %s\n\nMemory of functions: %s.\n\n", p.Schema.Title, memories(p, zero))
		if mappings := handed(p.Schema); mappings != "" {
			fmt.Fprintf(&parts, "What streams and queues invoke: %s.\n\n", mappings)
		}
		names := map[string][]string{}
		for id, r := range zero.Resources {
			names[r.Type] = append(names[r.Type], "`"+strings.TrimPrefix(synthtest.Stable(id), p.ID)+"`")
		}
		types := reference.Table{{"Type", "How many", "Which"}}
		for _, kind := range slices.Sorted(maps.Keys(names)) {
			slices.Sort(names[kind])
			which := strings.Join(names[kind], ", ")
			if len(which) > longest {
				which = ""
			}
			types = append(types, reference.Row{"`" + kind + "`", fmt.Sprint(len(names[kind])), which})
		}
		fmt.Fprintln(&parts, types)
	}
	return "# What a platform has\n\n" +
		"`make golden` writes this page from the templates of zero props: every resource, by type. " +
		"A stack has at most 500.\n\n" + counts.String() + "\n" + parts.String()
}

// resourcesOf counts the resources of a platform in a template.
func resourcesOf(p *platforms.Platform, template synthtest.Template) string {
	n := 0
	for id := range template.Resources {
		if strings.HasPrefix(id, p.ID) {
			n++
		}
	}
	return fmt.Sprint(n)
}

// memories lists the functions of a template by the memory that they have.
func memories(p *platforms.Platform, template synthtest.Template) string {
	bySize := map[float64][]string{}
	for id, f := range template.Named("AWS::Lambda::Function") {
		size, _ := f.Properties["MemorySize"].(float64)
		bySize[size] = append(bySize[size], "`"+strings.TrimPrefix(id, p.ID)+"`")
	}
	var parts []string
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		slices.Sort(bySize[size])
		parts = append(parts, fmt.Sprintf("%s (%.0f MB)", strings.Join(bySize[size], ", "), size))
	}
	return strings.Join(parts, "; ")
}

// handed says what streams and queues hand to functions.
func handed(p schema.Platform) string {
	var parts []string
	for _, f := range p.Functions {
		switch trigger := f.Trigger.(type) {
		case schema.OnStream:
			parts = append(parts, fmt.Sprintf("`%s`, for changes of %s", f.ConstructID(), trigger.Table))
		case schema.OnQueue:
			parts = append(parts, fmt.Sprintf("`%s`, for messages of a queue", f.ConstructID()))
		}
	}
	for _, lake := range p.Lakes {
		parts = append(parts, "`LakeWriter`, for changes of "+lake.Table)
	}
	return strings.Join(parts, "; ")
}
