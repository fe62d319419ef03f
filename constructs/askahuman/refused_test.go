package askahuman_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
)

// refusals are props that only the CDK can tell to be wrong, with the paths of
// what is found.
var refusals = map[string]struct {
	props func(stack awscdk.Stack, builds map[gofunction.Architecture]*gofunction.Build) askahuman.Props
	paths []string
}{
	"Alias": {func(stack awscdk.Stack, _ map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		return askahuman.Props{Props: platform.Props{Key: awskms.Alias_FromAliasName(stack, jsii.String("Alias"), jsii.String("alias/company"))}}
	}, []string{"Props.Key"}},
	"OwnAlias": {func(stack awscdk.Stack, _ map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		return askahuman.Props{Props: platform.Props{Key: awskms.NewKey(stack, jsii.String("Key"), nil).AddAlias(jsii.String("alias/own"))}}
	}, []string{"Props.Key"}},
	// All of another region at once, and what is wrong anywhere beside it.
	"OtherRegion": {func(stack awscdk.Stack, _ map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		return askahuman.Props{
			Props: platform.Props{
				Prefix:     "-",
				DomainName: "api.example.com", CertificateARN: "arn:aws:acm:us-east-1:111122223333:certificate/1a",
				Key:        awskms.Key_FromKeyArn(stack, jsii.String("FarKey"), jsii.String("arn:aws:kms:us-east-1:111122223333:key/1a")),
				AlarmTopic: awssns.Topic_FromTopicArn(stack, jsii.String("FarTopic"), jsii.String("arn:aws:sns:us-east-1:111122223333:alarms")),
				VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("FarNetwork"), &awsec2.VpcAttributes{
					VpcId: jsii.String("vpc-1"), Region: jsii.String("us-east-1"), AvailabilityZones: jsii.Strings("us-east-1a"), PrivateSubnetIds: jsii.Strings("subnet-1"),
				}),
				Tables: table.DatabaseOptions{
					All: table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}},
					Existing: map[string]awsdynamodb.ITable{
						"Questions": awsdynamodb.TableV2_FromTableArn(stack, jsii.String("FarTable"), jsii.String("arn:aws:dynamodb:us-east-1:111122223333:table/asked")),
					},
				},
			},
		}
	}, []string{
		"Props.Prefix", `Props.Tables.Existing["Questions"]`, "Props.Tables.All.Replicas[0].Region", "Props.Tables.All.Replicas[0].KeyARN",
		"Props.CertificateARN", "Props.Key", "Props.VPC", "Props.AlarmTopic",
	}},
	"NoPrivateSubnets": {func(stack awscdk.Stack, _ map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		return askahuman.Props{
			Props: platform.Props{
				VPC: awsec2.NewVpc(stack, jsii.String("Public"), &awsec2.VpcProps{
					SubnetConfiguration: &[]*awsec2.SubnetConfiguration{{Name: jsii.String("all"), SubnetType: awsec2.SubnetType_PUBLIC}},
				}),
			},
		}
	}, []string{"Props.VPC"}},
	"NoSuchSubnets": {func(stack awscdk.Stack, _ map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		return askahuman.Props{
			Props: platform.Props{
				VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Imported"), &awsec2.VpcAttributes{
					VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a"), PrivateSubnetIds: jsii.Strings("subnet-1"),
				}),
				Subnets: awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED},
			},
		}
	}, []string{"Props.Subnets"}},
	"TwoSelections": {func(stack awscdk.Stack, _ map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		return askahuman.Props{
			Props: platform.Props{
				VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Twice"), &awsec2.VpcAttributes{
					VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a"), PrivateSubnetIds: jsii.Strings("subnet-1"),
				}),
				Subnets: awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_WITH_EGRESS, SubnetGroupName: jsii.String("Private")},
			},
		}
	}, []string{"Props.Subnets"}},
	"NoSuchZone": {func(stack awscdk.Stack, _ map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		return askahuman.Props{
			Props: platform.Props{
				VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Zone"), &awsec2.VpcAttributes{
					VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a"), PrivateSubnetIds: jsii.Strings("subnet-1"),
				}),
				Subnets: awsec2.SubnetSelection{AvailabilityZones: jsii.Strings("eu-west-1c")},
			},
		}
	}, []string{"Props.Subnets"}},
	"PublicSubnet": {func(stack awscdk.Stack, _ map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		vpc := awsec2.NewVpc(stack, jsii.String("Mixed"), nil)
		return askahuman.Props{Props: platform.Props{VPC: vpc, Subnets: awsec2.SubnetSelection{Subnets: vpc.PublicSubnets()}}}
	}, []string{"Props.Subnets"}},
	"OtherArchitecture": {func(_ awscdk.Stack, builds map[gofunction.Architecture]*gofunction.Build) askahuman.Props {
		return askahuman.Props{Props: platform.Props{Architecture: gofunction.X86_64, Build: builds[""]}}
	}, []string{"Props.Build"}},
}

// refused is the template of a stack whose metadata has the message of each
// refusal; empty: the props were taken.
var refused synthtest.Template

func declareRefused(app awscdk.App, builds map[gofunction.Architecture]*gofunction.Build) {
	stack := awscdk.NewStack(app, jsii.String("refused"), &awscdk.StackProps{Env: &awscdk.Environment{Account: jsii.String("111122223333"), Region: jsii.String("eu-west-1")}})
	messages := map[string]any{}
	for name, r := range refusals {
		p := r.props(stack, builds)
		if p.Build == nil {
			p.Build = builds[""]
		}
		messages[name] = ""
		if err := synthtest.PanicOf(func() { askahuman.New(stack, "AskAHuman"+name, p) }); err != nil {
			messages[name] = err.Error()
		}
	}
	stack.AddMetadata(jsii.String("refused"), messages)
}

// Props that would fail in the CDK, or on the way to AWS, are refused before, all of them in
// one message.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message, _ := synthtest.At(refused.Metadata, "refused", name).(string)
			var paths []string
			for line := range strings.Lines(message) {
				if path, _, found := strings.Cut(line, ": got "); found {
					paths = append(paths, strings.TrimSpace(path))
				}
			}
			if diff := cmp.Diff(r.paths, paths); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, message)
			}
		})
	}
	refused.One(t, "AWS::KMS::Key", "Key")
	for id := range refused.Resources {
		if strings.HasPrefix(id, "AskAHuman") {
			t.Fatalf("%s, for one, was declared before the props were refused", id)
		}
	}
}
