package security

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// rule is a rule for every resource of some types.
type rule struct {
	// Types are the resource types that it is about.
	Types []string
	// Keeps reports whether the resource follows the rule.
	Keeps func(synthtest.Resource) bool
	// Broken is a property, or several, that breaks the rule.
	Broken string
}

// rules are our own, for what cdk-nag's packs do not check.
var rules = map[string]rule{
	"Own-TableRecovery": {[]string{"AWS::DynamoDB::GlobalTable"}, func(r synthtest.Resource) bool {
		replicas := synthtest.List(r.Properties["Replicas"])
		return len(replicas) > 0 && !slices.ContainsFunc(replicas, func(replica any) bool {
			return synthtest.At(replica, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true
		})
	}, `{"Replicas": [{"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}}, {}]}`},
	"Own-TableEncryption": {[]string{"AWS::DynamoDB::GlobalTable"}, func(r synthtest.Resource) bool {
		return synthtest.At(r.Properties, "SSESpecification", "SSEEnabled") == true &&
			synthtest.At(r.Properties, "SSESpecification", "SSEType") == "KMS"
	}, `{"SSESpecification": {"SSEEnabled": false}}`},
	"Own-QueueEncryption": {[]string{"AWS::SQS::Queue"}, func(r synthtest.Resource) bool {
		return r.Properties["SqsManagedSseEnabled"] == true || r.Properties["KmsMasterKeyId"] != nil
	}, `{"SqsManagedSseEnabled": false}`},
	"Own-BucketEncryption": {[]string{"AWS::S3::Bucket"}, func(r synthtest.Resource) bool {
		algorithm := synthtest.At(r.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration", 0,
			"ServerSideEncryptionByDefault", "SSEAlgorithm")
		return algorithm == "AES256" || algorithm == "aws:kms"
	}, `{}`},
	"Own-BucketNotPublic": {[]string{"AWS::S3::Bucket"}, func(r synthtest.Resource) bool {
		for _, setting := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls",
			"RestrictPublicBuckets"} {
			if synthtest.At(r.Properties, "PublicAccessBlockConfiguration", setting) != true {
				return false
			}
		}
		return synthtest.At(r.Properties, "OwnershipControls", "Rules", 0, "ObjectOwnership") == "BucketOwnerEnforced"
	}, `{"PublicAccessBlockConfiguration": {"BlockPublicAcls": true}}`},
	// Does anyone but this account's roles and AWS's services have access, and for whom do these act?
	"Own-NobodyElse": {[]string{"AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::IAM::Role", "AWS::KMS::Key"},
		func(r synthtest.Resource) bool {
			for _, document := range []string{"PolicyDocument", "AssumeRolePolicyDocument", "KeyPolicy"} {
				for _, s := range synthtest.List(synthtest.At(r.Properties, document, "Statement")) {
					if synthtest.At(s, "Effect") == "Allow" && !narrow(s) {
						return false
					}
				}
			}
			return true
		}, `{"PolicyDocument": {"Statement": [
			{"Effect": "Allow", "Action": "s3:GetObject", "Principal": {"AWS": "*"}}]}}`},
	"Own-DomainOverTLS12": {[]string{"AWS::ApiGatewayV2::DomainName"}, func(r synthtest.Resource) bool {
		configurations := synthtest.List(r.Properties["DomainNameConfigurations"])
		return len(configurations) > 0 && !slices.ContainsFunc(configurations, func(c any) bool {
			policy, _ := synthtest.At(c, "SecurityPolicy").(string)
			return policy != "TLS_1_2" && !strings.HasPrefix(policy, "SecurityPolicy_TLS13")
		})
	}, `{"DomainNameConfigurations": [{"SecurityPolicy": "TLS_1_0"}]}`},
	"Own-InvokedForThisAccount": {[]string{"AWS::Lambda::Permission"}, func(r synthtest.Resource) bool {
		principal := synthtest.Text(r.Properties["Principal"])
		return strings.HasSuffix(principal, ".amazonaws.com") &&
			(r.Properties["SourceArn"] != nil || r.Properties["SourceAccount"] != nil) &&
			r.Properties["FunctionUrlAuthType"] == nil
	}, `{"Principal": "*", "SourceArn": "arn:aws:s3:::anyone"}`},
	"Own-SecretGenerated": {[]string{"AWS::SecretsManager::Secret"}, func(r synthtest.Resource) bool {
		return r.Properties["GenerateSecretString"] != nil && r.Properties["SecretString"] == nil
	}, `{"SecretString": "secret"}`},
	"Own-NoSecretInEnvironment": {[]string{"AWS::Lambda::Function"}, func(r synthtest.Resource) bool {
		variables, _ := synthtest.At(r.Properties, "Environment", "Variables").(map[string]any)
		for name, value := range variables {
			if strings.Contains(synthtest.Text(value), "{{resolve:") ||
				aboutSecret.MatchString(name) && !strings.HasSuffix(name, "_ARN") {
				return false
			}
		}
		return true
	}, `{"Environment": {"Variables": {"CURSOR_SECRET": "secret"}}}`},
	"Own-PoolPassword": {[]string{"AWS::Cognito::UserPool"}, func(r synthtest.Resource) bool {
		length, _ := synthtest.At(r.Properties, "Policies", "PasswordPolicy", "MinimumLength").(float64)
		return length >= 12
	}, `{"Policies": {"PasswordPolicy": {"MinimumLength": 8}}}`},
	// The errors of a wrong password and of an unknown user are equal, so that they do not reveal
	// who has an account. No client accepts passwords in the clear, or has the service's defaults.
	"Own-ClientTellsNothing": {[]string{"AWS::Cognito::UserPoolClient"}, func(r synthtest.Resource) bool {
		flows := synthtest.List(r.Properties["ExplicitAuthFlows"])
		if len(flows) == 0 || slices.Contains(flows, any("ALLOW_USER_PASSWORD_AUTH")) ||
			slices.Contains(flows, any("ALLOW_ADMIN_USER_PASSWORD_AUTH")) {
			return false
		}
		people := slices.Contains(flows, any("ALLOW_USER_SRP_AUTH"))
		return (!people || r.Properties["PreventUserExistenceErrors"] == "ENABLED") &&
			r.Properties["EnableTokenRevocation"] == true
	}, `{"ExplicitAuthFlows": ["ALLOW_USER_SRP_AUTH"], "EnableTokenRevocation": true}`},
}

// aboutSecret are names of variables that would hold a secret.
var aboutSecret = regexp.MustCompile(`SECRET|PASSWORD|TOKEN|CREDENTIALS|PRIVATE_KEY|API_KEY`)

// narrow reports whether a statement allows single actions to a service, and not to everyone.
func narrow(statement any) bool {
	principal, _ := synthtest.At(statement, "Principal").(map[string]any)
	if len(principal) == 0 {
		return false
	}
	for kind, who := range principal {
		for _, one := range synthtest.List(who) {
			if kind != "Service" || strings.Contains(synthtest.Text(one), "*") {
				return false
			}
		}
	}
	for _, action := range synthtest.List(synthtest.At(statement, "Action")) {
		if strings.Contains(synthtest.Text(action), "*") {
			return false
		}
	}
	return true
}

// broken returns where a template does not keep the rules.
func broken(s stack) []finding {
	var all []finding
	for name, rule := range rules {
		for id, r := range s.template.Resources {
			if slices.Contains(rule.Types, r.Type) && !rule.Keeps(r) {
				all = append(all, finding{Rule: name, Resource: id})
			}
		}
	}
	return all
}

// Each rule sees what breaks it.
func TestRules(t *testing.T) {
	t.Parallel()
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := synthtest.Resource{Type: rule.Types[0]}
			must.OK(t, json.Unmarshal([]byte(rule.Broken), &r.Properties))
			if rule.Keeps(r) {
				t.Errorf("%s keeps the rule, want that it breaks it", rule.Broken)
			}
			seen := 0
			for stack, s := range stacks {
				if slices.ContainsFunc(rule.Types, func(kind string) bool { return len(s.template.OfType(kind)) > 0 }) {
					seen++
				} else if !optional[rule.Types[0]] && s.environment != recipe {
					t.Errorf("%s has no resource of the types %v", stack, rule.Types)
				}
			}
			if seen == 0 {
				t.Errorf("no stack has a resource of the types %v", rule.Types)
			}
		})
	}
}

// optional are types that not every stack has.
var optional = map[string]bool{
	"AWS::S3::Bucket": true, "AWS::S3::BucketPolicy": true, "AWS::Lambda::EventSourceMapping": true,
	"AWS::Cognito::UserPool": true, "AWS::Cognito::UserPoolClient": true, "AWS::ApiGatewayV2::DomainName": true,
}

// These would be open to the world, or need rules that are not here.
func TestTypes(t *testing.T) {
	t.Parallel()
	refused := regexp.MustCompile(
		`^AWS::(Lambda::Url|DynamoDB::Table|ApiGateway::.*|AppSync::.*|Cognito::IdentityPool|IAM::(User|AccessKey|ManagedPolicy)|CloudFormation::CustomResource)$|^Custom::`)
	for name, s := range stacks {
		for id, r := range s.template.Resources {
			if refused.MatchString(r.Type) {
				t.Errorf("%s: %s is a %s: add rules for that type first", name, s.paths[id], r.Type)
			}
		}
		if strings.Contains(s.template.Source, "{{resolve:") {
			t.Errorf("%s: a secret's value becomes part of a resource", name)
		}
	}
}
