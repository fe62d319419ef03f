package platforms_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/edge"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Quotas of AWS CloudFormation for one template ("Understand CloudFormation quotas").
const maxResources, maxOutputs, maxTemplate = 500, 200, 1 << 20

// declareEverything declares a company's app: all platforms with all that props can switch on, each with a firewall, an
// entry from a network, and a standby. Each platform's stack is called "everything-" and its name.
func declareEverything(app awscdk.App) {
	const region, account = "eu-west-1", "123456789012"
	in := func(name, region string) awscdk.Stack {
		return awscdk.NewStack(app, jsii.String("everything-"+name), &awscdk.StackProps{
			Env:                 &awscdk.Environment{Account: jsii.String(account), Region: &region},
			PermissionsBoundary: awscdk.PermissionsBoundary_FromName(jsii.String("company"))})
	}
	certificate := func(region string) string {
		return "arn:aws:acm:" + region + ":" + account + ":certificate/1a-2b"
	}
	company := in("company", region)
	key := awskms.NewKey(company, jsii.String("Key"), nil)
	network := awsec2.NewVpc(company, jsii.String("Network"), nil)
	zone := awsroute53.NewPublicHostedZone(company, jsii.String("Zone"),
		&awsroute53.PublicHostedZoneProps{ZoneName: jsii.String("example.com")})
	topic := awssns.NewTopic(company, jsii.String("Alerts"), &awssns.TopicProps{MasterKey: key})
	endpoint := network.AddInterfaceEndpoint(jsii.String("Endpoint"), &awsec2.InterfaceVpcEndpointOptions{
		Service: awsec2.InterfaceVpcEndpointAwsService_APIGATEWAY()})
	team := gofunction.Start(context.Background(), gofunction.Source{
		Directory: "../../constructs/platform/testdata/handlers/lambdas/own", Packages: []string{"gate", "report"}})
	for _, p := range platforms.All() {
		common, name := p.Common(), p.Name()
		common.Events = true
		common.Build = platformtest.Build("../..", p)
		common.Key, common.VPC, common.AlarmTopic = key, network, topic
		common.Prefix, common.DeletionProtection, common.Tracing = "company-"+name, true, true
		common.DomainName, common.CertificateARN, common.HostedZone = name+".example.com", certificate(region), zone
		common.PublicURL = "https://public-" + name + ".example.com"
		common.TrustStore = httpapi.TrustStore{URI: "s3://trust/authorities.pem", Version: "1"}
		common.AllowedOrigins = []string{"https://app.example.com"}
		common.Tables.All.Replicas = []table.Replica{{Region: "eu-central-1",
			KeyARN: "arn:aws:kms:eu-central-1:" + account + ":key/1a-2b"}}
		common.Own = platform.Own{Own: teamsOwn(p.Whole), Build: team}
		common.Extra = dynamotest.Extended(p.Whole).Extra
		for i := range common.Extra {
			for j := range common.Extra[i].Attributes {
				common.Extra[i].Attributes[j].Writers = []string{"report"}
			}
		}
		common.SecretReplicas = map[string]string{"eu-central-1": "arn:aws:kms:eu-central-1:" + account + ":key/1a-2b"}
		switchOn(p, platform.UserProps{RequireMFA: true, CallbackURLs: []string{"https://app.example.com/in"},
			LogoutURLs: []string{"https://app.example.com"}, Email: identity.Email{From: "hello@example.com"}})
		// Each construct embeds what it has declared.
		parts := reflect.ValueOf(p.Declare(in(name, region))).Elem().FieldByName("Platform").Addr()
		declared := parts.Interface().(*platform.Platform)
		for _, event := range p.Whole.Publishing().Events {
			declared.On(event.Name, eventbus.Target{Function: declared.Functions["report"]})
			declared.On(event.Name, eventbus.Target{ID: event.Name + "Queued",
				Queue: deadletter.NewQueue(awscdk.Stack_Of(declared.API), event.Name, deadletter.Props{Key: key})})
		}
		origin := func(region string) edge.Origin {
			return edge.Origin{DomainName: common.DomainName, ClientCertificateARN: certificate(region)}
		}
		edge.NewFirewall(in(name+"-firewall", "us-east-1"), "Firewall", edge.FirewallProps{
			DomainName: "public-" + name + ".example.com", CertificateARN: certificate("us-east-1"),
			Origin: origin("us-east-1")})
		edge.NewEntry(in(name+"-entry", region), "Entry", edge.EntryProps{
			Endpoints: []awsec2.IVpcEndpoint{endpoint}, Origin: origin(region)})
	}
	for _, p := range platforms.All() {
		declareStandby(p, in(p.Name()+"-standby", "eu-central-1"), account)
	}
}

// declareStandby declares the standby of a platform in the second region, with what it shares with the first.
func declareStandby(p *platforms.Platform, stack awscdk.Stack, account string) {
	common := p.Common()
	arn := func(service, resource string) *string {
		return jsii.String("arn:aws:" + service + ":eu-central-1:" + account + ":" + resource)
	}
	common.Standby, common.Build = true, platformtest.Build("../..", p)
	common.PublicURL = "https://public-" + p.Name() + ".example.com"
	common.Tables.Existing = map[string]awsdynamodb.ITable{}
	for _, t := range p.Whole.Database.Tables {
		of := "table/company-" + p.Name() + "-" + t.PhysicalName
		common.Tables.Existing[t.Name] = awsdynamodb.TableV2_FromTableAttributes(stack, jsii.String("Table"+t.Name),
			&awsdynamodb.TableAttributesV2{TableArn: arn("dynamodb", of),
				TableStreamArn: arn("dynamodb", of+"/stream/2026-01-01T00:00:00.000")})
	}
	common.Secrets = map[string]awssecretsmanager.ISecret{}
	for _, s := range p.Whole.Secrets {
		common.Secrets[s.Name] = awssecretsmanager.Secret_FromSecretCompleteArn(stack, jsii.String("Secret"+s.Name),
			arn("secretsmanager", "secret:"+s.Name+"-AbCdEf"))
	}
	users := platform.UserProps{
		UserPool: awscognito.UserPool_FromUserPoolArn(stack, jsii.String("Pool"),
			jsii.String("arn:aws:cognito-idp:eu-west-1:"+account+":userpool/eu-west-1_company")),
		UserPoolClients: []awscognito.IUserPoolClient{
			awscognito.UserPoolClient_FromUserPoolClientId(stack, jsii.String("Client"), jsii.String("app"))},
	}
	switchOn(p, users)
	// A page signs people in at the stack's own user pool.
	for _, page := range []string{"Page", "OperatorPage"} {
		if field := reflect.ValueOf(p.Props).Elem().FieldByName(page); field.IsValid() {
			field.SetBool(false)
		}
	}
	p.Declare(stack)
}

// A standby starts nothing by itself: what it does comes from requests.
func TestStandby(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		template := synthtest.Stack(t, "everything-"+p.Name()+"-standby")
		for id, schedule := range template.OfType("AWS::Scheduler::Schedule") {
			if state := schedule.Properties["State"]; state != "DISABLED" {
				t.Errorf("%s: the schedule %s is %v", p.Name(), id, state)
			}
		}
		for id, mapping := range template.OfType("AWS::Lambda::EventSourceMapping") {
			if mapping.Properties["StartingPosition"] != nil && mapping.Properties["Enabled"] != false {
				t.Errorf("%s: the mapping %s reads a stream", p.Name(), id)
			}
		}
		for _, kind := range []string{"AWS::DynamoDB::GlobalTable", "AWS::SecretsManager::Secret",
			"AWS::Cognito::UserPool"} {
			if own := template.OfType(kind); len(own) > 0 {
				t.Errorf("%s: the standby has %d of %s of its own", p.Name(), len(own), kind)
			}
		}
	}
}

// teamsOwn are functions, a route and a caller that a team adds to a platform, and what writes its records' attributes.
func teamsOwn(described schema.Platform) schema.Own {
	partner := schema.Caller{Name: "partner", Authorizer: "gate"}
	own := schema.Own{
		Functions: []schema.Function{
			{Name: "gate", Description: "lets partners in", Trigger: schema.OnAuthorize{
				Identity: []string{"$request.header.X-Partner-Key"}, CacheFor: time.Minute}},
			{Name: "report", Description: "counts", Trigger: schema.OnOther{}},
		},
		Routes: []schema.Route{{ID: "teamreport", Method: "GET", Path: "/team/report", Function: "report",
			Caller: partner, Summary: "Report"}},
	}
	for _, r := range described.Records {
		own.AccessPatterns = append(own.AccessPatterns, schema.UpdateItem.Pattern("Extend"+r.Name, r.Table,
			"Write what the team adds.").UsedBy("report"))
	}
	return own
}

// switchOn switches all parts on that props of one platform alone have, and lets people sign in as users says.
func switchOn(p *platforms.Platform, users platform.UserProps) {
	props := reflect.ValueOf(p.Props).Elem()
	for i := range props.NumField() {
		field := props.Type().Field(i)
		switch less := strings.HasPrefix(field.Name, "Without") || strings.HasPrefix(field.Name, "Open"); {
		case field.Type == reflect.TypeFor[platform.UserProps]():
			props.Field(i).Set(reflect.ValueOf(users))
		case field.Type.Kind() == reflect.Bool && !less:
			props.Field(i).SetBool(true)
		}
	}
}

// All of each platform, switched on together in one app, becomes templates that AWS CloudFormation takes.
func TestEverything(t *testing.T) {
	t.Parallel()
	var stacks []string
	for _, p := range platforms.All() {
		for _, part := range []string{"", "-firewall", "-entry", "-standby"} {
			stacks = append(stacks, "everything-"+p.Name()+part)
		}
	}
	for stack, template := range synthtest.Stacks(t, stacks...) {
		name := strings.TrimPrefix(stack, "everything-")
		people := "https://public-" + strings.TrimSuffix(name, "-standby") + ".example.com"
		if n := len(template.Resources); n > maxResources {
			t.Errorf("%s has %d resources, allowed are %d", name, n, maxResources)
		}
		if n := len(template.Outputs); n > maxOutputs {
			t.Errorf("%s has %d outputs, allowed are %d", name, n, maxOutputs)
		}
		if n := len(template.Source); n > maxTemplate {
			t.Errorf("%s has %d bytes, allowed are %d", name, n, maxTemplate)
		}
		if cycle := template.Cycle(); cycle != nil {
			t.Errorf("%s: resources need each other: %s", name, strings.Join(cycle, " -> "))
		}
		for id, client := range template.OfType("AWS::Cognito::UserPoolClient") {
			for _, back := range synthtest.List(client.Properties["CallbackURLs"]) {
				if address := synthtest.Text(back); strings.Contains(id, "Page") &&
					!strings.HasPrefix(address, people+"/") {
					t.Errorf("%s: %s sends people to %s, want the public address", name, id, address)
				}
			}
		}
		for output, value := range template.Outputs {
			if url := synthtest.Text(value.Value); strings.HasSuffix(output, "ApiUrl") && url != people {
				t.Errorf("%s: the output %s is %s, want the public address", name, output, url)
			}
		}
		for id, f := range template.OfType("AWS::Lambda::Function") {
			variables, _ := synthtest.At(f.Properties, "Environment", "Variables").(map[string]any)
			if size := environmentSize(variables); size > 4096 {
				t.Errorf("%s: the environment of %s has %d bytes, allowed are 4096", name, id, size)
			}
		}
	}
}
