package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbackup"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsram"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsssm"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/pipelines"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	shared "github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	askahumanplatform "github.com/onesynth-cdk/onesynth/platforms/askahuman"
	localrun "github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// apps are CDK apps with constructs that companies use beside a platform. One child process
// synthesises all.
var apps = map[string]struct {
	context map[string]any
	declare func(awscdk.App)
}{
	"stages":   {context: map[string]any{}, declare: declareStages},
	"pipeline": {context: map[string]any{}, declare: declarePipeline},
	"boundary": {context: map[string]any{}, declare: declareBoundary},
	// cdk bootstrap creates this policy in the account.
	"existingboundary": {context: map[string]any{
		"@aws-cdk/core:permissionsBoundary": map[string]any{"name": "company-boundary"}}, declare: declareAsk},
	"domain": {context: map[string]any{}, declare: declareDomain},
	// New apps set this: stacks refer to outputs of other stacks without exports.
	"existing": {context: map[string]any{"@aws-cdk/core:defaultCrossStackReferences": "weak"},
		declare: declareExisting},
}

// synthesiseApps writes the assembly of each app into a folder of its name, below the folder that is its argument.
func synthesiseApps(arguments []string) {
	defer props.Close()
	for name, described := range apps {
		outdir := filepath.Join(arguments[0], name)
		values := maps.Clone(described.context)
		app := awscdk.NewApp(&awscdk.AppProps{Outdir: &outdir, AnalyticsReporting: jsii.Bool(false), Context: &values})
		described.declare(app)
		// Companies traverse their apps with assertions like this one.
		for _, child := range *app.Node().Children() {
			switch child.(type) {
			case awscdk.Stack, awscdk.Stage:
			default:
				panic("a construct that the app did not declare: " + *child.Node().Path())
			}
		}
		app.Synth(nil)
	}
}

func testEnvironment(account, region string) *awscdk.Environment {
	return &awscdk.Environment{Account: &account, Region: &region}
}

// newAsk declares an Ask-a-Human that asks agents for no token.
func newAsk(scope constructs.Construct, props askahuman.Props) *askahuman.AskAHuman {
	props.OpenAgents = true
	return askahuman.New(scope, "AskAHuman", props)
}

func declareAsk(app awscdk.App) {
	newAsk(awscdk.NewStack(app, jsii.String("ask"), nil), askahuman.Props{})
}

// declareStages declares one platform in two accounts under one prefix, and another stack.
func declareStages(app awscdk.App) {
	for name, environment := range map[string]*awscdk.Environment{
		"Dev":  testEnvironment("111122223333", "eu-west-1"),
		"Prod": testEnvironment("444455556666", "eu-west-1"),
	} {
		stage := awscdk.NewStage(app, &name, &awscdk.StageProps{Env: environment})
		newAsk(awscdk.NewStack(stage, jsii.String("Ask"), nil), askahuman.Props{Props: shared.Props{Prefix: "aah"}})
	}
	awsssm.NewStringParameter(awscdk.NewStack(app, jsii.String("shared"), nil), jsii.String("Owner"),
		&awsssm.StringParameterProps{StringValue: jsii.String("platform")})
}

// declarePipeline declares a pipeline that deploys a platform to two stages.
func declarePipeline(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String("Pipeline"),
		&awscdk.StackProps{Env: testEnvironment("777788889999", "eu-west-1")})
	pipeline := pipelines.NewCodePipeline(stack, jsii.String("Pipeline"), &pipelines.CodePipelineProps{
		Synth: pipelines.NewShellStep(jsii.String("Synth"), &pipelines.ShellStepProps{
			Input: pipelines.CodePipelineSource_Connection(jsii.String("company/app"), jsii.String("main"),
				&pipelines.ConnectionSourceOptions{
					ConnectionArn: jsii.String(
						"arn:aws:codestar-connections:eu-west-1:777788889999:connection/0a1b2c3d"),
				}),
			Commands: jsii.Strings("npx cdk synth"),
		}),
		CrossAccountKeys: jsii.Bool(true),
	})
	for _, described := range []struct{ name, account string }{{"Dev", "111122223333"}, {"Prod", "444455556666"}} {
		stage := awscdk.NewStage(app, &described.name,
			&awscdk.StageProps{Env: testEnvironment(described.account, "eu-west-1")})
		newAsk(awscdk.NewStack(stage, jsii.String("Ask"), nil), askahuman.Props{})
		pipeline.AddStage(stage, &pipelines.AddStageOpts{
			Pre: &[]pipelines.Step{pipelines.NewManualApprovalStep(jsii.String("Approve"), nil)}})
	}
}

// declareBoundary declares a platform with a permissions boundary that another stack declares.
func declareBoundary(app awscdk.App) {
	owned := awscdk.NewStack(app, jsii.String("company"), nil)
	allowed := awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("dynamodb:*", "logs:*", "secretsmanager:GetSecretValue", "lambda:InvokeFunction",
			"sqs:*"), Resources: jsii.Strings("*"),
	})
	boundary := awsiam.NewManagedPolicy(owned, jsii.String("Boundary"),
		&awsiam.ManagedPolicyProps{Statements: &[]awsiam.PolicyStatement{allowed}})
	stack := awscdk.NewStack(app, jsii.String("ask"), nil)
	newAsk(stack, askahuman.Props{})
	awsiam.PermissionsBoundary_Of(stack).Apply(boundary)
}

// declareDomain declares a platform with a domain name, and resources that companies add to such a stack.
func declareDomain(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String("ask"),
		&awscdk.StackProps{Env: testEnvironment("111122223333", "eu-west-1")})
	zone := awsroute53.NewPublicHostedZone(stack, jsii.String("Zone"),
		&awsroute53.PublicHostedZoneProps{ZoneName: jsii.String("example.com")})
	certificate := awscertificatemanager.NewCertificate(stack, jsii.String("Certificate"),
		&awscertificatemanager.CertificateProps{
			DomainName: jsii.String("ask.example.com"),
			Validation: awscertificatemanager.CertificateValidation_FromDns(zone),
		})
	asks := newAsk(stack, askahuman.Props{Props: shared.Props{DomainName: "ask.example.com",
		CertificateARN: *certificate.CertificateArn()}})
	domain := asks.API.Domain
	awsroute53.NewARecord(stack, jsii.String("Record"), &awsroute53.ARecordProps{
		Zone: zone, RecordName: jsii.String("ask"),
		Target: awsroute53.RecordTarget_FromAlias(
			awsroute53targets.NewApiGatewayv2DomainProperties(domain.RegionalDomainName(),
				domain.RegionalHostedZoneId())),
	})
	awsroute53.NewTxtRecord(stack, jsii.String("Text"),
		&awsroute53.TxtRecordProps{Zone: zone, Values: jsii.Strings("v=spf1 -all")})
	awscdk.NewCfnOutput(stack, jsii.String("NameServers"),
		&awscdk.CfnOutputProps{Value: awscdk.Fn_Join(jsii.String(","), zone.HostedZoneNameServers())})
	awsssm.NewStringParameter(stack, jsii.String("Address"),
		&awsssm.StringParameterProps{ParameterName: jsii.String("/company/ask/url"),
			StringValue: jsii.String(asks.API.URL())})

	awswafv2.NewCfnWebACL(stack, jsii.String("Firewall"), &awswafv2.CfnWebACLProps{
		Scope: jsii.String("REGIONAL"), DefaultAction: &awswafv2.CfnWebACL_DefaultActionProperty{
			Allow: &awswafv2.CfnWebACL_AllowActionProperty{}},
		VisibilityConfig: &awswafv2.CfnWebACL_VisibilityConfigProperty{CloudWatchMetricsEnabled: true,
			MetricName: jsii.String("ask"), SampledRequestsEnabled: true},
	})
	awsbudgets.NewCfnBudget(stack, jsii.String("Budget"),
		&awsbudgets.CfnBudgetProps{Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(100), Unit: jsii.String("USD")},
		}})
	plan := awsbackup.BackupPlan_Daily35DayRetention(stack, jsii.String("Backup"), nil)
	plan.AddSelection(jsii.String("Tables"),
		&awsbackup.BackupSelectionOptions{Resources: &[]awsbackup.BackupResource{
			awsbackup.BackupResource_FromTag(jsii.String("backup"), jsii.String("yes"), "")}})
	awsram.NewCfnResourceShare(stack, jsii.String("Share"), &awsram.CfnResourceShareProps{Name: jsii.String("tables")})
	awsevents.NewRule(stack, jsii.String("Nightly"), &awsevents.RuleProps{
		Schedule: awsevents.Schedule_Expression(jsii.String("rate(1 day)")),
		Targets:  &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(asks.Notifier.Resource, nil)},
	})
}

// Apps with stages, pipelines, boundaries, domains and existing resources run on a laptop unchanged, as the CDK writes
// them. What a run does with each is tested in packages run and run/internal/cloud.
func TestApps(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds all handlers: go test without -short does")
	}
	folder := t.TempDir()
	importertest.Output(t, childCommand(t, "apps", folder))
	t.Run("Existing", func(t *testing.T) {
		t.Parallel()
		checkExisting(t, filepath.Join(folder, "existing"))
	})

	for name, test := range map[string]struct {
		assembly string
		stacks   []string
		// asks are the stacks that get a question and an answer.
		asks []string
		// says is a line that the run prints once.
		says string
	}{
		"Stages":    {assembly: "stages", asks: []string{"Dev-Ask", "Prod-Ask"}},
		"StagesOne": {assembly: "stages", stacks: []string{"Dev/Ask"}, asks: []string{"Dev-Ask"}},
		"Pipeline": {assembly: "pipeline", asks: []string{"Dev-Ask", "Prod-Ask"},
			says: fmt.Sprintf("without effect here: AWS::CodeBuild::Project (%d), AWS::CodePipeline::Pipeline (1)\n",
				2+len(askahumanplatform.Platform().Functions))},
		"Boundary": {assembly: "boundary", stacks: []string{"ask"}, asks: []string{"ask"}},
		"BoundaryOfAccount": {assembly: "existingboundary", asks: []string{"ask"},
			says: "warning: the assembly does not declare the permissions boundary " +
				"arn:aws:iam::000000000000:policy/company-boundary: it limits no role here\n"},
		"Domain": {assembly: "domain", asks: []string{"ask"},
			says: "without effect here: AWS::Backup::BackupPlan (1), AWS::Backup::BackupSelection (1), " +
				"AWS::Backup::BackupVault (1), AWS::Budgets::Budget (1), " +
				"AWS::CertificateManager::Certificate (1), AWS::RAM::ResourceShare (1), " +
				"AWS::Route53::HostedZone (1), AWS::Route53::RecordSet (2), AWS::WAFv2::WebACL (1)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := &wait.Output{}
			runner := must.Get(start(t, localrun.Options{
				Assembly: filepath.Join(folder, test.assembly), Stacks: test.stacks,
				NoSchedules: true, Log: io.MultiWriter(t.Output(), said)}))(t)
			defer runner.Close()
			if test.says != "" && strings.Count(said.String(), test.says) != 1 ||
				test.says == "" && strings.Contains(said.String(), "without effect") {
				t.Errorf("the run says\n%swant %q once", said, test.says)
			}
			for _, stack := range test.asks {
				checkAnswers(t, runner.URL(stack))
			}
			if refused := runtest.Of(runner).Refused(); len(refused) != 0 {
				t.Errorf("refused requests: got %+v, want none", refused)
			}
		})
	}
}
