// Package httpapi makes an API Gateway HTTP API from the routes that package
// schema describes, with authorizers by JWT, function or IAM, throttling, CORS and access
// logs, and optionally a domain name of its own.
package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2authorizers"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// preflightAge is how long browsers may remember what CORS allows.
const preflightAge = time.Hour

// Throttle limits the requests of all callers together.
type Throttle struct {
	// RequestsPerSecond is the steady rate.
	RequestsPerSecond int
	// Burst is how many requests may come at once.
	Burst int
}

// defaultThrottle is a tenth of what an account may do in a region ("Quotas for
// API Gateway"), so that one API cannot starve the account's others.
var defaultThrottle = Throttle{RequestsPerSecond: 1000, Burst: 2000}

// JWT names the issuer and the audience of the tokens that an API accepts.
type JWT struct {
	// Issuer is the tokens' "iss", an https URL that has an OpenID Connect
	// discovery document. Default: no authorizer.
	Issuer string
	// Audience are the accepted values of "aud", or of "client_id" in a token
	// without it. Required with Issuer.
	Audience []string
}

// Props describe an API. Name, Routes and Functions are required.
type Props struct {
	// Name is shown in the AWS console.
	Name string
	// Description is shown in the AWS console. Default: none.
	Description string
	// Routes are the API's operations. The gateway answers 404 to every other request.
	Routes []schema.Route
	// Functions are the functions that the routes name. Each lets the API invoke it, by one permission for all of the
	// API's routes: a stack has 500 resources, and the API has no routes but these.
	Functions map[string]*gofunction.Function
	// JWT is the authorizer of the routes whose callers have to show a token. Default: no authorizer; then each of
	// these routes has to be in OpenRoutes.
	JWT JWT
	// UserJWT is the authorizer of the routes whose callers show a token of a user, if another issuer than JWT's issues
	// these. Default: JWT.
	UserJWT JWT
	// Authorizers say how functions let callers in, by their names in Functions. Required with routes whose Caller has
	// an Authorizer.
	Authorizers map[string]schema.OnAuthorize
	// OpenRoutes are the Routes that the API serves without a token, by method and path, such as "GET /notes": their
	// function checks callers itself, or accepts what they say of themselves. Configure the function for it, too, by
	// the field Identify of lambdas/kit/httpapi.Config, and say so in the Credentials of the contract's API: by default
	// the function refuses a request without a token. Default: none.
	OpenRoutes []string

	// AllowedOrigins are the web pages that may call the API from a browser, such
	// as "https://example.com". Default: "*", any page. The API has no cookies and
	// no other credentials that a browser adds by itself, so a page can do no more
	// in a visitor's browser than without it.
	AllowedOrigins []string
	// AllowedHeaders are the request headers that pages may send, including "Authorization" if they need a token and
	// "Content-Type" if they send JSON. Default: only those that CORS always allows, and those of Authorizers.
	AllowedHeaders []string
	// ExposedHeaders are the response headers that pages may read. Default: only those that CORS always exposes.
	ExposedHeaders []string

	// Throttle limits every route. Default: 1,000 requests a second, bursts of
	// 2,000.
	Throttle Throttle
	// Throttles limit the routes of a rate limit, by the limit's name, to less than Throttle. Default: none.
	Throttles map[string]Throttle
	// RouteThrottles limit single routes instead of Throttle and Throttles, by method and path, such as "GET /notes".
	// Default: none.
	RouteThrottles map[string]Throttle
	// Domain is the API's own domain name. Default: none, the API has the name that
	// Amazon API Gateway gives it.
	Domain Domain
	// PublicURL is the address that callers use, if it is not the API's own: that of a firewall before the API, for
	// example. An https URL without a slash at the end. Default: the API's own.
	PublicURL string
	// LogRetention is how long access logs are kept. Default: [props.OneMonth].
	LogRetention props.LogRetention
	// Key is a customer managed key of AWS KMS that encrypts the access logs. If the
	// app does not declare it, its policy has to let Amazon CloudWatch Logs use it.
	// Default: a key of AWS.
	Key awskms.IKey
}

// Limits of Amazon API Gateway, in bytes ("AWS::ApiGatewayV2::Api", and the names of
// domains in RFC 1035).
const (
	longestName        = 128
	longestDescription = 1024
	longestDomain      = 253
)

// MaximumAudiences limits the audiences of an API's JWT ("Quotas for configuring and running an HTTP API in API
// Gateway").
const MaximumAudiences = 50

// issuerURL is an https URL without query and fragment ("OpenID Connect Discovery
// 1.0", section 3).
var issuerURL = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^\s?#]*)?$`)

// publicURL is an https URL without query, fragment and a slash at its end.
var publicURL = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*$`)

// origin is what a browser sends as Origin (RFC 6454, section 7).
var origin = regexp.MustCompile(`^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)

var (
	// domainName matches what Amazon API Gateway takes, except wildcards, which would give
	// the API no address ("AWS::ApiGatewayV2::DomainName", CloudFormation reference).
	domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`)
	// certificateARN matches the ARN of a certificate ("Resources defined by AWS Certificate
	// Manager", service authorization reference).
	certificateARN = regexp.MustCompile(`^arn:aws[a-z-]*:acm:([a-z0-9-]+):[0-9]{12}:certificate/[A-Za-z0-9-]+$`)
)

// Validate returns a [finding.List] with all invalid props, or nil.
func (p Props) Validate() error {
	var f finding.List
	if p.Name == "" || len(p.Name) > longestName {
		f.Add("Props.Name", p.Name, "a name of up to 128 bytes", "name the API")
	}
	if len(p.Description) > longestDescription {
		f.Add("Props.Description", p.Description, "up to 1024 bytes", "shorten it")
	}
	if len(p.Routes) == 0 {
		f.Add("Props.Routes", p.Routes, "at least one route", "pass the routes of a schema.Platform")
	}
	f.AddAll(schema.ValidateRoutes(p.Routes), "", "Props.")
	for i, r := range p.Routes {
		if function := p.Functions[r.Function]; function == nil || function.Resource == nil {
			f.Add(fmt.Sprintf("Props.Routes[%d].Function", i), r.Function, "a key of Props.Functions",
				"declare the function, or correct the route")
		}
		name := r.Caller.Authorizer
		if _, ok := p.Authorizers[name]; name != "" && (!ok || p.Functions[name] == nil) {
			f.Add("Props.Routes["+r.Key()+"].Caller.Authorizer", name,
				"a key of Props.Authorizers and of Props.Functions",
				"declare the function, and say how it lets callers in")
		}
	}
	p.JWT.Check(&f, "Props.JWT.Issuer", "Props.JWT.Audience")
	p.UserJWT.Check(&f, "Props.UserJWT.Issuer", "Props.UserJWT.Audience")
	p.checkOpen(&f)
	CheckOrigins(&f, "Props.AllowedOrigins", p.AllowedOrigins)
	p.Throttle.Check(&f, "Props.Throttle")
	for _, name := range slices.Sorted(maps.Keys(p.Throttles)) {
		p.Throttles[name].Check(&f, fmt.Sprintf("Props.Throttles[%q]", name))
	}
	CheckRouteThrottles(&f, "Props.RouteThrottles", p.RouteThrottles, p.Routes)
	p.Domain.Check(&f, "Props.Domain.Name", "Props.Domain.CertificateARN", "Props.Domain.Zone",
		"Props.Domain.KeepDefaultEndpoint", "Props.Domain.TrustStore", "Props.Domain.BasePath", "Props.Domain.Shared",
		"")
	CheckPublicURL(&f, "Props.PublicURL", p.PublicURL)
	p.LogRetention.Check(&f, "Props.LogRetention")
	key.Check(&f, "Props.Key", p.Key, "")
	return f.Err()
}

// checkOpen adds a finding for each route that would be open without its name in
// OpenRoutes, and for each name there that opens nothing.
func (p Props) checkOpen(f *finding.List) {
	for i, key := range p.OpenRoutes {
		at := slices.IndexFunc(p.Routes, func(r schema.Route) bool { return r.Key() == key })
		if path := fmt.Sprintf("Props.OpenRoutes[%d]", i); at < 0 || !p.Routes[at].Caller.Authenticated() {
			f.Add(path, key, "method and path of one of the routes whose callers show a token",
				"leave it out: other routes need no token")
		} else {
			f.Once("Props.OpenRoutes", p.OpenRoutes, i, "route")
		}
	}
	for _, r := range p.Routes {
		if r.Caller.Authenticated() && p.jwtOf(r).Issuer == "" && !slices.Contains(p.OpenRoutes, r.Key()) {
			f.Add("Props.Routes["+r.Key()+"].Caller", r.Caller.Name,
				"a caller who needs no token, while Props.JWT has no issuer",
				"set Props.JWT; only if the function checks callers itself, or anyone may call the route, add it to "+
					"Props.OpenRoutes")
		}
	}
}

// jwtOf says whose tokens the API takes on the route.
func (p Props) jwtOf(r schema.Route) JWT {
	if r.Caller.Token == schema.TokenOfUser && p.UserJWT.Issuer != "" {
		return p.UserJWT
	}
	return p.JWT
}

// takesToken reports whether the API requires a token on the route.
func (p Props) takesToken(r schema.Route) bool {
	return p.jwtOf(r).Issuer != "" && r.Caller.Authenticated() && !slices.Contains(p.OpenRoutes, r.Key())
}

// Check adds a finding for each value that is invalid. issuer and audience are the paths of the fields.
func (j JWT) Check(f *finding.List, issuer, audience string) {
	switch {
	case j.Issuer == "" && len(j.Audience) > 0:
		f.Add(audience, j.Audience, "empty without an issuer", "set the issuer, or leave both empty")
	case j.Issuer == "":
		return
	case len(j.Audience) == 0:
		f.Add(audience, j.Audience, "at least one audience with an issuer",
			`name what tokens for this API have as "aud"`)
	}
	if len(j.Audience) > MaximumAudiences {
		f.Add(audience, fmt.Sprintf("%d audiences", len(j.Audience)), "at most 50", "let several callers share one")
	}
	for i, a := range j.Audience {
		if a == "" {
			f.Add(fmt.Sprintf("%s[%d]", audience, i), a, "an audience", "fill it in, or leave it out")
		}
		f.Once(audience, j.Audience, i, "audience")
	}
	if j.Issuer != "" && !issuerURL.MatchString(j.Issuer) && !props.IsToken(j.Issuer) {
		f.Add(issuer, j.Issuer, "an https URL", `copy "issuer" from the issuer's /.well-known/openid-configuration`)
	}
}

// Check adds a finding for each value that is invalid. The zero value is valid.
func (t Throttle) Check(f *finding.List, path string) {
	if t == (Throttle{}) {
		return
	}
	if t.RequestsPerSecond < 1 || t.RequestsPerSecond > props.LargestNumber {
		f.Add(path+".RequestsPerSecond", t.RequestsPerSecond, "1 to 2147483647",
			"leave the whole throttle out for the default")
	}
	if t.Burst < 1 || t.Burst > props.LargestNumber {
		f.Add(path+".Burst", t.Burst, "1 to 2147483647", "leave the whole throttle out for the default")
	}
}

// within returns the lower of both limits. The zero value, no limit, stays zero.
func (t Throttle) within(other Throttle) Throttle {
	return Throttle{RequestsPerSecond: min(t.RequestsPerSecond, other.RequestsPerSecond),
		Burst: min(t.Burst, other.Burst)}
}

// CheckRouteThrottles adds a finding for each throttle that is invalid, and for each whose key names no route.
func CheckRouteThrottles(f *finding.List, path string, throttles map[string]Throttle, routes []schema.Route) {
	for _, route := range slices.Sorted(maps.Keys(throttles)) {
		one := fmt.Sprintf("%s[%q]", path, route)
		if !slices.ContainsFunc(routes, func(r schema.Route) bool { return r.Key() == route }) {
			f.Add(one, route, "method and path of one of the routes", `write it as in "GET /openapi.json"`)
		}
		throttles[route].Check(f, one)
	}
}

// CheckPublicURL adds a finding at path if callers cannot use the address; "" is the default.
func CheckPublicURL(f *finding.List, path, address string) {
	if address != "" && !publicURL.MatchString(address) && !props.IsToken(address) {
		f.Add(path, address, "an https URL without a slash at the end", `write it as in "https://api.example.com"`)
	}
}

// CheckOrigins adds a finding for each origin that no browser would send.
func CheckOrigins(f *finding.List, path string, origins []string) {
	for i, o := range origins {
		f.Once(path, origins, i, "origin")
		if o != "*" && !origin.MatchString(o) && !props.IsToken(o) {
			f.Add(fmt.Sprintf("%s[%d]", path, i), o, `"*" or a scheme and host, such as "https://example.com"`,
				"leave out the path and the trailing slash")
		}
	}
}

// API is an API Gateway HTTP API.
type API struct {
	constructs.Construct
	props.Location
	// Resource is the API. Pages may use the methods of Routes, and no others on routes
	// that are added.
	Resource awsapigatewayv2.HttpApi
	// Stage is its only stage, $default, which deploys by itself.
	Stage awsapigatewayv2.HttpStage
	// Routes are in the order of the props.
	Routes []awsapigatewayv2.HttpRoute
	// Authorizer checks tokens. Pass it with routes that you add to Resource, which
	// anyone may call otherwise. It is nil without JWT.
	Authorizer awsapigatewayv2.IHttpRouteAuthorizer
	// UserAuthorizer checks the tokens of users. It is Authorizer without UserJWT.
	UserAuthorizer awsapigatewayv2.IHttpRouteAuthorizer
	// AccessLogs receive one JSON object per request, in the log group
	// /aws/vendedlogs/<stack>/<its logical id>.
	AccessLogs awslogs.LogGroup
	// Domain is the API's own domain name, or nil, also if it shares that of another API. A DNS record has to point to
	// its regional domain name.
	Domain awsapigatewayv2.DomainName

	// byFunction are the authorizers that ask a function, by its name.
	byFunction map[string]awsapigatewayv2.IHttpRouteAuthorizer
	url        string
}

// accessLogFields say who called what, how it ended, and where the time went ("Customize HTTP API
// access logs", API Gateway developer guide). Of the caller they have only the address. They have
// no header and no body. They have the route's key instead of the path, which may contain a
// capability. Each value is in quotes, because API Gateway writes a hyphen, which is not JSON, for
// a value that a request lacks. So the error is message, which has no quotes, and not
// messageString, which brings its own.
var accessLogFields = map[string]string{
	"requestId":          "$context.requestId",
	"requestTime":        "$context.requestTime",
	"sourceIp":           "$context.identity.sourceIp",
	"httpMethod":         "$context.httpMethod",
	"routeKey":           "$context.routeKey",
	"protocol":           "$context.protocol",
	"status":             "$context.status",
	"responseLength":     "$context.responseLength",
	"responseLatency":    "$context.responseLatency",
	"integrationLatency": "$context.integrationLatency",
	"integrationStatus":  "$context.integrationStatus",
	"integrationError":   "$context.integrationErrorMessage",
	"authorizerError":    "$context.authorizer.error",
	"error":              "$context.error.message",
}

// New declares an API. It ends the program, by [props.Fatal], with the error of
// [Props.Validate] before it declares anything.
func New(scope constructs.Construct, id string, p Props) *API {
	location := props.Accept("httpapi", scope, id, p.Validate())
	a := &API{Location: location}
	constructs.NewConstruct_Override(a, scope, &id)
	a.Resource = awsapigatewayv2.NewHttpApi(a, jsii.String("Resource"), &awsapigatewayv2.HttpApiProps{
		ApiName:                   &p.Name,
		Description:               props.Optional(p.Description),
		CreateDefaultStage:        jsii.Bool(false),
		CorsPreflight:             p.cors(),
		DisableExecuteApiEndpoint: props.Optional(p.Domain.isSet() && !p.Domain.KeepDefaultEndpoint),
	})
	a.addRoutes(p)
	a.addMetadata(p)
	a.addStage(p)
	if p.Domain.isSet() {
		a.addDomain(p.Domain)
	} else {
		a.url = *a.Resource.ApiEndpoint()
	}
	a.url = cmp.Or(p.PublicURL, a.url)
	return a
}

func (p Props) cors() *awsapigatewayv2.CorsPreflightOptions {
	origins := p.AllowedOrigins
	if len(origins) == 0 {
		origins = []string{"*"}
	}
	used := map[string]bool{"OPTIONS": true}
	for _, r := range p.Routes {
		used[r.Method] = true
	}
	methods := props.Map(slices.Sorted(maps.Keys(used)),
		func(m string) awsapigatewayv2.CorsHttpMethod { return awsapigatewayv2.CorsHttpMethod(m) })
	return &awsapigatewayv2.CorsPreflightOptions{
		AllowOrigins:  jsii.Strings(origins...),
		AllowMethods:  &methods,
		AllowHeaders:  jsii.Strings(p.allowedHeaders()...),
		ExposeHeaders: jsii.Strings(p.ExposedHeaders...),
		MaxAge:        awscdk.Duration_Seconds(jsii.Number(preflightAge.Seconds())),
	}
}

// allowedHeaders are those of the props, and those by which authorizers know callers.
func (p Props) allowedHeaders() []string {
	headers := slices.Clone(p.AllowedHeaders)
	for _, name := range slices.Sorted(maps.Keys(p.Authorizers)) {
		for _, source := range p.Authorizers[name].Identity {
			header, ok := strings.CutPrefix(source, "$request.header.")
			if ok && !slices.ContainsFunc(headers, func(h string) bool { return strings.EqualFold(h, header) }) {
				headers = append(headers, header)
			}
		}
	}
	return headers
}

// addMetadata writes the routes of the schema into the template's metadata.
func (a *API) addMetadata(p Props) {
	props.AddMetadata(a, map[string]any{"api": props.LogicalID(a, a.Resource.Node().DefaultChild().(awscdk.CfnElement)),
		"routes": props.Map(p.Routes, schema.Route.Key)})
}

func (a *API) addRoutes(p Props) {
	a.Authorizer = authorizer("Authorizer", p.JWT)
	a.UserAuthorizer = cmp.Or(authorizer("UserAuthorizer", p.UserJWT), a.Authorizer)
	a.byFunction = map[string]awsapigatewayv2.IHttpRouteAuthorizer{}
	integrations := map[string]awsapigatewayv2.HttpRouteIntegration{}
	for _, r := range p.Routes {
		if integrations[r.Function] == nil {
			integrations[r.Function] = a.integration(r.Function, p.Functions[r.Function].Resource)
		}
		route := &awsapigatewayv2.HttpRouteProps{
			HttpApi:     a.Resource,
			Integration: integrations[r.Function],
			RouteKey:    awsapigatewayv2.HttpRouteKey_With(&r.Path, awsapigatewayv2.HttpMethod(r.Method)),
		}
		switch {
		case r.Caller.IAM:
			route.Authorizer = awsapigatewayv2authorizers.NewHttpIamAuthorizer()
		case r.Caller.Authorizer != "":
			route.Authorizer = a.authorizedBy(r.Caller.Authorizer, p)
		case p.takesToken(r):
			route.Authorizer = a.Authorizer
			if r.Caller.Token == schema.TokenOfUser {
				route.Authorizer = a.UserAuthorizer
			}
			if r.Caller.Scope != "" {
				route.AuthorizationScopes = jsii.Strings(r.Caller.Scope)
			}
		}
		a.Routes = append(a.Routes, awsapigatewayv2.NewHttpRoute(a, jsii.String(r.Key()), route))
	}
}

// integration returns the integration of a function, which lets the API invoke it.
func (a *API) integration(name string, function awslambda.IFunction) awsapigatewayv2.HttpRouteIntegration {
	invoker := awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil)
	function.AddPermission(jsii.String("Invoke-"+name), &awslambda.Permission{Scope: a, Principal: invoker,
		SourceArn: awscdk.Stack_Of(a).FormatArn(&awscdk.ArnComponents{Service: jsii.String("execute-api"),
			Resource: a.Resource.ApiId(), ResourceName: jsii.String("*")})})
	// To the CDK the function has its permission. Its own would go with the first route, and have the stack's name.
	permitted := awslambda.Function_FromFunctionAttributes(a, jsii.String("Invoked-"+name),
		&awslambda.FunctionAttributes{FunctionArn: function.FunctionArn(), SameEnvironment: jsii.Bool(false),
			SkipPermissions: jsii.Bool(true)})
	return awsapigatewayv2integrations.NewHttpLambdaIntegration(jsii.String("Integration-"+name), permitted, nil)
}

// authorizedBy returns the authorizer that asks a function. Amazon API Gateway may invoke the function for this
// authorizer alone.
func (a *API) authorizedBy(name string, p Props) awsapigatewayv2.IHttpRouteAuthorizer {
	if known := a.byFunction[name]; known != nil {
		return known
	}
	// The CDK's HttpLambdaAuthorizer has payload format 1.0 for policies.
	function, asks, id := p.Functions[name].Resource, p.Authorizers[name], "Authorizer-"+name
	stack := awscdk.Stack_Of(a)
	own := awsapigatewayv2.NewHttpAuthorizer(a, &id, &awsapigatewayv2.HttpAuthorizerProps{
		HttpApi: a.Resource, Type: awsapigatewayv2.HttpAuthorizerType_LAMBDA, AuthorizerName: &name,
		IdentitySource: jsii.Strings(asks.Identity...),
		AuthorizerUri: jsii.String(fmt.Sprintf("arn:%s:apigateway:%s:lambda:path/2015-03-31/functions/%s/invocations",
			*stack.Partition(), *stack.Region(), *function.FunctionArn())),
		PayloadFormatVersion:  awsapigatewayv2.AuthorizerPayloadVersion_VERSION_2_0,
		EnableSimpleResponses: jsii.Bool(!asks.Policies),
		ResultsCacheTtl:       awscdk.Duration_Seconds(jsii.Number(asks.CacheFor.Seconds())),
	})
	function.AddPermission(jsii.String("Permission-"+name), &awslambda.Permission{
		Scope: a, Principal: awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil),
		SourceArn: stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("execute-api"),
			Resource: a.Resource.ApiId(), ResourceName: jsii.String("authorizers/" + *own.AuthorizerId())}),
	})
	a.byFunction[name] = awsapigatewayv2.HttpAuthorizer_FromHttpAuthorizerAttributes(a, jsii.String("Authorized-"+name),
		&awsapigatewayv2.HttpAuthorizerAttributes{AuthorizerId: own.AuthorizerId(),
			AuthorizerType: jsii.String("CUSTOM")})
	return a.byFunction[name]
}

// authorizer returns an authorizer that takes these tokens, or nil if they are no one's. An API has it
// as soon as a route does.
func authorizer(id string, of JWT) awsapigatewayv2.IHttpRouteAuthorizer {
	if of.Issuer == "" {
		return nil
	}
	return awsapigatewayv2authorizers.NewHttpJwtAuthorizer(&id, &of.Issuer,
		&awsapigatewayv2authorizers.HttpJwtAuthorizerProps{JwtAudience: jsii.Strings(of.Audience...)})
}

func (a *API) addStage(p Props) {
	a.AccessLogs = awslogs.NewLogGroup(a, jsii.String("AccessLogs"), &awslogs.LogGroupProps{
		Retention:     p.LogRetention.Days(),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		EncryptionKey: p.Key,
	})
	// Under other names each log group takes a place in the account's resource policy of
	// Amazon CloudWatch Logs. When the policy is full, the next API cannot be deployed ("AWS
	// services that publish logs to CloudWatch Logs": log group resource policy size limit).
	// The logical id is in the name, so that no log group has the name of one that it replaces.
	group := a.AccessLogs.Node().DefaultChild().(awslogs.CfnLogGroup)
	group.SetLogGroupName(jsii.String("/aws/vendedlogs/" + *awscdk.Aws_STACK_NAME() + "/" + *group.LogicalId()))
	key.AllowLogs(a, p.Key)
	throttle := cmp.Or(p.Throttle, defaultThrottle)
	a.Stage = awsapigatewayv2.NewHttpStage(a, jsii.String("Stage"), &awsapigatewayv2.HttpStageProps{
		HttpApi:    a.Resource,
		AutoDeploy: jsii.Bool(true),
		Throttle: &awsapigatewayv2.ThrottleSettings{
			RateLimit:  jsii.Number(throttle.RequestsPerSecond),
			BurstLimit: jsii.Number(throttle.Burst),
		},
	})
	format, err := json.Marshal(accessLogFields)
	if err != nil {
		panic(fmt.Errorf("httpapi: encoding the access log format: %w", err))
	}
	stage := a.Stage.Node().DefaultChild().(awsapigatewayv2.CfnStage)
	stage.SetAccessLogSettings(&awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
		DestinationArn: a.AccessLogs.LogGroupArn(),
		Format:         jsii.String(string(format)),
	})
	settings := map[string]any{}
	for i, r := range p.Routes {
		t := cmp.Or(p.RouteThrottles[r.Key()], p.Throttles[r.RateLimit].within(throttle))
		if t != (Throttle{}) {
			settings[r.Key()] = map[string]any{
				"ThrottlingRateLimit":  t.RequestsPerSecond,
				"ThrottlingBurstLimit": t.Burst,
			}
			// The stage refuses settings of a route that is not there yet.
			a.Stage.Node().AddDependency(a.Routes[i])
		}
	}
	if len(settings) > 0 {
		stage.SetRouteSettings(settings)
	}
}

// URL returns the address that callers use, without a slash at the end: Props.PublicURL, or the API's own, with its
// domain name and base path if it has one.
func (a *API) URL() string { return a.url }
