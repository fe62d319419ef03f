// Package constructs holds the rules of which part of the module may know which.
package constructs

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// module begins the import paths of this module.
const module = "github.com/onesynth-cdk/onesynth/"

// dependencies returns the import path of every package that the packages of the
// pattern need, tests not counted, by package of this module.
func dependencies(t *testing.T, pattern string) map[string][]string {
	t.Helper()
	command := exec.Command("go", "list", "-e", "-json=ImportPath,Deps", pattern)
	command.Dir = ".."
	output, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list %s: %s", pattern, exit.Stderr)
		}
		t.Fatal(err)
	}
	all := map[string][]string{}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p.Deps
	}
}

// Data flows one way: schema to constructs and lambdas, and what these make to
// AWS or to the local run. So handlers compile in seconds, and the local run
// cannot know more than the assembly says.
func TestDependencies(t *testing.T) {
	t.Parallel()
	cdk := []string{"github.com/aws/aws-cdk-go/", "github.com/aws/constructs-go/", "github.com/aws/jsii-runtime-go", "github.com/cdklabs/"}
	aws := []string{"github.com/aws/"}
	tests := []struct {
		// part is a folder of the module, with all folders below it.
		part string
		// never are the beginnings of import paths that it must not need.
		never []string
	}{
		{"schema", append([]string{module}, aws...)},
		{"lambdas", append([]string{module + "constructs", module + "cmd"}, cdk...)},
		{"lambdas/askahuman/agentapi", []string{module + "local"}},
		{"lambdas/askahuman/humanapi", []string{module + "local"}},
		{"lambdas/askahuman/notifier", []string{module + "local"}},
		{"constructs", []string{module + "lambdas", module + "local", module + "cmd"}},
		{"local", append([]string{module + "constructs", module + "lambdas", module + "schema"}, cdk...)},
		// What no platform may know of: the shared parts.
		{"constructs/table", []string{module + "constructs/askahuman"}},
		{"constructs/gofunction", []string{module + "constructs/askahuman", module + "schema"}},
		{"constructs/httpapi", []string{module + "constructs/askahuman"}},
		{"constructs/identity", []string{module + "constructs/askahuman", module + "schema"}},
		{"lambdas/kit", []string{module + "lambdas/askahuman"}},
	}
	for _, test := range tests {
		t.Run(test.part, func(t *testing.T) {
			t.Parallel()
			packages := dependencies(t, "./"+test.part+"/...")
			if len(packages) == 0 {
				t.Fatalf("no packages in %s", test.part)
			}
			for path, needed := range packages {
				for _, need := range needed {
					// Packages of the part itself and their like below the same folder.
					if need == path || strings.HasPrefix(need, module+test.part+"/") || need == module+test.part {
						continue
					}
					for _, never := range test.never {
						if strings.HasPrefix(need, never) {
							t.Errorf("%s needs %s: %s must not know it", path, need, test.part)
						}
					}
				}
			}
		})
	}
}
