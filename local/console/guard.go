package console

// Who may use the console: programs of this machine, and its own page.

import (
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// guard refuses names that a foreign DNS answer may have pointed here, and requests from pages of other sites and ports.
func guard(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !IsLoopback(host) {
		return fmt.Errorf("host %q: the console answers only to localhost and 127.0.0.1", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		parsed, err := url.Parse(origin)
		if err != nil || parsed.Scheme != "http" || parsed.Host != r.Host {
			return fmt.Errorf("origin %q: web pages of other sites may not use the console", origin)
		}
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default:
		// A link or an address that someone follows is harmless: the other page cannot read what comes.
		if !reads || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
			return fmt.Errorf("request of a page of another origin (Sec-Fetch-Site: %s): web pages of other sites and ports may not use the console", site)
		}
	}
	if !reads && browser(r) {
		// A form of another page cannot send JSON, so a browser that tells no origin is refused, too.
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return errors.New("a browser has to send application/json: web pages of other sites may not use the console")
		}
	}
	return nil
}

// browser reports whether a browser sent the request. Each calls itself Mozilla.
func browser(r *http.Request) bool {
	return strings.HasPrefix(r.UserAgent(), "Mozilla/") || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Sec-Fetch-Mode") != ""
}

// IsLoopback reports whether a host without a port is this machine: localhost, or a loopback address, with or without brackets.
func IsLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
