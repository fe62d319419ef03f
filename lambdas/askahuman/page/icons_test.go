package page

import (
	"flag"
	"image/color"
	"math"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
)

var update = flag.Bool("update", false, "draw the icons, and write the operations")

// The icons that an installed page has are the shapes of icon.svg on a square ground.
func TestIcons(t *testing.T) {
	t.Parallel()
	green, paper, orange := color.NRGBA{0x2f, 0x5d, 0x50, 0xff}, color.NRGBA{0xfb, 0xfa, 0xf7, 0xff},
		color.NRGBA{0xd9, 0x82, 0x2b, 0xff}
	// A rectangle with round corners, and the tip of the bubble below it.
	bubble := func(px, py float64) float64 {
		dx, dy := math.Abs(px-32)-12, math.Abs(py-30)-6
		rectangle := math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - 8
		tip := max(20-px, 40-py, (3*(px-20)+4*(py-53))/5)
		return min(rectangle, tip)
	}
	webapptest.Icon{Ground: green, Shapes: []webapptest.Shape{
		{Ink: paper, Distance: bubble}, {Ink: green, Distance: webapptest.Disc(23, 30, 3.5)},
		{Ink: green, Distance: webapptest.Disc(32, 30, 3.5)}, {Ink: orange, Distance: webapptest.Disc(41, 30, 3.5)},
	}}.Check(t, "files", *update)
}
