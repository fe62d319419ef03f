package askahuman

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// maximumShards is how many partitions a request may have to read: enough for
// 100,000 answers a second (docs/SCALE.md).
const maximumShards = 256

// Props configure the platform. The zero value gives all of it with secure
// defaults.
type Props struct {
	// OpenAgents lets anyone ask, and takes the agent's identity from the
	// X-Agent-Id header. It is meant for development. Default: agents need a JSON
	// Web Token, and the agent is its subject.
	OpenAgents bool
	// AgentKeys admits the agents that show a key, as X-Agent-Id, which is all that
	// published clients send, or as a bearer token. The command "onesynth agent" issues
	// keys, lists them and revokes them; the table AgentKeys has their hashes. Default:
	// that of OpenAgents.
	AgentKeys bool
	// JWTIssuer is the OpenID Connect issuer of the agents' tokens, an https URL.
	// Default: an Amazon Cognito user pool that is part of the construct.
	JWTIssuer string
	// JWTAudience are the accepted audiences of the agents' tokens. Required with
	// JWTIssuer.
	JWTAudience []string
	// Agents are the agents that the construct's own user pool has clients for, by
	// name: at most 50. Default: one, called "agent".
	Agents []string

	// Prefix begins the physical names of the tables: "aah" gives "aah-questions". An
	// account and region takes each once, also after tables have outlived their stack:
	// pass those as Tables.Existing, or import them. Allowed: 2 to 32 lower-case letters,
	// digits and hyphens. Default: names that AWS CloudFormation makes up.
	Prefix string
	// RemoveWithStack deletes tables, secrets and the user pool, and all that is in
	// them, with the stack. It is meant for development. Default: they outlive the
	// stack.
	RemoveWithStack bool
	// DeletionProtection makes DynamoDB and Amazon Cognito refuse to delete tables
	// and user pool. Default: off.
	DeletionProtection bool
	// Tables are what DynamoDB offers beyond the data model, and tables that exist
	// already and are used instead of new ones, by logical name such as
	// "Questions" or "Responses". Default: on-demand tables of the construct's own, that can be
	// restored to any time of the last 35 days.
	Tables table.DatabaseOptions
	// Key is a customer managed key of AWS KMS, not an alias, that encrypts tables, secrets, queue, logs and the functions' variables.
	// Roles may use it through the services that encrypt, and the role that deploys needs
	// kms:CreateGrant on it. The policy of one that the app does not declare has to let
	// Amazon CloudWatch Logs use it ("Encrypt log data in CloudWatch Logs using AWS Key
	// Management Service"). Default: keys of AWS.
	Key awskms.IKey `json:"-"`
	// VPC is the network that the functions run in. Its subnets need a way to
	// Amazon DynamoDB, AWS Secrets Manager, Amazon SQS and Firebase Cloud Messaging. See [gofunction.Props.Network] for what
	// it costs in permissions. Default: outside of any VPC.
	VPC awsec2.IVpc `json:"-"`
	// Subnets are those of the VPC that the functions run in; not public ones. Default:
	// private ones with a way out.
	Subnets awsec2.SubnetSelection `json:"-"`
	// SecurityGroups control the functions' traffic: at most 5. Default: one for each
	// function that lets everything out and nothing in.
	SecurityGroups []awsec2.ISecurityGroup `json:"-"`

	// FCMCredentials is a secret that exists already and holds the service account key for
	// Firebase Cloud Messaging, by its whole ARN. If it has a key of AWS KMS, that has to
	// be part of what is passed (Secret_FromSecretAttributes), so that the notifier may use
	// it. Default: a secret of the construct's own, to be filled in.
	FCMCredentials awssecretsmanager.ISecret `json:"-"`

	// Architecture is the processor of the functions. Default: that of the Build, or
	// else [gofunction.ARM64].
	Architecture gofunction.Architecture
	// MemoryMegabytes is the memory of functions in MB, 128 to 10240, by name:
	// "agentapi", "humanapi" and "notifier". Processor time grows with it.
	// Default: 256.
	MemoryMegabytes map[string]int
	// ReservedConcurrency limits how many invocations of a function run at once, and
	// keeps as many of the account's for it, by the same names: 1 or more. Default:
	// no limit and no reserve.
	ReservedConcurrency map[string]int
	// TimeoutSeconds ends an invocation of a function that takes longer, in seconds, by the
	// same names: 3 to 30 for a function of the API, 1 to 900 for others. Default: 10, notifier 55.
	TimeoutSeconds map[string]int
	// AllowedOrigins are the web pages that may call the API from a browser, such
	// as "https://example.com". Default: "*", any page: see
	// [httpapi.Props.AllowedOrigins].
	AllowedOrigins []string
	// Throttle limits every route, all callers together. Default: that of
	// [httpapi.Props.Throttle].
	Throttle httpapi.Throttle
	// RouteThrottles limit single routes instead, by method and path, such as
	// "POST /agent/questions". Default: Throttle, and where people subscribe no more than
	// 100 requests a second with bursts of 200.
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
	// Shards is the number of partitions over which shared keys are spread: those of
	// the open questions and the leaderboards. One partition takes 1,000 writes a
	// second; a feed or a leaderboard reads every one. docs/SCALE.md says how to change
	// it on a live table. Allowed: 1 to 256. Default: 1, as in the seed.
	Shards int
	// ReadShards is the number of shards that functions read. It has to be the highest of
	// the numbers that the tables were written with, and of the one that comes next.
	// Allowed: Shards to 256. Default: Shards.
	ReadShards int
	// RateLimits change how often one caller may do a thing, by name: "create" and
	// "poll" of an agent, "answer", "read" and "subscribe" of a person. Default: those
	// of [schema.DefaultAskAHumanRules].
	RateLimits map[string]RateLimit
	// OpenQuestions is how many questions of one agent may be open or partial: 1 to
	// 10,000. Default: 100.
	OpenQuestions int
	// Points change the points for each action, 0 to 100,000, by the names of
	// [schema.PointsText] and those after it, such as "text" or "streak_7". Default:
	// those of [schema.DefaultAskAHumanRules].
	Points map[string]int
	// DailyPoints is how many points a person earns on one UTC day at most: 1 to
	// 1,000,000. Answers beyond them count for badges and streaks. Default: 500.
	DailyPoints int
	// NotifyEvery is how often the notifier runs, in whole minutes up to an hour.
	// Default: 1 minute.
	NotifyEvery time.Duration
	// QuestionURL is where people answer a question: notifications link there, with
	// its id instead of {question_id}. It is an http or https URL, such as
	// "https://example.com/questions/{question_id}", or a path of the page that
	// subscribed. Default: "/q/{question_id}".
	QuestionURL string

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
	// report: "Acme" gives "Acme/askahuman". Default: "Onesynth".
	MetricNamespace string
	// NoAlarms leaves the alarms out. docs/OPERATIONS.md says what each means, and what
	// to do about it. Default: the construct declares them.
	NoAlarms bool
	// NoDashboard leaves the dashboard out. Default: the construct declares it.
	NoDashboard bool
	// LocalPort is the port of the API when the assembly runs on a developer's
	// machine: 1024 to 65535. Default: 8080.
	LocalPort int

	// Build is the build of the [Handlers], begun earlier so that
	// it runs beside the start of the CDK. Default: New builds them.
	Build *gofunction.Build `json:"-"`
}

// longestQuestionURL is in bytes: it is one of the functions' variables.
const longestQuestionURL = 1024

// questionURL takes the characters of RFC 3986, and the placeholder once.
var questionURL = regexp.MustCompile(`^(https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?)?/([A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)\{question_id\}([A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)$`)

// isQuestionURL reports whether notifications can link there. A path that begins
// with two slashes names a host.
func isQuestionURL(text string) bool {
	if props.IsToken(text) {
		return strings.Count(text, "{question_id}") == 1
	}
	return len(text) <= longestQuestionURL && questionURL.MatchString(text) && !strings.HasPrefix(text, "//")
}

// Validate returns a [*props.Error] with all invalid props, or nil. [New] does
// the same first, and then knows the region of the stack, too.
func (p Props) Validate() error { return p.validate("") }

func (p Props) validate(region string) error {
	var f props.Findings
	p.common().Check(&f, region, p.described())
	if p.AgentKeys && p.OpenAgents {
		f.Add("Props.AgentKeys", true, "false with OpenAgents", "choose: agents either show a key or are trusted without")
	}
	if p.AgentKeys && p.JWTIssuer != "" {
		f.Add("Props.AgentKeys", true, "false with a JWTIssuer", "choose: agents show either a key or a token")
	}
	if p.OpenAgents && p.JWTIssuer != "" {
		f.Add("Props.OpenAgents", true, "false with a JWTIssuer", "choose: agents either show a token or are trusted without")
	}
	if len(p.Agents) > 0 && (p.OpenAgents || p.AgentKeys || p.JWTIssuer != "") {
		f.Add("Props.Agents", p.Agents, "empty with OpenAgents, AgentKeys or a JWTIssuer", "agents are then not clients of a user pool here: leave it empty")
	}
	if len(p.Agents) > httpapi.MaximumAudiences {
		f.Add("Props.Agents", fmt.Sprintf("%d names", len(p.Agents)), "at most 50", "let several agents share a client, or use a JWTIssuer whose tokens share an audience")
	}
	if props.CheckResource(&f, "Props.FCMCredentials", p.FCMCredentials, region) && p.FCMCredentials.SecretFullArn() == nil {
		f.Add("Props.FCMCredentials", *p.FCMCredentials.SecretArn(), "a secret by its whole ARN, with the six characters at its end", "pass Secret_FromSecretCompleteArn")
	}
	identity.CheckClients(&f, "Props.Agents", p.Agents)
	if p.Shards < 0 || p.Shards > maximumShards {
		f.Add("Props.Shards", p.Shards, "1 to 256", "leave it 0 for 1")
	}
	if p.ReadShards != 0 && (p.ReadShards < p.Shards || p.ReadShards < 0 || p.ReadShards > maximumShards) {
		f.Add("Props.ReadShards", p.ReadShards, "Shards to 256", "leave it 0 for Shards; it is more while the number of shards changes")
	}
	p.checkRules(&f)
	if p.NotifyEvery < 0 || p.NotifyEvery > time.Hour || p.NotifyEvery%time.Minute != 0 {
		f.Add("Props.NotifyEvery", p.NotifyEvery, "1m0s to 1h0m0s in whole minutes", "leave it 0 for a minute")
	}
	if p.QuestionURL != "" && !isQuestionURL(p.QuestionURL) {
		f.Add("Props.QuestionURL", p.QuestionURL, `an http or https URL of up to 1,024 bytes, or a path that begins with one slash, with {question_id} once`, `write it such as "https://example.com/questions/{question_id}"`)
	}
	return f.Err()
}

// described is the platform with the props.
func (p Props) described() schema.Platform {
	if p.AgentKeys {
		return schema.AskAHumanWithAgentKeys()
	}
	return schema.AskAHuman()
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
	if len(p.Agents) == 0 {
		p.Agents = []string{"agent"}
	}
	if p.Shards == 0 {
		p.Shards = 1
	}
	if p.ReadShards == 0 {
		p.ReadShards = p.Shards
	}
	if p.NotifyEvery == 0 {
		p.NotifyEvery = time.Minute
	}
	if p.LocalPort == 0 {
		p.LocalPort = 8080
	}
	return p
}
