package wire_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Moments on the wire have one width, so their texts sort by time.
func ExampleTime() {
	text, err := json.Marshal(wire.At(time.Date(2026, 2, 2, 9, 30, 0, 123_456_789, time.UTC)))
	fmt.Println(string(text), err)
	// Output: "2026-02-02T09:30:00.123Z" <nil>
}
