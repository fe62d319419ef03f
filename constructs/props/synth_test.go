package props

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// An app that runs by itself says what the CDK's command would.
func TestWarnings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"artifacts": {"b": {"additionalMetadataFile": "b.metadata.json"}, "Tree": {},
			"Stage": {"properties": {"directoryName": "stage"}},
			"a": {"metadata": {"/a/Shop": [{"type": "aws:cdk:info", "data": "that is well"}, {"type": "aws:cdk:warning", "data": "2 of 3 alarms notify no one"}]}}}}`,
		"stage/manifest.json": `{"artifacts": {"c": {"metadata": {
			"/Stage/c": [{"type": "aws:cdk:warning", "data": "late"}]}}}}`,
		"b.metadata.json": `{"/b": [{"type": "aws:cdk:warning", "data": "odd"}]}`,
	} {
		must.OK(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o700))
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	got, err := warnings(folder)
	want := []string{"warning: Stage/c: late", "warning: a/Shop: 2 of 3 alarms notify no one", "warning: b: odd"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}
