package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
	"github.com/parquet-go/parquet-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	shared "github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	askahumanplatform "github.com/onesynth-cdk/onesynth/platforms/askahuman"
	localrun "github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

const (
	existingQuestions = "arn:aws:dynamodb:eu-west-1:123456789012:table/company-questions"
	existingTasks     = "arn:aws:dynamodb:eu-central-1:123456789012:table/company-tasks"
)

// childVariable tells a child process of the tests which of the children it is.
const childVariable = "ONESYNTH_TEST_CHILD"

// children are what a child process does in place of the tests, with the arguments of its command line. The tests'
// program has the CDK, so no other program has to be linked for this.
var children = map[string]func(arguments []string){
	"app":      synthesiseApp,
	"apps":     synthesiseApps,
	"events":   synthesiseEvents,
	"handlers": buildHandlers,
}

// childCommand returns the command that starts a child process.
func childCommand(t *testing.T, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	program := must.Get(os.Executable())(t)
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), childVariable+"="+name)
	return command
}

func TestMain(m *testing.M) {
	// Closing the CDK is a data race within jsii, so a child process synthesises.
	if child, ok := children[os.Getenv(childVariable)]; ok {
		child(os.Args[1:])
		return
	}
	os.Exit(runTests(m))
}

// runTests runs the tests with one cache of handlers, that of the environment or their own, unless
// a test sets up another. Synths skip the CDK's check of templates, which changes no template.
func runTests(m *testing.M) int {
	err := os.Setenv("CDK_VALIDATION", "false")
	if os.Getenv("ONESYNTH_CACHE") == "" && err == nil {
		var folder string
		folder, err = os.MkdirTemp("", "onesynth-cache-")
		defer os.RemoveAll(folder)
		err = errors.Join(err, os.Setenv("ONESYNTH_CACHE", folder))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// declareExisting declares platforms that use resources of other stacks and of the
// account: tables, keys and networks.
func declareExisting(app awscdk.App) {
	owned := awscdk.NewStack(app, jsii.String("company"), nil)
	key := awskms.NewKey(owned, jsii.String("Key"), nil)
	network := awsec2.NewVpc(owned, jsii.String("Network"), &awsec2.VpcProps{
		IpProtocol:                   awsec2.IpProtocol_DUAL_STACK,
		RestrictDefaultSecurityGroup: jsii.Bool(false),
		FlowLogs:                     &map[string]*awsec2.FlowLogOptions{"All": {}},
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{
			"DynamoDB": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()}},
		VpnGateway: jsii.Bool(true),
	})
	secrets := network.AddInterfaceEndpoint(jsii.String("Secrets"),
		&awsec2.InterfaceVpcEndpointOptions{Service: awsec2.InterfaceVpcEndpointAwsService_SECRETS_MANAGER()})
	awscdk.NewCfnOutput(owned, jsii.String("SecretsNames"),
		&awscdk.CfnOutputProps{Value: awscdk.Fn_Join(jsii.String(","), secrets.VpcEndpointDnsEntries())})
	awsec2.NewNetworkAcl(owned, jsii.String("Rules"),
		&awsec2.NetworkAclProps{Vpc: network, SubnetSelection: &awsec2.SubnetSelection{
			SubnetType: awsec2.SubnetType_PUBLIC}}).
		AddEntry(jsii.String("Everything"), &awsec2.CommonNetworkAclEntryOptions{Cidr: awsec2.AclCidr_AnyIpv4(),
			RuleNumber: jsii.Number(100), Traffic: awsec2.AclTraffic_AllTraffic()})
	group := awsec2.NewSecurityGroup(owned, jsii.String("Group"),
		&awsec2.SecurityGroupProps{Vpc: network, AllowAllOutbound: jsii.Bool(false)})
	group.AddEgressRule(awsec2.Peer_AnyIpv4(), awsec2.Port_HTTPS(), nil, nil)
	group.Connections().AllowFrom(secrets, awsec2.Port_HTTPS(), nil)
	described, _ := askahumanplatform.Platform().Database.Table("UserStats")
	people := table.New(owned, "People", table.Props{Table: described, Key: key})

	asks := awscdk.NewStack(app, jsii.String("ask"), nil)
	askahuman.New(asks, "AskAHuman", askahuman.Props{
		Props: shared.Props{
			Key: key, VPC: network, SecurityGroups: []awsec2.ISecurityGroup{group},
			Tables: table.DatabaseOptions{Existing: map[string]awsdynamodb.ITable{
				"Questions": awsdynamodb.TableV2_FromTableAttributes(asks, jsii.String("Questions"),
					&awsdynamodb.TableAttributesV2{
						TableArn:       jsii.String(existingQuestions),
						TableStreamArn: jsii.String(existingQuestions + "/stream/2026-01-01T00:00:00.000"),
					}),
				"UserStats": people.Resource,
			}},
		},
		OpenAgents: true,
	})

	tasks := awscdk.NewStack(app, jsii.String("todo"), nil)
	arn := *awscdk.NewCfnParameter(tasks, jsii.String("TasksArn"),
		&awscdk.CfnParameterProps{Default: existingTasks}).ValueAsString()
	todo.New(tasks, "Todo", todo.Props{
		Props: shared.Props{
			Key: awskms.NewKey(tasks, jsii.String("Key"), nil),
			VPC: awsec2.Vpc_FromVpcAttributes(tasks, jsii.String("Network"), &awsec2.VpcAttributes{
				VpcId: jsii.String("vpc-0a1b2c3d"), AvailabilityZones: jsii.Strings("eu-central-1a"),
				IsolatedSubnetIds: jsii.Strings("subnet-0a1b2c3d"),
			}),
			Subnets: awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED},
			SecurityGroups: []awsec2.ISecurityGroup{
				awsec2.SecurityGroup_FromSecurityGroupId(tasks, jsii.String("Group"), jsii.String("sg-0a1b2c3d"), nil)},
			Tables: table.DatabaseOptions{Existing: map[string]awsdynamodb.ITable{
				"AppData": awsdynamodb.TableV2_FromTableAttributes(tasks, jsii.String("Tasks"),
					&awsdynamodb.TableAttributesV2{
						TableArn: &arn, TableStreamArn: jsii.String(arn + "/stream/2026-01-01T00:00:00.000"),
						EncryptionKey: awskms.Key_FromKeyArn(tasks, jsii.String("TasksKey"),
							jsii.String("arn:aws:kms:eu-central-1:123456789012:key/tasks")),
					}),
			}},
		},
	})

	// New apps set a feature flag that makes this the default. Nothing in the stack uses its
	// table.
	restricted := awscdk.NewStack(app, jsii.String("restricted"), nil)
	awsec2.NewVpc(restricted, jsii.String("Network"), &awsec2.VpcProps{RestrictDefaultSecurityGroup: jsii.Bool(true)})
	table.New(restricted, "People", table.Props{Table: described, Existing: people.Resource})
}

// checkExisting runs platforms on a laptop with existing resources: tables that no template declares, keys,
// and networks.
func checkExisting(t *testing.T, assembly string) {
	platforms := localrun.Options{Assembly: assembly, Stacks: []string{"company", "ask", "todo"}, NoSchedules: true}
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		options := platforms
		options.Log = t.Output()
		runner := must.Get(start(t, options))(t)
		defer runner.Close()
		t.Run("AskAHuman", func(t *testing.T) { checkAnswers(t, runner.URL("ask")) })
		t.Run("Todo", func(t *testing.T) { checkHistory(t, runner, "todo") })
		if refused := runtest.Of(runner).Refused(); len(refused) != 0 {
			t.Errorf("refused requests: got %+v, want none", refused)
		}
	})
	// The platform alone, without the stack that declares one of its tables.
	t.Run("ErrNotGranted", func(t *testing.T) {
		t.Parallel()
		options := platforms
		options.Stacks = []string{"ask"}
		options.Revoke = func(_, action, resource string) bool {
			return action == "dynamodb:PutItem" && resource == existingQuestions
		}
		runner := must.Get(start(t, options))(t)
		defer runner.Close()
		agent := http.Header{"X-Agent-Id": {"agent"}, "Content-Type": {"application/json"}}
		importertest.Send(t, http.MethodPost, runner.URL("ask")+"/agent/questions", agent, newQuestion,
			http.StatusInternalServerError)
		importertest.Send(t, http.MethodGet, runner.URL("ask")+"/human/stats",
			http.Header{"X-Fingerprint": {"alice"}}, "",
			http.StatusOK)
		refused := runtest.Of(runner).Refused()
		if len(refused) != 1 || refused[0].Action != "dynamodb:PutItem" || refused[0].Resource != existingQuestions {
			t.Errorf("refused requests: got %+v, want those of dynamodb:PutItem on %s", refused, existingQuestions)
		}
	})
	t.Run("ErrCustomResource", func(t *testing.T) {
		t.Parallel()
		options := platforms
		options.Stacks = nil
		runner, err := start(t, options)
		if err == nil {
			runner.Close()
		}
		if !errors.Is(err, localrun.ErrUnsupported) || !strings.Contains(err.Error(), "Custom::VpcRestrictDefaultSG") ||
			!strings.Contains(err.Error(), "--stack") {
			t.Errorf("got %v, want the custom resource of the network refused, with what to do", err)
		}
		if strings.Contains(fmt.Sprint(err), "AWS::EC2::") {
			t.Errorf("got %v, want the network's other parts accepted", err)
		}
	})
}

// start runs an assembly with its own tables. All runs share one DynamoDB Local.
func start(t *testing.T, options localrun.Options) (*localrun.Runner, error) {
	t.Helper()
	options.DynamoDB, options.AccessKey = enginetest.Engine(t).URL(), enginetest.AccessKey()
	return localrun.Start(t.Context(), options)
}

const newQuestion = `{"prompt":"Should error messages apologise to people?","type":"text","min_responses":1}`

// checkAnswers asks a question, answers it, and reads the result.
func checkAnswers(t *testing.T, url string) {
	agent := &client.Client{URL: url, Header: http.Header{"X-Agent-Id": {"agent"}}}
	person := &client.Client{URL: url, Header: http.Header{"X-Fingerprint": {"alice"}}}
	asked := must.Get(client.Call(t.Context(), agent, askahumanplatform.AskQuestion, askahumanplatform.AskParams{},
		askahumanplatform.Ask{Prompt: "Should error messages apologise to people?", Type: askahumanplatform.TypeText,
			MinResponses: new(1)}))(t)
	must.Get(client.Call(t.Context(), person, askahumanplatform.AnswerQuestion, askahumanplatform.ZoneParams{},
		askahumanplatform.Answer{QuestionID: asked.Value.QuestionID, Text: new("Only if it is our fault.")}))(t)
	read := must.Get(client.Call(t.Context(), agent, askahumanplatform.ReadQuestionAtOnce,
		askahumanplatform.QuestionParams{ID: asked.Value.QuestionID}, schema.None{}))(t)
	if of := read.Value; of.Status != askahumanplatform.StatusClosed || len(of.Responses) != 1 ||
		askahumanplatform.Or(of.Responses[0].Answer, "") != "Only if it is our fault." {
		t.Errorf("question: got %v, want it closed with the answer", read)
	}
	stats := must.Get(client.Call(t.Context(), person, askahumanplatform.ReadStats, askahumanplatform.ZoneParams{},
		schema.None{}))(t)
	if stats.Value.TotalAnswers != 1 {
		t.Errorf("stats: got %v, want one answer", stats)
	}
}

// checkHistory creates a task in To-Do, and reads the change from the lake of the stack.
func checkHistory(t *testing.T, runner *localrun.Runner, stack string) {
	token := must.Get(runner.Token(t.Context(), localrun.TokenRequest{Subject: "alice"}))(t)
	header := func(key string) http.Header {
		return http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
			"Idempotency-Key": {key}}
	}
	url := runner.URL(stack) + "/api/v1"
	importertest.Send(t, http.MethodPost, url+"/users/me", header("user"),
		`{"name":"Alice","email":"alice@example.com"}`, http.StatusCreated)
	importertest.Send(t, http.MethodPost, url+"/tasks", header("task"), `{"title":"Water the plants"}`,
		http.StatusCreated)
	if err := runner.FlushStreams(t.Context()); err != nil {
		t.Fatalf("%v: %+v", err, runtest.Of(runner).Deliveries())
	}
	type change struct {
		EventName string `parquet:"event_name"`
		Title     string `parquet:"title,optional"`
	}
	var changes []change
	on := runtest.Of(runner)
	for _, bucket := range on.Buckets() {
		if !strings.HasPrefix(bucket, stack+"-") {
			continue
		}
		keys := must.Get(on.Objects(bucket, "events/entity=task/"))(t)
		for _, key := range keys {
			content := must.Get(on.Object(bucket, key))(t)
			rows := must.Get(parquet.Read[change](bytes.NewReader(content), int64(len(content))))(t)
			changes = append(changes, rows...)
		}
	}
	if len(changes) != 1 || changes[0].EventName != "INSERT" || changes[0].Title != "Water the plants" {
		t.Errorf("lake: got %+v, want one INSERT of the task", changes)
	}
}
