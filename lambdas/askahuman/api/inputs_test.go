package api_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// The parameters of lists: what is repeated, empty or unknown, and tags in both ways.
func TestListParameters(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, unlimited)
	for i := range 51 {
		p.serve("POST /agent/questions as agent-1", `> {"prompt":"Is anybody out there?","type":"text","audience":["`+
			[]string{"ethics", "product"}[i%2]+`"]}`)
	}
	for line, want := range map[string]int{
		"GET /human/questions?audience=ethics":                           20,
		"GET /human/questions?audience=product&limit=50":                 25,
		"GET /human/questions?audience=product&audience=creative":        20,
		"GET /human/questions?audience=product,%20ethics&limit=50":       50,
		"GET /human/questions?audience=technical":                        0,
		"GET /human/questions?audience=":                                 20,
		"GET /human/questions?limit=3&unknown=x":                         3,
		"GET /human/questions?cursor=&limit=":                            20,
		"GET /human/questions?limit=1000000":                             50, // more than the most is the most
		"GET /agent/questions?limit=51":                                  50,
		"GET /agent/questions?limit=100":                                 50,
		"GET /agent/questions?status=OPEN":                               20,
		"GET /agent/questions?status=PARTIAL":                            0,
		"GET /agent/questions?status=OPEN&status=CLOSED&limit=2&limit=1": 2,
	} {
		var page struct {
			Questions []struct{}
			Next      string `json:"next_cursor"`
		}
		w := p.serve(line + " as agent-1")
		if err := json.Unmarshal(w.Body.Bytes(), &page); w.Code != 200 || err != nil || len(page.Questions) != want ||
			want == 50 && !strings.Contains(line, "ethics") && page.Next == "" {
			t.Errorf("%s: got %d questions, next %q, %v; want %d", line, len(page.Questions), page.Next, err, want)
		}
	}
}
