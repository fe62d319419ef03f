package page

import (
	"path"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

func TestBundle(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"../../lambdas/askahuman/page", "../../lambdas/askahuman/operator"} {
		t.Run(path.Base(folder), func(t *testing.T) {
			t.Parallel()
			browser.CheckBundle(t, folder)
		})
	}
}
