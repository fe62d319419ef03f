package check

import (
	"maps"
	"slices"
)

// WarningIDs returns what the ids of findings about openings, stops and single properties begin with.
func WarningIDs() []string {
	all := map[string]bool{
		"opens-grants": true, "opens-audience": true, "stops-audience": true, "opens-tokens": true,
		"opens-scopes": true, "stops-open": true, "stops-callers": true,
		"stops-variable": true, "stops-visibility": true,
	}
	for _, r := range propertyRules {
		all[r.id] = true
	}
	for _, p := range policyKinds {
		all["opens-"+p.id], all["stops-"+p.id] = true, true
	}
	return slices.Sorted(maps.Keys(all))
}
