// Package platformtest has the environments in which tests synthesise every platform of the
// list.
package platformtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
)

const (
	// Existing is an environment whose platforms use an existing key, network and topic. [AddExisting] declares these.
	Existing = "owned"
	// Owned is the stack of the existing key, network and topic.
	Owned = "owner"
	// Zero is the environment of cdk.json that sets nothing.
	Zero = "tokens"
)

// Environments returns the platforms by environment. The environments are those of cdk.json, those of [Own], which set
// props that cdk.json leaves out, and [Existing]. root is the folder of the module.
func Environments(root string) (map[string][]*platforms.Platform, error) {
	var configuration struct {
		Context struct {
			Environments map[string]map[string]json.RawMessage
		}
	}
	if err := ReadJSON(filepath.Join(root, "cdk.json"), &configuration); err != nil {
		return nil, err
	}
	members := configuration.Context.Environments
	members[Existing] = map[string]json.RawMessage{}
	for _, p := range platforms.All() {
		own, err := Own(root, p)
		if err != nil {
			return nil, err
		}
		for name, props := range own {
			if members[name] == nil {
				members[name] = map[string]json.RawMessage{}
			}
			members[name][p.Name()] = props
		}
	}
	all := map[string][]*platforms.Platform{}
	for name, described := range members {
		text, err := json.Marshal(described)
		if err != nil {
			return nil, err
		}
		if all[name], err = platforms.Configure(text); err != nil {
			return nil, fmt.Errorf("environment %s: %w", name, err)
		}
	}
	return all, nil
}

// Own returns the environments in constructs/PLATFORM/testdata/environments.json: their props, by name.
func Own(root string, p *platforms.Platform) (own map[string]json.RawMessage, err error) {
	return own, ReadJSON(filepath.Join(root, "constructs", p.Name(), "testdata", "environments.json"), &own)
}

// ReadJSON reads a JSON file. Its errors name the file.
func ReadJSON(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// AddExisting declares the existing resources, in the stack [Owned], and sets them in the props of the platforms.
func AddExisting(app awscdk.App, all []*platforms.Platform) {
	owned := awscdk.NewStack(app, jsii.String(Owned), nil)
	key := awskms.NewKey(owned, jsii.String("Key"), &awskms.KeyProps{EnableKeyRotation: jsii.Bool(true)})
	topic := awssns.NewTopic(owned, jsii.String("Alerts"), &awssns.TopicProps{MasterKey: key})
	network := awsec2.NewVpc(owned, jsii.String("Network"), nil)
	group := awsec2.NewSecurityGroup(owned, jsii.String("Group"), &awsec2.SecurityGroupProps{Vpc: network})
	for _, p := range all {
		common := p.Common()
		common.Key, common.VPC, common.SecurityGroups, common.AlarmTopic = key, network, []awsec2.ISecurityGroup{group},
			topic
	}
}

// Build begins the build of stand-ins for the platform's functions, with the same names. They do nothing, because no
// test of a template invokes them.
func Build(root string, p *platforms.Platform) *gofunction.Build {
	source := gofunction.Source{Directory: filepath.Join(root, "constructs", p.Name(), "testdata", "handlers"),
		Architecture: p.Common().Architecture}
	for _, folder := range p.Handlers().Packages {
		source.Packages = append(source.Packages, path.Base(folder))
	}
	return gofunction.Start(context.Background(), source)
}
