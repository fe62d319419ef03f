package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/schema"
)

// openDocument is the document of open agents, read once.
var openDocument = sync.OnceValues(func() (httpapitest.Document, error) {
	var d httpapitest.Document
	body, err := api.Document(api.ByHeader, nil)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(body, &d)
})

func readDocument(t *testing.T, agents api.AgentIdentity) (httpapitest.Document, string) {
	t.Helper()
	body, err := api.Document(agents, nil)
	if err != nil {
		t.Fatal(err)
	}
	return httpapitest.Parse(t, body), string(body)
}

// The document describes, for each operation, the parts that all have.
func TestDocument(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t, api.ByHeader)
	d.HasRoutes(t, schema.AskAHuman())
	for _, route := range schema.AskAHuman().Routes {
		key := route.Key()
		limited := route.RateLimit != ""
		for status, response := range d.Paths[route.Path][strings.ToLower(route.Method)].Responses {
			if status >= "400" {
				content := response.Content["application/json"]
				forms, ofGateway := formsOf(content), status == "413" || status == "429" || status == "500" || status == "503"
				if content.Example == nil || len(forms) == 0 || slices.Contains(forms, "GatewayError") != ofGateway {
					t.Errorf("%s %s: the error is described as %v", key, status, content)
				}
				if !slices.Contains(forms, "ErrorResponse") {
					// No function answers so: its headers are none of the platform's.
					if len(forms) > 1 || len(response.Headers) > 0 {
						t.Errorf("%s %s: the gateway's error is described as %v", key, status, response)
					}
					continue
				}
			}
			if _, ok := response.Headers["X-RateLimit-Remaining"]; ok != limited {
				t.Errorf("%s %s: rate limit headers described is %v", key, status, ok)
			}
			if _, ok := response.Headers["Retry-After"]; ok != (status == "429" || status == "503" || route.Path == "/agent/questions" && status == "409") {
				t.Errorf("%s %s: Retry-After described is %v", key, status, ok)
			}
		}
	}
}

// formsOf are the names of the forms that content may have.
func formsOf(content httpapitest.Content) []string {
	alternatives := []any{content.Schema}
	if forms, ok := content.Schema["oneOf"].([]any); ok {
		alternatives = forms
	}
	var names []string
	for _, form := range alternatives {
		reference, _ := form.(map[string]any)["$ref"].(string)
		names = append(names, strings.TrimPrefix(reference, "#/components/schemas/"))
	}
	return names
}

func TestDocumentStatuses(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t, api.ByHeader)
	d.HasStatuses(t, map[string]string{
		"post /agent/questions":                          "201 400 403 409 413 429 500 503",
		"get /agent/questions":                           "200 400 429 500 503",
		"get /agent/questions/{question_id}":             "200 400 404 429 500 503",
		"delete /agent/questions/{question_id}":          "204 400 404 429 500 503",
		"get /human/questions":                           "200 400 429 500 503",
		"get /human/questions/{question_id}":             "200 400 404 410 429 500 503",
		"post /human/responses":                          "201 400 404 409 410 413 429 500 503",
		"post /human/push/subscribe":                     "201 400 413 429 500 503",
		"put /human/push/subscribe":                      "200 400 404 413 429 500 503",
		"put /human/push/subscribe/{subscription_id}":    "200 400 404 413 429 500 503",
		"delete /human/push/subscribe/{subscription_id}": "204 400 404 429 500 503",
		"get /human/stats":                               "200 400 429 500 503",
		"get /human/leaderboard":                         "200 400 429 500 503",
		"get /openapi.json":                              "200 400 429 500 503",
	})
}

// The kinds of rules that a request can break are a closed list, and the example of
// an invalid request is what such a request gets.
func TestDocumentConstraints(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t, api.ByHeader)
	var known []any
	for _, constraint := range []validate.Rule{
		validate.RuleRequired, validate.RuleType, validate.RuleLength, validate.RuleRange, validate.RuleEnum, validate.RuleFormat, validate.RuleUnique, validate.RuleConflict,
	} {
		known = append(known, string(constraint))
	}
	for _, form := range []string{"Violations", "Problem"} {
		properties, _ := d.Components.Schemas[form].(map[string]any)["properties"].(map[string]any)
		constraint, _ := properties["constraint"].(map[string]any)
		if diff := cmp.Diff(any(known), constraint["enum"]); diff != "" {
			t.Errorf("constraints of %s (-want +got):\n%s", form, diff)
		}
	}
	got := newPlatform(t).do(t, asAgent("POST /agent/questions", `{"prompt":"Why?","type":"text"}`), http.StatusBadRequest)
	want := d.Paths["/agent/questions"]["post"].Responses["400"].Content["application/json"].Example
	if diff := cmp.Diff(want, any(got)); diff != "" {
		t.Errorf("a short prompt (-example +got):\n%s", diff)
	}
}

// The document states the rules that a caller can observe and that no form expresses.
// Beside each is the test of the rule itself.
func TestDocumentStatesRules(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t, api.ByHeader)
	d.States(t, map[string][]string{
		"info": {"are ignored", "null is the same as a field left out", "without a Content-Type"}, // TestLenientBodies
		"post /agent/questions": {
			"100 questions of one agent are open or partial", "deadline has passed does not count", // askahuman.TestAskQuota
			"waits for it for 2 seconds",          // TestIdempotencyAfterFailure
			"refused for its content counts, too", // TestRateLimits
		},
		"get /agent/questions/{question_id}": {"7 days after they close", "24 hours after they expire"},              // storetest
		"AskBody.prompt":                     {"towards the most characters, not towards the least"},                 // askahuman.TestAskInvalid
		"AskBody.options":                    {"more than white space", "around a text does not make it distinct"},   // askahuman.TestAskInvalid
		"AskBody.idempotency_key":            {"Defaults may be given or left out", "refused", "not use its key up"}, // TestIdempotency, TestIdempotencyAndRefusals
		"AgentResponse.flags": { // askahuman.TestFlags
			"under 5000 for a text or under 2000 for an option", "last 20 answers, except for case and white space",
			"at most 10 characters without the white space around it", "four texts before it among the person's last 20 answers", "the fifth such text in a row is the first", "older than 30 days",
		},
		"get /human/questions": {"even none", "about 500 questions", "a moment ago"}, // askahuman.TestFeedIsBounded
		"post /human/responses": {
			"ALREADY_ANSWERED also when the question has ended",             // askahuman.TestAnswerRefused
			"more than 100 characters, without the white space around it",   // askahuman.TestPointsFor, TestFlags
			"within 5 minutes of the person's last notification",            // askahuman.TestAnswerForANotification
			"less than half of its answers", "Points stop at the most of a", // askahuman.TestPointsFor, TestAwardLimitsTheDay
		},
		"post /human/responses?X-Timezone":            {"days and nights", "from one request to the next"},                                     // askahuman.TestAwardCounts
		"AnswerBody.answer":                           {"more than white space", "as written"},                                                 // askahuman.TestAnswerRefused
		"Stats.streak_days":                           {"may not count when the zone changes", "on one day, in any zones"},                     // askahuman.TestStreak
		"Stats.answers_by_category":                   {"first tag of its audience"},                                                           // askahuman.TestAwardLimitsTheDay
		"Badge.id":                                    {"25 answers in a category", "within 2 minutes", "00:00 to 06:00", "under 30000"},       // askahuman.TestBadges
		"LeaderboardEntry.rank":                       {"1, 2, 2, 4"},                                                                          // askahuman.TestLeaderboard
		"post /human/push/subscribe":                  {"keeps its subscription", "if X-Fingerprint names one", "Without X-Fingerprint a new"}, // storetest
		"put /human/push/subscribe/{subscription_id}": {"makes it active again", "that one ends"},                                              // storetest
		"SubscribeBody.fcm_token":                     {"without white space"},                                                                 // askahuman.TestSubscriptions
		"SubscribeBody.min_interval_minutes":          {"on any of their devices"},                                                             // storetest
	})
}

// How agents are known is described as it is.
func TestDocumentIdentity(t *testing.T) {
	t.Parallel()
	for agents, schemes := range map[api.AgentIdentity][]string{api.ByHeader: nil, api.ByToken: {"agentToken"}, api.ByKey: {"agentKey", "agentKeyBearer"}} {
		d, text := readDocument(t, agents)
		operation := d.Paths["/agent/questions"]["post"]
		var header bool
		for _, p := range operation.Parameters {
			header = header || p.Name == "X-Agent-Id" && p.In == "header" && p.Required
		}
		open := agents == api.ByHeader
		if _, unauthorized := operation.Responses["401"]; header != open || unauthorized == open {
			t.Errorf("%v: header %v, 401 %v", agents, header, unauthorized)
		}
		if strings.Contains(text, "issued to you") != (agents == api.ByKey) || strings.Contains(text, "no verified token") != (agents == api.ByToken) {
			t.Errorf("%v: the example of 401 is another's", agents)
		}
		// Each alone is enough: a list of alternatives.
		var required []string
		for _, alternative := range operation.Security {
			required = append(required, slices.Collect(maps.Keys(alternative))...)
		}
		if !slices.Equal(required, schemes) || len(operation.Security) != len(schemes) || !slices.Equal(slices.Sorted(maps.Keys(d.Components.SecuritySchemes)), schemes) {
			t.Errorf("%v: security %v of %v; want %v", agents, operation.Security, d.Components.SecuritySchemes, schemes)
		}
	}
	d, _ := readDocument(t, api.ByHeader)
	for key, required := range map[string]bool{"post /human/responses": true, "get /human/stats": true, "get /human/questions": false} {
		method, path, _ := strings.Cut(key, " ")
		var found bool
		for _, p := range d.Paths[path][method].Parameters {
			if p.Name == "X-Fingerprint" {
				found = true
				if p.Required != required {
					t.Errorf("%s: X-Fingerprint required is %v", key, p.Required)
				}
			}
		}
		if !found {
			t.Errorf("%s: X-Fingerprint is not described", key)
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	_, want := readDocument(t, api.ByHeader)
	for range 2 {
		w := p.serve(request{line: "GET /openapi.json"})
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || w.Body.String() != want {
			t.Errorf("got %d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
		}
	}
}
