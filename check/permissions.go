package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

const apiGateway = "apigateway.amazonaws.com"

// permissions returns who may invoke each function, or alias, by its logical id: services, from their resources.
func permissions(resources map[string]*resource) map[string][]grant {
	all := map[string][]grant{}
	for r := range of(resources, "AWS::Lambda::Permission") {
		source := r.at("SourceArn")
		for _, function := range intrinsic.References(r.at("FunctionName")) {
			all[function] = append(all[function],
				grant{action: text(r.at("Principal")), resource: cmp.Or(text(source), "*"), on: source})
		}
	}
	return all
}

// functions returns the logical ids of the functions, or aliases, that a route leads to.
func functions(resources map[string]*resource, route *resource) []string {
	var ids []string
	for _, id := range intrinsic.References(route.at("Target")) {
		if integration := resources[id]; integration != nil {
			ids = append(ids, intrinsic.References(integration.at("IntegrationUri"))...)
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return resources[id] == nil })
}

// calls returns the routes that lead to each function, by its logical id, as "GET /notes of API", and whether the
// function lets the API invoke it for them.
func calls(resources map[string]*resource, permissions map[string][]grant) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for route := range of(resources, httpRoute) {
		key, api := text(route.at("RouteKey")), say(route.at("ApiId"))
		for _, function := range functions(resources, route) {
			if all[function] == nil {
				all[function] = map[string]bool{}
			}
			all[function][key+" of "+api] = slices.ContainsFunc(permissions[function], func(g grant) bool {
				return g.action == apiGateway && g.serves(api, key)
			})
		}
	}
	return all
}

// serves reports whether the source of a permission, such as "arn:…:API/*/*/notes", is that route of the API in any
// stage.
func (g grant) serves(api, key string) bool {
	if g.resource == "*" {
		return true
	}
	_, stages, ok := strings.Cut(say(g.on), api+"/")
	_, routes, limited := strings.Cut(stages, "/")
	return ok && (!limited || matches(routes, strings.Replace(key, " ", "", 1)))
}

// decides reports whether an authorizer asks the function who calls.
func decides(resources map[string]*resource, function string) bool {
	for authorizer := range of(resources, httpAuthorizer) {
		if slices.Contains(intrinsic.References(authorizer.at("AuthorizerUri")), function) {
			return true
		}
	}
	return false
}

// permissions reports routes that may no longer invoke their function, and resources of other services that may not.
func (c *comparison) permissions() {
	had, has := permissions(c.deployed), permissions(c.proposed)
	called, calling := calls(c.deployed, had), calls(c.proposed, has)
	for id, grants := range sorted(had) {
		function := c.proposed[id]
		if function == nil {
			continue
		}
		var lost []string
		for route, may := range sorted(calling[id]) {
			if called[id][route] && !may {
				lost = append(lost, route)
			}
		}
		for _, g := range grants {
			counts := g.action != apiGateway || decides(c.deployed, id) && decides(c.proposed, id)
			if counts && !g.covered(has[id]) && !c.refersToRemoved(g.on) {
				lost = append(lost, fmt.Sprintf("%s from %s", g.action, cmp.Or(say(g.on), "anywhere")))
			}
		}
		if len(lost) > 0 {
			c.addBy("the permissions (AWS::Lambda::Permission) of "+function.constructPath(), Refusal, "permissions",
				function, "the function may no longer be invoked by "+join(lost),
				"AWS Lambda refuses them from then on. Callers of such a route get a 500.",
				do("Put the permissions back."),
				do("If these are to invoke the function no more: accept this finding."))
		}
	}
}
