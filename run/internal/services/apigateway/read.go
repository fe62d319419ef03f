package apigateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// Read reads an HTTP API with its stage, routes, integrations and authorizers. All problems come back together.
func Read(a *assembly.Assembly, api *assembly.Resource, keys KeySource) (API, error) {
	var p struct {
		Name, ProtocolType string
		CorsConfiguration  *CORS
		Body, Target       any
		// DisableExecuteApiEndpoint leaves the API to its domain names.
		DisableExecuteApiEndpoint bool
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
	result.OnlyMapped = p.DisableExecuteApiEndpoint
	problems := []error{readStage(api, &result), readMappings(a, api, &result)}
	parts := reader{assembly: a, api: result, keys: keys, integrations: map[string]*assembly.Resource{},
		authorizers: map[string]*assembly.Resource{}, read: map[string]Admission{}}
	for _, resource := range api.Stack.Resources {
		switch resource.Type {
		case "AWS::ApiGatewayV2::Integration":
			parts.integrations[resource.Ref] = resource
		case "AWS::ApiGatewayV2::Authorizer":
			parts.authorizers[resource.Ref] = resource
		}
	}
	for _, resource := range api.Stack.Resources {
		if resource.Type != "AWS::ApiGatewayV2::Route" || resource.Properties["ApiId"] != api.Ref {
			continue
		}
		route, err := parts.route(resource)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		result.Routes = append(result.Routes, route)
	}
	return result, errors.Join(problems...)
}

// reader reads the routes of an API.
type reader struct {
	assembly *assembly.Assembly
	api      API
	keys     KeySource
	// integrations and authorizers of the stack, by reference.
	integrations, authorizers map[string]*assembly.Resource
	// read are the authorizers that have been read.
	read map[string]Admission
}

// RoutesTo returns the keys of the routes of all HTTP APIs of an assembly, by the name of their function, as far as
// they can be read.
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

// readMappings reads the base paths of domain names. The API's own address stands for domain names without one.
func readMappings(a *assembly.Assembly, api *assembly.Resource, result *API) error {
	for _, resource := range a.Resources("AWS::ApiGatewayV2::ApiMapping") {
		if resource.Properties["ApiId"] != api.Ref {
			continue
		}
		var p struct{ ApiMappingKey string }
		if err := resource.Decode(&p); err != nil {
			return err
		}
		if p.ApiMappingKey != "" {
			result.BasePaths = append(result.BasePaths, p.ApiMappingKey)
			continue
		}
		result.OnlyMapped = false
	}
	result.OnlyMapped = result.OnlyMapped && len(result.BasePaths) > 0
	return nil
}

func (r *reader) route(resource *assembly.Resource) (Route, error) {
	var p struct {
		RouteKey, Target, AuthorizationType, AuthorizerId string
		AuthorizationScopes                               []string
	}
	if err := resource.Decode(&p); err != nil {
		return Route{}, err
	}
	integration := r.integrations[strings.TrimPrefix(p.Target, "integrations/")]
	if integration == nil {
		return Route{}, fmt.Errorf("%s: target %q is not an integration of the stack", resource, p.Target)
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
	if r.assembly.ByName(route.Function, "AWS::Lambda::Function") == nil {
		return Route{}, fmt.Errorf("%s: %q is not a function of the assembly", integration, i.IntegrationUri)
	}
	route.Refused = r.refused(invoked, r.api.SourceARN(p.RouteKey))
	var err error
	switch p.AuthorizationType {
	case "", "NONE":
	case "AWS_IAM":
		route.Authorizer = Signed{}
	case "JWT", "CUSTOM":
		if route.Authorizer, err = r.authorizer(p.AuthorizerId); err != nil {
			return Route{}, fmt.Errorf("%s: %w", resource, err)
		}
	default:
		return Route{}, fmt.Errorf("%s: authorization %q: an HTTP API has NONE, JWT, CUSTOM and AWS_IAM", resource,
			p.AuthorizationType)
	}
	return route, nil
}

// refused says why API Gateway may not invoke a function from a source; "" if it may.
func (r *reader) refused(invoked, source string) string {
	if policy.MayInvoke(r.assembly, gateway, invoked, source) {
		return ""
	}
	name, _ := assembly.SplitFunction(invoked)
	return fmt.Sprintf("no AWS::Lambda::Permission lets %s invoke %s from %s", gateway, name, source)
}

// gateway is API Gateway, as policies name it.
const gateway = "apigateway.amazonaws.com"

// authorizer returns the authorizer of a reference, the same for all routes.
func (r *reader) authorizer(ref string) (Admission, error) {
	if known, ok := r.read[ref]; ok {
		return known, nil
	}
	resource := r.authorizers[ref]
	if resource == nil {
		return nil, errors.New("its authorizer is not in the stack")
	}
	var p struct {
		Name, AuthorizerType, AuthorizerUri, AuthorizerCredentialsArn, AuthorizerPayloadFormatVersion string
		AuthorizerResultTtlInSeconds                                                                  int
		EnableSimpleResponses                                                                         bool
		IdentitySource                                                                                []string
		JwtConfiguration                                                                              struct {
			Issuer   string
			Audience []string
		}
	}
	if err := resource.Decode(&p); err != nil {
		return nil, err
	}
	switch p.AuthorizerType {
	case "JWT":
		authorizer := &Authorizer{Name: p.Name, Issuer: p.JwtConfiguration.Issuer, AlsoIssuer: RunIssuer,
			Audience: p.JwtConfiguration.Audience, Keys: r.keys}
		if len(p.IdentitySource) > 0 {
			authorizer.IdentitySource = p.IdentitySource[0]
		}
		r.read[ref] = authorizer
	case "REQUEST":
		invoked := functionOfIntegration(p.AuthorizerUri)
		function, _ := assembly.SplitFunction(invoked)
		if r.assembly.ByName(function, "AWS::Lambda::Function") == nil {
			return nil, fmt.Errorf("%s: %q is not a function of the assembly", resource, p.AuthorizerUri)
		}
		authorizer := &FunctionAuthorizer{Name: p.Name, Function: function, Identity: p.IdentitySource,
			Format: p.AuthorizerPayloadFormatVersion, Simple: p.EnableSimpleResponses,
			CacheFor: time.Duration(p.AuthorizerResultTtlInSeconds) * time.Second}
		if authorizer.CacheFor > 0 && len(authorizer.Identity) == 0 {
			return nil, fmt.Errorf("%s: got AuthorizerResultTtlInSeconds %d without an IdentitySource, by which "+
				"answers are kept: API Gateway refuses it", resource, p.AuthorizerResultTtlInSeconds)
		}
		var err error
		if authorizer.Refused, err = r.maybeAs(p.AuthorizerCredentialsArn, invoked, fmt.Sprintf(
			"arn:aws:execute-api:%s:%s:%s/authorizers/%s", r.api.Region, r.api.Account, r.api.ID, ref)); err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		r.read[ref] = authorizer
	default:
		return nil, fmt.Errorf("%s: type %q: an HTTP API has authorizers of the types JWT and REQUEST", resource,
			p.AuthorizerType)
	}
	return r.read[ref], nil
}

// maybeAs is refused for an invocation under a role, if there is one.
func (r *reader) maybeAs(role, invoked, source string) (string, error) {
	if role == "" {
		return r.refused(invoked, source), nil
	}
	credentials, err := policy.ForRole(r.assembly, role)
	if err != nil {
		return "", err
	}
	if !credentials.Trusts(gateway, map[string]string{policy.SourceAccount: r.api.Account,
		policy.SourceARN: source}) || !credentials.Allows("lambda:InvokeFunction", invoked) {
		return fmt.Sprintf("the role %s does not let %s invoke %s", credentials.Name, gateway, invoked), nil
	}
	return "", nil
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
