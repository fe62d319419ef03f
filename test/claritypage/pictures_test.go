package claritypage

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The pictures of docs/platforms/pages.md, by make screenshots.
func TestPictures(t *testing.T) {
	folder := browser.Pictures(t)
	p := someone(t)
	hasty := []string{"The salesman is right, new machines need much less electricity.",
		"The old machine is old, so it will break again soon.", "Buy the new machine, it is better in every way."}
	p.hands(hasty...)
	p.hands(careful()[0], hasty[1], hasty[2])
	p.hands(careful()[0], careful()[1], hasty[2])
	id := p.hands(careful()...)
	tab := p.open(browser.Options{Width: 1000, Height: 640})
	tab.Show(place)
	for at, text := range careful()[:2] {
		tab.Write([]string{"q1", "q2"}[at], text)
	}
	saves(tab)
	tab.Until("(document.activeElement.blur(), scrollTo(0, 0), true)")
	tab.Picture(folder+"/clarity-work.webp", 30)
	tab.Show("/a/" + id)
	tab.Picture(folder+"/clarity-attempt.webp", 40)
	tab = p.open(browser.Options{Width: 360, Height: 740, Dark: true})
	tab.Show("/progress")
	tab.Until("(document.querySelector('.curves').scrollIntoView(), true)")
	tab.Picture(folder+"/clarity-curves.webp", 60)
}
