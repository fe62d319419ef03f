package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/run/command/target"
)

// checkPermissions are the permissions that a check needs.
const checkPermissions = "cloudformation:DescribeStacks and cloudformation:GetTemplate on the stack"

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
	case errors.As(err, &refusal) && refusal.ErrorCode() == "ValidationError" &&
		strings.Contains(refusal.ErrorMessage(), "does not exist"):
		return nil, absent(ctx, configuration, environment)
	case err != nil:
		return nil, target.Advise(fmt.Errorf("ask CloudFormation: %w", err), environment.Region, checkPermissions)
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
	got, err := client.GetTemplate(ctx, &cloudformation.GetTemplateInput{StackName: &environment.Stack,
		TemplateStage: types.TemplateStageOriginal})
	if err != nil {
		return nil, target.Advise(fmt.Errorf("ask CloudFormation for the deployed template: %w", err),
			environment.Region, checkPermissions)
	}
	// That of a nested stack was asked for by its id.
	environment.Stack = cmp.Or(aws.ToString(stack.StackName), environment.Stack)
	if got.TemplateBody == nil {
		return nil, errors.New("CloudFormation gave no template")
	}
	template, err := check.Parse([]byte(*got.TemplateBody))
	if errors.Is(err, check.ErrNotJSON) {
		return nil, fmt.Errorf("deployed template: %w. cdk import leaves YAML behind, and so do other tools. Compare "+
			"with a copy in JSON: "+
			"aws cloudformation get-template --stack-name %[2]s --region %[3]s --query TemplateBody --output text > "+
			"deployed.yaml, convert it (cfn-flip --json deployed.yaml deployed.json), and --stack %[2]s --against "+
			"deployed.json",
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
		return target.Advise(fmt.Errorf("look up the account of the credentials: %w", err), environment.Region,
			checkPermissions)
	}
	return sameAccount(environment.Account, aws.ToString(identity.Account))
}

func sameAccount(stack, credentials string) error {
	if stack != credentials {
		return fmt.Errorf("the stack is for account %s, and the credentials are for %s: set AWS_PROFILE to one of "+
			"that account", stack, credentials)
	}
	return nil
}

// state reports whether a stack with the status has nothing deployed. It returns an error if the template of a stack
// with the status may differ from what is deployed.
func state(status types.StackStatus) (empty bool, err error) {
	switch status {
	case types.StackStatusReviewInProgress, types.StackStatusRollbackComplete, types.StackStatusDeleteComplete:
		return true, nil
	case types.StackStatusUpdateFailed, types.StackStatusUpdateRollbackFailed:
		return false, fmt.Errorf("the stack is %s, so its template does not say what is deployed: let CloudFormation "+
			"roll it back first (aws cloudformation continue-update-rollback, or rollback-stack)", status)
	}
	if strings.HasSuffix(string(status), "_IN_PROGRESS") && !strings.HasSuffix(string(status), "_CLEANUP_IN_PROGRESS") {
		return false, fmt.Errorf("the stack is %s: wait until that is over", status)
	}
	return false, nil
}

// complete adds account, Region and parameters of the deployed stack. It returns an error if the stack is in another
// account.
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
