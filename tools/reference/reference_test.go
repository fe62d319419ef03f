package reference

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A text keeps what it says as Markdown: names are links or code, and no line begins what the text does not.
func TestText(t *testing.T) {
	t.Parallel()
	page := &Page{Links: map[string]string{"queue.Props": "#queueprops", "queue.Props.On": "parts.md#queuepropson"}}
	long := strings.Repeat("word ", 21)
	for name, test := range map[string]struct{ text, want string }{
		"Links": {"See [Props], [queue.Props.On] and [New].", "See [Props](#queueprops), " +
			"[queue.Props.On](parts.md#queuepropson) and `New`."},
		"Code": {"Call `a_b` at https://example.com, with --all.",
			"Call `a_b` at `https://example.com`, with `--all`."},
		"Escapes": {"A * and a_b.", `A \* and a\_b.`},
		"Page":    {"See docs/guide/run.md.", "See [docs/guide/run.md](../guide/run.md)."},
		"Number":  {long + "has 365. It ends.", strings.TrimSpace(long) + "\nhas 365. It ends."},
		"Dash":    {long + "word - of it", strings.TrimSpace(long) + "\nword - of it"},
	} {
		page.text.Reset()
		page.Text("", test.text, "queue")
		if diff := cmp.Diff(test.want, strings.TrimSpace(page.text.String())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
