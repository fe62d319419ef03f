package page

import (
	"bytes"
	"os"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// A browser loads the modules of the page as one file, which go generate makes of them.
func TestBundle(t *testing.T) {
	t.Parallel()
	const from, to = "../../lambdas/askahuman/page/modules/app.js", "../../lambdas/askahuman/page/files/app.js"
	made := api.Build(api.BuildOptions{
		EntryPoints: []string{from}, Bundle: true, Format: api.FormatESModule, Target: api.ES2022,
		Charset:          api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Banner: map[string]string{"js": "// Made of ../modules by go generate."},
	})
	if len(made.Errors) > 0 || len(made.OutputFiles) != 1 {
		t.Fatalf("got %d files and the errors %v", len(made.OutputFiles), made.Errors)
	}
	if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, made.OutputFiles[0].Contents) {
		t.Errorf("%s is not what its modules make (%v): run go generate ./lambdas/askahuman/page", to, err)
	}
}
