package run

import (
	"fmt"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
)

// principal returns the owner of an access key: a function with its role, or the role of the assembly with that name.
// Any other key belongs to a user of that name, who may do all: the assembly does not have the user's policies.
func (r *Runner) principal(accessKey string) (apigateway.Principal, error) {
	if function, role := r.aws.Caller(accessKey); role != nil {
		p := assumed(role, function)
		p.Allows = func(action, resource string) error { return r.aws.Authorise(function, action, resource) }
		return p, nil
	}
	of := r.design.Load().assembly
	if resource := of.ByName(accessKey, "AWS::IAM::Role"); resource != nil {
		role, err := policy.ForRole(of, resource.ARN)
		if err != nil {
			return apigateway.Principal{}, err
		}
		p := assumed(role, "local")
		p.Allows = func(action, resource string) error {
			if !role.Allows(action, resource) {
				return fmt.Errorf("the role %s does not allow %s on %s", role.Name, action, resource)
			}
			return nil
		}
		return p, nil
	}
	account := of.Stacks[0].Account
	return apigateway.Principal{Secret: aws.Secret, Account: account, ID: accessKey,
		ARN:    fmt.Sprintf("arn:aws:iam::%s:user/%s", account, accessKey),
		Allows: func(string, string) error { return nil }}, nil
}

// assumed is a role in a session.
func assumed(role *policy.Role, session string) apigateway.Principal {
	account := assembly.AccountOf(role.ARN)
	return apigateway.Principal{Secret: aws.Secret, Account: account, ID: role.Name + ":" + session,
		ARN: fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", account, role.Name, session)}
}
