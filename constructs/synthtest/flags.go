package synthtest

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
)

// Recommend gives a stack that is still empty the feature flags that the CDK recommends to new apps, and that "cdk
// init" writes into their cdk.json. It panics if the module of the CDK does not have them.
func Recommend(stack awscdk.Stack) {
	flags, err := recommended()
	if err != nil {
		panic(fmt.Errorf("reading the CDK's recommended feature flags: %w", err))
	}
	for flag, value := range flags {
		stack.Node().SetContext(&flag, value)
	}
}

// recommended reads the flags out of the package that the module of the CDK has in it.
func recommended() (map[string]any, error) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-cdk-go/awscdk/v2").Output()
	if err != nil {
		return nil, fmt.Errorf("finding the module: %w", err)
	}
	packages, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "jsii", "aws-cdk-lib-*.tgz"))
	if err != nil {
		return nil, err
	}
	if len(packages) != 1 {
		return nil, fmt.Errorf("the module has the packages %q, want one", packages)
	}
	file, err := os.Open(packages[0])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	const name = "package/recommended-feature-flags.json"
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return nil, fmt.Errorf("%s has no %s", packages[0], name)
		}
		if err != nil {
			return nil, err
		}
		if header.Name == name {
			var flags map[string]any
			return flags, json.NewDecoder(archive).Decode(&flags)
		}
	}
}
