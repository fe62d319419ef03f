package page

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var bundle = flag.Bool("bundle", false, "write the page's modules as one file")

// A browser loads the modules of the page as one file, which is made of them by this test.
func TestBundle(t *testing.T) {
	t.Parallel()
	const from, to = "../../lambdas/askahuman/page/modules/app.js", "../../lambdas/askahuman/page/files/app.js"
	made := api.Build(api.BuildOptions{
		EntryPoints: []string{from}, Bundle: true, Format: api.FormatESModule, Target: api.ES2022,
		Charset:          api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Banner: map[string]string{"js": "// Made of ../modules: go test ./page -run TestBundle -bundle, in the " +
			"folder test."},
	})
	if len(made.Errors) > 0 || len(made.OutputFiles) != 1 {
		t.Fatalf("got %d files and the errors %v", len(made.OutputFiles), made.Errors)
	}
	want := made.OutputFiles[0].Contents
	if *bundle {
		if err := os.WriteFile(to, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what its modules make (%v): run go test ./page -run TestBundle -bundle in the folder test",
			to, err)
	}
}
