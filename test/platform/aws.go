package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/gruntwork-io/terratest/modules/shell"
)

// deployed deploys the stack to the account of the current credentials, unless
// it is to be taken as it is, and reads its outputs.
func (s *Suite) deployed(t testing.TB) (*Target, error) {
	ctx := context.Background()
	environment := os.Getenv("ONESYNTH_TEST_ENVIRONMENT")
	if environment == "" {
		environment = "dev"
	}
	stack := s.stack(environment)
	configuration, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if err := usable(ctx, configuration); err != nil {
		return nil, fmt.Errorf("ONESYNTH_TEST_TARGET=aws: %w", err)
	}
	var outputs map[string]string
	if os.Getenv("ONESYNTH_TEST_DEPLOY") == "false" {
		outputs, err = stackOutputs(ctx, cloudformation.NewFromConfig(configuration), stack)
	} else {
		outputs, err = deploy(t, ctx, stack, environment)
	}
	if err != nil {
		return nil, err
	}
	return s.target(outputs, dynamodb.NewFromConfig(configuration))
}

// usable tells what is missing before minutes have gone into a deployment.
func usable(ctx context.Context, configuration aws.Config) error {
	if configuration.Region == "" {
		return errors.New("there is no AWS region: set AWS_REGION, or AWS_PROFILE to a profile that has one")
	}
	if _, err := configuration.Credentials.Retrieve(ctx); err != nil {
		return fmt.Errorf("there are no AWS credentials: log in, or set AWS_PROFILE to a profile that has some: %w", err)
	}
	return nil
}

// deploy deploys the stack of an environment.
func deploy(t testing.TB, ctx context.Context, stack, environment string) (map[string]string, error) {
	file := filepath.Join(t.TempDir(), "outputs.json")
	app, assembly := filepath.Join(t.TempDir(), "cdk-app"), t.TempDir()
	for _, command := range []shell.Command{
		{Command: "go", Args: []string{"build", "-o", app, "."}},
		{Command: "npx", Args: []string{
			"--no-install", "cdk", "deploy", stack, "--app", app, "--output", assembly, "-c", "env=" + environment,
			"--require-approval", "never", "--outputs-file", file,
		}},
	} {
		command.WorkingDir = Root(t)
		if _, err := shell.RunCommandContextAndGetOutputE(t, ctx, &command); err != nil {
			return nil, fmt.Errorf("deploy %s: %w", stack, err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the outputs of %s: %w", stack, err)
	}
	return outputsOf(content, stack)
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
