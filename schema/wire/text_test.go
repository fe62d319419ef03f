package wire_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

func TestLoneSurrogate(t *testing.T) {
	t.Parallel()
	for json, want := range map[string]int{
		``: -1, `{"a":"b"}`: -1, `"\ud83d\ude00"`: -1, `"\uD83D\uDE00\u00e9"`: -1, `"\\ud800"`: -1, `"\\\\ud800"`: -1,
		`"\ufffd"`: -1, "\"\ufffd😀\"": -1, `"\"\n\u0041"`: -1,
		`"\ud800"`: 1, `"\uDFFF"`: 1, `"a\ud83d😀"`: 2, `"\ud83d\u0041"`: 1, `"\ud83d\ud83d\ude00"`: 1,
		`"\ude00\ud83d"`: 1, `"\ud83d\\ude00"`: 1, `{"\udc00":1}`: 2, `"\\\ud800"`: 3, `"\ud83d\ude00\ud83d"`: 13,
		`"\ud8`: -1, `\`: -1,
	} {
		if got := wire.LoneSurrogate([]byte(json)); got != want {
			t.Errorf("%s: got %d; want %d", json, got, want)
		}
	}
}
