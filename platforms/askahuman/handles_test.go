package askahuman

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

func TestHandle(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"Ann": "Ann", "  Ann   of\tArc ": "Ann of Arc", "a-b_c 1": "a-b_c 1",
		"Ame\u0301lie": "Amélie", "नमस्ते": "नमस्ते", "日本語": "日本語",
		strings.Repeat("x", 20): strings.Repeat("x", 20),
		"":                      "", "ab": "", strings.Repeat("x", 21): "", "-ab": "", "ab ": "", "ab_": "",
		"a<b>": "", "a\u202eb": "", "a\u200bbc": "",
		"Admin": "", "the op-erator": "", "M o d erator": "", "Ask a Human": "", "😀😀😀": "",
	} {
		handle := Handle{given}.Normalised()
		if err := validate.Form(handle); err != nil || want == "" {
			if (err == nil) != (want != "") {
				t.Errorf("%q: got %v", given, err)
			}
		} else if handle.Handle != want {
			t.Errorf("%q: got %q, want %q", given, handle.Handle, want)
		}
	}
}

// A name that is made for someone is one that they could choose, and always the same.
func TestHandleOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hash := rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "hash")
		handle := HandleOf(hash, "")
		err := validate.Form(Handle{handle})
		if err != nil || handle != HandleOf(hash, "") || strings.Contains(handle, hash[:8]) {
			t.Errorf("%s is called %q: %v", hash, handle, err)
		}
	})
	names := map[string]bool{}
	for i := range 100 {
		names[HandleOf(fmt.Sprint(i), "")] = true
	}
	if len(names) < 99 {
		t.Errorf("got %d names of 100 people", len(names))
	}
	if got := HandleOf("x", "Ann"); got != "Ann" {
		t.Errorf("got %q", got)
	}
}
