package identity

import (
	"cmp"
	"fmt"
	"net/mail"
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Email makes a user pool send its emails through Amazon SES. The zero value lets Amazon Cognito send them itself, at
// most 50 a day in an account and region ("Email settings for Amazon Cognito user pools").
type Email struct {
	// From is the sender of the emails, such as "hello@example.com" or "To-Do
	// <hello@example.com>". Required if any other field is set.
	From string
	// ReplyTo is the address that answers go to. Default: From.
	ReplyTo string
	// Identity is the verified identity in Amazon SES of the stack's account: the address of
	// From, or its domain or one above. Default: the domain of From.
	Identity string
	// Region is the region of the identity. Cognito takes its own region, and in some regions others
	// ("AWS::Cognito::UserPool", EmailConfiguration). Default: the stack's region.
	Region string
	// ConfigurationSet is a configuration set of Amazon SES, which counts deliveries, bounces and complaints. Default:
	// none.
	ConfigurationSet string
}

var configurationSet = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Check adds a finding for each value that is invalid. The zero value is valid.
func (e Email) Check(f *finding.List, path string) {
	if e == (Email{}) {
		return
	}
	from, err := mail.ParseAddress(e.From)
	if err != nil || len(e.From) > props.LongestEmail {
		f.Add(path+".From", e.From, "one email address, also with a name, of up to 254 bytes",
			`write it as in "Shop <hello@example.com>"`)
	} else if domain := domainOf(from.Address); e.Identity != "" && e.Identity != from.Address &&
		e.Identity != domain && !strings.HasSuffix(domain, "."+e.Identity) {
		f.Add(path+".Identity", e.Identity, "the address of From, its domain, or one above",
			"name the identity that is verified in Amazon SES")
	}
	props.CheckEmail(f, path+".ReplyTo", e.ReplyTo)
	props.CheckRegion(f, path+".Region", e.Region)
	if e.ConfigurationSet != "" && !configurationSet.MatchString(e.ConfigurationSet) {
		f.Add(path+".ConfigurationSet", e.ConfigurationSet, "1 to 64 letters, digits, hyphens and underscores",
			"copy its name from Amazon SES")
	}
}

func domainOf(address string) string { return address[strings.LastIndex(address, "@")+1:] }

// configure lets a user pool of the scope send its emails through Amazon SES. Amazon
// Cognito makes the role that it needs by itself.
func (e Email) configure(scope constructs.Construct, pool awscognito.UserPool) {
	if e == (Email{}) {
		return
	}
	stack, identity := awscdk.Stack_Of(scope), e.Identity
	if identity == "" {
		// Check has parsed it already.
		from, _ := mail.ParseAddress(e.From)
		identity = domainOf(from.Address)
	}
	pool.Node().DefaultChild().(awscognito.CfnUserPool).SetEmailConfiguration(
		&awscognito.CfnUserPool_EmailConfigurationProperty{
			EmailSendingAccount: jsii.String("DEVELOPER"),
			From:                &e.From,
			ReplyToEmailAddress: props.Optional(e.ReplyTo),
			ConfigurationSet:    props.Optional(e.ConfigurationSet),
			SourceArn: jsii.String(fmt.Sprintf("arn:%s:ses:%s:%s:identity/%s", *stack.Partition(),
				cmp.Or(e.Region, *stack.Region()), *stack.Account(), identity)),
		})
}
