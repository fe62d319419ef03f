package platform

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Props are the props that every platform has, under the same names; the props of
// each platform say what they are and what their defaults are.
type Props struct {
	// JWT is what a platform's props call JWTIssuer and JWTAudience; Domain is
	// DomainName, CertificateARN and KeepDefaultEndpoint; Sizes are MemoryMegabytes, TimeoutSeconds and
	// ReservedConcurrency; and Network is VPC, Subnets and SecurityGroups.
	JWT                                 httpapi.JWT
	Prefix                              string
	RemoveWithStack, DeletionProtection bool
	Architecture                        gofunction.Architecture
	AllowedOrigins                      []string
	Throttle                            httpapi.Throttle
	RouteThrottles                      map[string]httpapi.Throttle
	Domain                              httpapi.Domain
	LogLevel                            string
	LogRetention                        props.LogRetention
	Tracing                             bool
	Key                                 awskms.IKey
	Tables                              table.DatabaseOptions
	Network                             gofunction.Network
	Sizes                               gofunction.Sizes
	AlarmTopic                          awssns.ITopic
	AlarmTopicARN, AlarmEmail           string
	Alarms                              map[string]alarm.Options
	Runbook, MetricNamespace            string
	NoAlarms, NoDashboard               bool
	LocalPort                           int
	Build                               *gofunction.Build
}

// Check adds a finding for each of the props that is invalid for the platform,
// whose functions are those that [Handlers] makes of the same arguments, and for
// sizes those of its lake. The region is that of its stack, or "" while it is not
// known.
func (p Props) Check(f *props.Findings, region string, described schema.Platform, others ...string) {
	var functions []string
	for _, name := range Handlers(described, "", others...).Packages {
		functions = append(functions, path.Base(name))
	}
	sized := slices.Clone(functions)
	if described.Lake.Name != "" && !slices.Contains(sized, schema.LakeWriter) {
		sized = append(sized, schema.LakeWriter, schema.LakeCompactor)
	}
	p.JWT.Check(f, "Props.JWTIssuer", "Props.JWTAudience")
	props.CheckPrefix(f, "Props.Prefix", p.Prefix)
	if described.Lake.Name != "" {
		lake.CheckReserved(f, "Props.Prefix", p.Prefix)
	}
	table.DatabaseProps{Database: described.Database, RemoveWithStack: p.RemoveWithStack, Key: p.Key, Options: p.Tables}.Check(f, "Props.Tables", region)
	props.CheckRemoval(f, "Props.DeletionProtection", p.RemoveWithStack, p.DeletionProtection)
	p.Architecture.Check(f, "Props.Architecture")
	httpapi.CheckOrigins(f, "Props.AllowedOrigins", p.AllowedOrigins)
	p.Throttle.Check(f, "Props.Throttle")
	httpapi.CheckRouteThrottles(f, "Props.RouteThrottles", p.RouteThrottles, described.Routes)
	p.Domain.Check(f, "Props.DomainName", "Props.CertificateARN", "Props.HostedZone", "Props.KeepDefaultEndpoint", region)
	gofunction.CheckLogLevel(f, "Props.LogLevel", p.LogLevel)
	p.LogRetention.Check(f, "Props.LogRetention")
	key.Check(f, "Props.Key", p.Key, region)
	p.Network.Check(f, "Props.VPC", "Props.Subnets", "Props.SecurityGroups", region)
	var ofAPI []string
	for _, route := range described.Routes {
		ofAPI = append(ofAPI, route.Function)
	}
	p.Sizes.Check(f, "Props.MemoryMegabytes", "Props.ReservedConcurrency", "Props.TimeoutSeconds", sized, ofAPI)
	p.checkAlarms(f, region)
	props.CheckMetricNamespace(f, "Props.MetricNamespace", p.MetricNamespace)
	props.CheckLocalPort(f, "Props.LocalPort", p.LocalPort)
	p.Build.Check(f, "Props.Build", p.Architecture, functions...)
}

// longestRunbook leaves room in the description of an alarm, in bytes.
const longestRunbook = 400

// runbookURL is an https URL (RFC 3986).
var runbookURL = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)?$`)

// checkAlarms adds a finding for each of the props of alarms that is invalid. Whether
// there are alarms of those ids shows when [Platform.Operate] declares them.
func (p Props) checkAlarms(f *props.Findings, region string) {
	var notified []string
	if props.CheckResource(f, "Props.AlarmTopic", p.AlarmTopic, region) {
		notified = append(notified, "Props.AlarmTopic")
	}
	if p.AlarmTopicARN != "" {
		notified = append(notified, "Props.AlarmTopicARN")
	}
	if p.AlarmEmail != "" {
		notified = append(notified, "Props.AlarmEmail")
	}
	for i, path := range notified {
		if p.NoAlarms {
			f.Append(props.Finding{Path: path, Got: "one that is notified", Allowed: "none with NoAlarms", Remedy: "nothing would notify it: leave one of the two out"})
		} else if i > 0 {
			f.Append(props.Finding{Path: path, Got: "another one that is notified", Allowed: "none with " + notified[0], Remedy: "choose one: a topic can notify several, also by email"})
		}
	}
	alarm.CheckTopicARN(f, "Props.AlarmTopicARN", p.AlarmTopicARN, region)
	props.CheckEmail(f, "Props.AlarmEmail", p.AlarmEmail)
	if p.NoAlarms && len(p.Alarms) > 0 {
		f.Add("Props.Alarms", slices.Sorted(maps.Keys(p.Alarms)), "empty with NoAlarms", "leave one of the two out")
	}
	for _, id := range slices.Sorted(maps.Keys(p.Alarms)) {
		p.Alarms[id].Check(f, fmt.Sprintf("Props.Alarms[%q]", id), region)
	}
	if p.Runbook != "" && (!runbookURL.MatchString(p.Runbook) || len(p.Runbook) > longestRunbook) && !props.IsToken(p.Runbook) {
		f.Add("Props.Runbook", p.Runbook, "an https URL of up to 400 bytes", `write it such as "https://wiki.example.com/alarms"`)
	}
}
