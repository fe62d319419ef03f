// Package identity makes issuers of JSON Web Tokens, user pools of Amazon Cognito:
// [Machines] for programs and [Users] for people.
package identity

import (
	"fmt"
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

var (
	domainName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}$`)
	reserved   = regexp.MustCompile(`aws|amazon|cognito`)
)

// checkName adds a finding if a domain's name cannot begin with the name.
func checkName(f *finding.List, path, name string) {
	if !domainName.MatchString(name) || reserved.MatchString(name) {
		f.Add(path, name,
			`a lower-case letter, then up to 15 lower-case letters, digits and hyphens, without "aws", "amazon" and "cognito"`,
			"shorten or respell it")
	}
}

// newDomain declares where a pool serves its OAuth 2.0 endpoints. The domain has
// to be unique among everyone's in the region. The last part of the stack's id is
// a UUID, and the address tells issuers in one stack apart.
func newDomain(scope constructs.Construct, name string, pool awscognito.UserPool) awscognito.UserPoolDomain {
	unique := awscdk.Fn_Select(jsii.Number(2), awscdk.Fn_Split(jsii.String("/"), awscdk.Stack_Of(scope).StackId(), nil))
	prefix := name + "-" + (*scope.Node().Addr())[:8] + "-" + *unique
	return awscognito.NewUserPoolDomain(scope, jsii.String("Domain"), &awscognito.UserPoolDomainProps{
		UserPool:      pool,
		CognitoDomain: &awscognito.CognitoDomainOptions{DomainPrefix: &prefix},
	})
}

func domainURL(domain awscognito.UserPoolDomain) string {
	return fmt.Sprintf("https://%s.auth.%s.amazoncognito.com", *domain.DomainName(), *awscdk.Stack_Of(domain).Region())
}

// Issuer returns the "iss" of the tokens of a user pool, of any region, for the stack of
// the scope.
func Issuer(scope constructs.Construct, pool awscognito.IUserPool) string {
	return fmt.Sprintf("https://cognito-idp.%s.%s/%s", *pool.Env().Region, *awscdk.Stack_Of(scope).UrlSuffix(),
		*pool.UserPoolId())
}

// passwordLength is more than the 8 of NIST SP 800-63B, since a second factor is optional.
const passwordLength = 12

func passwordPolicy() *awscognito.PasswordPolicy {
	return &awscognito.PasswordPolicy{
		MinLength:            jsii.Number(passwordLength),
		RequireLowercase:     jsii.Bool(true),
		RequireUppercase:     jsii.Bool(true),
		RequireDigits:        jsii.Bool(true),
		RequireSymbols:       jsii.Bool(true),
		TempPasswordValidity: awscdk.Duration_Days(jsii.Number(3)),
	}
}
