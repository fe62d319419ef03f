package apigateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// FunctionAuthorizer asks a function whether to let a request in ("Control access to HTTP APIs with AWS Lambda
// authorizers"). Routes that share one share what it remembers.
type FunctionAuthorizer struct {
	Name, Function string
	// Identity are the identity sources: a request needs a value for each.
	Identity []string
	// CacheFor is AuthorizerResultTtlInSeconds; 0 asks the function each time.
	CacheFor time.Duration
	// Format is the version of the payload, "1.0" or "2.0".
	Format string
	// Simple says that the function answers with isAuthorized, else with an IAM policy.
	Simple bool
	// Refused says why API Gateway may not invoke the function; "" if it may.
	Refused string

	mutex sync.Mutex
	// kept are the answers by the values of Identity.
	kept map[string]keptAnswer
}

type keptAnswer struct {
	authorization
	until time.Time
}

// maxKept is from how many answers on those that are too old are dropped.
const maxKept = 1000

// maxAuthorizing is how long API Gateway waits for a function ("Quotas for configuring and running an HTTP API").
const maxAuthorizing = 10 * time.Second

// authorization is what an authorizer's function has answered.
type authorization struct {
	authorized bool
	// allows is the policy, which decides for each route; nil with a simple answer.
	allows    *policy.Role
	principal string
	context   map[string]any
}

func (a *authorization) lets(resource string) bool {
	if a.allows != nil {
		return a.allows.Allows(invoke, resource)
	}
	return a.authorized
}

// invoke is the action by which policies let a caller call a route.
const invoke = "execute-api:Invoke"

// admit implements Admission.
func (a *FunctionAuthorizer) admit(g *Gateway, w http.ResponseWriter, r *http.Request, c *call) bool {
	values := make([]string, len(a.Identity))
	for i, source := range a.Identity {
		if values[i] = g.identity(source, r, c); values[i] == "" {
			c.failed = "the request has no " + source
			c.properties = map[string]string{"error": c.failed}
			g.refuse(w, c, http.StatusUnauthorized, "Unauthorized")
			return false
		}
	}
	answer, err := a.ask(g, r, c, values)
	switch {
	case err != nil:
		c.failed = "authorizer " + a.Name + ": " + err.Error()
		c.properties = map[string]string{"error": c.failed}
		g.options.Log(fmt.Sprintf("API %s, route %s: %s", g.api.Name, c.route.Key, c.failed))
		g.refuse(w, c, http.StatusInternalServerError, "Internal Server Error")
		return false
	case !answer.lets(g.resource(r, c)):
		c.failed = "authorizer " + a.Name + " does not let the request in"
		g.refuse(w, c, http.StatusForbidden, "Forbidden")
		return false
	}
	c.authorizer = &eventAuthorizer{Lambda: &answer.context}
	c.properties = map[string]string{}
	for name, value := range answer.context {
		c.properties[name] = fmt.Sprint(value)
	}
	if answer.principal != "" {
		c.properties["principalId"] = answer.principal
	}
	return true
}

// identity is the value of an identity source.
func (g *Gateway) identity(source string, r *http.Request, c *call) string {
	if name, ok := strings.CutPrefix(source, "$request.header."); ok {
		if strings.EqualFold(name, "Host") {
			return r.Host
		}
		return strings.Join(r.Header.Values(name), ",")
	}
	if name, ok := strings.CutPrefix(source, "$request.querystring."); ok {
		return query(r.URL.RawQuery)[name]
	}
	name, _ := strings.CutPrefix(source, "$context.")
	return g.variable(name, r, c)
}

// ask returns the answer for the values of Identity: one that is kept, or the function's.
func (a *FunctionAuthorizer) ask(g *Gateway, r *http.Request, c *call, values []string) (answer authorization,
	err error) {
	key, now := string(encode(values)), g.options.Now()
	if a.CacheFor > 0 {
		a.mutex.Lock()
		found, ok := a.kept[key]
		a.mutex.Unlock()
		if ok && now.Before(found.until) {
			return found.authorization, nil
		}
	}
	if answer, err = a.invoke(g, r, c, values); err != nil || a.CacheFor == 0 {
		return answer, err
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.kept == nil {
		a.kept = map[string]keptAnswer{}
	}
	if len(a.kept) >= maxKept {
		maps.DeleteFunc(a.kept, func(_ string, k keptAnswer) bool { return !now.Before(k.until) })
	}
	a.kept[key] = keptAnswer{answer, now.Add(a.CacheFor)}
	return answer, nil
}

func (a *FunctionAuthorizer) invoke(g *Gateway, r *http.Request, c *call, values []string) (authorization, error) {
	if a.Refused != "" {
		return authorization{}, errors.New(a.Refused)
	}
	payload := a.event(g, r, c, values)
	result, err := g.options.Invoker.InvokeWithin(r.Context(), g.limit(a.Function, maxAuthorizing), a.Function,
		payload)
	if err != nil {
		return authorization{}, err
	}
	if result.FunctionError != "" {
		return authorization{}, fmt.Errorf("the function failed: %s", result.Payload)
	}
	answer, err := a.read(result.Payload)
	if err != nil {
		return authorization{}, fmt.Errorf("the function's answer %w", err)
	}
	return answer, nil
}

// read reads an answer ("Lambda authorizer response format").
func (a *FunctionAuthorizer) read(payload []byte) (answer authorization, err error) {
	var got struct {
		IsAuthorized   *bool
		PrincipalID    string
		PolicyDocument json.RawMessage
		Context        map[string]any
	}
	if err := json.Unmarshal(payload, &got); err != nil {
		return answer, fmt.Errorf("cannot be read: %w", err)
	}
	answer.context, answer.principal = got.Context, got.PrincipalID
	if a.Simple {
		if got.IsAuthorized == nil {
			return answer, errors.New("has no isAuthorized, which the authorizer's EnableSimpleResponses asks for")
		}
		answer.authorized = *got.IsAuthorized
		return answer, nil
	}
	if len(got.PolicyDocument) == 0 || got.PrincipalID == "" {
		return answer, errors.New("has no principalId and policyDocument: write both, or set the authorizer's " +
			"EnableSimpleResponses, with payload format 2.0, and answer isAuthorized")
	}
	answer.allows, err = policy.Document("of authorizer "+a.Name, got.PolicyDocument)
	return answer, err
}

// event is what the function gets.
func (a *FunctionAuthorizer) event(g *Gateway, r *http.Request, c *call, values []string) []byte {
	sent := g.request(r, c)
	if a.Format != "1.0" {
		return encode(struct {
			Type           string   `json:"type"`
			RouteARN       string   `json:"routeArn"`
			IdentitySource []string `json:"identitySource"`
			request
		}{"REQUEST", g.resource(r, c), values, sent})
	}
	_, path, _ := strings.Cut(c.route.Key, " ")
	sources := strings.Join(values, ",")
	return encode(map[string]any{
		"version": "1.0", "type": "REQUEST", "methodArn": g.resource(r, c), "identitySource": sources,
		"authorizationToken": sources, "resource": path, "path": c.path, "httpMethod": r.Method,
		"headers": sent.Headers, "queryStringParameters": sent.QueryStringParameters,
		"pathParameters": sent.PathParameters, "stageVariables": nil,
		"requestContext": map[string]any{
			"path": c.path, "accountId": g.api.Account, "resourceId": c.route.Key, "stage": g.api.Stage,
			"requestId": c.requestID, "identity": map[string]any{"sourceIp": c.sourceIP, "userAgent": r.UserAgent()},
			"resourcePath": path, "httpMethod": r.Method, "apiId": g.api.ID,
		},
	})
}

// resource is the ARN of what a request is for, by which policies decide.
func (g *Gateway) resource(r *http.Request, c *call) string {
	path := c.path
	if g.api.Stage != "$default" {
		path = strings.TrimPrefix(path, "/"+g.api.Stage)
	}
	return g.api.SourceARN(r.Method + " /" + strings.TrimPrefix(path, "/"))
}
