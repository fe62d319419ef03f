package page

import (
	"bytes"
	"os"
	"path"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// A browser loads the modules and the styles of a page as one file each, which go generate makes of them.
func TestBundle(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"lambdas/askahuman/page", "lambdas/askahuman/operator"} {
		page := "../../" + folder + "/"
		made := api.Build(api.BuildOptions{
			EntryPoints: []string{page + "modules/app.js", page + "modules/page.css"}, Outdir: page + "files",
			Bundle: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
			MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
			Banner: map[string]string{"js": "// Made of ../modules by go generate.",
				"css": "/* Made of ../modules by go generate. */"},
		})
		if len(made.Errors) > 0 || len(made.OutputFiles) != 2 {
			t.Fatalf("%s: got %d files and the errors %v", folder, len(made.OutputFiles), made.Errors)
		}
		for _, file := range made.OutputFiles {
			to := page + "files/" + path.Base(file.Path)
			if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, file.Contents) {
				t.Errorf("%s is not what its modules make (%v): run go generate ./%s", to, err, folder)
			}
		}
	}
}
