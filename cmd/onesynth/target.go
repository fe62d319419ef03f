package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/local/console"
)

// target has the flags with which commands find a platform, of a run or of a deployed stack, by the stacks' outputs.
type target struct {
	running
	Stack  string `help:"Deployed stack. Default: the running assembly." placeholder:"NAME"`
	Region string `help:"Region of the deployed stack. Default: that of the AWS command line." placeholder:"NAME"`
}

// deployed reports whether the flags name a deployed stack.
func (c *target) deployed() (bool, error) {
	if c.Stack == "" && c.Region != "" {
		return false, errors.New("got --region without --stack: name the deployed stack, or leave both out for the running assembly")
	}
	return c.Stack != "", nil
}

// where names the target in errors.
func (c *target) where() string {
	if c.Stack != "" {
		return "the stack " + c.Stack
	}
	return "the run at " + c.Console
}

// runningOutputs returns the outputs of the running stacks.
func (c *target) runningOutputs(ctx context.Context) (stacks []console.StackOutputs, err error) {
	return stacks, c.call(ctx, http.MethodGet, "/outputs", nil, &stacks)
}

// deployedOutputs returns the outputs of the deployed stack, and how to reach AWS. Its errors name the permissions that the
// command needs.
func (c *target) deployedOutputs(ctx context.Context, permissions string) (aws.Config, map[string]string, error) {
	configuration, err := connect(ctx, c.Region)
	if err != nil {
		return aws.Config{}, nil, err
	}
	if configuration.Region == "" {
		return aws.Config{}, nil, errors.New("got no Region: set AWS_REGION, or name it by --region")
	}
	described, err := cloudformation.NewFromConfig(configuration).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &c.Stack})
	var refusal smithy.APIError
	switch {
	case errors.As(err, &refusal) && refusal.ErrorCode() == "ValidationError" && strings.Contains(refusal.ErrorMessage(), "does not exist"):
		return aws.Config{}, nil, fmt.Errorf("stack %s: it is not deployed in %s: aws cloudformation list-stacks shows those that are", c.Stack, configuration.Region)
	case err != nil:
		return aws.Config{}, nil, advise(fmt.Errorf("ask CloudFormation: %w", err), configuration.Region, permissions)
	}
	outputs := map[string]string{}
	for _, stack := range described.Stacks {
		for _, output := range stack.Outputs {
			outputs[aws.ToString(output.OutputKey)] = aws.ToString(output.OutputValue)
		}
	}
	return configuration, outputs, nil
}
