package gofunction

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// maxSecurityGroups is how many a function may have ("Lambda quotas").
const maxSecurityGroups = 5

// Network is where in a VPC a function runs. With the zero value it runs outside of any, with access to the internet.
type Network struct {
	// VPC is the network. Its subnets need a way to the services of AWS that the
	// function uses: VPC endpoints, or a NAT gateway. Default: none.
	VPC awsec2.IVpc
	// Subnets are the subnets of the VPC that the function runs in. Public ones are invalid: a function has no public
	// address there. Default: private ones with a way out.
	Subnets awsec2.SubnetSelection
	// SecurityGroups control the function's traffic: at most 5. Default: one of its own
	// that lets everything out and nothing in.
	SecurityGroups []awsec2.ISecurityGroup
}

// check adds a finding for each value that is wrong. path leads to the fields.
func (n Network) check(f *finding.List, path, region string) {
	vpc, subnets, groups := path+".VPC", path+".Subnets", path+".SecurityGroups"
	there, selected := props.CheckResource(f, vpc, n.VPC, region), n.Subnets != (awsec2.SubnetSelection{})
	if n.VPC == nil && selected {
		f.Add(subnets, "a selection", "none without a VPC", "set the VPC, or leave both out")
	}
	switch {
	case n.Subnets.SubnetType == awsec2.SubnetType_PUBLIC:
		f.Add(subnets+".SubnetType", string(n.Subnets.SubnetType), "a type of private subnets",
			"choose private subnets: a function has no public address in a public one")
	case there:
		if err := n.selectSubnets(); err != nil {
			at, got := vpc, "a VPC"
			if selected {
				at, got = subnets, "a selection"
			}
			f.Add(at, got, "private subnets of the VPC", err.Error())
		}
	}
	if n.VPC == nil && len(n.SecurityGroups) > 0 {
		f.Add(groups, len(n.SecurityGroups), "none without a VPC", "set the VPC, or leave both out")
	}
	if len(n.SecurityGroups) > maxSecurityGroups {
		f.Add(groups, len(n.SecurityGroups), "at most 5", "put the rules of several into one")
	}
	for i, g := range n.SecurityGroups {
		if props.IsNil(g) {
			f.Add(fmt.Sprintf("%s[%d]", groups, i), nil, "a security group", "pass one, or leave it out")
		}
	}
}

// selectSubnets returns why AWS Lambda, or the CDK, would not take the subnets that
// are selected in the VPC.
func (n Network) selectSubnets() (err error) {
	// The CDK throws an error here. Unless recovered, it would end the app halfway.
	defer func() {
		if thrown := recover(); thrown != nil {
			message, _, _ := strings.Cut(fmt.Sprint(thrown), "\n")
			err = fmt.Errorf("select others: %s", message)
		}
	}()
	public := map[string]bool{}
	for _, s := range *n.VPC.PublicSubnets() {
		public[*s.SubnetId()] = true
	}
	ids := *n.VPC.SelectSubnets(&n.Subnets).SubnetIds
	if len(ids) == 0 {
		return errors.New("select others: the VPC does not have these")
	}
	for _, id := range ids {
		if public[*id] {
			return errors.New("select private ones: a function has no public address in a public one")
		}
	}
	return nil
}

// attach makes AWS Lambda connect the function to the VPC.
func (f *Function) attach(description *awslambda.FunctionProps, n Network) {
	if n.VPC == nil {
		return
	}
	description.Vpc, description.VpcSubnets = n.VPC, props.Optional(n.Subnets)
	description.SecurityGroups = props.OptionalList(n.SecurityGroups)
	actions := jsii.Strings("ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
		"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses")
	// AWS Lambda acts as the role, and requires these on all resources ("Giving Lambda functions
	// access to resources in an Amazon VPC": required IAM permissions). The function's own code
	// needs none of them and is denied them: a request of the code has the function's ARN in its
	// context.
	f.Role.AddToPrincipalPolicy(awsiam.NewPolicyStatement(
		&awsiam.PolicyStatementProps{Actions: actions, Resources: jsii.Strings("*")}))
	f.Role.AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Effect: awsiam.Effect_DENY, Actions: actions, Resources: jsii.Strings("*"),
		Conditions: &map[string]any{"ArnLike": map[string]any{
			"lambda:SourceFunctionArn": props.ARN(f, "lambda", "function:*"),
		}},
	}))
}
