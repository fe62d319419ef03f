package check

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// The types of an HTTP API's parts.
const (
	httpRoute      = "AWS::ApiGatewayV2::Route"
	httpAuthorizer = "AWS::ApiGatewayV2::Authorizer"
)

// variableName is the name of a variable in a route key. The requests that a route serves do not depend on it.
var variableName = regexp.MustCompile(`\{[^}+]*`)

// access is who may call an API.
type access struct {
	// routes are by route key, with the names of path variables left out.
	routes map[string]*resource
	// issuers are its JWT authorizers, by the issuer as text.
	issuers map[string]*resource
}

// accesses returns who may call each API, by what the API is called in its routes.
func accesses(resources map[string]*resource) map[string]access {
	apis := map[string]access{}
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		r := resources[id]
		if r.kind != httpRoute && r.kind != httpAuthorizer {
			continue
		}
		name := text(r.at("ApiId"))
		api, ok := apis[name]
		if !ok {
			api = access{routes: map[string]*resource{}, issuers: map[string]*resource{}}
			apis[name] = api
		}
		issuer := text(r.at("JwtConfiguration", "Issuer"))
		switch {
		case r.kind == httpRoute:
			api.routes[variableName.ReplaceAllString(text(r.at("RouteKey")), "{")] = r
		case issuer != "":
			api.issuers[issuer] = r
		}
	}
	return apis
}

// isOpen reports whether API Gateway lets everyone call the route ("AWS::ApiGatewayV2::Route", AuthorizationType).
func isOpen(route *resource) bool {
	return cmp.Or(text(route.at("AuthorizationType")), "NONE") == "NONE"
}

// authorizers is about routes that everyone could call after the deployment, or callers with tokens of any scope, and
// about APIs that take no more tokens of an issuer.
func (c *comparison) authorizers() {
	deployed, proposed := accesses(c.deployed), accesses(c.proposed)
	for _, name := range slices.Sorted(maps.Keys(deployed)) {
		old := deployed[name]
		changed, ok := apiAfter(name, deployed, proposed)
		if !ok {
			continue
		}
		var opened []string
		for _, key := range slices.Sorted(maps.Keys(old.routes)) {
			before, after := old.routes[key], changed.routes[key]
			switch {
			case after == nil || isOpen(before):
			case isOpen(after):
				opened = append(opened, text(after.at("RouteKey")))
				// An API that loses its last issuer is one finding, which has the routes.
				if len(old.issuers) == 0 || len(changed.issuers) > 0 {
					c.opened(after)
				}
			case len(list(before.at("AuthorizationScopes"))) > 0 && len(list(after.at("AuthorizationScopes"))) == 0:
				c.add(Refusal, "scopes", after, fmt.Sprintf("the route %s no longer asks for one of the scopes %s", text(after.at("RouteKey")), text(before.at("AuthorizationScopes"))),
					"Any caller with a token of the issuer may then call it, also with one that was issued for another purpose.",
					"Put the scopes back.", "If every token of the issuer is to be enough: accept this finding.")
			}
		}
		c.issuers(old, changed, opened)
	}
}

// apiAfter returns what the API is after the deployment: the one with its name, or else the only new one.
func apiAfter(name string, deployed, proposed map[string]access) (access, bool) {
	if same, ok := proposed[name]; ok {
		return same, true
	}
	var heirs []access
	for other, api := range proposed {
		if _, ok := deployed[other]; !ok {
			heirs = append(heirs, api)
		}
	}
	if len(heirs) != 1 {
		return access{}, false
	}
	return heirs[0], true
}

// opened is about a route that loses its authorizer.
func (c *comparison) opened(route *resource) {
	c.add(Refusal, "open", route, fmt.Sprintf("the route %s loses its authorizer", text(route.at("RouteKey"))),
		"API Gateway then lets everyone call it: it asks for no token.",
		"Put the authorizer back: of a route in a schema by its Caller, and by an issuer in the API's props.",
		"If everyone is to call it, or its function checks callers itself: accept this finding.")
}

// issuers is about the issuers that an API loses, and the routes that this opens.
func (c *comparison) issuers(old, changed access, opened []string) {
	left := slices.Sorted(maps.Keys(changed.issuers))
	for _, issuer := range slices.Sorted(maps.Keys(old.issuers)) {
		authorizer := old.issuers[issuer]
		switch {
		case changed.issuers[issuer] != nil:
		case len(left) > 0:
			c.add(Refusal, "issuer", authorizer, fmt.Sprintf("the API takes no more tokens of %s, but of %s", issuer, join(left)),
				"Tokens that callers have are refused. With a token of another issuer each caller is somebody else: what is kept under the subject (sub) of the old tokens is lost to them, or belongs to a stranger with the same subject.",
				"Leave the issuer as it is deployed.",
				"If it has to be: make sure that the new issuer gives each caller the same subject, or that nothing is kept by it. Then accept this finding.")
		default:
			why := "The API checks no token any more."
			if len(opened) > 0 {
				why = "API Gateway then lets everyone call " + join(opened) + ": it asks for no token."
			}
			c.add(Refusal, "issuer", authorizer, "the API loses its issuer of tokens, "+issuer, why,
				"Put the issuer back.", "If everyone is to call these routes, or their functions check callers themselves: accept this finding.")
		}
	}
}
