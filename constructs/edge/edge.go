// Package edge puts a firewall of AWS WAF, or an entry from VPCs alone, in front of a platform's API. An HTTP API of
// Amazon API Gateway cannot have these itself.
//
// Both call the API by its domain name, and show a certificate there. The platform's props name the authority of that
// certificate ([httpapi.TrustStore]). API Gateway refuses every other caller, so no one can go around them. A secret
// header would do the same, but templates and logs would show it.
package edge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/outputs"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

const (
	// global is where Amazon CloudFront finds certificates and web ACLs.
	global = "us-east-1"
	// The policies that AWS manages: nothing is cached, and all but the header Host is passed on ("Use managed cache
	// policies", "Use managed origin request policies").
	noCaching, allButHost = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad", "b689b0a8-53d0-40ab-baf2-68738e2966ac"
)

// Origin is the API that is called.
type Origin struct {
	// DomainName is the DomainName of the platform's props, which have a TrustStore. Required.
	DomainName string
	// ClientCertificateARN is the client certificate of AWS Certificate Manager to show there: issued by an authority
	// in the TrustStore, through AWS Private CA or imported. Required.
	ClientCertificateARN string
}

func (o Origin) check(f *finding.List, region string) {
	if o.DomainName == "" {
		f.Add("Props.Origin.DomainName", "", "the DomainName of the platform's props", "set both, and a TrustStore")
	}
	httpapi.Domain{Name: o.DomainName, CertificateARN: o.ClientCertificateARN}.Check(f, "Props.Origin.DomainName",
		"Props.Origin.ClientCertificateARN", "", "", "", "", "", region)
}

// FirewallProps describe a [Firewall].
type FirewallProps struct {
	// Origin is the API. Its certificate is in us-east-1. Required.
	Origin Origin
	// DomainName is what clients call, such as "api.example.com", and the platform's PublicURL names. Its DNS record
	// has to point to the output DistributionDomainName. Required.
	DomainName string
	// CertificateARN is its certificate of AWS Certificate Manager, in us-east-1. Required.
	CertificateARN string
	// RequestsPerAddress is how many requests of one address pass in five minutes. It replaces the platform's rate
	// limits of addresses, which then see Amazon CloudFront's addresses. Default: 2,000.
	RequestsPerAddress int `min:"10" max:"2000000000" default:"2,000"`
	// WebACLARN is a web ACL of your own, of the scope CLOUDFRONT. Default: one with the rules that AWS manages against
	// common attacks and known bad inputs, and with RequestsPerAddress.
	WebACLARN string
	// AlarmTopic is notified when the alarm goes off, and when it is over: a topic in us-east-1. Default: the alarm
	// notifies no one.
	AlarmTopic awssns.ITopic
	// LogRetention is how long access logs are kept. Default: [props.OneMonth].
	LogRetention props.LogRetention
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p FirewallProps) Validate() error {
	var f finding.List
	p.Origin.check(&f, global)
	if p.DomainName == "" {
		f.Add("Props.DomainName", "", "the name that clients call", `write it as in "api.example.com"`)
	}
	httpapi.Domain{Name: p.DomainName, CertificateARN: p.CertificateARN}.Check(&f, "Props.DomainName",
		"Props.CertificateARN", "", "", "", "", "", global)
	f.Limits("Props", p)
	props.CheckResource(&f, "Props.AlarmTopic", p.AlarmTopic, global)
	p.LogRetention.Check(&f, "Props.LogRetention")
	if p.WebACLARN != "" && p.RequestsPerAddress != 0 {
		f.Add("Props.RequestsPerAddress", p.RequestsPerAddress, "0 with a WebACLARN",
			"write the limit into that web ACL")
	}
	return f.Err()
}

// Firewall is a distribution of Amazon CloudFront with a web ACL of AWS WAF. It caches nothing.
type Firewall struct {
	constructs.Construct
	// Distribution passes requests on.
	Distribution awscloudfront.CfnDistribution
	// WebACL is nil with FirewallProps.WebACLARN.
	WebACL awswafv2.CfnWebACL
	// AccessLogs receive one JSON object per request, in the log group /aws/vendedlogs/<stack>/<its logical id>: where
	// it came from, how it ended, and how long it took. They have no path, no query, no header and no body.
	AccessLogs awslogs.LogGroup
	// Alarm goes off when 1 of 100 requests fails, such as when the certificate that it shows the API has expired.
	Alarm awscloudwatch.Alarm
}

// NewFirewall declares a firewall, in a stack of us-east-1; the platform may be in another region. Before it declares
// anything, it ends the program, by [props.Fatal], with the error of [FirewallProps.Validate], or if the stack is in
// another region.
func NewFirewall(scope constructs.Construct, id string, p FirewallProps) *Firewall {
	var wrong finding.List
	if region := props.Region(scope); region != global && region != "" && !props.IsToken(region) {
		wrong.Add("scope: Env.Region of the stack", region, global,
			"declare it in a stack of its own: Amazon CloudFront takes no web ACL of another region")
	}
	props.Accept("firewall", scope, id, p.Validate(), wrong.Err())
	f := &Firewall{}
	constructs.NewConstruct_Override(f, scope, &id)
	acl := &p.WebACLARN
	if p.WebACLARN == "" {
		f.WebACL = newWebACL(f, p.RequestsPerAddress)
		acl = f.WebACL.AttrArn()
	}
	f.Distribution = awscloudfront.NewCfnDistribution(f, jsii.String("Distribution"),
		&awscloudfront.CfnDistributionProps{
			DistributionConfig: &awscloudfront.CfnDistribution_DistributionConfigProperty{
				Enabled: true, Ipv6Enabled: true, HttpVersion: jsii.String("http2and3"), WebAclId: acl,
				Comment: jsii.String("Firewall of " + p.Origin.DomainName), Aliases: jsii.Strings(p.DomainName),
				ViewerCertificate: &awscloudfront.CfnDistribution_ViewerCertificateProperty{
					AcmCertificateArn: &p.CertificateARN, SslSupportMethod: jsii.String("sni-only"),
					MinimumProtocolVersion: jsii.String("TLSv1.2_2021"),
				},
				Origins: []any{&awscloudfront.CfnDistribution_OriginProperty{
					Id: jsii.String("API"), DomainName: &p.Origin.DomainName,
					CustomOriginConfig: &awscloudfront.CfnDistribution_CustomOriginConfigProperty{
						OriginProtocolPolicy: jsii.String("https-only"), OriginSslProtocols: jsii.Strings("TLSv1.2"),
						OriginMtlsConfig: &awscloudfront.CfnDistribution_OriginMtlsConfigProperty{
							ClientCertificateArn: &p.Origin.ClientCertificateARN},
					},
				}},
				DefaultCacheBehavior: &awscloudfront.CfnDistribution_DefaultCacheBehaviorProperty{
					TargetOriginId: jsii.String("API"), ViewerProtocolPolicy: jsii.String("https-only"),
					AllowedMethods: jsii.Strings("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"),
					CachePolicyId:  jsii.String(noCaching), OriginRequestPolicyId: jsii.String(allButHost),
				},
			},
		})
	f.addAccessLogs(p.LogRetention)
	f.Alarm = alarm.New(f, "ServerErrorAlarm", alarm.Props{Metric: f.MetricServerErrorRate(nil), Threshold: failing,
		Topic: p.AlarmTopic, Description: "Firewall of " + p.Origin.DomainName + ": 1 of 100 requests fails. " +
			"If the API's own alarm is quiet, look at the client certificate and at the API's domain name."})
	o := outputs.New(f, scope, id)
	o.Add("DistributionDomainName", "Where the DNS record of "+p.DomainName+" has to point to",
		f.Distribution.AttrDomainName())
	o.Add("DistributionId", "Id of the distribution", f.Distribution.AttrId())
	o.Add("AccessLogsName", "Log group of the access logs", f.AccessLogs.LogGroupName())
	return f
}

// failing is the percentage of failed requests at which the alarm goes off.
const failing = 1

// accessLogFields are what the access log has of a request ("Standard logging reference", log file fields). A path may
// contain a capability, and a query what people look for.
var accessLogFields = []string{"date", "time", "x-edge-request-id", "x-edge-location", "c-ip", "cs-method",
	"cs-protocol", "sc-status", "x-edge-result-type", "x-edge-detailed-result-type", "sc-bytes", "cs-bytes",
	"time-taken", "time-to-first-byte"}

// addAccessLogs declares the log group, and the delivery to it ("Configure standard logging (v2)"). Under its name,
// Amazon CloudWatch Logs lets the delivery in by itself.
func (f *Firewall) addAccessLogs(retention props.LogRetention) {
	f.AccessLogs = awslogs.NewLogGroup(f, jsii.String("AccessLogs"), &awslogs.LogGroupProps{
		Retention: retention.Days(), RemovalPolicy: awscdk.RemovalPolicy_DESTROY})
	group := f.AccessLogs.Node().DefaultChild().(awslogs.CfnLogGroup)
	group.SetLogGroupName(jsii.String("/aws/vendedlogs/" + *awscdk.Aws_STACK_NAME() + "/" + *group.LogicalId()))
	// Names of deliveries have 60 characters, and are unique in an account ("PutDeliverySource").
	sum := sha256.Sum256([]byte(*awscdk.Stack_Of(f).StackName() + "/" + *f.Node().Addr()))
	id := "firewall-" + hex.EncodeToString(sum[:8])
	source := awslogs.NewCfnDeliverySource(f, jsii.String("AccessLogSource"), &awslogs.CfnDeliverySourceProps{
		Name: &id, LogType: jsii.String("ACCESS_LOGS"), ResourceArn: jsii.String(fmt.Sprintf(
			"arn:%s:cloudfront::%s:distribution/%s", *awscdk.Aws_PARTITION(), *awscdk.Aws_ACCOUNT_ID(),
			*f.Distribution.AttrId()))})
	destination := awslogs.NewCfnDeliveryDestination(f, jsii.String("AccessLogDestination"),
		&awslogs.CfnDeliveryDestinationProps{Name: &id, OutputFormat: jsii.String("json"),
			DestinationResourceArn: f.AccessLogs.LogGroupArn()})
	delivery := awslogs.NewCfnDelivery(f, jsii.String("AccessLogDelivery"), &awslogs.CfnDeliveryProps{
		DeliverySourceName: &id, DeliveryDestinationArn: destination.AttrArn(),
		RecordFields: jsii.Strings(accessLogFields...)})
	delivery.AddDependency(source)
}

// MetricRequests is how many requests the distribution took: a sum over five minutes unless options say otherwise;
// options may be nil. Amazon CloudFront counts in us-east-1.
func (f *Firewall) MetricRequests(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return f.metric("Requests", "Sum", options)
}

// MetricServerErrorRate is the percentage of requests with a status from 500 up: an average over five minutes unless
// options say otherwise; options may be nil.
func (f *Firewall) MetricServerErrorRate(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return f.metric("5xxErrorRate", "Average", options)
}

func (f *Firewall) metric(name, statistic string, options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{Namespace: jsii.String("AWS/CloudFront"),
		MetricName: &name, Statistic: &statistic, Region: jsii.String(global),
		DimensionsMap: &map[string]*string{"DistributionId": f.Distribution.AttrId(), "Region": jsii.String("Global")},
	}).With(cmp.Or(options, &awscloudwatch.MetricOptions{}))
}
