package console

import (
	"maps"
	"slices"
)

// permissionsView is what a function or schedule may do, and did.
type permissionsView struct {
	Function string           `json:"function"`
	Used     []permissionView `json:"used"`
	Unused   []permissionView `json:"unused"`
	Refused  []permissionView `json:"refused"`
}

type permissionView struct {
	Action   string `json:"action"`
	Resource string `json:"resource"`
	// Source is the policy with an unused grant, and Times how often a permission was refused.
	Source string `json:"source,omitempty"`
	Times  int    `json:"times,omitempty"`
}

// permissions are those of each function and schedule: used, granted without use, and refused.
func (c *Console) permissions() []permissionsView {
	views := map[string]*permissionsView{}
	for _, name := range c.parts.AWS.Callers() {
		view := &permissionsView{
			Function: name, Used: []permissionView{}, Unused: []permissionView{}, Refused: []permissionView{},
		}
		for _, grant := range c.parts.AWS.UnusedGrants(name) {
			one := permissionView{Action: grant.Action, Resource: grant.Resource, Source: grant.Source}
			view.Unused = append(view.Unused, one)
		}
		views[name] = view
	}
	for _, use := range c.parts.AWS.Used() {
		if view := views[use.Function]; view != nil {
			view.Used = append(view.Used, permissionView{Action: use.Action, Resource: use.Resource})
		}
	}
	for _, refusal := range c.parts.AWS.Refused() {
		if view := views[refusal.Function]; view != nil {
			one := permissionView{Action: refusal.Action, Resource: refusal.Resource, Times: refusal.Times}
			view.Refused = append(view.Refused, one)
		}
	}
	all := []permissionsView{}
	for _, name := range slices.Sorted(maps.Keys(views)) {
		all = append(all, *views[name])
	}
	return all
}
