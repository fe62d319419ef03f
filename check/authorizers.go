package check

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The types of an HTTP API's parts.
const (
	httpRoute      = "AWS::ApiGatewayV2::Route"
	httpAuthorizer = "AWS::ApiGatewayV2::Authorizer"
)

// variableName is the name of a variable in a route key. The requests that a route serves do not depend on it.
var variableName = regexp.MustCompile(`\{[^}+]*`)

// access describes who may call an API.
type access struct {
	// routes are the routes by route key, without the names of path variables.
	routes map[string]*resource
	// issuers are the JWT authorizers by issuer.
	issuers map[string]*resource
}

// heir returns the route that gets the requests of a removed route: one for any method, one with a greedy variable, or
// $default. It returns nil if there is none ("Route requests to an HTTP API", API Gateway developer guide).
func (a access) heir(key string) *resource {
	method, path, _ := strings.Cut(key, " ")
	ways := []string{"ANY " + path}
	for end := strings.LastIndex(path, "/"); end >= 0; end = strings.LastIndex(path[:end], "/") {
		ways = append(ways, method+" "+path[:end]+"/{+}", "ANY "+path[:end]+"/{+}")
	}
	for _, way := range append(ways, "$default") {
		if route := a.routes[way]; route != nil {
			return route
		}
	}
	return nil
}

// accesses returns who may call each API, by the reference to the API in its routes.
func accesses(resources map[string]*resource) map[string]access {
	apis := map[string]access{}
	for r := range of(resources, httpRoute, httpAuthorizer) {
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

// guardOf is what API Gateway asks who calls a route.
func guardOf(route *resource) string {
	ways := map[string]string{"AWS_IAM": "IAM", "CUSTOM": "a function", "JWT": "an issuer of tokens"}
	return ways[text(route.at("AuthorizationType"))]
}

// authorizers reports routes that the deployment would open to everyone or to tokens of any scope, and APIs that would
// no longer take the tokens of an issuer.
func (c *comparison) authorizers() {
	deployed, proposed := accesses(c.deployed), accesses(c.proposed)
	for name, old := range sorted(deployed) {
		changed, ok := apiAfter(name, deployed, proposed)
		if !ok {
			continue
		}
		var opened []string
		for key, before := range sorted(old.routes) {
			after := changed.routes[key]
			finding := cmp.Or(after, before)
			what := "the route " + text(finding.at("RouteKey"))
			if heir := changed.heir(key); after == nil && heir != nil && c.sameFunction(before, heir) {
				after, finding = heir, before
				what = fmt.Sprintf("the route %s goes, and %s, which gets its requests,", text(before.at("RouteKey")),
					text(after.at("RouteKey")))
			}
			switch {
			case after == nil, isOpen(before) && isOpen(after):
			case isOpen(before):
				c.warn(c.madeBy(c.proposedMetadata, after), "stops-open", finding, what+" asks for a token",
					"Callers without one get 401.", "Give its callers tokens before, or leave it open.")
			case isOpen(after):
				opened = append(opened, text(before.at("RouteKey")))
				// The finding about an API that loses its last issuer names the routes.
				if len(old.issuers) == 0 || len(changed.issuers) > 0 {
					c.addBy(c.madeBy(c.proposedMetadata, after), Refusal, "open", finding, what+" has no authorizer",
						"API Gateway then lets everyone call it: it asks for no token.",
						do("Put the authorizer back: a route of a schema has one if its Caller is an agent or a "+
							"user, the API's props have an issuer, and OpenRoutes does not name the route."),
						do("If everyone is to call it, or its function checks callers itself: accept this finding."))
				}
			case guardOf(before) != guardOf(after):
				c.warn(c.madeBy(c.proposedMetadata, after), "stops-callers", finding,
					fmt.Sprintf("%s asks %s who calls, and asked %s", what, guardOf(after), guardOf(before)),
					"Callers who got through are refused, and others get through.",
					"Tell its callers before, or leave it as deployed.")
			case len(list(before.at("AuthorizationScopes"))) > 0 && len(list(after.at("AuthorizationScopes"))) == 0:
				c.addBy(c.madeBy(c.proposedMetadata, after), Refusal, "scopes", finding,
					fmt.Sprintf("%s asks for none of the scopes %s", what, say(before.at("AuthorizationScopes"))),
					"Any caller with a token of the issuer may then call it, also with one that was issued for "+
						"another purpose.",
					do("Put the scopes back."),
					do("If every token of the issuer is to be enough: accept this finding."))
			default:
				c.tokens(before, after, finding, what, changed)
			}
		}
		c.issuers(old, changed, opened)
		for key, route := range sorted(changed.routes) {
			if old.routes[key] == nil && isOpen(route) && c.guarded(old, route) {
				c.warn(c.madeBy(c.proposedMetadata, route), "opens-route", route,
					"the route "+text(route.at("RouteKey"))+" is new and open; most deployed routes of its function "+
						"ask who calls",
					"Everyone may call it, and the function may take for granted that callers are known.",
					"Give the route an authorizer, or a function of its own.")
			}
		}
	}
}

// guarded reports whether most deployed routes of a route's function ask who calls. Open ones are often for a document.
func (c *comparison) guarded(old access, route *resource) bool {
	asking := 0
	for _, before := range old.routes {
		if c.sameFunction(before, route) && isOpen(before) {
			asking--
		} else if c.sameFunction(before, route) {
			asking++
		}
	}
	return asking > 0
}

// tokens reports a route that takes other tokens: of another issuer that the API had, or with any of further scopes.
func (c *comparison) tokens(before, after, finding *resource, what string, api access) {
	by := c.madeBy(c.proposedMetadata, after)
	issuer := func(resources map[string]*resource, route *resource) any {
		authorizer := resources[text(route.at("AuthorizerId", "Ref"))]
		if authorizer == nil {
			return nil
		}
		return authorizer.at("JwtConfiguration", "Issuer")
	}
	was, is := issuer(c.deployed, before), issuer(c.proposed, after)
	if was != nil && is != nil && text(was) != text(is) && api.issuers[text(was)] != nil {
		c.warn(by, "opens-tokens", finding, fmt.Sprintf("%s takes tokens of %s, and took those of %s", what, say(is),
			say(was)),
			"Callers of another kind get through, such as agents where people were meant, and those from before are "+
				"refused.", "Leave the authorizer as deployed.")
	}
	if got := gains()(before.at("AuthorizationScopes"), after.at("AuthorizationScopes")); got != "" &&
		before.at("AuthorizationScopes") != nil {
		c.warn(by, "opens-scopes", finding, what+" "+got+" as a scope",
			"One of the scopes is enough: tokens with that one alone get through.", "Leave the scopes as deployed.")
	}
}

// apiAfter returns the API that takes the API's place: the one with its name, or else the only new one.
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

// sameFunction reports whether a route and a deployed one have a function in common.
func (c *comparison) sameFunction(before, after *resource) bool {
	had := functions(c.deployed, before)
	return slices.ContainsFunc(functions(c.proposed, after), func(id string) bool { return slices.Contains(had, id) })
}

// issuers reports the issuers that an API loses, and the routes that this opens.
func (c *comparison) issuers(old, changed access, opened []string) {
	issuerOf := func(authorizer *resource) string { return say(authorizer.at("JwtConfiguration", "Issuer")) }
	var left []string
	for _, authorizer := range sorted(changed.issuers) {
		left = append(left, issuerOf(authorizer))
	}
	for issuer, authorizer := range sorted(old.issuers) {
		switch after := changed.issuers[issuer]; {
		case after != nil:
			c.audience(authorizer, after)
		case len(left) > 0:
			c.add(Refusal, "issuer", authorizer, fmt.Sprintf("the API takes no more tokens of %s, but of %s",
				issuerOf(authorizer), join(left)),
				"Tokens that callers have are refused. With a token of another issuer each caller is somebody else: "+
					"what is kept under the subject (sub) of the old tokens is lost to them, or belongs to a "+
					"stranger with the same subject.",
				do("Leave the issuer as it is deployed."),
				do("If it has to be: make sure that the new issuer gives each caller the same subject, or that "+
					"nothing is kept by it. Then accept this finding."))
		default:
			why := "The API checks no token any more."
			if len(opened) > 0 {
				why = "API Gateway then lets everyone call " + join(opened) + ": it asks for no token."
			}
			c.add(Refusal, "issuer", authorizer, "the API loses its issuer of tokens, "+issuerOf(authorizer), why,
				do("Put the issuer back."), do("If everyone is to call these routes, or their functions check "+
					"callers themselves: accept this finding."))
		}
	}
}

// audience reports whose tokens of an issuer an API takes newly, or no more.
func (c *comparison) audience(old, changed *resource) {
	before, after := values(old.at("JwtConfiguration", "Audience")), values(changed.at("JwtConfiguration", "Audience"))
	by := "JwtConfiguration of " + changed.constructPath()
	got := gains()(before, after)
	if len(after) == 0 {
		got = "is no longer asked for"
	}
	if len(before) > 0 && got != "" {
		c.warn(by, "opens-audience", changed, "the audience of tokens (Audience) "+got,
			"Tokens that the issuer gave to other apps, for other purposes, are good for this API, too.",
			"Name only app clients that are made for this API.")
	}
	if lost := loses(before, after); lost != "" && len(after) > 0 {
		c.warn(by, "stops-audience", changed, "the audience of tokens (Audience) "+lost,
			"Tokens of that app client are refused: its people are signed out, and its programs fail.",
			"Leave the app client in the audience until its apps have another.")
	}
}
