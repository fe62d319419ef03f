package api_test

import (
	"strings"
	"testing"
)

// Bodies and parameters that can be misread are refused, with the field that is wrong. The
// suites have what breaks a limit of the document, and TestWire what breaks a rule.
func TestOddInputs(t *testing.T) {
	t.Parallel()
	const ask = "POST /agent/questions"
	for name, test := range map[string]struct{ line, body, header, field string }{
		"Nested":          {ask, strings.Repeat("[", 100000), "", "body"},
		"NestedInUnknown": {ask, `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "", "body"},
		"UTF16":           {ask, "{\x00\"\x00}\x00", "", "body"},
		"Infinite": {ask, `{"prompt":"Is anybody out there?","type":"text","min_responses":1e400}`, "",
			"body"},
		"InfiniteInUnknown": {ask, `{"prompt":"Is anybody out there?","type":"text","x":1e400}`, "", "body"},
		"Huge": {ask,
			`{"prompt":"Is anybody out there?","type":"text","min_responses":99999999999999999999}`, "",
			"min_responses"},
		"LastOfTwoCounts": {ask, `{"prompt":"Is anybody out there?","prompt":"short","type":"text"}`, "", "prompt"},
		"OtherCase":       {ask, `{"prompt":"Is anybody out there?","PROMPT":"short","type":"text"}`, "", "prompt"},
		"ContentType": {ask, `{"prompt":"Is anybody out there?","type":"text"}`, "Content-Type: ;+/",
			"Content-Type"},
		"SameOptions": {ask, `{"prompt":"Is anybody out there?","type":"multiple_choice","options":["a","b","a"]}`,
			"", "options"},
		"LongOption": {ask, `{"prompt":"Is anybody out there?","type":"multiple_choice","options":["a","` +
			strings.Repeat("é", 201) + `"]}`, "", "options"},
		"LimitHuge":        {"GET /agent/questions?limit=99999999999999999999", "", "", "limit"},
		"Semicolon":        {"GET /human/leaderboard?limit=1;period=daily", "", "", "query"},
		"TimezonePath":     {"GET /human/stats", "", "X-Timezone: ../../etc/passwd", "X-Timezone"},
		"TimezoneLocal":    {"GET /human/stats", "", "X-Timezone: Local", "X-Timezone"},
		"AgentNotUTF8":     {"GET /agent/questions", "", "X-Agent-Id: a\xff", "X-Agent-Id"},
		"AgentRightToLeft": {"GET /agent/questions", "", "X-Agent-Id: a\u202eb", "X-Agent-Id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			details := p.do(t, request{test.line, []string{"X-Agent-Id: a", "X-Fingerprint: ann", test.header},
				test.body}, 400)["error"].(map[string]any)["details"].(map[string]any)
			problems := details["problems"].([]any)
			if message := problems[0].(map[string]any)["message"].(string); details["field"] != test.field ||
				len(problems) != 1 || message == "" || len(message) > 300 {
				t.Errorf("got %v; want the field %s", details, test.field)
			}
		})
	}
}

// Requests that the wire format leaves open are accepted.
func TestLenientBodies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ contentType, body string }{
		"Unknown": {"application/json",
			`{"prompt":"Is anybody out there?","type":"text","model":"x","x":{"y":[]}}`},
		"Nulls": {"application/json",
			`{"prompt":"Is anybody out there?","type":"text","options":null,"audience":null,"min_responses":null,"timeout_seconds":null,"idempotency_key":null}`},
		"EmptyLists": {"application/json",
			`{"prompt":"Is anybody out there?","type":"text","options":[],"audience":[]}`},
		"Charset":       {"Application/JSON ; charset=UTF-8", `{"prompt":"Is anybody out there?","type":"text"}`},
		"NoContentType": {"", `{"prompt":"Is anybody out there?","type":"text"}`},
		"Escapes": {"application/json",
			`{"prompt":"\u0049s anybody \ud83d\ude00 out there?","type":"te\u0078t"}`},
		"LoneSurrogate":       {"application/json", `{"prompt":"Is anybody \ud83d out there?","type":"text"}`},
		"LongestInCodePoints": {"application/json", `{"prompt":"` + strings.Repeat("😀", 2000) + `","type":"text"}`},
		"WholeNumber": {"application/json",
			`{"prompt":"Is anybody out there?","type":"text","min_responses":50,"timeout_seconds":86400}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := asAgent("POST /agent/questions", test.body)
			r.headers = append(r.headers, "Content-Type: "+test.contentType, "Accept: application/xml")
			newPlatform(t).do(t, r, 201)
		})
	}
}

// The parameters of lists: what is repeated, empty or unknown, and tags in both ways.
func TestListParameters(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.limiter.unlimited = true
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
