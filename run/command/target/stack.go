package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/run/command/output"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
)

// Stack has the flags with which commands find a platform in a run or in a deployed stack, by the stacks' outputs.
type Stack struct {
	Console
	Name   string `name:"stack" help:"Deployed stack. Default: the running assembly." placeholder:"NAME"`
	Region string `help:"Region of the deployed stack. Default: that of the AWS command line." placeholder:"NAME"`
}

// Deployed reports whether the flags name a deployed stack.
func (s *Stack) Deployed() (bool, error) {
	if s.Name == "" && s.Region != "" {
		return false, output.Usagef("got --region without --stack: name the deployed stack, or leave both out for " +
			"the running assembly")
	}
	return s.Name != "", nil
}

// Where returns the name of the target for errors.
func (s *Stack) Where() string {
	if s.Name != "" {
		return "the stack " + s.Name
	}
	return "the run at " + s.Console.URL
}

// RunningOutputs returns the outputs of the running stacks.
func (s *Stack) RunningOutputs(ctx context.Context) (stacks []console.StackOutputs, err error) {
	return stacks, s.Call(ctx, http.MethodGet, "/outputs", nil, &stacks)
}

// DeployedOutputs returns the outputs of the deployed stack, and the configuration that reaches AWS. Its errors name
// the permissions that the command needs.
func (s *Stack) DeployedOutputs(ctx context.Context, permissions string) (aws.Config, map[string]string, error) {
	configuration, err := Connect(ctx, s.Region)
	if err != nil {
		return aws.Config{}, nil, err
	}
	if configuration.Region == "" {
		return aws.Config{}, nil, errors.New("got no Region: set AWS_REGION, or name it by --region")
	}
	described, err := cloudformation.NewFromConfig(configuration).DescribeStacks(ctx,
		&cloudformation.DescribeStacksInput{StackName: &s.Name})
	var refusal smithy.APIError
	switch {
	case errors.As(err, &refusal) && refusal.ErrorCode() == "ValidationError" &&
		strings.Contains(refusal.ErrorMessage(), "does not exist"):
		return aws.Config{}, nil, fmt.Errorf("stack %s: it is not deployed in %s: aws cloudformation list-stacks "+
			"shows those that are", s.Name, configuration.Region)
	case err != nil:
		return aws.Config{}, nil, Advise(fmt.Errorf("ask CloudFormation: %w", err), configuration.Region, permissions)
	}
	outputs := map[string]string{}
	for _, stack := range described.Stacks {
		for _, output := range stack.Outputs {
			outputs[aws.ToString(output.OutputKey)] = aws.ToString(output.OutputValue)
		}
	}
	return configuration, outputs, nil
}
