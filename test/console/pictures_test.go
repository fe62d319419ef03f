package console

import (
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The pictures of docs/guide/console.md, by make screenshots.
func TestPictures(t *testing.T) {
	folder := browser.Pictures(t)
	run, driven := suite.Start(t)
	shots := fillForPictures(t, run)
	for scheme, dark := range map[string]bool{"light": false, "dark": true} {
		tab := driven.Open(t, run.ConsoleURL()+"/", browser.Options{Dark: dark, Width: 1200, Height: 760})
		shown(tab, "")
		for _, shot := range shots {
			goTo(tab, shot.view)
			for _, step := range shot.steps {
				step(tab)
			}
			tab.Picture(filepath.Join(folder, shot.name+"-"+scheme+".webp"), 38)
		}
	}
}

// shot is a picture of a view, after some steps.
type shot struct {
	name, view string
	steps      []func(*browser.Tab)
}
