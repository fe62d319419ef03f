// Package release has the tests on a running platform that only a release needs: make test-release.
package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

var suite = platform.Suite{Platform: askahuman.Platform(), Construct: "AskAHuman"}

func TestMain(m *testing.M) { suite.Main(m) }

// inapplicable are the official scenarios for servers that ours fails, each with a part of what the scenario says
// then. docs/platforms/agents.md says why.
var inapplicable = map[string]string{
	"tools-call-simple-text":        `unknown tool "test_`,
	"tools-call-image":              `unknown tool "test_`,
	"tools-call-audio":              `unknown tool "test_`,
	"tools-call-embedded-resource":  `unknown tool "test_`,
	"tools-call-mixed-content":      `unknown tool "test_`,
	"tools-call-with-logging":       `unknown tool "test_`,
	"tools-call-error":              `unknown tool "test_`,
	"tools-call-with-progress":      `unknown tool "test_`,
	"tools-call-sampling":           `unknown tool "test_`,
	"tools-call-elicitation":        `unknown tool "test_`,
	"elicitation-sep1034-defaults":  `unknown tool "test_`,
	"elicitation-sep1330-enums":     `unknown tool "test_`,
	"json-schema-2020-12":           "Tool 'json_schema_2020_12_tool' not found",
	"completion-complete":           `method not found: "completion/complete"`,
	"resources-read-text":           "Resource not found",
	"resources-read-binary":         "Resource not found",
	"resources-templates-read":      "Resource not found",
	"resources-subscribe":           `method not found: "resources/subscribe"`,
	"resources-unsubscribe":         `method not found: "resources/subscribe"`,
	"prompts-get-simple":            `unknown prompt "test_`,
	"prompts-get-with-args":         `unknown prompt "test_`,
	"prompts-get-embedded-resource": `unknown prompt "test_`,
	"prompts-get-with-image":        `unknown prompt "test_`,
}

// applicable are the scenarios that ours has to pass with at least one check.
var applicable = []string{"server-initialize", "ping", "tools-list", "logging-set-level", "resources-list",
	"prompts-list", foreignHosts}

const foreignHosts = "dns-rebinding-protection"

// The official conformance tests of the Model Context Protocol: ours passes every scenario but those that are known to
// be for other servers.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	on, results := suite.Shared(t), t.TempDir()
	running := exec.CommandContext(t.Context(), "node",
		filepath.Join(platform.Modules(t, "conformance"), "@modelcontextprotocol", "conformance", "dist", "index.js"),
		"server", "--url", on.URL+"/mcp", "--suite", "all", "--output-dir", results)
	running.Dir = results
	// It exits with 1 if a scenario fails. Errors of its own are in one line of hundreds of kilobytes.
	output, err := running.CombinedOutput()
	files, _ := filepath.Glob(filepath.Join(results, "server-*", "checks.json"))
	if len(files) == 0 {
		t.Fatalf("the conformance tests have no results: %v\n%.500s", err, output)
	}
	document := must.Get(os.ReadFile(filepath.Join(platform.Root(t), "docs", "platforms", "agents.md")))(t)
	var passed, failed []string
	for _, file := range files {
		content := must.Get(os.ReadFile(file))(t)
		var checks []struct{ Status, ErrorMessage string }
		must.OK(t, json.Unmarshal(content, &checks))
		// A folder is named after its scenario and the time, such as server-ping-2026-11-23T12-09-57-796Z.
		name := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-")
		scenario := name[:len(name)-len("-2006-01-02T15-04-05-000Z")]
		for _, check := range checks {
			known := inapplicable[scenario]
			if scenario == foreignHosts && platform.OnAWS() {
				// The gateway of an emulator answers to any host.
				known = "Expected HTTP 4xx for invalid Host/Origin headers, got 200"
			}
			switch {
			case check.Status == "SUCCESS":
				passed = append(passed, scenario)
			case check.Status != "FAILURE":
			case known == "" || !strings.Contains(check.ErrorMessage, known):
				t.Errorf("%s: got %q; want no failure, or for one that is known %q", scenario, check.ErrorMessage,
					known)
			default:
				failed = append(failed, scenario)
			}
		}
	}
	for _, scenario := range applicable {
		if !slices.Contains(passed, scenario) && !slices.Contains(failed, scenario) {
			t.Errorf("%s: no check passed", scenario)
		}
	}
	for scenario := range inapplicable {
		if !slices.Contains(failed, scenario) {
			t.Errorf("%s: got no failure: it applies after all", scenario)
		}
		if !strings.Contains(string(document), "`"+scenario+"`") {
			t.Errorf("docs/platforms/agents.md does not say why %s does not apply", scenario)
		}
	}
}
