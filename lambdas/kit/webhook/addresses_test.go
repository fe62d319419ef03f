package webhook_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0",
		"192.0.1.0", "192.167.255.255", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2606:4700::1111", "2a00:1450:4001:82f::200e", "2001:200::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
	} {
		if err := (webhook.Addresses{}).Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	loopback := []string{"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"}
	forbidden := []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255",
		"192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::8.8.8.8", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "2001:db8::1", "3fff::1", "2001:10::1", "5f00::1", "4000::1",
		"::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:169.254.169.254", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "64:ff9b::169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8", "2606:4700::1%eth0",
	}
	for _, text := range append(loopback, forbidden...) {
		var is *webhook.ForbiddenError
		if err := (webhook.Addresses{}).Check(netip.MustParseAddr(text)); !errors.As(err, &is) {
			t.Errorf("%s: got %v, want a ForbiddenError", text, err)
		}
	}
	for _, text := range forbidden {
		if (webhook.Addresses{Loopback: true}).Check(netip.MustParseAddr(text)) == nil {
			t.Errorf("%s is allowed with loopback", text)
		}
	}
	for _, text := range loopback {
		if err := (webhook.Addresses{Loopback: true}).Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if (webhook.Addresses{Loopback: true}).Check(netip.Addr{}) == nil {
		t.Error("no address is allowed")
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://example.com", "https://example.com:8443/hooks?a=b", "HTTPS://EXAMPLE.COM/", "https://8.8.8.8/", "https://[2606:4700::1111]/", "https://xn--bcher-kva.example/", "https://localhost.example/",
		"https://example.com/" + strings.Repeat("a", webhook.LongestURL-20),
	} {
		if err := (webhook.Addresses{}).CheckURL(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	here := []string{"http://localhost:8079/webhooks", "http://127.0.0.1:1", "http://[::1]/", "https://localhost/", "https://127.0.0.1/", "http://LOCALHOST/"}
	refused := []string{
		"", "example.com", "/hooks", "//example.com", "ftp://example.com", "http://example.com", "https://", "https:///a", "https:example.com", "https://:443/", "javascript:alert(1)", "https://a\x00b/", "https://exa mple.com/",
		"https://user@example.com/", "https://user:pass@example.com/", "https://example.com/#a", "https://example.com:0/", "https://example.com:65536/", "https://example.com:a/",
		"https://169.254.169.254/latest/meta-data", "https://[fd00:ec2::254]/", "https://[::ffff:10.0.0.1]/", "https://metadata.google.internal/", "https://printer.local./",
		"https://example.com/" + strings.Repeat("a", webhook.LongestURL-19),
	}
	for _, text := range append(here, refused...) {
		if (webhook.Addresses{}).CheckURL(text) == nil {
			t.Errorf("%q is allowed", text)
		}
	}
	for _, text := range refused {
		if (webhook.Addresses{Loopback: true}).CheckURL(text) == nil {
			t.Errorf("%q is allowed with loopback", text)
		}
	}
	for _, text := range here {
		if err := (webhook.Addresses{Loopback: true}).CheckURL(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
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

// No address of an endpoint makes the check panic, and none that it allows names a forbidden IP address.
func FuzzCheckURL(f *testing.F) {
	for _, text := range []string{"https://example.com/a?b", "https://[::1%25lo]:1/", "http://127.0.0.1", "https://0x7f.1/", "https://2130706433/", "https://[::ffff:a9fe:a9fe]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if (webhook.Addresses{}).CheckURL(text) != nil {
			return
		}
		if !strings.EqualFold(text[:8], "https://") || strings.Contains(text, "@") && !strings.Contains(text[8:], "/") && !strings.Contains(text, "?") {
			t.Errorf("%q is allowed", text)
		}
	})
}
