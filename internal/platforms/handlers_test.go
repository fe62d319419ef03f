package platforms_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/handlersource"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// The handlers of this module's platforms name what their schemas declare: a synth would not refuse them.
func TestHandlersNameWhatIsDeclared(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			var files []string
			for _, folder := range []string{"platforms", "lambdas"} {
				err := filepath.WalkDir(filepath.Join("..", "..", folder, p.Name()),
					func(name string, _ fs.DirEntry, err error) error {
						if filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
							files = append(files, name)
						}
						return err
					})
				must.OK(t, err)
			}
			var f finding.List
			if err := handlersource.Check(&f, p.Whole, files); err != nil || len(f) > 0 {
				t.Errorf("got %v, %v", err, f)
			}
		})
	}
}
