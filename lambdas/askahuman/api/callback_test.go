package api_test

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
)

// The document's pattern of callback_url takes what the check takes of hosts that are names, and nothing that the check
// refuses, but for names within a network and parts that are too long.
func TestCallbackPattern(t *testing.T) {
	t.Parallel()
	document := must.Get(openapi.Document(askahuman.Platform()))(t)
	var parsed struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Pattern string }
			}
		}
	}
	must.OK(t, json.Unmarshal(document, &parsed))
	of := parsed.Components.Schemas
	text := of["AskBody"].Properties["callback_url"].Pattern
	if other := of["WebhookTest"].Properties["callback_url"].Pattern; text == "" || other != text {
		t.Fatalf("the patterns are %q and %q", text, other)
	}
	pattern := regexp.MustCompile(text)
	compare := func(t interface{ Errorf(string, ...any) }, text string) {
		err := webhook.Addresses{}.CheckURL(text)
		isIP := false
		if u, err := url.Parse(text); err == nil {
			_, err = netip.ParseAddr(u.Hostname())
			isIP = err == nil
		}
		switch matches := pattern.MatchString(text); {
		case err == nil && !matches && !isIP:
			t.Errorf("the pattern refuses %q, which the check takes", text)
		case err != nil && matches && !strings.Contains(err.Error(), "a name within a network") &&
			!strings.Contains(err.Error(), "no name of the DNS; write up to 253"):
			t.Errorf("the pattern takes %q: got %v", text, err)
		}
	}
	for _, text := range []string{
		"https://example.com", "https://example.com:8443/hooks?a=b", "HTTPS://EXAMPLE.COM/",
		"https://example.com:65535", "https://example.com:65536", "https://example.com:0",
		"https://example.com:00443/", "https://xn--bcher-kva.example/", "https://a_b.example.com./",
		"https://0xg.0x1g/", "https://a.1a", "https://a.12x", "https://example.0x7f", "https://example.123/",
		"https://1.2.3.4.5/", "https://intranet/", "http://example.com/", "https://user@example.com/",
		"https://example.com/#a", "https://example.com/#", "https://example.com/%2f%2F", "https://example.com/%zz",
		"https://example.com/?%zz", "https://example.com?a=b", "https://example.com/ä b", "https://bücher.example/",
		"https://a..example.com/", "https://example.com\n", "ftp://example.com/",
	} {
		compare(t, text)
	}
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "Z", "x", "0x", "0", "7", "09", ".", "-", "_", "com", ":",
		"443", "65536", "/", "?", "#", "%2f", "%z", "@", "ü", " ", "\x01", "[", "]"}), 1, 8)
	rapid.Check(t, func(t *rapid.T) {
		compare(t, "https://a"+strings.Join(parts.Draw(t, "parts"), ""))
	})
}
