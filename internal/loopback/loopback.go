// Package loopback keeps what listens on this machine for programs of this machine.
//
// A browser lets the pages of every site send requests to 127.0.0.1, and a foreign DNS answer can give a page a name of
// this machine (DNS rebinding). So an address that only this machine reaches is not yet safe: each listener of a run
// has a [Guard].
package loopback

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// Guard decides which requests a listener takes. Of web pages it takes none, unless Pages says so.
type Guard struct {
	// Listener is what listens, as messages call it: "the console".
	Listener string
	// Pages says that the listener has pages: they may use it, and people may follow links to it.
	Pages bool
	// Allows reports whether a page of another origin may send a request, if Pages is true. The origin is empty where
	// the browser does not tell it, as when a page loads an image. Default: none may.
	Allows func(r *http.Request, origin string) bool
	// Remedy is what lets another origin in. Default: its place in a CORS configuration.
	Remedy string
}

// Handler hands over the requests that the guard takes. It answers others with 403 and {"error": TEXT}.
func (g Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.check(r); err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // whoever asked has gone
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g Guard) check(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !Is(host) {
		return fmt.Errorf("host %q: %s answers only to localhost and 127.0.0.1: send one of these as the header Host",
			r.Host, g.Listener)
	}
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	switch {
	case !g.Pages && (origin != "" || site != "" || strings.HasPrefix(r.UserAgent(), "Mozilla/")):
		return fmt.Errorf("a request of a browser: no web page may use %s, and a program sends neither Origin nor "+
			"Sec-Fetch-Site, nor a User-Agent that begins with Mozilla/", g.Listener)
	case origin == "http://"+r.Host, origin == "" && (site == "" || site == "same-origin" || site == "none"),
		origin == "" && followed(r):
		return nil
	case g.Allows != nil && g.Allows(r, origin):
		return nil
	case g.Allows != nil:
		return fmt.Errorf("%s: %s does not allow it by CORS: %s, or send no header Origin or Sec-Fetch-Site",
			of(origin, site), g.Listener, cmp.Or(g.Remedy, "add the origin to its CORS configuration"))
	}
	return fmt.Errorf("%s: web pages of other sites and ports may not use %s: a program sends neither Origin nor "+
		"Sec-Fetch-Site", of(origin, site), g.Listener)
}

// of names the page that sent a request.
func of(origin, site string) string {
	if origin != "" {
		return fmt.Sprintf("origin %q", origin)
	}
	return fmt.Sprintf("a page of another origin (Sec-Fetch-Site: %s)", site)
}

// followed reports whether someone followed a link or an address. That is harmless: the page with the link cannot read
// what comes.
func followed(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// Is reports whether a host without a port is this machine: localhost, or a loopback address, with or without brackets.
func Is(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
