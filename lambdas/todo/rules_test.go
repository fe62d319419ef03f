package todo

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

func searched(text string) func(todo.Task) bool { return matching(todo.TaskFilter{Search: text}) }

// Texts that people see as the same are found, in any case and in each normal form.
func TestSearch(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"caf\u00e9", "cafe\u0301", "CAFÉ"}, {"\u212b", "\u00c5", "A\u030a", "å"}, {"감", norm.NFD.String("감")},
		{"ệ", "e\u0323\u0302", "e\u0302\u0323"}, {"\ufb44", "\u05e4\u05bc"},
		{"straße", "STRASSE", "STRAẞE"}, {"ΣΑΣ", "σας"},
	} {
		for _, stored := range same {
			for _, asked := range same {
				if !searched(asked)(todo.Task{Title: "the " + stored + "!"}) ||
					!searched(asked)(todo.Task{Description: todo.Text(stored)}) {
					t.Errorf("%+q is not found in %+q", asked, stored)
				}
			}
		}
	}
	if searched("cafe")(todo.Task{Title: "café"}) {
		t.Error("another letter is found")
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.String().Draw(r, "text")
		if fold(norm.NFC.String(text)) != fold(norm.NFD.String(text)) {
			r.Errorf("%+q: the normal forms differ", text)
		}
		letters := rapid.StringMatching(`[A-Za-z ÄÖÜäöüÀ-ÿα-ω]+`).Draw(r, "letters")
		for _, other := range []string{strings.ToUpper(letters), strings.ToLower(letters), norm.NFD.String(letters)} {
			if !searched(other)(todo.Task{Title: "1" + letters + "2"}) {
				r.Errorf("%q is not found in %q", other, letters)
			}
		}
	})
}
