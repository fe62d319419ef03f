package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/gruntwork-io/terratest/modules/shell"

	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// deployed deploys the stack to the account of the current credentials, unless the tests use it as
// it is, and reads its outputs.
func (s *Suite) deployed(t testing.TB) (*Target, error) {
	ctx := context.Background()
	environment := environmentOnAWS()
	stack := s.stack(environment)
	configuration, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if err := usable(ctx, configuration); err != nil {
		return nil, fmt.Errorf("ONESYNTH_TEST_TARGET=aws: %w", err)
	}
	lacking, err := readLacks(os.Getenv("ONESYNTH_TEST_LACKS"), s.Platform.Name)
	if err != nil {
		return nil, fmt.Errorf("ONESYNTH_TEST_LACKS: %w", err)
	}
	var outputs map[string]string
	if os.Getenv("ONESYNTH_TEST_DEPLOY") == "false" {
		outputs, err = stackOutputs(ctx, cloudformation.NewFromConfig(configuration), stack)
	} else {
		outputs, err = s.deploy(t, ctx, stack, environment, lacking.Resources)
	}
	if err != nil {
		return nil, err
	}
	read, err := onesynthtest.NewTarget(s.Construct, outputs, dynamodb.NewFromConfig(configuration))
	if err != nil {
		return nil, err
	}
	target := &Target{
		Target: read, lacks: lacking,
		users: cognitoidentityprovider.NewFromConfig(configuration), athena: athena.NewFromConfig(configuration),
	}
	if emulator := os.Getenv(endpoint); emulator != "" {
		if target.URL, err = emulatedURL(emulator, target.URL); err != nil {
			return nil, err
		}
		// An emulator starts an instance of a function for each request at a time, as AWS does, but
		// on this machine. With fifty of them, no request is answered in time.
		target.slots = make(chan struct{}, 8)
	}
	return target, nil
}

// environmentOnAWS returns the environment of cdk.json that is tested on AWS.
func environmentOnAWS() string {
	if environment := os.Getenv("ONESYNTH_TEST_ENVIRONMENT"); environment != "" {
		return environment
	}
	return "dev"
}

// usable reports what is missing, before a deployment takes minutes.
func usable(ctx context.Context, configuration aws.Config) error {
	if configuration.Region == "" {
		return errors.New("there is no AWS region: set AWS_REGION, or AWS_PROFILE to a profile that has one")
	}
	if _, err := configuration.Credentials.Retrieve(ctx); err != nil {
		return fmt.Errorf("there are no AWS credentials: log in, or set AWS_PROFILE to a profile that has some: %w",
			err)
	}
	return nil
}

// deploy deploys the stack of an environment. Resources of the types that lack, each
// with the reason, are left out once they have been refused.
func (s *Suite) deploy(t testing.TB, ctx context.Context, stack, environment string,
	lack map[string]string) (map[string]string, error) {
	folder, err := os.MkdirTemp("", "onesynth-test-")
	if err != nil {
		return nil, err
	}
	s.scratch = folder
	d, err := synthesise(t, ctx, folder, stack, environment)
	if err != nil {
		return nil, err
	}
	if s.deployedAssembly, err = leaveOut(t, d.assembly, stack, lack, d.deploy); err != nil {
		return nil, err
	}
	if _, err := d.deploy(s.deployedAssembly); err != nil {
		return nil, fmt.Errorf("deploy %s: %w", stack, err)
	}
	content, err := os.ReadFile(d.outputs)
	if err != nil {
		return nil, fmt.Errorf("read the outputs of %s: %w", stack, err)
	}
	return outputsOf(content, stack)
}

// deployment is a stack that is about to be deployed.
type deployment struct {
	// assembly is the folder of the cloud assembly, and outputs the file of the stack's outputs.
	assembly, outputs string
	// deploy deploys the stack of an assembly, and returns what the CDK command printed.
	deploy func(assembly string) (string, error)
}

// synthesise writes the assembly of a stack into a folder.
func synthesise(t testing.TB, ctx context.Context, folder, stack, environment string) (deployment, error) {
	app, d := filepath.Join(folder, "cdk-app"),
		deployment{assembly: filepath.Join(folder, "deployed"), outputs: filepath.Join(folder, "outputs.json")}
	synth := []string{"--no-install", "cdk", "synth", stack, "--app", app, "--output", d.assembly, "-c",
		"env=" + environment, "--quiet"}
	if os.Getenv(endpoint) != "" {
		// An emulator runs the functions on this machine.
		synth = append(synth, "-c", "arch="+OwnArchitecture())
	}
	run := func(name string, args ...string) (string, error) {
		return shell.RunCommandContextAndGetOutputE(t, ctx,
			&shell.Command{Command: name, Args: args, WorkingDir: Root(t)})
	}
	d.deploy = func(assembly string) (string, error) {
		return run("npx", "--no-install", "cdk", "deploy", stack, "--app", assembly, "--require-approval", "never",
			"--outputs-file", d.outputs)
	}
	if _, err := run("go", "build", "-o", app, "."); err != nil {
		return d, fmt.Errorf("build the app: %w", err)
	}
	if _, err := run("npx", synth...); err != nil {
		return d, fmt.Errorf("synthesise %s: %w", stack, err)
	}
	return d, nil
}

// outputsOf reads a stack's outputs from what `cdk deploy --outputs-file` writes.
func outputsOf(file []byte, stack string) (map[string]string, error) {
	var stacks map[string]map[string]string
	if err := json.Unmarshal(file, &stacks); err != nil {
		return nil, fmt.Errorf("read the outputs of %s: %w", stack, err)
	}
	outputs, ok := stacks[stack]
	if !ok {
		return nil, fmt.Errorf("the deployment has no outputs of stack %s", stack)
	}
	return outputs, nil
}

// stackOutputs reads a deployed stack's outputs.
func stackOutputs(ctx context.Context, client *cloudformation.Client, stack string) (map[string]string, error) {
	described, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil {
		return nil, fmt.Errorf("describe stack %s: %w", stack, err)
	}
	if len(described.Stacks) == 0 {
		return nil, errors.New("there is no stack " + stack)
	}
	outputs := map[string]string{}
	for _, output := range described.Stacks[0].Outputs {
		outputs[aws.ToString(output.OutputKey)] = aws.ToString(output.OutputValue)
	}
	return outputs, nil
}

// CheckDeployed checks that `onesynth check` has nothing against what is deployed, and
// refuses to drop a table of it.
func (s *Suite) CheckDeployed(t *testing.T) {
	t.Helper()
	if target := s.Shared(t); target.Run != nil || s.deployedAssembly == "" {
		t.Skip("skipped: these tests have deployed nothing")
	}
	onesynth, stack := commandtest.Path(t), s.stack(environmentOnAWS())
	check := func(assembly string) (string, error) {
		return shell.RunCommandContextAndGetOutputE(t, t.Context(),
			&shell.Command{Command: onesynth, Args: []string{"check", "--assembly", assembly, "--stack", stack}})
	}
	if output, err := check(s.deployedAssembly); err != nil {
		t.Errorf("check what is deployed: %v\n%s", err, output)
	}
	dropped, err := without(s.deployedAssembly, stack, []string{"AWS::DynamoDB::GlobalTable"})
	if err != nil {
		t.Fatal(err)
	}
	if output, err := check(dropped); err == nil || !strings.Contains(output, stack+"/drop:") {
		t.Errorf("check an assembly without tables: got %v; want a refusal\n%s", err, output)
	}
}
