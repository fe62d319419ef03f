package lingiblepage

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The pictures of docs/platforms/pages.md, by make screenshots.
func TestPictures(t *testing.T) {
	folder := browser.Pictures(t)
	p := premium(t)
	tab := p.open(browser.Options{Width: 800, Height: 900})
	tab.Press("No cap, that burger is bussin.\r")
	tab.Until("document.querySelector('.result .translated')")
	tab.Picture(folder+"/lingible-translate.webp", 60)
	tab = p.open(browser.Options{Width: 360, Height: 740, Dark: true})
	tab.Show("/play")
	tab.Click("Begin")
	tab.Until("document.querySelector('.options button')")
	tab.Click(tab.Text(".options button"))
	tab.Until("document.querySelector('.options .right')")
	tab.Picture(folder+"/lingible-quiz.webp", 60)
}
