package gofunction

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// hashed is the SHA-256 of a text.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestPruneFolder(t *testing.T) {
	t.Parallel()
	// asset is the folder that a function with that binary is staged in.
	asset := func(binary string) string { return "asset." + hashed(hashed(binary)) }
	assembly := func(more map[string]string) map[string]string {
		files := map[string]string{
			"manifest.json": `{"artifacts": {"S.assets": {"type": "cdk:asset-manifest", "properties": {"file": "S.assets.json"}},
				"assembly-prod": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-prod"}}}}`,
			"S.assets.json": `{"files": {"a": {"source": {"path": "` + asset("used") +
				`"}}, "b": {"source": {"executable": ["make"]}}}}`,
			"assembly-prod/manifest.json": `{"artifacts": {"P.assets": {"type": "cdk:asset-manifest", "properties": {"file": "P.assets.json"}}}}`,
			"assembly-prod/P.assets.json": `{"files": {"a": {"source": {"path": "../` +
				asset("used by the stage") + `"}}}}`,
			"Old.assets.json":                         `{"files": {"a": {"source": {"path": "` + asset("old") + `"}}}}`,
			asset("used") + "/bootstrap":              "used",
			asset("used by the stage") + "/bootstrap": "used by the stage",
			asset("old") + "/bootstrap":               "old",
			asset("older") + "/bootstrap":             "older",
			"asset.somebody/bootstrap":                "somebody else's",
			asset("mixed") + "/bootstrap":             "mixed",
			asset("mixed") + "/extension":             "",
			asset("other") + "/index.js":              "other",
		}
		for name, content := range more {
			files[name] = content
		}
		return files
	}
	kept := []string{
		asset("mixed"), asset("other"), asset("used"), asset("used by the stage"), "asset.somebody",
	}
	all := append([]string{asset("old"), asset("older")}, kept...)
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"OK": {assembly(nil), kept},
		// A file that cannot be read is no reason to remove anything.
		"ErrManifest":       {assembly(map[string]string{"manifest.json": "{"}), all},
		"ErrNoManifest":     {assembly(map[string]string{"manifest.json": ""}), all},
		"ErrStageManifest":  {assembly(map[string]string{"assembly-prod/manifest.json": ""}), all},
		"ErrAssetsManifest": {assembly(map[string]string{"S.assets.json": ""}), all},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for name, content := range test.files {
				path := filepath.Join(folder, filepath.FromSlash(name))
				must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
				must.OK(t, os.WriteFile(path, []byte(content), 0o755))
			}
			pruneFolder(folder)
			want, got := map[string]bool{}, map[string]bool{}
			for _, name := range test.want {
				want[name] = true
			}
			found := must.Get(filepath.Glob(filepath.Join(folder, "asset.*")))(t)
			for _, path := range found {
				got[filepath.Base(path)] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("assets (-want +got):\n%s", diff)
			}
		})
	}
	pruneFolder(filepath.Join(t.TempDir(), "nothing"))
}
