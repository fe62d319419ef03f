package askahuman

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
)

func TestHandle(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"Ann": "Ann", "  Ann   of\tArc ": "Ann of Arc", "a-b_c 1": "a-b_c 1",
		"Ame\u0301lie": "Amélie", "नमस्ते": "नमस्ते", "日本語": "日本語",
		strings.Repeat("x", 20): strings.Repeat("x", 20),
		"":                      "", "ab": "", strings.Repeat("x", 21): "", "-ab": "", "ab ": "", "ab_": "",
		"a<b>": "", "a\u202eb": "", "a\u200bbc": "",
		"😀😀😀": "", "O'Brien": "O'Brien", "'Ann": "",
	} {
		handle := Handle{given}.Normalised()
		if err := openapi.Check(handle); err != nil || want == "" {
			if (err == nil) != (want != "") {
				t.Errorf("%q: got %v", given, err)
			}
		} else if handle.Handle != want {
			t.Errorf("%q: got %q, want %q", given, handle.Handle, want)
		}
	}
}

// Names of people in many scripts are possible, and what deceives, cannot be seen or insults is not.
func TestNames(t *testing.T) {
	t.Parallel()
	content := must.Get(os.ReadFile("testdata/names.txt"))(t)
	seen := map[string]int{}
	for line := range strings.Lines(string(content)) {
		want, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue // a comment
		}
		name, err := strconv.Unquote(`"` + text + `"`)
		must.OK(t, err)
		handle := Handle{name}.Normalised()
		if err = openapi.Check(handle); err == nil {
			err = handle.Allow()
		}
		if (err == nil) != (want == "possible") {
			t.Errorf("%s: got %v; want it %s", text, err, want)
		}
		seen[want]++
	}
	if seen["possible"] < 23 || seen["refused"] < 18 {
		t.Errorf("the file has %v", seen)
	}
}

// The pattern of the form takes whatever the check takes. Beyond it the check refuses what no pattern says: letters
// that cannot be seen, piled marks, mixed alphabets, and texts that are shorter once they are composed.
func TestHandlePattern(t *testing.T) {
	t.Parallel()
	letters := []string{"a", "Z", "7", "٣", "é", "e\u0301", "ß", "ж", "अ", "ा", "़", "李", "ㅤ", "\u0301", "\u20dd",
		"'", "’", "-", "_", " ", "\t", "\n", "\v", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000", "\u200b",
		"\u202e", "\ufeff", "\x00", "!", "<", "😀", "ª", "×", "²"}
	beyond := regexp.MustCompile("cannot be seen|too many marks|several alphabets|it needs 3 to 20")
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 3, 12).Draw(t, "raw"), "")
		handle := Handle{raw}.Normalised()
		err := openapi.Check(handle)
		if matches := handleForm().MatchString(raw); !matches && err == nil {
			t.Errorf("the pattern refuses %q, which the check takes", raw)
		} else if matches && err != nil && !beyond.MatchString(err.Error()) {
			t.Errorf("the pattern takes %q: got %v", raw, err)
		}
	})
}

func TestResembles(t *testing.T) {
	t.Parallel()
	for _, alike := range [][2]string{{"Quiet Otter", "quiet-0tter"}, {"Ann", "\u0410nn"}, {"Barn", "Bam"},
		{"Jose", "José"}, {"李小龙", "李 小龙"}} {
		if !(Handle{alike[0]}).Resembles(Handle{alike[1]}) {
			t.Errorf("%q does not resemble %q", alike[0], alike[1])
		}
	}
	for _, apart := range [][2]string{{"Ann", "Anne"}, {"Quiet Otter 482", "Quiet Otter 483"}, {"Ελένη", "Дмитрий"}} {
		if (Handle{apart[0]}).Resembles(Handle{apart[1]}) {
			t.Errorf("%q resembles %q", apart[0], apart[1])
		}
	}
}

// A name that is made for someone is one that they could choose, and always the same.
func TestHandleOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hash := rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "hash")
		handle := HandleOf(hash, "")
		err := errors.Join(openapi.Check(Handle{handle}), Handle{handle}.Allow())
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
