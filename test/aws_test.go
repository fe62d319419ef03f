package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/gruntwork-io/terratest/modules/shell"
)

const defaultStack = "onesynth-askahuman-dev"

// deployedTarget deploys the stack to the account of the current credentials, unless
// it is to be taken as it is, and reads its outputs.
func deployedTarget(t testing.TB) (*target, error) {
	ctx := context.Background()
	stack := os.Getenv("ONESYNTH_TEST_STACK")
	if stack == "" {
		stack = defaultStack
	}
	configuration, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	var outputs map[string]string
	if os.Getenv("ONESYNTH_TEST_DEPLOY") == "false" {
		outputs, err = stackOutputs(ctx, cloudformation.NewFromConfig(configuration), stack)
	} else {
		outputs, err = deploy(t, ctx, stack)
	}
	if err != nil {
		return nil, err
	}
	return newTarget(outputs, dynamodb.NewFromConfig(configuration))
}

// deploy deploys the stack of an environment, which its name ends in.
func deploy(t testing.TB, ctx context.Context, stack string) (map[string]string, error) {
	file := filepath.Join(t.TempDir(), "outputs.json")
	environment := stack[strings.LastIndex(stack, "-")+1:]
	for _, command := range []shell.Command{
		{Command: "make", Args: []string{"bin/cdk-app"}},
		{Command: "npx", Args: []string{
			"--no-install", "cdk", "deploy", stack, "--app", "bin/cdk-app", "-c", "env=" + environment,
			"--require-approval", "never", "--outputs-file", file,
		}},
	} {
		command.WorkingDir = root(t)
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

// Both ways to a stack's outputs lead to the same target.
func TestTargetOfOutputs(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, outputs map[string]string) {
		t.Helper()
		platform, err := newTarget(outputs, nil)
		if err != nil {
			t.Fatal(err)
		}
		if platform.url != "https://abc.execute-api.eu-central-1.amazonaws.com" || platform.tables["UserStats"] != "stats-1" || len(platform.tables) != 1 {
			t.Errorf("got %+v", platform)
		}
	}
	t.Run("OfDeployment", func(t *testing.T) {
		t.Parallel()
		const file = `{"onesynth-askahuman-dev": {
			"AskAHumanApiUrl": "https://abc.execute-api.eu-central-1.amazonaws.com/",
			"AskAHumanUserStatsTableName": "stats-1"}}`
		outputs, err := outputsOf([]byte(file), defaultStack)
		if err != nil {
			t.Fatal(err)
		}
		check(t, outputs)
		if _, err := outputsOf([]byte(file), "another"); err == nil {
			t.Error("got no error for a stack that was not deployed")
		}
	})
	t.Run("OfStack", func(t *testing.T) {
		t.Parallel()
		// The form of CloudFormation's DescribeStacks (AWS CloudFormation API reference).
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/xml")
			if r.FormValue("Action") != "DescribeStacks" || r.FormValue("StackName") != defaultStack {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack does not exist</Message></Error></ErrorResponse>`)
				return
			}
			fmt.Fprint(w, `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
				<StackName>onesynth-askahuman-dev</StackName><StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>2026-02-02T09:30:00Z</CreationTime><Outputs>
				<member><OutputKey>AskAHumanApiUrl</OutputKey><OutputValue>https://abc.execute-api.eu-central-1.amazonaws.com/</OutputValue></member>
				<member><OutputKey>AskAHumanUserStatsTableName</OutputKey><OutputValue>stats-1</OutputValue></member>
				</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`)
		}))
		t.Cleanup(server.Close)
		client := cloudformation.New(cloudformation.Options{
			BaseEndpoint: &server.URL, Region: "eu-central-1", HTTPClient: server.Client(),
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		})
		outputs, err := stackOutputs(t.Context(), client, defaultStack)
		if err != nil {
			t.Fatal(err)
		}
		check(t, outputs)
		if _, err := stackOutputs(t.Context(), client, "another"); err == nil {
			t.Error("got no error for a stack that does not exist")
		}
	})
}
