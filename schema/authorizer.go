package schema

import (
	"fmt"
	"slices"
	"time"
)

// OnAuthorize makes a function the Lambda authorizer of the callers that name it as their [Caller.Authorizer], with
// payload format 2.0 ("Control access to HTTP APIs with AWS Lambda authorizers"). The function gets an
// events.APIGatewayV2CustomAuthorizerV2Request, and answers with an events.APIGatewayV2CustomAuthorizerSimpleResponse
// or, with Policies, with an events.APIGatewayV2CustomAuthorizerIAMPolicyResponse. Amazon API Gateway answers 403 to a
// request that the function does not let in, and 500 if the function fails.
//
// The answer's context reaches the function behind the route. Its member sub is the caller's ID (lambdas/kit/httpapi).
type OnAuthorize struct {
	// Identity names the parts of a request that say who calls: "$request.header.X-Partner-Key",
	// "$request.querystring.key" or "$context.routeKey". API Gateway answers a request that lacks one of them with 401,
	// without the function. Default: it asks the function about every request.
	Identity []string
	// CacheFor is how long API Gateway keeps an answer for all requests of the same Identity: whole seconds, up to an
	// hour. A caller whose access is revoked gets in until then. With "$context.routeKey" in Identity, each route has
	// answers of its own. Default: it asks the function each time.
	CacheFor time.Duration `min:"0s" max:"1h" step:"1s" default:"no cache"`
	// Policies lets the function answer with an IAM policy, which allows some routes and not others. Default: it
	// answers with isAuthorized.
	Policies bool
}

// maxAuthorizing is how long Amazon API Gateway waits for an authorizer ("Quotas for configuring and running an HTTP
// API").
const maxAuthorizing = 10 * time.Second

var identitySource = expression(`^\$(request\.(header|querystring)\.[A-Za-z0-9._-]+|context\.[A-Za-z0-9.]+)$`)

func (o OnAuthorize) validate(f *findings, path string, p Platform, fn Function) {
	for i, source := range o.Identity {
		at := fmt.Sprintf("%s.Trigger.Identity[%d]", path, i)
		if !matches(identitySource, source) {
			f.add(at, quoted(source), `write "$request.header.NAME", "$request.querystring.NAME" or "$context.routeKey"`)
		}
	}
	unique(f, path+".Trigger.Identity", o.Identity, itself)
	f.list.Limits(path+".Trigger", o)
	if o.CacheFor > 0 && len(o.Identity) == 0 {
		f.add(path+".Trigger.CacheFor", o.CacheFor.String(),
			"name the Identity by which answers are kept, or leave it out")
	}
	if fn.Timeout > maxAuthorizing {
		f.add(path+".Timeout", fn.Timeout.String(), "write at most %s: Amazon API Gateway waits no longer for an "+
			"authorizer", maxAuthorizing)
	}
	if !slices.ContainsFunc(p.Routes, func(r Route) bool { return r.Caller.Authorizer == fn.Name }) {
		f.add(path+".Trigger", "OnAuthorize", "let the Caller of a route name it as its Authorizer, or leave the "+
			"function out")
	}
	if slices.ContainsFunc(p.Routes, func(r Route) bool { return r.Function == fn.Name }) {
		f.add(path+".Trigger", "OnAuthorize", "let another function serve the routes: requests of an authorizer have "+
			"another form")
	}
}

// Authorizers returns the triggers [OnAuthorize] of the platform's functions, by the function's name.
func (p Platform) Authorizers() map[string]OnAuthorize {
	all := map[string]OnAuthorize{}
	for _, f := range p.Functions {
		if trigger, ok := f.Trigger.(OnAuthorize); ok {
			all[f.Name] = trigger
		}
	}
	return all
}
