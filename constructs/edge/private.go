package edge

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// EntryProps describe an [Entry].
type EntryProps struct {
	// Origin is the API. Its certificate is in the region of the stack. Required.
	Origin Origin
	// Endpoints are the interface endpoints of execute-api from which the API can be called. Required.
	Endpoints []awsec2.IVpcEndpoint
	// DomainName is what clients call, such as "tasks.internal.example.com", and the platform's PublicURL names: a
	// private domain name ("Custom domain names for private APIs in API Gateway"). A DNS record in the VPC has to point
	// to the endpoint. Default: none. Clients then call the endpoint's address with /live before the path, where a page
	// cannot be: its files name each other by whole paths.
	DomainName string
	// CertificateARN is its certificate of AWS Certificate Manager, in the region of the stack. Required with
	// DomainName.
	CertificateARN string
	// AccessLogs writes one JSON object per request into a log group. A role of the account and region has to let API
	// Gateway write logs ("Set up CloudWatch logging for REST APIs in API Gateway"). Default: there is no log but the
	// platform's own, in which requests come from API Gateway's addresses.
	AccessLogs bool
	// LogRetention is how long access logs are kept. Default: [props.OneMonth].
	LogRetention props.LogRetention
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
	httpapi.Domain{Name: p.DomainName, CertificateARN: p.CertificateARN}.Check(&f, "Props.DomainName",
		"Props.CertificateARN", "", "", "", "", "", region)
	p.LogRetention.Check(&f, "Props.LogRetention")
	if !p.AccessLogs && p.LogRetention != 0 {
		f.Add("Props.LogRetention", p.LogRetention, "0 without AccessLogs", "set both, or leave both out")
	}
	return f.Err()
}

// Entry is the way to an API from VPCs alone: a private REST API of Amazon API Gateway, which passes every request on.
type Entry struct {
	constructs.Construct
	// Resource is the REST API. Its stage is named live: without a DomainName, a client calls its address with /live
	// before the path.
	Resource awsapigateway.RestApi
	// Domain is nil without EntryProps.DomainName.
	Domain awsapigateway.CfnDomainNameV2
	// AccessLogs is nil without EntryProps.AccessLogs.
	AccessLogs awslogs.LogGroup
}

// NewEntry declares an entry. It ends the program, by [props.Fatal], with the error of [EntryProps.Validate], before
// it declares anything.
func NewEntry(scope constructs.Construct, id string, p EntryProps) *Entry {
	props.Accept("entry", scope, id, p.validate(props.Region(scope)))
	e := &Entry{}
	constructs.NewConstruct_Override(e, scope, &id)
	endpoints := props.Map(p.Endpoints, awsec2.IVpcEndpoint.VpcEndpointId)
	stage := &awsapigateway.StageOptions{StageName: jsii.String("live"),
		ClientCertificateId: &p.Origin.ClientCertificateARN}
	if p.AccessLogs {
		e.AccessLogs = awslogs.NewLogGroup(e, jsii.String("AccessLogs"), &awslogs.LogGroupProps{
			Retention: p.LogRetention.Days(), RemovalPolicy: awscdk.RemovalPolicy_DESTROY})
		stage.AccessLogDestination = awsapigateway.NewLogGroupLogDestination(e.AccessLogs)
		stage.AccessLogFormat = awsapigateway.AccessLogFormat_Custom(jsii.String(accessLogFormat))
	}
	e.Resource = awsapigateway.NewRestApi(e, jsii.String("Resource"), &awsapigateway.RestApiProps{
		RestApiName: &p.Origin.DomainName, Description: jsii.String("From VPCs alone"),
		EndpointConfiguration: &awsapigateway.EndpointConfiguration{
			Types: &[]awsapigateway.EndpointType{awsapigateway.EndpointType_PRIVATE}, VpcEndpoints: &p.Endpoints},
		CloudWatchRole: jsii.Bool(false),
		DeployOptions:  stage,
		// API Gateway takes other bodies for text, and would spoil what is compressed ("Content type conversions in API
		// Gateway").
		BinaryMediaTypes: jsii.Strings("*/*"),
		Policy:           allowFrom(endpoints, "execute-api:/live/*"),
	})
	if p.DomainName != "" {
		e.addDomain(p, endpoints)
	}
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

// accessLogFormat has what the platform's access log has of a request, and the endpoint that it came by.
const accessLogFormat = `{"requestId":"$context.requestId","requestTime":"$context.requestTime",` +
	`"sourceIp":"$context.identity.sourceIp","endpoint":"$context.identity.vpceId",` +
	`"httpMethod":"$context.httpMethod","protocol":"$context.protocol","status":"$context.status",` +
	`"responseLength":"$context.responseLength","responseLatency":"$context.responseLatency",` +
	`"integrationLatency":"$context.integrationLatency","integrationStatus":"$context.integrationStatus"}`

// allowFrom returns the policy that lets anyone in the VPCs of the endpoints call: the API asks for tokens.
func allowFrom(endpoints []*string, resource string) awsiam.PolicyDocument {
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()},
			Actions:    jsii.Strings("execute-api:Invoke"), Resources: jsii.Strings(resource),
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceVpce": endpoints}},
		})}})
}

// addDomain declares the private domain name, lets the endpoints use it, and maps the stage to its root ("Create a
// custom domain name for private APIs using CloudFormation").
func (e *Entry) addDomain(p EntryProps, endpoints []*string) {
	e.Domain = awsapigateway.NewCfnDomainNameV2(e, jsii.String("Domain"), &awsapigateway.CfnDomainNameV2Props{
		DomainName: &p.DomainName, CertificateArn: &p.CertificateARN, SecurityPolicy: jsii.String("TLS_1_2"),
		EndpointConfiguration: &awsapigateway.CfnDomainNameV2_EndpointConfigurationProperty{
			Types: jsii.Strings("PRIVATE")},
		Policy: allowFrom(endpoints, "execute-api:/*"),
	})
	stage := e.Resource.DeploymentStage()
	awsapigateway.NewCfnBasePathMappingV2(e, jsii.String("Mapping"), &awsapigateway.CfnBasePathMappingV2Props{
		DomainNameArn: e.Domain.AttrDomainNameArn(), RestApiId: e.Resource.RestApiId(), Stage: stage.StageName(),
	}).Node().AddDependency(stage)
	for i, endpoint := range endpoints {
		awsapigateway.NewCfnDomainNameAccessAssociation(e, jsii.String(fmt.Sprintf("Access%d", i+1)),
			&awsapigateway.CfnDomainNameAccessAssociationProps{AccessAssociationSource: endpoint,
				AccessAssociationSourceType: jsii.String("VPCE"), DomainNameArn: e.Domain.AttrDomainNameArn()})
	}
}

// MetricServerErrors is how many requests failed: a sum over five minutes unless options say otherwise; options may be
// nil.
func (e *Entry) MetricServerErrors(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return e.Resource.MetricServerError(options)
}
