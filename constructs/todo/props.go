package todo

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Props configure the platform. The zero value gives all of it with secure
// defaults.
type Props struct {
	// JWTIssuer is the OpenID Connect issuer of the users' tokens, an https URL.
	// Default: an Amazon Cognito user pool that is part of the construct.
	JWTIssuer string
	// JWTAudience are the accepted audiences of the users' tokens. Required with
	// JWTIssuer.
	JWTAudience []string
	// UserPool is an Amazon Cognito user pool that exists already, and UserPoolClients are
	// its app clients whose tokens the API takes: 1 to 50. The pool may be in another region;
	// import it by its ARN then. Default: that of JWTIssuer.
	UserPool        awscognito.IUserPool         `json:"-"`
	UserPoolClients []awscognito.IUserPoolClient `json:"-"`
	// UserPoolTriggers are functions that the construct's own user pool calls, at sign-up
	// for example: see [identity.UsersProps.Triggers]. Default: none.
	UserPoolTriggers awscognito.UserPoolTriggers `json:"-"`
	// InviteOnly lets only administrators create users in the construct's own user
	// pool. Default: people sign up by themselves.
	InviteOnly bool
	// RequireMFA makes the construct's own user pool ask every user for a one-time
	// password of an authenticator app. Default: each user may choose to have one.
	RequireMFA bool
	// CallbackURLs and LogoutURLs are where the sign-in pages of the construct's own
	// user pool may send people: see [identity.UsersProps]. Default: there are no
	// such pages, and apps sign people in by themselves.
	CallbackURLs, LogoutURLs []string
	// Email lets the construct's own user pool send its emails through Amazon SES: see
	// [identity.Email]. Default: Amazon Cognito sends them, at most 50 a day in the account
	// and region, which is too few for a platform on which people sign up.
	Email identity.Email

	// Prefix begins the physical names of the table, and names the lake's catalog and
	// workgroup: "todo" gives "todo-app-data" and "todo". An account and region takes
	// each once, also after a table has outlived its stack: pass that as
	// Tables.Existing, or import it. Allowed: 2 to 32 lower-case letters, digits and
	// hyphens, except "default" and "primary", which Amazon Athena has itself. Default:
	// names that AWS CloudFormation makes up, and for the lake one with a hash of the
	// stack's name and of the construct's path.
	Prefix string
	// RemoveWithStack deletes table, secret, user pool and lake, and all that is in
	// them, with the stack; the lake's bucket has to be empty then. It is meant for
	// development. Default: they outlive the stack.
	RemoveWithStack bool
	// DeletionProtection makes DynamoDB and Amazon Cognito refuse to delete table and
	// user pool. Default: off.
	DeletionProtection bool
	// Tables are what DynamoDB offers beyond the data model, and tables that exist
	// already and are used instead of new ones, by logical name such as
	// "AppData". Default: on-demand tables of the construct's own, that can be
	// restored to any time of the last 35 days.
	Tables table.DatabaseOptions
	// Key is a customer managed key of AWS KMS, not an alias, that encrypts table, secret, queues, lake, logs and the functions' variables.
	// Roles may use it through the services that encrypt, and the role that deploys needs
	// kms:CreateGrant on it. The policy of one that the app does not declare has to let
	// Amazon CloudWatch Logs use it ("Encrypt log data in CloudWatch Logs using AWS Key
	// Management Service"). Default: keys of AWS.
	Key awskms.IKey `json:"-"`
	// VPC is the network that the functions run in. Its subnets need a way to
	// Amazon DynamoDB, S3 and SQS, and AWS Secrets Manager. See [gofunction.Props.Network] for what
	// it costs in permissions. Default: outside of any VPC.
	VPC awsec2.IVpc `json:"-"`
	// Subnets are those of the VPC that the functions run in; not public ones. Default:
	// private ones with a way out.
	Subnets awsec2.SubnetSelection `json:"-"`
	// SecurityGroups control the functions' traffic: at most 5. Default: one for each
	// function that lets everything out and nothing in.
	SecurityGroups []awsec2.ISecurityGroup `json:"-"`

	// Architecture is the processor of the functions. Default: that of the Build, or
	// else [gofunction.ARM64].
	Architecture gofunction.Architecture
	// MemoryMegabytes is the memory of functions in MB, 128 to 10240, by name:
	// "todoapi", "eraser", and of the lake "writer" and "compactor". Processor time grows with it.
	// Default: 256, writer 512, compactor 1,024.
	MemoryMegabytes map[string]int
	// ReservedConcurrency limits how many invocations of a function run at once, and
	// keeps as many of the account's for it, by the same names: 1 or more. Default:
	// no limit and no reserve.
	ReservedConcurrency map[string]int
	// TimeoutSeconds ends an invocation of a function that takes longer, in seconds, by the
	// same names: 3 to 30 for a function of the API, 1 to 900 for others. Default: todoapi 10,
	// eraser 300, writer 120, compactor 900.
	TimeoutSeconds map[string]int
	// AllowedOrigins are the web pages that may call the API from a browser, such
	// as "https://example.com". Default: "*", any page: see
	// [httpapi.Props.AllowedOrigins].
	AllowedOrigins []string
	// Throttle limits every route, all callers together. Default: that of
	// [httpapi.Props.Throttle].
	Throttle httpapi.Throttle
	// RouteThrottles limit single routes instead, by method and path, such as
	// "POST /api/v1/tasks/bulk". Default: Throttle.
	RouteThrottles map[string]httpapi.Throttle
	// DomainName is the API's own, such as "api.example.com"; its DNS record has to
	// point to the output ApiDomainTarget. Default: none, the API has the name that
	// Amazon API Gateway gives it.
	DomainName string
	// CertificateARN is the certificate of AWS Certificate Manager for DomainName, in
	// the region of the stack. Default: Certificate; one of them is required with
	// DomainName.
	CertificateARN string
	// Certificate is the same as a construct. Default: CertificateARN.
	Certificate awscertificatemanager.ICertificate `json:"-"`
	// HostedZone is the hosted zone of Amazon Route 53 in which DomainName gets records that
	// point to the API. Default: none; the output ApiDomainTarget says where yours has to
	// point to.
	HostedZone awsroute53.IHostedZone `json:"-"`
	// KeepDefaultEndpoint leaves the API reachable also under the name that Amazon
	// API Gateway gives it: see [httpapi.Domain]. Default: not with a DomainName.
	KeepDefaultEndpoint bool

	// LakeBatchWindow is how long changes are gathered before they land in the lake:
	// see [lake.Props.BatchWindow]. Default: 10 seconds.
	LakeBatchWindow time.Duration
	// CompactEvery is how often the lake's small objects are merged: see
	// [lake.Props.CompactEvery]. Default: 1 hour.
	CompactEvery time.Duration
	// LakeFirstDay is the day (UTC) of the lake's first change, with which queries begin:
	// see [lake.Props.FirstDay]. Default: 2026-11-01, or what LakeRetentionDays keep.
	LakeFirstDay string
	// LakeRetentionDays is after how many days the lake's objects are deleted.
	// Default: they stay.
	LakeRetentionDays int
	// QueryLimitBytes ends a query of the lake that reads more: see
	// [lake.Props.QueryLimitBytes]. Default: 10,000,000,000.
	QueryLimitBytes int64

	// LogLevel is "debug", "info", "warn" or "error". Default: "info".
	LogLevel string
	// LogRetention is how long logs are kept. Default: [props.OneMonth].
	LogRetention props.LogRetention
	// Tracing sends traces of the functions to AWS X-Ray: see
	// [gofunction.Props.Tracing] for what it costs in permissions. Default: off.
	Tracing bool
	// AlarmTopic is notified when an alarm goes off, and when it is over. The policy of the
	// topic, if it has one of its own, has to let cloudwatch.amazonaws.com publish. The
	// policy of an encrypted topic's key has to let it use the key; the construct sees to
	// that for a key that the app declares. Default: that of AlarmTopicARN or AlarmEmail.
	AlarmTopic awssns.ITopic `json:"-"`
	// AlarmTopicARN is the ARN of a topic that is there already, in the region of the
	// stack, to be notified instead. Default: none.
	AlarmTopicARN string
	// AlarmEmail is the address of someone to be notified instead, by a topic of the
	// construct's own, once they have confirmed it by the link in the first email. Default:
	// none: without any of the three the alarms notify no one, and the synth warns of it.
	AlarmEmail string
	// Alarms change single alarms or leave them out, by id, such as "SlowAlarm": threshold,
	// periods and topic. docs/OPERATIONS.md has all ids. Default: none is changed.
	Alarms map[string]alarm.Options
	// Runbook is the https address where your operators read what an alarm means: each
	// alarm's description ends with it and the alarm's id. Default: docs/OPERATIONS.md of the
	// version of this library.
	Runbook string
	// MetricNamespace begins the namespace in Amazon CloudWatch of what the functions
	// report: "Acme" gives "Acme/todo". Default: "Onesynth".
	MetricNamespace string
	// NoAlarms leaves the alarms out. docs/OPERATIONS.md says what each means, and what
	// to do about it. Default: the construct declares them.
	NoAlarms bool
	// NoDashboard leaves the dashboard out. Default: the construct declares it.
	NoDashboard bool
	// LocalPort is the port of the API when the assembly runs on a developer's
	// machine: 1024 to 65535. Default: 8081.
	LocalPort int

	// Build is a build of the [Handlers], begun earlier so that it runs beside the
	// start of the CDK. Default: New builds them.
	Build *gofunction.Build `json:"-"`
}

// Validate returns a [*props.Error] with all invalid props, or nil. [New] does
// the same first, and then knows the region of the stack, too.
func (p Props) Validate() error { return p.validate("") }

func (p Props) validate(region string) error {
	var f props.Findings
	p.common().Check(&f, region, schema.Todo(), lake.Packages()...)
	p.checkUserPool(&f)
	if p.JWTIssuer != "" || p.UserPool != nil {
		const remedy = "users are then not in a user pool here: leave it empty"
		if p.InviteOnly {
			f.Add("Props.InviteOnly", true, "false with a JWTIssuer or a UserPool", remedy)
		}
		if p.RequireMFA {
			f.Add("Props.RequireMFA", true, "false with a JWTIssuer or a UserPool", remedy)
		}
		if len(p.CallbackURLs) > 0 {
			f.Add("Props.CallbackURLs", p.CallbackURLs, "empty with a JWTIssuer or a UserPool", remedy)
		}
		if p.UserPoolTriggers != (awscognito.UserPoolTriggers{}) {
			f.Add("Props.UserPoolTriggers", "triggers", "none with a JWTIssuer or a UserPool", remedy)
		}
		if p.Email != (identity.Email{}) {
			f.Add("Props.Email", p.Email.From, "empty with a JWTIssuer or a UserPool", remedy)
		}
	}
	p.Email.Check(&f, "Props.Email")
	identity.CheckRedirects(&f, "Props.CallbackURLs", "Props.LogoutURLs", p.CallbackURLs, p.LogoutURLs)
	lake.CheckBatchWindow(&f, "Props.LakeBatchWindow", p.LakeBatchWindow)
	lake.CheckCompactEvery(&f, "Props.CompactEvery", p.CompactEvery)
	lake.CheckFirstDay(&f, "Props.LakeFirstDay", p.LakeFirstDay, p.LakeRetentionDays)
	lake.CheckRetentionDays(&f, "Props.LakeRetentionDays", p.LakeRetentionDays)
	lake.CheckQueryLimit(&f, "Props.QueryLimitBytes", p.QueryLimitBytes)
	return f.Err()
}

// checkUserPool adds a finding for each of the props of an existing user pool that is
// wrong.
func (p Props) checkUserPool(f *props.Findings) {
	if p.UserPool == nil {
		if len(p.UserPoolClients) > 0 {
			f.Add("Props.UserPoolClients", fmt.Sprintf("%d clients", len(p.UserPoolClients)), "none without a UserPool", "set the pool, or leave both out")
		}
		return
	}
	if p.JWTIssuer != "" {
		f.Add("Props.UserPool", "a user pool", "none with a JWTIssuer", "choose: the pool is an issuer itself")
	}
	props.CheckResource(f, "Props.UserPool", p.UserPool, "")
	if n := len(p.UserPoolClients); n == 0 || n > httpapi.MaximumAudiences {
		f.Add("Props.UserPoolClients", fmt.Sprintf("%d clients", n), "1 to 50 with a UserPool", "name the app clients whose tokens the API takes")
	}
	for i, client := range p.UserPoolClients {
		if props.IsNil(client) {
			f.Add(fmt.Sprintf("Props.UserPoolClients[%d]", i), client, "an app client", "leave it out")
		}
	}
}

// common returns the props that every platform has.
func (p Props) common() platform.Props {
	return platform.Props{
		JWT:                httpapi.JWT{Issuer: p.JWTIssuer, Audience: p.JWTAudience},
		Prefix:             p.Prefix,
		RemoveWithStack:    p.RemoveWithStack,
		DeletionProtection: p.DeletionProtection,
		Architecture:       p.Architecture,
		AllowedOrigins:     p.AllowedOrigins,
		Throttle:           p.Throttle,
		RouteThrottles:     p.RouteThrottles,
		Domain:             httpapi.Domain{Name: p.DomainName, CertificateARN: p.CertificateARN, Certificate: p.Certificate, Zone: p.HostedZone, KeepDefaultEndpoint: p.KeepDefaultEndpoint},
		LogLevel:           p.LogLevel,
		LogRetention:       p.LogRetention,
		Tracing:            p.Tracing,
		Key:                p.Key,
		Tables:             p.Tables,
		Network:            gofunction.Network{VPC: p.VPC, Subnets: p.Subnets, SecurityGroups: p.SecurityGroups},
		Sizes:              gofunction.Sizes{MemoryMegabytes: p.MemoryMegabytes, ReservedConcurrency: p.ReservedConcurrency, TimeoutSeconds: p.TimeoutSeconds},
		AlarmTopic:         p.AlarmTopic,
		AlarmTopicARN:      p.AlarmTopicARN,
		AlarmEmail:         p.AlarmEmail,
		Alarms:             p.Alarms,
		Runbook:            p.Runbook,
		MetricNamespace:    p.MetricNamespace,
		NoAlarms:           p.NoAlarms,
		NoDashboard:        p.NoDashboard,
		LocalPort:          p.LocalPort,
		Build:              p.Build,
	}
}

// withDefaults returns the props with their defaults filled in, where these are
// not those of another construct.
func (p Props) withDefaults() Props {
	if p.LocalPort == 0 {
		p.LocalPort = 8081
	}
	return p
}
