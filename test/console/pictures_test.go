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
	items, trace, drawn := useForPictures(t, run)
	views := map[string]string{"try": tryView(clientOf(t, run, "todo", "alice").URL, "GET /api/v1/tasks/stats"),
		"trace": trace, "items": items, "map": drawn}
	for scheme, dark := range map[string]bool{"light": false, "dark": true} {
		tab := driven.Open(t, run.ConsoleURL()+"/", browser.Options{Dark: dark, Width: 1200, Height: 760})
		shown(tab, "")
		for name, view := range views {
			goTo(tab, view)
			switch name {
			case "try":
				tab.Click("Send")
				tab.See("All that the request did")
				browser.Evaluate[bool](tab, "document.activeElement?.blur(), scrollTo(0, 0), true")
			case "trace":
				tab.See("API Gateway")
			}
			tab.Picture(filepath.Join(folder, name+"-"+scheme+".webp"), 38)
		}
	}
}
