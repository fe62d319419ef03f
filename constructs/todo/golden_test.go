package todo_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

// The golden ids of all platforms hold every logical id that docs/VERSIONS.md promises to keep, and -update takes none away.
func TestGone(t *testing.T) {
	t.Parallel()
	kept := append(check.UniqueTypes(), "AWS::DynamoDB::GlobalTable", "AWS::SecretsManager::Secret", "AWS::Cognito::UserPool", "AWS::S3::Bucket")
	held := map[string]bool{}
	files, err := filepath.Glob("../*/testdata/logical-ids.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(golden)) {
			kind, _, _ := strings.Cut(line, " ")
			held[kind] = true
			changed := strings.Replace(string(golden), line, strings.TrimSpace(line)+"New\n", 1)
			if lost := synthtest.Gone(string(golden), changed); slices.Contains(kept, kind) != (len(lost) == 1 && lost[0]+"\n" == line) {
				t.Errorf("without %s: got %q", line, lost)
			}
		}
		if lost := synthtest.Gone(string(golden), "AWS::SQS::Queue New\n"+string(golden)); len(lost) > 0 {
			t.Errorf("with one more: got %q", lost)
		}
	}
	for _, kind := range kept {
		// No platform has a domain name of its own: importers bring theirs.
		if !held[kind] && kind != "AWS::ApiGatewayV2::DomainName" && kind != "AWS::ApiGatewayV2::ApiMapping" {
			t.Errorf("no golden id of %s", kind)
		}
	}
}
