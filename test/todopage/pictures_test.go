package todopage

import (
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The pictures of docs/platforms/todo.md, by make screenshots.
func TestPictures(t *testing.T) {
	folder := browser.Pictures(t)
	ann := user(t)
	ann.has("Return the parcel", "category", "errands", "priority", "high", "due_date", day(-1))
	ann.has("Write the report", "category", "work", "priority", "high", "due_date", day(0))
	ann.has("Call the landlord", "category", "home", "due_date", day(0))
	ann.has("Water the plants", "category", "home", "priority", "low", "due_date", day(0))
	ann.has("Buy a present for Ben", "category", "family", "priority", "medium", "due_date", day(2))
	ann.has("Plan the release", "category", "work", "priority", "medium", "due_date", day(5))
	for name, options := range map[string]browser.Options{"today": {Width: 800, Height: 620},
		"phone": {Width: 360, Height: 620, Dark: true}} {
		tab := ann.open(options)
		tab.See("Write the report")
		tab.Until("(document.activeElement.blur(), scrollTo(0, 0), true)")
		tab.Picture(filepath.Join(folder, name+".webp"), 60)
	}
}
