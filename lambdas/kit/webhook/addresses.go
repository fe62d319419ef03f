package webhook

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// LoopbackVariable is the environment variable with [Addresses].Local, separated by spaces. Only a local run sets it.
const LoopbackVariable = "ONESYNTH_LOOPBACK_WEBHOOKS"

// LongestURL limits the URL of an endpoint, in bytes.
const LongestURL = 2048

// Addresses restricts where webhooks may go. The zero value allows addresses of the public Internet alone.
type Addresses struct {
	// Local are endpoints of this machine, such as http://127.0.0.1:8079/webhooks/in/, that are allowed, too, with all
	// below them. They may be http. localhost, 127.0.0.1 and ::1 count as one host.
	Local []string
}

// ForbiddenError says that webhooks may not go to an address.
type ForbiddenError struct {
	// Address is an IP address or a host, and Reason says what it is.
	Address, Reason string
}

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("%s is %s: webhooks go to the public Internet alone", e.Address, e.Reason)
}

// closed are the addresses that are not of the public Internet ("IANA IPv4 Special-Purpose Address
// Registry", "IANA IPv6 Special-Purpose Address Registry"). Outside of 2000::/3, no IPv6 address is public.
var closed = []struct {
	prefix netip.Prefix
	reason string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "an address of this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a private address of a carrier"},
	{netip.MustParsePrefix("127.0.0.0/8"), "an address of this machine"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address, as that of a metadata service"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private address"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay from IPv6 to IPv4"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "reserved for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},
	{netip.MustParsePrefix("2001::/23"), "reserved for protocols, as Teredo"},
	{netip.MustParsePrefix("2001:db8::/32"), "reserved for documentation"},
	{netip.MustParsePrefix("2002::/16"), "an IPv4 address behind a relay"},
	{netip.MustParsePrefix("3fff::/20"), "reserved for documentation"},
}

var (
	public = netip.MustParsePrefix("2000::/3")
	// translated are the addresses by which a network without IPv4 reaches IPv4 ones (RFC 6052): the
	// last 32 bits decide.
	translated = netip.MustParsePrefix("64:ff9b::/96")
)

// Check returns a [ForbiddenError] if webhooks may not go to the address. It judges an IPv4 address within an IPv6
// address as IPv4.
func (a Addresses) Check(address netip.Addr) error {
	forbidden := func(reason string) error { return &ForbiddenError{Address: address.String(), Reason: reason} }
	judged := address.Unmap()
	switch {
	case !address.IsValid():
		return forbidden("no IP address")
	case address.Zone() != "":
		return forbidden("a link-local address")
	case translated.Contains(judged):
		last := judged.As16()
		judged = netip.AddrFrom4([4]byte(last[12:]))
	}
	for _, c := range closed {
		if c.prefix.Contains(judged) {
			return forbidden(c.reason)
		}
	}
	if judged.Is6() && !public.Contains(judged) {
		return forbidden("no public address of IPv6")
	}
	return nil
}

// CheckURL returns an error for the person who gave the URL of an endpoint, or nil. It must be an https URL of up to
// [LongestURL] bytes with a host, and without name, password or fragment. The host is a public name in ASCII or a
// public IP address in its usual spelling. A [Client] checks where a name leads when it connects.
func (a Addresses) CheckURL(text string) error {
	if len(text) > LongestURL {
		return fmt.Errorf("has %d bytes, allowed are %d", len(text), LongestURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Host == "" {
		return fmt.Errorf("is no address of an endpoint; write it such as https://example.com/webhooks")
	}
	host := u.Hostname()
	address, notIP := netip.ParseAddr(host)
	local := a.isLocal(u)
	switch {
	case !local && len(a.Local) > 0 && loopback(host) != "":
		return fmt.Errorf("is on this machine, where webhooks of this run go to %s alone; allow another by the "+
			"run's flag --webhook-endpoint", strings.Join(a.Local, ", "))
	case u.Scheme != "https" && !local:
		return fmt.Errorf("begins with %s://, allowed is https://", u.Scheme)
	case u.User != nil:
		return fmt.Errorf("has a user name; leave it out: webhooks are signed instead")
	case u.Fragment != "":
		return fmt.Errorf("has a fragment; leave out # and what follows")
	case host == "":
		return fmt.Errorf("has no host; write it such as https://example.com/webhooks")
	}
	if port := u.Port(); port != "" {
		if number, err := strconv.Atoi(port); err != nil || number < 1 || number > 65535 {
			return fmt.Errorf("has the port %s, allowed are 1 to 65535", port)
		}
	}
	switch {
	case local:
		return nil
	case notIP == nil:
		return a.Check(address)
	}
	return checkName(host)
}

// hostName matches names that DNS may have (RFC 1035, section 2.3.4), and those with an underscore, which
// some have. Names of other scripts have the form xn--.
var hostName = regexp.MustCompile(`^[0-9A-Za-z_-]{1,63}(\.[0-9A-Za-z_-]{1,63})*\.?$`)

// longestName is how many bytes a name may have, without its last dot.
const longestName = 253

// checkName returns what is wrong with a host that is no IP address in its usual spelling.
func checkName(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if !hostName.MatchString(host) || len(name) > longestName {
		// Some of the other characters look like ASCII, and clients map them to it: "ⓛocalhost", "１２７。１".
		return fmt.Errorf("has a host that is no name of the DNS; write up to %d letters of ASCII, digits, hyphens "+
			"and dots, and names of other scripts as xn--…", longestName)
	}
	if endsInNumber(name) {
		return &ForbiddenError{Address: host, Reason: "a number, or an IP address in an unusual spelling"}
	}
	// Names that public DNS does not have (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal, SAC053).
	for _, private := range []string{"localhost", "local", "internal", "home.arpa"} {
		if strings.HasSuffix("."+name, "."+private) {
			return &ForbiddenError{Address: host, Reason: "a name within a network"}
		}
	}
	if !strings.Contains(name, ".") {
		return &ForbiddenError{Address: host, Reason: "a name without a domain"}
	}
	return nil
}

// endsInNumber reports whether the last label of a name is decimal, octal or hexadecimal. Clients take such
// a host for an address of IPv4, and no domain ends so ("host parsing", URL Standard).
func endsInNumber(name string) bool {
	last := name[strings.LastIndex(name, ".")+1:]
	if digits, hex := strings.CutPrefix(last, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// isLocal reports whether an address is one of the local endpoints, or below one.
func (a Addresses) isLocal(u *url.URL) bool {
	return slices.ContainsFunc(a.Local, func(text string) bool {
		endpoint, err := url.Parse(text)
		if err != nil || loopback(endpoint.Hostname()) == "" ||
			loopback(u.Hostname()) != loopback(endpoint.Hostname()) || u.Scheme != endpoint.Scheme ||
			port(u) != port(endpoint) {
			return false
		}
		// A path with .. would lead out of the endpoint.
		named, given := strings.TrimSuffix(endpoint.Path, "/"), strings.TrimSuffix(u.Path, "/")
		return (given == "" || path.Clean(given) == given) && (given == named || strings.HasPrefix(given, named+"/"))
	})
}

// connection is Check of where a connection goes: the name of an endpoint may lead to a port of this machine that a
// local one has.
func (a Addresses) connection(to netip.AddrPort) error {
	if to.Addr().Unmap().IsLoopback() && slices.ContainsFunc(a.Local, func(text string) bool {
		endpoint, err := url.Parse(text)
		return err == nil && port(endpoint) == strconv.Itoa(int(to.Port()))
	}) {
		return nil
	}
	return a.Check(to.Addr())
}

// loopback returns the loopback address that a host is, or "". localhost and ::1 are 127.0.0.1.
func loopback(host string) string {
	address, err := netip.ParseAddr(host)
	switch {
	case strings.EqualFold(host, "localhost"), err == nil && address == netip.IPv6Loopback():
		return "127.0.0.1"
	case err == nil && address.Unmap().IsLoopback():
		return address.Unmap().String()
	}
	return ""
}

// port is the port that an address leads to.
func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// AddressesOf returns where a function may send webhooks, from its environment: to this machine only in a local run.
func AddressesOf(getenv func(string) string) Addresses {
	return Addresses{Local: strings.Fields(getenv(LoopbackVariable))}
}
