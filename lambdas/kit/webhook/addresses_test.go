package webhook_test

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "169.253.255.255",
		"172.15.255.255", "172.32.0.0",
		"192.0.1.0", "192.167.255.255", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2606:4700::1111", "2a00:1450:4001:82f::200e", "2001:200::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
	} {
		if err := (webhook.Addresses{}).Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	loopback := []string{"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"}
	forbidden := []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255",
		"169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255",
		"192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::8.8.8.8", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1",
		"2001:db8::1", "3fff::1", "2001:10::1", "5f00::1", "4000::1",
		"::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:169.254.169.254", "2002:a9fe:a9fe::1",
		"2001:0:4136:e378:8000:63bf:3fff:fdd2", "64:ff9b::169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8",
		"2606:4700::1%eth0",
	}
	for _, text := range append(loopback, forbidden...) {
		var is *webhook.ForbiddenError
		if err := (webhook.Addresses{}).Check(netip.MustParseAddr(text)); !errors.As(err, &is) {
			t.Errorf("%s: got %v, want a ForbiddenError", text, err)
		}
	}
	if (webhook.Addresses{}).Check(netip.Addr{}) == nil {
		t.Error("no address is allowed")
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://example.com", "https://example.com:8443/hooks?a=b", "HTTPS://EXAMPLE.COM/", "https://8.8.8.8/",
		"https://[2606:4700::1111]/", "https://xn--bcher-kva.example/", "https://localhost.example/",
		"https://127.0.0.1.example.com/", "https://1.2.example/", "https://0x7f.example./", "https://a_b.example.com/",
		"https://0xg.0x1g/",
		"https://example.com/" + strings.Repeat("a", webhook.LongestURL-20),
	} {
		if err := (webhook.Addresses{}).CheckURL(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	local := webhook.Addresses{Local: []string{"http://127.0.0.1:8079/webhooks/in/", "http://localhost",
		"https://127.0.0.1:8443/hooks", "http://127.1.2.3:9000"}}
	here := []string{
		"http://localhost:8079/webhooks/in/me", "http://127.0.0.1:8079/webhooks/in/me/too?a=b",
		"http://LOCALHOST:8079/webhooks/in", "http://[::1]:8079/webhooks/in/%20", "http://localhost",
		"http://localhost:80/any/",
		"https://localhost:8443/hooks", "https://127.0.0.1:8443/hooks/", "http://127.1.2.3:9000/any",
	}
	elsewhere := []string{
		"http://localhost:8079/faults", "http://localhost:8079/", "http://localhost:8079",
		"http://localhost:8079/webhooks/inner", "http://localhost:8079/webhooks/in/../../faults",
		"http://localhost:8079/webhooks/in/%2e%2e/%2e%2e/faults",
		"http://localhost:8079/webhooks/in/..%2f..%2ffaults", "http://localhost:8079//webhooks/in/me",
		"http://localhost:8079/webhooks/in/./me", "http://localhost:8080/webhooks/in/me",
		"https://localhost:8079/webhooks/in/me", "http://127.0.0.2:8079/webhooks/in/me",
		"http://localhost:8443/hooks", "http://127.0.0.1:9000/", "https://localhost/", "https://[::1]/",
		"https://[::ffff:127.0.0.1]/",
	}
	refused := []string{
		"", "example.com", "/hooks", "//example.com", "ftp://example.com", "http://example.com", "https://",
		"https:///a", "https:example.com", "https://:443/", "javascript:alert(1)", "https://a\x00b/",
		"https://exa mple.com/",
		"https://user@example.com/", "https://user:pass@example.com/", "https://example.com/#a",
		"https://example.com:0/", "https://example.com:65536/", "https://example.com:a/",
		"https://169.254.169.254/latest/meta-data", "https://[fd00:ec2::254]/", "https://[::ffff:10.0.0.1]/",
		"https://metadata.google.internal/", "https://printer.local./", "https://0/",
		"https://2130706433/", "https://0x7f000001/", "https://0X7F.1/", "https://017700000001/", "https://127.1/",
		"https://0177.0.0.1/", "https://127.0.0.1./", "https://8.8.8.8./", "https://8.8.2056/", "https://1.2.3.4.5/",
		"https://example.123/", "https://example.0x/", "https://%31%32%37.1/", "https://ⓛocalhost/",
		"https://169。254。169。254/", "https://１２７.0.0.1/", "https://２１３０７０６４３３/", "https://local\u00adhost/",
		"https://①②⑦.1/", "https://bücher.example/",
		"https://intranet/", "https://localhost./", "https://a.localhost/", "https://router.home.arpa/",
		"https://a..example.com/", "https://a!b.example.com/", "https://" + strings.Repeat("a", 64) + ".example.com/",
		"https://" + strings.Repeat("a.", 126) + "com/",
		"https://example.com/" + strings.Repeat("a", webhook.LongestURL-19),
	}
	for _, text := range slices.Concat(here, elsewhere, refused) {
		if (webhook.Addresses{}).CheckURL(text) == nil {
			t.Errorf("%q is allowed", text)
		}
	}
	for _, text := range append(elsewhere, refused...) {
		if local.CheckURL(text) == nil {
			t.Errorf("%q is allowed with local endpoints", text)
		}
	}
	for _, text := range here {
		if err := local.CheckURL(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := local.CheckURL(elsewhere[0]); err == nil ||
		!strings.Contains(err.Error(), "http://127.0.0.1:8079/webhooks/in/") ||
		!strings.Contains(err.Error(), "--webhook-endpoint") {
		t.Errorf("got %v: want where webhooks may go, and the flag", err)
	}
}

// An address of IPv4 is judged alike in each form of IPv6 that reaches it.
func FuzzAddresses(f *testing.F) {
	f.Add(byte(169), byte(254), byte(169), byte(254))
	f.Add(byte(127), byte(0), byte(0), byte(1))
	f.Add(byte(8), byte(8), byte(8), byte(8))
	f.Fuzz(func(t *testing.T, a, b, c, d byte) {
		four := [4]byte{a, b, c, d}
		plain := netip.AddrFrom4(four)
		err := (webhook.Addresses{}).Check(plain)
		if err == nil && (plain.IsPrivate() || !plain.IsGlobalUnicast()) {
			t.Errorf("%s is allowed", plain)
		}
		var nat [16]byte
		copy(nat[:], []byte{0, 0x64, 0xff, 0x9b})
		copy(nat[12:], four[:])
		for _, other := range []netip.Addr{netip.AddrFrom16(plain.As16()), netip.AddrFrom16(nat)} {
			if got := (webhook.Addresses{}).Check(other); (got == nil) != (err == nil) {
				t.Errorf("%s: got %v, but %s: %v", other, got, plain, err)
			}
		}
	})
}

// number matches hosts that clients take for an address of IPv4.
var number = regexp.MustCompile(`(?i)(^|\.)([0-9]+|0x[0-9a-f]*)$`)

// No address of an endpoint makes the check panic, and none that it allows names a forbidden IP address.
func FuzzCheckURL(f *testing.F) {
	for _, text := range []string{"https://example.com/a?b", "https://[::1%25lo]:1/", "http://127.0.0.1",
		"https://0x7f.1/", "https://2130706433/", "https://[::ffff:a9fe:a9fe]", "https://ⓛocalhost/",
		"https://169。254。169。254", "https://a.0X7f.:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if (webhook.Addresses{}).CheckURL(text) != nil {
			return
		}
		if !strings.EqualFold(text[:8], "https://") ||
			strings.Contains(text, "@") && !strings.Contains(text[8:], "/") && !strings.Contains(text, "?") {
			t.Errorf("%q is allowed", text)
		}
		u := must.Get(url.Parse(text))(t)
		host := strings.TrimSuffix(u.Hostname(), ".")
		if address, err := netip.ParseAddr(host); err == nil {
			if (webhook.Addresses{}).Check(address) != nil {
				t.Errorf("%q is allowed", text)
			}
			return
		}
		if number.MatchString(host) || strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
			t.Errorf("%q is allowed", text)
		}
	})
}

// No spelling of an address of IPv4 is the host of an endpoint, but the usual one of a public address: each
// of its one to four parts may be decimal, octal or hexadecimal, and its characters may be others, which
// clients map to ASCII.
func TestCheckURLSpellings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number, parts := rapid.Uint32().Draw(t, "address"), rapid.IntRange(1, 4).Draw(t, "parts")
		var spelt []string
		for i := range parts {
			part := number >> (24 - 8*i) & 0xff
			if i == parts-1 {
				part = number & (0xffffffff >> (8 * i))
			}
			format := rapid.SampledFrom([]string{"%d", "0%o", "000%o", "0x%x", "0X%X", "0x000%x"}).Draw(t, "format")
			spelt = append(spelt, fmt.Sprintf(format, part))
		}
		host := strings.Join(spelt, ".") + rapid.SampledFrom([]string{"", "."}).Draw(t, "root")
		if rapid.Bool().Draw(t, "mapped") {
			host = mapped(t, strings.ToLower(host))
		}
		address, unusual := netip.ParseAddr(host)
		want := unusual == nil && (webhook.Addresses{}).Check(address) == nil
		if err := (webhook.Addresses{}).CheckURL("https://" + host + "/"); (err == nil) != want {
			t.Fatalf("%q: got %v, allowed %t", host, err, want)
		}
	})
}

// mapped is a host some of whose characters are others that clients map to it (UTS #46), and some that they
// drop.
func mapped(t *rapid.T, host string) string {
	var b strings.Builder
	for _, r := range host {
		other := r
		switch {
		case r == '.':
			other = rapid.SampledFrom([]rune("。．｡")).Draw(t, "dot")
		case r == '0':
			other = rapid.SampledFrom([]rune("０⓪𝟎𝟶")).Draw(t, "zero")
		case r <= '9':
			other = r - '1' + rapid.SampledFrom([]rune("１①𝟏𝟷")).Draw(t, "digit")
		case rapid.Bool().Draw(t, "circled"):
			other = r - 'a' + 'ⓐ'
		default:
			other = r - 'a' + 'ａ'
		}
		if rapid.Bool().Draw(t, "plain") {
			other = r
		}
		b.WriteRune(other)
		if rapid.IntRange(0, 9).Draw(t, "dropped") == 0 {
			b.WriteString("\u00ad")
		}
	}
	return b.String()
}
