package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// request makes a request with a token of those claims.
func request(handler http.Handler, method, path, body string, claims map[string]string,
	header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(kit.WithInvocation(r.Context(),
		kit.Invocation{Claims: claims, SourceAddress: "203.0.113.7"})))
	return w
}

// The document allows the terms that have a slug, among Unicode's first 256 characters.
func TestTermPattern(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Pattern string }
			}
		}
	}
	if err := json.Unmarshal(suite(t).Document, &document); err != nil {
		t.Fatal(err)
	}
	// Go writes characters otherwise than JSON Schema does.
	pattern := regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(
		document.Components.Schemas["Proposal"].Properties["slang_term"].Pattern, `\x{$1}`)
	allowed := regexp.MustCompile(pattern)
	for r := rune(0); r < 256; r++ {
		if got, want := allowed.MatchString(string(r)), lingible.Slug(string(r)) != ""; got != want {
			t.Errorf("the document allows %q: %t, want %t", r, got, want)
		}
	}
}
