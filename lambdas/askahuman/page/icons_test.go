package page

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "draw the icons, and write the operations")

// The icons that an installed page has are those that are drawn here: the shapes of icon.svg on a
// square ground, since some systems cut icons to shapes of their own.
func TestIcons(t *testing.T) {
	t.Parallel()
	for _, size := range []int{192, 512} {
		name := filepath.Join("files", fmt.Sprintf("icon-%d.png", size))
		want := icon(size)
		if *update {
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

// icon draws the shapes of icon.svg, in units of a 64th of the side.
func icon(size int) image.Image {
	green, paper, orange := color.NRGBA{0x2f, 0x5d, 0x50, 0xff}, color.NRGBA{0xfb, 0xfa, 0xf7, 0xff},
		color.NRGBA{0xd9, 0x82, 0x2b, 0xff}
	const rings = 8 // shades between two colours, so that the file stays small
	drawn := image.NewNRGBA(image.Rect(0, 0, size, size))
	unit := 64 / float64(size)
	paint := func(x, y int, over color.NRGBA, distance float64) {
		share := math.Round(min(1, max(0, 0.5-distance/unit))*rings) / rings
		under := drawn.NRGBAAt(x, y)
		mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
		drawn.SetNRGBA(x, y, color.NRGBA{mix(under.R, over.R), mix(under.G, over.G), mix(under.B, over.B), 0xff})
	}
	for y := range size {
		for x := range size {
			drawn.SetNRGBA(x, y, green)
			px, py := (float64(x)+0.5)*unit, (float64(y)+0.5)*unit
			// A rectangle with round corners, and the tip of the bubble below it.
			dx, dy := math.Abs(px-32)-12, math.Abs(py-30)-6
			bubble := math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - 8
			tip := max(20-px, 40-py, (3*(px-20)+4*(py-53))/5)
			paint(x, y, paper, min(bubble, tip))
			for at, ink := range []color.NRGBA{green, green, orange} {
				paint(x, y, ink, math.Hypot(px-23-9*float64(at), py-30)-3.5)
			}
		}
	}
	return drawn
}
