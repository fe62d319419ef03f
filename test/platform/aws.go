package platform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/gruntwork-io/terratest/modules/shell"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// deployed deploys the stack to the account of the current credentials, unless the tests use it as
// it is, and reads its outputs.
func (s *Suite) deployed(t testing.TB) (*Target, error) {
	ctx := context.Background()
	environment := environmentOnAWS()
	stack := target.Stack{Name: s.stack(environment)}
	// What is missing is told before a deployment takes minutes.
	if _, err := target.Connect(ctx, ""); err != nil {
		return nil, fmt.Errorf("ONESYNTH_TEST_TARGET=aws: %w", err)
	}
	lacking, err := readLacks(os.Getenv("ONESYNTH_TEST_LACKS"), s.Platform.Name)
	if err != nil {
		return nil, fmt.Errorf("ONESYNTH_TEST_LACKS: %w", err)
	}
	if os.Getenv("ONESYNTH_TEST_DEPLOY") != "false" {
		if err := s.deploy(t, ctx, stack.Name, environment, lacking.Resources); err != nil {
			return nil, err
		}
	}
	configuration, outputs, err := stack.DeployedOutputs(ctx, "cloudformation:DescribeStacks")
	if err != nil {
		return nil, err
	}
	read, err := onesynthtest.NewTarget(s.Construct, outputs, dynamodb.NewFromConfig(configuration))
	if err != nil {
		return nil, err
	}
	made := &Target{
		Target: read, lacks: lacking,
		users: cognitoidentityprovider.NewFromConfig(configuration), athena: athena.NewFromConfig(configuration),
	}
	if emulator := os.Getenv(endpoint); emulator != "" {
		if made.URL, err = emulatedURL(emulator, made.URL); err != nil {
			return nil, err
		}
		// An emulator starts an instance of a function for each request at a time, as AWS does, but
		// on this machine. With fifty of them, no request is answered in time.
		made.slots = make(chan struct{}, 8)
	}
	return made, nil
}

// environmentOnAWS returns the environment of cdk.json that is tested on AWS.
func environmentOnAWS() string {
	if environment := os.Getenv("ONESYNTH_TEST_ENVIRONMENT"); environment != "" {
		return environment
	}
	return "dev"
}

// deploy deploys the stack of an environment. Resources of the types that lack, each
// with the reason, are left out once they have been refused.
func (s *Suite) deploy(t testing.TB, ctx context.Context, stack, environment string, lack map[string]string) error {
	folder, err := os.MkdirTemp("", "onesynth-test-")
	if err != nil {
		return err
	}
	s.scratch = folder
	d, err := synthesise(t, ctx, folder, stack, environment)
	if err != nil {
		return err
	}
	if s.deployedAssembly, err = leaveOut(t, d.assembly, stack, lack, d.deploy); err != nil {
		return err
	}
	if _, err := d.deploy(s.deployedAssembly); err != nil {
		return fmt.Errorf("deploy %s: %w", stack, err)
	}
	return nil
}

// deployment is a stack that is about to be deployed.
type deployment struct {
	// assembly is the folder of the cloud assembly.
	assembly string
	// deploy deploys the stack of an assembly, and returns what the CDK command printed.
	deploy func(assembly string) (string, error)
}

// synthesise writes the assembly of a stack into a folder.
func synthesise(t testing.TB, ctx context.Context, folder, stack, environment string) (deployment, error) {
	app, d := filepath.Join(folder, "cdk-app"), deployment{assembly: filepath.Join(folder, "deployed")}
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
		return run("npx", "--no-install", "cdk", "deploy", stack, "--app", assembly, "--require-approval", "never")
	}
	if _, err := run("go", "build", "-o", app, "."); err != nil {
		return d, fmt.Errorf("build the app: %w", err)
	}
	if _, err := run("npx", synth...); err != nil {
		return d, fmt.Errorf("synthesise %s: %w", stack, err)
	}
	return d, nil
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
	dropped := must.Get(without(s.deployedAssembly, stack, []string{"AWS::DynamoDB::GlobalTable"}))(t)
	if output, err := check(dropped); err == nil || !strings.Contains(output, stack+"/drop:") {
		t.Errorf("check an assembly without tables: got %v; want a refusal\n%s", err, output)
	}
}
