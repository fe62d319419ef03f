package edge

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// EntryProps describe an [Entry].
type EntryProps struct {
	// Origin is the API. Its certificate is in the region of the stack. Required.
	Origin Origin
	// Endpoints are the interface endpoints of execute-api from which the API can be called. Required.
	Endpoints []awsec2.IVpcEndpoint
}

// Validate returns a [finding.List] with all invalid props, or nil. [NewEntry] also checks what depends on the stack's
// region.
func (p EntryProps) Validate() error { return p.validate("") }

func (p EntryProps) validate(region string) error {
	var f finding.List
	p.Origin.check(&f, region)
	if len(p.Endpoints) == 0 {
		f.Add("Props.Endpoints", 0, "at least one endpoint", "pass the VPC's interface endpoint of execute-api")
	}
	return f.Err()
}

// Entry is the way to an API from VPCs alone: a private REST API of Amazon API Gateway, which passes every request on.
type Entry struct {
	constructs.Construct
	// Resource is the REST API. Its stage is named live: a client calls its address with /live before the path.
	Resource awsapigateway.RestApi
}

// NewEntry declares an entry. It ends the program, by [props.Fatal], with the error of [EntryProps.Validate], before
// it declares anything.
func NewEntry(scope constructs.Construct, id string, p EntryProps) *Entry {
	props.Accept("entry", scope, id, p.validate(props.Region(scope)))
	e := &Entry{}
	constructs.NewConstruct_Override(e, scope, &id)
	endpoints := props.Map(p.Endpoints, awsec2.IVpcEndpoint.VpcEndpointId)
	e.Resource = awsapigateway.NewRestApi(e, jsii.String("Resource"), &awsapigateway.RestApiProps{
		RestApiName: &p.Origin.DomainName, Description: jsii.String("From VPCs alone"),
		EndpointConfiguration: &awsapigateway.EndpointConfiguration{
			Types: &[]awsapigateway.EndpointType{awsapigateway.EndpointType_PRIVATE}, VpcEndpoints: &p.Endpoints},
		CloudWatchRole: jsii.Bool(false),
		DeployOptions: &awsapigateway.StageOptions{StageName: jsii.String("live"),
			ClientCertificateId: &p.Origin.ClientCertificateARN},
		// Anyone in those VPCs: the API asks for tokens.
		Policy: awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
			awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()},
				Actions:    jsii.Strings("execute-api:Invoke"), Resources: jsii.Strings("execute-api:/live/*"),
				Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceVpce": endpoints}},
			})}}),
	})
	pass := func(path string, parameters map[string]*string) awsapigateway.Integration {
		return awsapigateway.NewHttpIntegration(jsii.String("https://"+p.Origin.DomainName+path),
			&awsapigateway.HttpIntegrationProps{HttpMethod: jsii.String("ANY"), Proxy: jsii.Bool(true),
				Options: &awsapigateway.IntegrationOptions{RequestParameters: &parameters}})
	}
	e.Resource.Root().AddMethod(jsii.String("ANY"), pass("/", nil), nil)
	e.Resource.Root().AddResource(jsii.String("{path+}"), nil).AddMethod(jsii.String("ANY"),
		pass("/{path}", map[string]*string{
			"integration.request.path.path": jsii.String("method.request.path.path")}),
		&awsapigateway.MethodOptions{RequestParameters: &map[string]*bool{"method.request.path.path": jsii.Bool(true)}})
	return e
}

// MetricServerErrors is how many requests failed: a sum over five minutes unless options say otherwise; options may be
// nil.
func (e *Entry) MetricServerErrors(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return e.Resource.MetricServerError(options)
}
