package httpapi_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsacmpca"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// audiences are the paths of the audiences from one to another.
func audiences(from, to int) []string {
	var paths []string
	for i := from; i <= to; i++ {
		paths = append(paths, fmt.Sprintf("Props.JWT.Audience[%d]", i))
	}
	return paths
}

// domainName, certificate and hostedZone have only what the checks of props look at.
type domainName struct{ awsapigatewayv2.IDomainName }

type certificate struct {
	awscertificatemanager.ICertificate
}

func (certificate) Node() constructs.Node { return nil }

// privateCertificate is a certificate of AWS Private CA that an app declares.
func privateCertificate() awscertificatemanager.ICertificate {
	stack := awscdk.NewStack(nil, jsii.String("stack"), nil)
	authority := awsacmpca.CertificateAuthority_FromCertificateAuthorityArn(stack, jsii.String("Authority"),
		jsii.String("arn:aws:acm-pca:eu-west-1:123456789012:certificate-authority/1a-2b"))
	return awscertificatemanager.NewPrivateCertificate(stack, jsii.String("Certificate"),
		&awscertificatemanager.PrivateCertificateProps{DomainName: jsii.String("api.example.com"),
			CertificateAuthority: authority})
}

type hostedZone struct {
	awsroute53.IHostedZone
	name string
}

func (z hostedZone) ZoneName() *string { return &z.name }

func zone(name string) hostedZone { return hostedZone{name: name} }

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	// right returns valid props after a change.
	right := func(change func(*httpapi.Props)) httpapi.Props {
		p := httpapi.Props{
			Name:      "API",
			Routes:    []schema.Route{{Method: "GET", Path: "/", Function: "root", Caller: schema.CallerAnyone}},
			Functions: map[string]*gofunction.Function{"root": {Resource: struct{ awslambda.Function }{}}},
		}
		change(&p)
		return p
	}
	agent, person := schema.Caller{Name: "agent", Token: schema.TokenOfProgram},
		schema.Caller{Name: "person", Header: "X-Fingerprint"}
	of := func(caller schema.Caller, path string) schema.Route {
		return schema.Route{Method: "GET", Path: path, Function: "root", Caller: caller}
	}
	synthtest.Validate(t, map[string]synthtest.Case[httpapi.Props]{
		"OK": {right(func(*httpapi.Props) {}), nil},
		"JWT": {right(func(p *httpapi.Props) {
			p.JWT = httpapi.JWT{Issuer: "https://a.example/pool", Audience: []string{"b"}}
			p.Routes = append(p.Routes, of(agent, "/agent"), of(schema.CallerUser, "/user"))
			p.OpenRoutes = []string{"GET /agent"}
		}), nil},
		"Open": {right(func(p *httpapi.Props) {
			p.Routes = append(p.Routes, of(agent, "/agent"), of(person, "/person"))
			p.OpenRoutes = []string{"GET /agent"}
		}), nil},
		"ErrForgottenAuthorizer": {right(func(p *httpapi.Props) {
			p.Routes = append(p.Routes, of(agent, "/agent"), of(schema.CallerUser, "/user"),
				of(schema.CallerUser, "/open"))
			p.OpenRoutes = []string{"GET /open"}
		}), []string{"Props.Routes[GET /agent].Caller", "Props.Routes[GET /user].Caller"}},
		"Authorizers": {right(func(p *httpapi.Props) {
			p.Functions["gate"] = p.Functions["root"]
			p.Authorizers = map[string]schema.OnAuthorize{"gate": {}}
			p.Routes = append(p.Routes, of(schema.Caller{Name: "partner", Authorizer: "gate"}, "/partner"),
				of(schema.Caller{Name: "service", IAM: true}, "/service"))
		}), nil},
		"ErrAuthorizer": {right(func(p *httpapi.Props) {
			p.Authorizers = map[string]schema.OnAuthorize{"gate": {}}
			p.Routes = append(p.Routes, of(schema.Caller{Name: "partner", Authorizer: "gate"}, "/partner"),
				of(schema.Caller{Name: "other", Authorizer: "door"}, "/other"))
		}), []string{"Props.Routes[GET /partner].Caller.Authorizer", "Props.Routes[GET /other].Caller.Authorizer"}},
		"ErrOpenRoutes": {right(func(p *httpapi.Props) {
			p.Routes = append(p.Routes, of(schema.CallerUser, "/user"))
			p.OpenRoutes = []string{"GET /user", "GET /", "GET /none", "GET /user"}
		}), []string{"Props.OpenRoutes[1]", "Props.OpenRoutes[2]", "Props.OpenRoutes[3]"}},
		"Origins": {right(func(p *httpapi.Props) {
			p.AllowedOrigins = []string{"https://a.example", "http://localhost:3000", "*"}
		}), nil},
		"ErrZero": {httpapi.Props{}, []string{"Props.Name", "Props.Routes"}},
		"ErrFunction": {right(func(p *httpapi.Props) {
			p.Routes = append(p.Routes, schema.Route{Method: "GET", Path: "/x", Function: "other",
				Caller: schema.CallerUser})
			p.OpenRoutes = []string{"GET /x"}
		}), []string{"Props.Routes[1].Function"}},
		// Mistakes that the CDK would find one by one, or AWS at the deployment.
		"ErrRoutes": {right(func(p *httpapi.Props) {
			p.Routes = append(p.Routes,
				schema.Route{Method: "GET", Path: "/", Function: "root", Caller: schema.CallerAnyone},
				schema.Route{Method: "get", Path: "a/{b", Function: "root", Caller: schema.CallerAnyone},
				schema.Route{Method: "PUT", Path: "/b", Function: "nobody"},
			)
		}), []string{
			"Props.Routes[1]", "Props.Routes[get a/{b].Method", "Props.Routes[get a/{b].Path",
			"Props.Routes[get a/{b].Path", "Props.Routes[PUT /b].Caller", "Props.Routes[3].Function",
		}},
		"ErrPaths": {right(func(p *httpapi.Props) {
			for _, path := range []string{"/a/{rest+}/b", "/ä", "/a b", "/a:b/{rest+}"} {
				p.Routes = append(p.Routes, schema.Route{Method: "GET", Path: path, Function: "root",
					Caller: schema.CallerAnyone})
			}
		}), []string{"Props.Routes[GET /a/{rest+}/b].Path", "Props.Routes[GET /ä].Path",
			"Props.Routes[GET /a b].Path"}},
		"ErrAudiences": {right(func(p *httpapi.Props) {
			p.JWT = httpapi.JWT{Issuer: "https://",
				Audience: append(slices.Repeat([]string{"a"}, 2), make([]string, 49)...)}
		}), slices.Concat([]string{"Props.JWT.Audience", "Props.JWT.Audience[1]"}, audiences(2, 50),
			[]string{"Props.JWT.Issuer"})},
		"ErrLong": {right(func(p *httpapi.Props) {
			p.Name, p.Description = strings.Repeat("n", 129), strings.Repeat("d", 1025)
			p.Domain = httpapi.Domain{Name: strings.Repeat("a.", 126) + "com",
				CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/1"}
		}), []string{"Props.Name", "Props.Description", "Props.Domain.Name"}},
		"ErrHuge": {right(func(p *httpapi.Props) {
			p.Throttle = httpapi.Throttle{RequestsPerSecond: math.MaxInt, Burst: math.MaxInt}
		}), []string{"Props.Throttle.RequestsPerSecond", "Props.Throttle.Burst"}},
		"ErrOriginTwice": {right(func(p *httpapi.Props) { p.AllowedOrigins = []string{"*", "*"} }),
			[]string{"Props.AllowedOrigins[1]"}},
		"ErrNotDeclared": {right(func(p *httpapi.Props) { p.Functions["root"] = &gofunction.Function{} }),
			[]string{"Props.Routes[0].Function"}},
		"ErrKey": {right(func(p *httpapi.Props) { p.Key = struct{ awskms.IAlias }{} }), []string{"Props.Key"}},
		"ErrJWT": {right(func(p *httpapi.Props) {
			p.JWT.Issuer = "a.example"
		}), []string{"Props.JWT.Audience", "Props.JWT.Issuer"}},
		"ErrAudienceAlone": {right(func(p *httpapi.Props) {
			p.JWT.Audience = []string{"b"}
		}), []string{"Props.JWT.Audience"}},
		"ErrOrigins": {right(func(p *httpapi.Props) {
			p.AllowedOrigins = []string{"https://a.example/path", "null", "https://*.example", ""}
		}), []string{"Props.AllowedOrigins[0]", "Props.AllowedOrigins[1]", "Props.AllowedOrigins[2]",
			"Props.AllowedOrigins[3]"}},
		"ErrThrottles": {right(func(p *httpapi.Props) {
			p.Throttle = httpapi.Throttle{Burst: 1}
			p.Throttles = map[string]httpapi.Throttle{"b": {RequestsPerSecond: 1}, "a": {Burst: -1}}
		}), []string{"Props.Throttle.RequestsPerSecond", `Props.Throttles["a"].RequestsPerSecond`,
			`Props.Throttles["a"].Burst`, `Props.Throttles["b"].Burst`}},
		"Domain": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com",
				CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/1a-2b", KeepDefaultEndpoint: true}
		}), nil},
		"TrustStore": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{},
				TrustStore: httpapi.TrustStore{URI: "s3://trust/authorities.pem", Version: "3"}}
		}), nil},
		"ErrTrustStoreURI": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{},
				TrustStore: httpapi.TrustStore{URI: "trust/authorities.pem"}}
		}), []string{"Props.Domain.TrustStore.URI"}},
		"ErrTrustStoreOfNoDomain": {right(func(p *httpapi.Props) {
			p.Domain.TrustStore = httpapi.TrustStore{URI: "s3://trust/authorities.pem"}
		}), []string{"Props.Domain.TrustStore"}},
		"ErrTrustStoreBypassed": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{}, KeepDefaultEndpoint: true,
				TrustStore: httpapi.TrustStore{URI: "s3://trust/authorities.pem"}}
		}), []string{"Props.Domain.TrustStore"}},
		"ErrTrustStoreVersion": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{},
				TrustStore: httpapi.TrustStore{Version: "3"}}
		}), []string{"Props.Domain.TrustStore.URI"}},
		"Ownership": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: privateCertificate(),
				TrustStore: httpapi.TrustStore{URI: "s3://trust/authorities.pem",
					OwnershipCertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/1a-2b"}}
		}), nil},
		"ErrNoOwnership": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: privateCertificate(),
				TrustStore: httpapi.TrustStore{URI: "s3://trust/authorities.pem"}}
		}), []string{"Props.Domain.TrustStore.OwnershipCertificateARN"}},
		"ErrOwnership": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{},
				TrustStore: httpapi.TrustStore{URI: "s3://trust/authorities.pem", OwnershipCertificateARN: "public"}}
		}), []string{"Props.Domain.TrustStore.OwnershipCertificateARN"}},
		"DomainByConstructs": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{}, Zone: zone("example.com")}
		}), nil},
		"ErrZone": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{}, Zone: zone("ample.com")}
		}), []string{"Props.Domain.Zone"}},
		"ErrCertificates": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{},
				CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/1"}
		}), []string{"Props.Domain.CertificateARN"}},
		"ErrConstructsOfNoDomain": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Certificate: certificate{}, Zone: zone("example.com")}
		}), []string{"Props.Domain.CertificateARN", "Props.Domain.Zone"}},
		"ErrNilConstructs": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: (*certificate)(nil),
				Zone: (*hostedZone)(nil)}
		}), []string{"Props.Domain.Zone", "Props.Domain.CertificateARN"}},
		"BasePath": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{}, BasePath: "team-1/v1.0"}
		}), nil},
		"ErrBasePathOfNoDomain": {right(func(p *httpapi.Props) { p.Domain.BasePath = "team" }),
			[]string{"Props.Domain.BasePath"}},
		"ErrBasePath": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{}, BasePath: "/team"}
		}), []string{"Props.Domain.BasePath"}},
		"ErrBasePathOfDots": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "api.example.com", Certificate: certificate{}, BasePath: "team/.."}
		}), []string{"Props.Domain.BasePath"}},
		"Shared": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Shared: domainName{}, BasePath: "team", KeepDefaultEndpoint: true}
		}), nil},
		"ErrShared": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Shared: (*domainName)(nil), Name: "api.example.com", Certificate: certificate{},
				Zone: zone("example.com"), TrustStore: httpapi.TrustStore{URI: "s3://trust/authorities.pem"}}
		}), []string{"Props.Domain.Shared", "Props.Domain.Name", "Props.Domain.CertificateARN", "Props.Domain.Zone",
			"Props.Domain.TrustStore"}},
		"DomainOfAnotherStack": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "${Token[TOKEN.7]}", CertificateARN: "${Token[TOKEN.8]}"}
		}), nil},
		"ErrNoCertificate": {right(func(p *httpapi.Props) {
			p.Domain.Name = "api.example.com"
		}), []string{"Props.Domain.CertificateARN"}},
		"ErrDomain": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{Name: "*.Example.com",
				CertificateARN: "arn:aws:iam::123456789012:server-certificate/a"}
		}), []string{"Props.Domain.Name", "Props.Domain.CertificateARN"}},
		"ErrNoDomain": {right(func(p *httpapi.Props) {
			p.Domain = httpapi.Domain{CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/1",
				KeepDefaultEndpoint: true}
		}), []string{"Props.Domain.CertificateARN", "Props.Domain.KeepDefaultEndpoint"}},
		"RouteThrottle": {right(func(p *httpapi.Props) {
			p.RouteThrottles = map[string]httpapi.Throttle{"GET /": {RequestsPerSecond: 1, Burst: 1}}
		}), nil},
		"ErrRouteThrottles": {right(func(p *httpapi.Props) {
			p.RouteThrottles = map[string]httpapi.Throttle{"GET /": {Burst: 1},
				"POST /": {RequestsPerSecond: 1, Burst: 1}}
		}), []string{`Props.RouteThrottles["GET /"].RequestsPerSecond`, `Props.RouteThrottles["POST /"]`}},
		"ErrRetention": {right(func(p *httpapi.Props) {
			p.LogRetention = 5
		}), []string{"Props.LogRetention"}},
	})
}
