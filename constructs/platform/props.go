package platform

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Props are the props that every platform has. A platform's own Props embed them, so that you set them in one way, in
// Go and in cdk.json:
//
//	type Props struct {
//		platform.Props
//		// Shards is a prop that only this platform has.
//		Shards int
//	}
//
// The zero value gives all of a platform with secure defaults.
type Props struct {
	// JWTIssuer is the OpenID Connect issuer of the callers' tokens, an https URL.
	// Default: an Amazon Cognito user pool that is part of the construct.
	JWTIssuer string
	// JWTAudience lists the accepted audiences of the callers' tokens. Required with JWTIssuer.
	JWTAudience []string

	// Own are functions and routes that you add to the platform. The construct declares, watches and limits them like
	// its own. Default: none.
	Own Own

	// Extra are attributes that you add to records of the platform, with indexes over them. The platform's own
	// functions keep them, and never change them. Default: none.
	Extra []schema.Extra

	// Events publishes the platform's domain events on a bus of Amazon EventBridge, from the streams of the tables:
	// docs/reference/events.md has the events. When you turn it on, it begins with the changes of the last 24 hours.
	// Default: off.
	Events bool

	// Prefix is the prefix of the physical names of the tables: "aah" gives "aah-questions". It also names the catalog
	// and the workgroup of a lake. Each name exists once in an account and region. Tables that have outlived their
	// stack keep their names: pass them as Tables.Existing, or import them. Allowed: 2 to 32 lower-case letters, digits
	// and hyphens; with a lake not "default" and "primary", which Amazon Athena uses itself. Default: AWS
	// CloudFormation makes names up; the lake's has a hash of the stack's name and of the construct's path.
	Prefix string
	// RemoveWithStack deletes tables, secrets, user pool and lake, and all that is in
	// them, with the stack; the bucket of a lake has to be empty then. It is meant for
	// development. Default: they outlive the stack.
	RemoveWithStack bool
	// DeletionProtection makes DynamoDB and Amazon Cognito refuse to delete tables
	// and user pool. Default: off.
	DeletionProtection bool
	// Tables are settings of DynamoDB beyond the data model, and existing tables to use instead of new ones, by logical
	// name such as "Questions". Default: new on-demand tables, which you can restore to any time of the last 35 days.
	Tables table.DatabaseOptions
	// Secrets are existing secrets to use instead of new ones, by the name in the platform's schema, such as the
	// replicas of another region's. Import them by their whole ARNs, with the key of AWS KMS that encrypts them, if it
	// is yours (Secret_FromSecretAttributes). Default: the construct makes them.
	Secrets map[string]awssecretsmanager.ISecret `json:"-"`
	// SecretReplicas replicates the construct's secrets to other regions: the ARN of the key that encrypts a replica,
	// of its region, by region; "" is a key of AWS, which is allowed only without Key. Outputs have the ARNs of the
	// secrets; those of replicas differ in the region alone. Default: none.
	SecretReplicas map[string]string
	// Standby makes the stack the standby of two regions. Its schedules, what reads the streams of its tables, and its
	// lakes are declared but off, so that each runs in one region alone: replicas have the streams of all writes. The
	// stack of the first region has Replicas of all tables, and SecretReplicas. That of the second has all tables as
	// Tables.Existing, all secrets as Secrets, and the first one's user pool or its issuer. At a failover, remove
	// Standby from this stack, and set it in the other one: docs/guide/regions.md says what is lost. Default: they are
	// on.
	Standby bool
	// Key is a customer managed key of AWS KMS, not an alias, that encrypts tables, secrets, queues, lake, logs and the
	// functions' variables. Roles may use it through the services that encrypt, and the role that deploys needs
	// kms:CreateGrant on it. The policy of a key that the app does not declare has to let Amazon CloudWatch Logs use it
	// ("Encrypt log data in CloudWatch Logs using AWS Key Management Service"). Default: keys of AWS.
	Key awskms.IKey `json:"-"`
	// VPC is the network that the functions run in. Its subnets need a way to all that the
	// functions call: Amazon DynamoDB and, as far as the platform has them, AWS Secrets
	// Manager, Amazon SQS, the S3 of a lake, and services outside of AWS. See
	// [gofunction.Props.Network] for what it costs in permissions. Default: outside of any
	// VPC.
	VPC awsec2.IVpc `json:"-"`
	// Subnets are the subnets of the VPC that the functions run in; not public ones. Default:
	// private ones with a way out.
	Subnets awsec2.SubnetSelection `json:"-"`
	// SecurityGroups control the functions' traffic: at most 5. Default: one for each
	// function that lets everything out and nothing in.
	SecurityGroups []awsec2.ISecurityGroup `json:"-"`

	// Architecture is the processor of the functions. Default: the Build's, or [gofunction.ARM64] without one.
	Architecture gofunction.Architecture
	// MemoryMegabytes is the memory of functions in MB, 128 to 10240, by the name that
	// the schema gives them, and of a lake's "writer" and "compactor". Processor time grows
	// with it. Default: 256, writer 512, compactor 1,024.
	MemoryMegabytes map[string]int
	// ReservedConcurrency limits how many invocations of a function run at once, and reserves as many of the account's
	// for the function, by the same names: 1 or more. Default: no limit and no reserve.
	ReservedConcurrency map[string]int
	// TimeoutSeconds ends an invocation of a function that takes longer, in seconds, by the same
	// names: 3 to 30 for a function of the API, 1 to 900 for others. Default: the platform's, or
	// else 10; writer 120, compactor 900.
	TimeoutSeconds map[string]int
	// AllowedOrigins are the web pages that may call the API from a browser, such
	// as "https://example.com". Default: "*", any page: see
	// [httpapi.Props.AllowedOrigins].
	AllowedOrigins []string
	// Throttle limits every route, for all callers together. Default: see [httpapi.Props.Throttle].
	Throttle httpapi.Throttle
	// RouteThrottles limit single routes instead, by method and path, such as "POST /agent/questions". Default:
	// Throttle, or the platform's own lower limit.
	RouteThrottles map[string]httpapi.Throttle
	// DomainName is the API's own domain name, such as "api.example.com"; its DNS record has to
	// point to the output ApiDomainTarget. Default: none, the API has the name that Amazon API
	// Gateway gives it.
	DomainName string
	// CertificateARN is the certificate of AWS Certificate Manager for DomainName, in
	// the region of the stack. Default: Certificate; one of them is required with
	// DomainName.
	CertificateARN string
	// Certificate is the certificate as a construct. Default: CertificateARN.
	Certificate awscertificatemanager.ICertificate `json:"-"`
	// HostedZone is the hosted zone of Amazon Route 53 in which DomainName gets records that point to the API. Default:
	// none; point your own record to the output ApiDomainTarget.
	HostedZone awsroute53.IHostedZone `json:"-"`
	// KeepDefaultEndpoint keeps the API reachable under the name that Amazon API Gateway gives it, too: see
	// [httpapi.Domain]. Default: with a DomainName it is not.
	KeepDefaultEndpoint bool
	// TrustStore makes callers of DomainName show a certificate, too: see [httpapi.TrustStore]. Default: none.
	TrustStore httpapi.TrustStore
	// BasePath is the first part of the API's paths at its domain name, such as "orders", so that several platforms can
	// share the name: see [httpapi.Domain]. A platform with a page cannot have one, because a page's files name each
	// other by whole paths. Default: none.
	BasePath string
	// SharedDomain is the domain name of another platform, by its API.Domain, instead of DomainName and what comes with
	// it. Default: none.
	SharedDomain awsapigatewayv2.IDomainName `json:"-"`

	// PublicURL is the address that people and programs use, if something stands before the API, such as a firewall or
	// an entry of package edge: an https URL such as "https://tasks.example.com". Sign-in pages send people back there,
	// and outputs and documents name it. With a page it has no path. Default: the API's own address.
	PublicURL string

	// LogLevel is "debug", "info", "warn" or "error". Default: "info".
	LogLevel string
	// LogRetention is how long logs are kept. Default: [props.OneMonth].
	LogRetention props.LogRetention
	// Tracing sends traces of the functions to AWS X-Ray: see
	// [gofunction.Props.Tracing] for what it costs in permissions. Default: off.
	Tracing bool
	// AlarmTopic is notified when an alarm goes off, and when it is over. If the topic has its own policy, that has to
	// let cloudwatch.amazonaws.com publish. If a key encrypts the topic, the key's policy has to let it use the key;
	// the construct sees to that for a key that the app declares. Default: the topic of AlarmTopicARN or AlarmEmail.
	AlarmTopic awssns.ITopic `json:"-"`
	// AlarmTopicARN is the ARN of an existing topic, in the region of the stack, to notify instead. Default: none.
	AlarmTopicARN string
	// AlarmEmail is an email address to notify instead, by the construct's own topic, once its owner has followed the
	// link in the first email. Default: none. Without any of the three, the alarms notify no one, and the synth warns
	// of that.
	AlarmEmail string
	// Alarms change single alarms or leave them out, by id, such as "SlowAlarm": threshold, periods and topic.
	// docs/reference/alarms.md has all ids. Default: alarms stay as they are.
	Alarms map[string]alarm.Options
	// Runbook is the https address where your operators read what an alarm means: each
	// alarm's description ends with it and the alarm's id. Default: docs/operate/alarms.md of the
	// version of this library.
	Runbook string
	// MetricNamespace is the first part of the namespace of the functions' metrics in Amazon CloudWatch: "Acme" gives
	// "Acme/" and the platform's name. Default: "Onesynth".
	MetricNamespace string
	// NoAlarms leaves the alarms out. docs/operate/alarms.md says what each means, and what to do then. Default: the
	// construct declares them.
	NoAlarms bool
	// NoDashboard leaves the dashboard out. Default: the construct declares it.
	NoDashboard bool
	// LocalPort is the port of the API when the assembly runs on a developer's machine: 1024 to 65535. Default: each
	// platform has its own.
	LocalPort int `min:"1024" max:"65535" default:"the default"`

	// Build is a build of the platform's functions that you started earlier, so that it runs while the CDK starts.
	// Default: the construct builds them.
	Build *gofunction.Build `json:"-"`
}

// Publishing returns the platform with the publisher of its events, if Events is set.
func (p Props) Publishing(described schema.Platform) schema.Platform {
	if p.Events {
		return described.Publishing()
	}
	return described
}

// extended returns the platform with what the props add to it, but for Own.
func (p Props) extended(described schema.Platform) schema.Platform {
	return p.Publishing(described).Extended(p.Extra...)
}

func (p Props) jwt() httpapi.JWT { return httpapi.JWT{Issuer: p.JWTIssuer, Audience: p.JWTAudience} }

func (p Props) domain() httpapi.Domain {
	return httpapi.Domain{Name: p.DomainName, CertificateARN: p.CertificateARN, Certificate: p.Certificate,
		Zone: p.HostedZone, KeepDefaultEndpoint: p.KeepDefaultEndpoint, TrustStore: p.TrustStore, BasePath: p.BasePath,
		Shared: p.SharedDomain}
}

func (p Props) settings() gofunction.Settings {
	return gofunction.Settings{
		LogLevel: p.LogLevel, LogRetention: p.LogRetention, Tracing: p.Tracing, Key: p.Key,
		Network: gofunction.Network{VPC: p.VPC, Subnets: p.Subnets, SecurityGroups: p.SecurityGroups},
	}
}

func (p Props) sizes() gofunction.Sizes {
	return gofunction.Sizes{MemoryMegabytes: p.MemoryMegabytes, ReservedConcurrency: p.ReservedConcurrency,
		TimeoutSeconds: p.TimeoutSeconds}
}

// Check adds a finding for each of the props that is invalid for the platform. The sizes may name its lakes' functions,
// too, which Build may lack. The findings' paths begin with path, as an importer writes it: "Props" for a platform that
// embeds them. region is the stack's, or "" while it is not known.
func (p Props) Check(f *finding.List, path, region string, described schema.Platform) {
	if p.Events && len(described.Events) == 0 {
		f.Add(path+".Events", true, "false: the platform has no events",
			"declare Events in its schema, or leave it out")
	}
	described = p.extended(described)
	functions := names(described.Functions)
	sized := slices.Clone(functions)
	if len(described.Lakes) > 0 {
		sized = append(sized, schema.LakeWriter, schema.LakeCompactor)
	}
	p.jwt().Check(f, path+".JWTIssuer", path+".JWTAudience")
	props.CheckPrefix(f, path+".Prefix", p.Prefix)
	if len(described.Lakes) > 0 {
		lake.CheckReserved(f, path+".Prefix", p.Prefix)
	}
	table.DatabaseProps{Database: described.Database, RemoveWithStack: p.RemoveWithStack, Key: p.Key,
		Options: p.Tables}.Check(f, path+".Tables", region)
	props.CheckRemoval(f, path+".DeletionProtection", p.RemoveWithStack, p.DeletionProtection)
	p.checkSecrets(f, path, region, described)
	p.Architecture.Check(f, path+".Architecture")
	httpapi.CheckOrigins(f, path+".AllowedOrigins", p.AllowedOrigins)
	p.Throttle.Check(f, path+".Throttle")
	httpapi.CheckRouteThrottles(f, path+".RouteThrottles", p.RouteThrottles, described.Routes)
	p.domain().Check(f, path+".DomainName", path+".CertificateARN", path+".HostedZone", path+".KeepDefaultEndpoint",
		path+".TrustStore", path+".BasePath", path+".SharedDomain", region)
	httpapi.CheckPublicURL(f, path+".PublicURL", p.PublicURL)
	p.checkPagePaths(f, path, described)
	p.settings().Check(f, path, path, region)
	ofAPI := props.Map(described.Routes, func(r schema.Route) string { return r.Function })
	p.sizes().Check(f, path, sized, ofAPI)
	p.checkAlarms(f, path, region)
	props.CheckMetricNamespace(f, path+".MetricNamespace", p.MetricNamespace)
	f.Limits(path, p)
	p.Build.Check(f, path+".Build", p.Architecture, namesIn(p.Build, described.Name, functions...)...)
	p.Own.check(f, path+".Own", described, p.Architecture)
}

// checkPagePaths adds a finding for each path of an address below which the API would serve the files of a page.
func (p Props) checkPagePaths(f *finding.List, path string, described schema.Platform) {
	page := slices.IndexFunc(described.Routes, func(r schema.Route) bool {
		return r.OutsideAPI && strings.HasSuffix(r.Path, "/assets/{path+}")
	})
	if page < 0 {
		return
	}
	allowed := "none on a platform that serves a page (" + described.Routes[page].Key() + ")"
	const remedy = "leave the page out, or let the platform have a domain name of its own"
	if p.BasePath != "" {
		f.Add(path+".BasePath", p.BasePath, allowed, remedy)
	}
	if _, below, _ := strings.Cut(strings.TrimPrefix(p.PublicURL, "https://"), "/"); below != "" &&
		!props.IsToken(p.PublicURL) {
		f.Add(path+".PublicURL", p.PublicURL, "a path: "+allowed, remedy)
	}
}

// namesIn returns the names of a platform's functions in a build.
func namesIn(build *gofunction.Build, platform string, functions ...string) []string {
	return props.Map(functions, func(name string) string { return build.NameOf(platform, name) })
}

func names(functions []schema.Function) []string {
	return props.Map(functions, func(f schema.Function) string { return f.Name })
}

// longestRunbook leaves space in the description of an alarm, in bytes.
const longestRunbook = 400

// runbookURL is an https URL (RFC 3986).
var runbookURL = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)?$`)

// checkAlarms adds a finding for each of the props of alarms that is invalid. [Declare] checks the
// ids when it has declared the alarms.
func (p Props) checkAlarms(f *finding.List, path, region string) {
	var notified []string
	if props.CheckResource(f, path+".AlarmTopic", p.AlarmTopic, region) {
		notified = append(notified, path+".AlarmTopic")
	}
	if p.AlarmTopicARN != "" {
		notified = append(notified, path+".AlarmTopicARN")
	}
	if p.AlarmEmail != "" {
		notified = append(notified, path+".AlarmEmail")
	}
	for i, one := range notified {
		if p.NoAlarms {
			f.Append(finding.Finding{Path: one, Got: "one that is notified", Allowed: "none with NoAlarms",
				Remedy: "nothing would notify it: leave one of the two out"})
		} else if i > 0 {
			f.Append(finding.Finding{Path: one, Got: "another one that is notified",
				Allowed: "none with " + notified[0], Remedy: "choose one: a topic can notify several, also by email"})
		}
	}
	alarm.CheckTopicARN(f, path+".AlarmTopicARN", p.AlarmTopicARN, region)
	props.CheckEmail(f, path+".AlarmEmail", p.AlarmEmail)
	if p.NoAlarms && len(p.Alarms) > 0 {
		f.Add(path+".Alarms", slices.Sorted(maps.Keys(p.Alarms)), "empty with NoAlarms", "leave one of the two out")
	}
	for _, id := range slices.Sorted(maps.Keys(p.Alarms)) {
		p.Alarms[id].Check(f, fmt.Sprintf("%s.Alarms[%q]", path, id), region)
	}
	if p.Runbook != "" && (!runbookURL.MatchString(p.Runbook) || len(p.Runbook) > longestRunbook) &&
		!props.IsToken(p.Runbook) {
		f.Add(path+".Runbook", p.Runbook, "an https URL of up to 400 bytes",
			`write it such as "https://wiki.example.com/alarms"`)
	}
}
