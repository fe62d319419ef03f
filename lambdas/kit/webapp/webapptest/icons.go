package webapptest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Icon is what icon.svg draws, in units of a 64th of its side.
type Icon struct {
	// Ground fills the whole square, since some systems cut icons to shapes of their own.
	Ground color.NRGBA
	// Shapes are drawn one over the other.
	Shapes []Shape
}

// Shape is a form of one colour.
type Shape struct {
	Ink color.NRGBA
	// Distance is how far a point is from the edge, and below 0 within the form.
	Distance func(x, y float64) float64
}

// Check checks that the icons of an installed page, icon-192.png and icon-512.png in the folder, are those that are
// drawn here. With update it writes them.
func (i Icon) Check(t *testing.T, folder string, update bool) {
	t.Helper()
	for _, size := range []int{192, 512} {
		name := filepath.Join(folder, fmt.Sprintf("icon-%d.png", size))
		want := i.draw(size)
		if update {
			var file bytes.Buffer
			if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, want); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if got.Bounds() != want.Bounds() || len(content) > 8<<10 {
			t.Errorf("%s has %v and %d bytes, want %v and 8 KiB at the most", name, got.Bounds(), len(content),
				want.Bounds())
			continue
		}
		for y := range size {
			for x := range size {
				if r, g, b, a := got.At(x, y).RGBA(); [4]uint32{r, g, b, a} != rgba(want.At(x, y)) {
					t.Fatalf("%s differs at %d, %d: draw it with -update", name, x, y)
				}
			}
		}
	}
}

func rgba(c color.Color) [4]uint32 {
	r, g, b, a := c.RGBA()
	return [4]uint32{r, g, b, a}
}

func (i Icon) draw(size int) image.Image {
	const rings = 8 // shades between two colours, so that the file stays small
	drawn := image.NewNRGBA(image.Rect(0, 0, size, size))
	unit := 64 / float64(size)
	for y := range size {
		for x := range size {
			drawn.SetNRGBA(x, y, i.Ground)
			for _, shape := range i.Shapes {
				distance := shape.Distance((float64(x)+0.5)*unit, (float64(y)+0.5)*unit)
				share := math.Round(min(1, max(0, 0.5-distance/unit))*rings) / rings
				under := drawn.NRGBAAt(x, y)
				mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
				drawn.SetNRGBA(x, y, color.NRGBA{mix(under.R, shape.Ink.R), mix(under.G, shape.Ink.G),
					mix(under.B, shape.Ink.B), 0xff})
			}
		}
	}
	return drawn
}

// Disc is the distance of a disc.
func Disc(x, y, radius float64) func(x, y float64) float64 {
	return func(px, py float64) float64 { return math.Hypot(px-x, py-y) - radius }
}

// Stroke is the distance of a line of a width, from one point to another, with round ends.
func Stroke(width, ax, ay, bx, by float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		along := ((x-ax)*(bx-ax) + (y-ay)*(by-ay)) / ((bx-ax)*(bx-ax) + (by-ay)*(by-ay))
		along = min(1, max(0, along))
		return math.Hypot(x-ax-along*(bx-ax), y-ay-along*(by-ay)) - width/2
	}
}
