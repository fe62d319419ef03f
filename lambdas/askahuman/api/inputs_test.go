package api_test

import (
	"strings"
	"testing"
)

// The parameters of lists: what is repeated, empty or unknown, and tags in both ways.
func TestListParameters(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, unlimited)
	for i := range 51 {
		p.ask(t, `{"prompt":"Is anybody out there?","type":"text","audience":["`+[]string{"ethics", "product"}[i%2]+
			`"]}`)
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
		body := p.do(t, asAgent(line, ""), 200)
		if got := len(body["questions"].([]any)); got != want {
			t.Errorf("%s: got %d questions; want %d", line, got, want)
		}
		if want == 50 && !strings.Contains(line, "ethics") && body["next_cursor"] == nil {
			t.Errorf("%s: got no next_cursor", line)
		}
	}
}
