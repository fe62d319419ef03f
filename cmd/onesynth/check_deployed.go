package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/check"
)

// signIn says how to get credentials.
const signIn = "sign in (aws sso login, or as you do), or choose a profile with AWS_PROFILE (aws configure list-profiles shows them)"

// checkPermissions are the permissions that a check needs.
const checkPermissions = "cloudformation:DescribeStacks and cloudformation:GetTemplate on the stack"

// connect returns the configuration of the AWS command line, for the Region unless that is empty. Its errors say what to do.
func connect(ctx context.Context, region string) (aws.Config, error) {
	var options []func(*config.LoadOptions) error
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	configuration, err := config.LoadDefaultConfig(ctx, options...)
	var noProfile config.SharedConfigProfileNotExistError
	switch {
	case errors.As(err, &noProfile):
		return aws.Config{}, fmt.Errorf("got an unknown profile: set AWS_PROFILE to one of aws configure list-profiles: %w", err)
	case err != nil:
		return aws.Config{}, fmt.Errorf("AWS configuration: %w", err)
	}
	if _, err := configuration.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, fmt.Errorf("got no AWS credentials: %s: %w", signIn, err)
	}
	return configuration, nil
}

// fetch returns the template of the deployed stack, or nil if there is none, and completes the environment.
func fetch(ctx context.Context, configuration aws.Config, environment *check.Environment) (*check.Template, error) {
	if configuration.Region == "" {
		return nil, errors.New("got no Region: set AWS_REGION, or compare with a file by --against")
	}
	environment.Region = configuration.Region
	client := cloudformation.NewFromConfig(configuration)
	described, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &environment.Stack})
	var refusal smithy.APIError
	switch {
	case errors.As(err, &refusal) && refusal.ErrorCode() == "ValidationError" && strings.Contains(refusal.ErrorMessage(), "does not exist"):
		return nil, absent(ctx, configuration, environment)
	case err != nil:
		return nil, advise(fmt.Errorf("ask CloudFormation: %w", err), environment.Region, checkPermissions)
	case len(described.Stacks) != 1:
		return nil, fmt.Errorf("CloudFormation described %d stacks of that name", len(described.Stacks))
	}
	stack := described.Stacks[0]
	if empty, err := state(stack.StackStatus); empty || err != nil {
		return nil, err
	}
	if err := complete(environment, stack); err != nil {
		return nil, err
	}
	got, err := client.GetTemplate(ctx, &cloudformation.GetTemplateInput{StackName: &environment.Stack, TemplateStage: types.TemplateStageOriginal})
	if err != nil {
		return nil, advise(fmt.Errorf("ask CloudFormation for the deployed template: %w", err), environment.Region, checkPermissions)
	}
	if got.TemplateBody == nil {
		return nil, errors.New("CloudFormation gave no template")
	}
	template, err := check.Parse([]byte(*got.TemplateBody))
	if errors.Is(err, check.ErrNotJSON) {
		return nil, fmt.Errorf("deployed template: %w. cdk import leaves YAML behind, and so do other tools. Compare with a copy in JSON: "+
			"aws cloudformation get-template --stack-name %[2]s --region %[3]s --query TemplateBody --output text > deployed.yaml, convert it (cfn-flip --json deployed.yaml deployed.json), and --stack %[2]s --against deployed.json",
			err, environment.Stack, environment.Region)
	}
	if err != nil {
		return nil, fmt.Errorf("deployed template: %w", err)
	}
	return template, nil
}

// absent returns an error if a missing stack may be in another account, to which the CDK would deploy it by a role.
func absent(ctx context.Context, configuration aws.Config, environment *check.Environment) error {
	if environment.Account == "" {
		return nil
	}
	identity, err := sts.NewFromConfig(configuration).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return advise(fmt.Errorf("look up the account of the credentials: %w", err), environment.Region, checkPermissions)
	}
	return sameAccount(environment.Account, aws.ToString(identity.Account))
}

func sameAccount(stack, credentials string) error {
	if stack != credentials {
		return fmt.Errorf("the stack is for account %s, and the credentials are for %s: set AWS_PROFILE to one of that account", stack, credentials)
	}
	return nil
}

// advise adds a remedy to the error of a request that needs the permissions.
func advise(err error, region, permissions string) error {
	var unknownHost *net.DNSError
	if errors.As(err, &unknownHost) {
		return fmt.Errorf("got no address for AWS in %s: set AWS_REGION to an existing Region, or check the network: %w", region, err)
	}
	var refusal smithy.APIError
	if !errors.As(err, &refusal) {
		return err
	}
	switch code := refusal.ErrorCode(); {
	case strings.HasPrefix(code, "AccessDenied"):
		return fmt.Errorf("a permission is missing: %s are needed: %w", permissions, err)
	case slices.Contains([]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch"}, code):
		return fmt.Errorf("AWS does not take the credentials: %s: %w", signIn, err)
	}
	return err
}

// state reports whether a stack with the status has nothing deployed. It returns an error if the template of a stack with
// the status may differ from what is deployed.
func state(status types.StackStatus) (empty bool, err error) {
	switch status {
	case types.StackStatusReviewInProgress, types.StackStatusRollbackComplete, types.StackStatusDeleteComplete:
		return true, nil
	case types.StackStatusUpdateFailed, types.StackStatusUpdateRollbackFailed:
		return false, fmt.Errorf("the stack is %s, so its template does not say what is deployed: let CloudFormation roll it back first (aws cloudformation continue-update-rollback, or rollback-stack)", status)
	}
	if strings.HasSuffix(string(status), "_IN_PROGRESS") && !strings.HasSuffix(string(status), "_CLEANUP_IN_PROGRESS") {
		return false, fmt.Errorf("the stack is %s: wait until that is over", status)
	}
	return false, nil
}

// complete adds account, Region and parameters of the deployed stack. It returns an error if the stack is in another account.
func complete(environment *check.Environment, stack types.Stack) error {
	if stack.StackId != nil {
		id, err := arn.Parse(*stack.StackId)
		if err != nil {
			return fmt.Errorf("stack id: %w", err)
		}
		if environment.Account != "" {
			if err := sameAccount(environment.Account, id.AccountID); err != nil {
				return err
			}
		}
		environment.Account = id.AccountID
	}
	parameters := map[string]string{}
	for _, parameter := range stack.Parameters {
		value := parameter.ParameterValue
		if parameter.ResolvedValue != nil {
			value = parameter.ResolvedValue
		}
		if parameter.ParameterKey != nil && value != nil {
			parameters[*parameter.ParameterKey] = *value
		}
	}
	environment.Parameters = parameters
	return nil
}
