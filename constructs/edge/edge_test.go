package edge_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/edge"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

const (
	ofCloudFront = "arn:aws:acm:us-east-1:123456789012:certificate/8d7c"
	ofVPC        = "arn:aws:acm:eu-central-1:123456789012:certificate/8d7c"
)

func TestMain(m *testing.M) { synthtest.Main(m, declare) }

func firewall(change func(p *edge.FirewallProps)) edge.FirewallProps {
	p := edge.FirewallProps{DomainName: "api.example.com", CertificateARN: ofCloudFront,
		Origin: edge.Origin{DomainName: "origin.example.com", ClientCertificateARN: ofCloudFront}}
	change(&p)
	return p
}

func declare(app awscdk.App) {
	in := func(name, region string) awscdk.Stack {
		return awscdk.NewStack(app, &name, &awscdk.StackProps{Env: &awscdk.Environment{Region: &region}})
	}
	global := in("firewall", "us-east-1")
	edge.NewFirewall(global, "Firewall", firewall(func(*edge.FirewallProps) {}))
	edge.NewFirewall(global, "Own", firewall(func(p *edge.FirewallProps) {
		p.DomainName, p.WebACLARN = "own.example.com", "arn:aws:wafv2:us-east-1:123456789012:global/webacl/own/1"
	}))
	stack := in("entry", "eu-central-1")
	endpoint := awsec2.InterfaceVpcEndpoint_FromInterfaceVpcEndpointAttributes(stack, jsii.String("Endpoint"),
		&awsec2.InterfaceVpcEndpointAttributes{Port: jsii.Number(443), VpcEndpointId: jsii.String("vpce-0a1b")})
	entry := edge.EntryProps{Endpoints: []awsec2.IVpcEndpoint{endpoint},
		Origin: edge.Origin{DomainName: "origin.example.com", ClientCertificateARN: ofVPC}}
	edge.NewEntry(stack, "Entry", entry)
	entry.DomainName, entry.CertificateARN, entry.AccessLogs = "tasks.internal.example.com", ofVPC, true
	edge.NewEntry(stack, "Named", entry)
}

// The page on the firewall's rules says of each whether it blocks or counts as the web ACL does.
func TestRules(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile("../../docs/operate/firewall.md"))(t)
	said := map[string]bool{}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\|.*\\| (block|count) \\|$")
	for _, row := range rows.FindAllStringSubmatch(string(page), -1) {
		said[row[1]] = row[2] == "count"
	}
	_, acl := synthtest.Stack(t, "firewall").One(t, "AWS::WAFv2::WebACL", "Firewall")
	counted := map[string]bool{}
	for i := range synthtest.List(acl.Properties["Rules"]) {
		for _, override := range synthtest.List(synthtest.At(acl.Properties, "Rules", i, "Statement",
			"ManagedRuleGroupStatement", "RuleActionOverrides")) {
			counted[synthtest.Text(synthtest.At(override, "Name"))] = true
		}
	}
	for name := range counted {
		if !said[name] {
			t.Errorf("%s counts; the page says that it blocks, or lacks it", name)
		}
	}
	for name, counts := range said {
		if counts && !counted[name] {
			t.Errorf("the page says that %s counts; it blocks", name)
		}
	}
	if len(said) != 34 {
		t.Errorf("the page has %d rules, want the 34 of AWS's page", len(said))
	}
}

// The golden files have the firewall, with a web ACL of its own and without, and what lets the VPC in, and no one else.
func TestGolden(t *testing.T) {
	t.Parallel()
	synthtest.Golden(t, "testdata/golden", "", synthtest.Stacks(t, "firewall", "entry"))
}

func TestFirewallPropsValidate(t *testing.T) {
	t.Parallel()
	synthtest.Validate(t, map[string]synthtest.Case[edge.FirewallProps]{
		"OK":      {firewall(func(*edge.FirewallProps) {}), nil},
		"ErrZero": {edge.FirewallProps{}, []string{"Props.Origin.DomainName", "Props.DomainName"}},
		"ErrRegion": {firewall(func(p *edge.FirewallProps) {
			p.CertificateARN, p.Origin.ClientCertificateARN = ofVPC, ofVPC
		}), []string{"Props.Origin.ClientCertificateARN", "Props.CertificateARN"}},
		"ErrNames": {firewall(func(p *edge.FirewallProps) { p.DomainName, p.Origin.DomainName = "API", "https://a.b" }),
			[]string{"Props.Origin.DomainName", "Props.DomainName"}},
		"ErrFew": {firewall(func(p *edge.FirewallProps) { p.RequestsPerAddress = 9 }),
			[]string{"Props.RequestsPerAddress"}},
		"ErrLimitOfAnother": {firewall(func(p *edge.FirewallProps) { p.RequestsPerAddress, p.WebACLARN = 10, "arn" }),
			[]string{"Props.RequestsPerAddress"}},
	})
}

func TestEntryPropsValidate(t *testing.T) {
	t.Parallel()
	synthtest.Validate(t, map[string]synthtest.Case[edge.EntryProps]{
		"ErrZero": {edge.EntryProps{}, []string{"Props.Origin.DomainName", "Props.Endpoints"}},
		"ErrName": {edge.EntryProps{Endpoints: []awsec2.IVpcEndpoint{nil}, DomainName: "tasks.example.com",
			LogRetention: props.OneWeek, Origin: edge.Origin{DomainName: "o.example.com", ClientCertificateARN: ofVPC}},
			[]string{"Props.CertificateARN", "Props.LogRetention"}},
		"ErrCertificate": {edge.EntryProps{Endpoints: []awsec2.IVpcEndpoint{nil},
			Origin: edge.Origin{DomainName: "origin.example.com"}}, []string{"Props.Origin.ClientCertificateARN"}},
	})
}

// Nothing is declared with props that are wrong, nor where Amazon CloudFront finds no web ACL.
func TestErrNew(t *testing.T) {
	t.Parallel()
	synthtest.PanicsWithFindings(t, func() { edge.NewEntry(nil, "Entry", edge.EntryProps{}) },
		"Props.Origin.DomainName", "Props.Endpoints")
	found := synthtest.Paths(t, synthtest.PanicOf(func() {
		stack := awscdk.NewStack(nil, jsii.String("stack"),
			&awscdk.StackProps{Env: &awscdk.Environment{Region: jsii.String("eu-central-1")}})
		edge.NewFirewall(stack, "Firewall", firewall(func(*edge.FirewallProps) {}))
	}))
	if !slices.Equal(found, []string{"scope: Env.Region of the stack"}) {
		t.Errorf("got findings at %v", found)
	}
}
