package apigateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/internal/cloud/policy"
)

// Read reads an HTTP API with its stage, routes, integrations and authorizers. All problems come back together.
func Read(a *assembly.Assembly, api *assembly.Resource, keys KeySource) (API, error) {
	var p struct {
		Name, ProtocolType string
		CorsConfiguration  *CORS
		Body, Target       any
	}
	if err := api.Decode(&p); err != nil {
		return API{}, err
	}
	if p.ProtocolType != "HTTP" {
		return API{}, fmt.Errorf("%s: protocol %q: only HTTP APIs are run locally", api, p.ProtocolType)
	}
	if p.Body != nil || p.Target != nil {
		return API{}, fmt.Errorf("%s: APIs from an OpenAPI body or by quick create are not run locally: declare routes",
			api)
	}
	result := API{ID: api.Ref, Name: p.Name, Region: api.Stack.Region, Account: api.Stack.Account,
		CORS: p.CorsConfiguration}
	if result.Name == "" {
		result.Name = api.Name
	}
	problems := []error{readStage(api, &result)}
	integrations, authorizers := map[string]*assembly.Resource{}, map[string]*assembly.Resource{}
	for _, resource := range api.Stack.Resources {
		switch resource.Type {
		case "AWS::ApiGatewayV2::Integration":
			integrations[resource.Ref] = resource
		case "AWS::ApiGatewayV2::Authorizer":
			authorizers[resource.Ref] = resource
		}
	}
	for _, resource := range api.Stack.Resources {
		if resource.Type != "AWS::ApiGatewayV2::Route" || resource.Properties["ApiId"] != api.Ref {
			continue
		}
		route, err := readRoute(a, resource, result, integrations, authorizers, keys)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		result.Routes = append(result.Routes, route)
	}
	return result, errors.Join(problems...)
}

// RoutesTo returns the keys of the routes of all HTTP APIs of an assembly, by the name of their function, as far as they
// can be read.
func RoutesTo(a *assembly.Assembly) map[string][]string {
	keys := map[string][]string{}
	for _, resource := range a.APIs() {
		api, err := Read(a, resource, nil)
		if err != nil {
			// [Read] says so of the whole run.
			continue
		}
		for _, route := range api.Routes {
			keys[route.Function] = append(keys[route.Function], route.Key)
		}
	}
	for _, of := range keys {
		slices.Sort(of)
	}
	return keys
}

type throttleProperties struct {
	ThrottlingRateLimit  float64
	ThrottlingBurstLimit int
}

func readStage(api *assembly.Resource, result *API) error {
	found := ""
	for _, resource := range api.Stack.Resources {
		if resource.Type != "AWS::ApiGatewayV2::Stage" || resource.Properties["ApiId"] != api.Ref {
			continue
		}
		if found != "" {
			return fmt.Errorf("%s: a second stage beside %s: one stage of an API is run locally", resource, found)
		}
		found = resource.LogicalID
		var p struct {
			StageName            string
			AccessLogSettings    struct{ Format string }
			DefaultRouteSettings throttleProperties
			RouteSettings        map[string]throttleProperties
			StageVariables       map[string]string
		}
		if err := resource.Decode(&p); err != nil {
			return err
		}
		if len(p.StageVariables) > 0 {
			return fmt.Errorf("%s: stage variables are not run locally", resource)
		}
		result.Stage, result.AccessLogFormat = p.StageName, p.AccessLogSettings.Format
		result.DefaultThrottle = Throttle{Rate: p.DefaultRouteSettings.ThrottlingRateLimit,
			Burst: p.DefaultRouteSettings.ThrottlingBurstLimit}
		result.RouteThrottles = map[string]Throttle{}
		for key, throttle := range p.RouteSettings {
			result.RouteThrottles[key] = Throttle{Rate: throttle.ThrottlingRateLimit,
				Burst: throttle.ThrottlingBurstLimit}
		}
	}
	if found == "" {
		return fmt.Errorf("%s: the API has no stage, so AWS would serve nothing: add one", api)
	}
	return nil
}

func readRoute(a *assembly.Assembly, resource *assembly.Resource, api API, integrations,
	authorizers map[string]*assembly.Resource, keys KeySource) (Route, error) {
	var p struct {
		RouteKey, Target, AuthorizationType, AuthorizerId string
		AuthorizationScopes                               []string
	}
	if err := resource.Decode(&p); err != nil {
		return Route{}, err
	}
	integration := integrations[strings.TrimPrefix(p.Target, "integrations/")]
	if integration == nil {
		return Route{}, fmt.Errorf("%s: target %q is no integration of the stack", resource, p.Target)
	}
	var i struct {
		IntegrationType, IntegrationUri, PayloadFormatVersion string
		TimeoutInMillis                                       int
		RequestParameters, ResponseParameters                 map[string]any
	}
	if err := integration.Decode(&i); err != nil {
		return Route{}, err
	}
	if i.IntegrationType != "AWS_PROXY" || i.PayloadFormatVersion != "2.0" ||
		len(i.RequestParameters)+len(i.ResponseParameters) > 0 {
		return Route{}, fmt.Errorf("%s: type %q, payload format %q: Lambda proxy integrations of format 2.0 without "+
			"parameter mapping are run locally", integration, i.IntegrationType, i.PayloadFormatVersion)
	}
	invoked := functionOfIntegration(i.IntegrationUri)
	function, _ := assembly.SplitFunction(invoked)
	route := Route{
		Key: p.RouteKey, Function: function, Scopes: p.AuthorizationScopes,
		Timeout: time.Duration(i.TimeoutInMillis) * time.Millisecond,
	}
	if a.ByName(route.Function, "AWS::Lambda::Function") == nil {
		return Route{}, fmt.Errorf("%s: %q is no function of the assembly", integration, i.IntegrationUri)
	}
	if source := api.SourceARN(p.RouteKey); !policy.MayInvoke(a, "apigateway.amazonaws.com", invoked, source) {
		route.Refused = fmt.Sprintf("no AWS::Lambda::Permission lets apigateway.amazonaws.com invoke %s from %s",
			route.Function, source)
	}
	switch p.AuthorizationType {
	case "", "NONE":
	case "JWT":
		authorizer, err := readAuthorizer(authorizers[p.AuthorizerId], keys)
		if err != nil {
			return Route{}, fmt.Errorf("%s: %w", resource, err)
		}
		route.Authorizer = authorizer
	default:
		return Route{}, fmt.Errorf("%s: authorization %q: JWT authorizers are run locally", resource,
			p.AuthorizationType)
	}
	return route, nil
}

func readAuthorizer(resource *assembly.Resource, keys KeySource) (*Authorizer, error) {
	if resource == nil {
		return nil, errors.New("its authorizer is not in the stack")
	}
	var p struct {
		Name, AuthorizerType string
		IdentitySource       []string
		JwtConfiguration     struct {
			Issuer   string
			Audience []string
		}
	}
	if err := resource.Decode(&p); err != nil {
		return nil, err
	}
	if p.AuthorizerType != "JWT" {
		return nil, fmt.Errorf("%s: type %q: JWT authorizers are run locally", resource, p.AuthorizerType)
	}
	authorizer := &Authorizer{Name: p.Name, Issuer: p.JwtConfiguration.Issuer, AlsoIssuer: RunIssuer,
		Audience: p.JwtConfiguration.Audience, Keys: keys}
	if len(p.IdentitySource) > 0 {
		authorizer.IdentitySource = p.IdentitySource[0]
	}
	return authorizer, nil
}

// functionOfIntegration returns the ARN of the function, or of its version or alias, that an integration URI names. The
// URI is the ARN, or API Gateway's path to it,
// arn:aws:apigateway:REGION:lambda:path/2015-03-31/functions/ARN/invocations.
func functionOfIntegration(uri string) string {
	if _, rest, ok := strings.Cut(uri, "/functions/"); ok {
		uri = strings.TrimSuffix(rest, "/invocations")
	}
	return uri
}
