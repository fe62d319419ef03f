package apigateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// CORS is an API's CorsConfiguration ("Configure CORS for HTTP APIs"). With it, API Gateway answers
// preflights itself, unless a route takes them, and ignores the CORS headers of functions.
type CORS struct {
	AllowOrigins, AllowMethods, AllowHeaders, ExposeHeaders []string
	AllowCredentials                                        bool
	// MaxAge of a preflight's answer in seconds; 0 sends none.
	MaxAge int
}

// origin is the Access-Control-Allow-Origin for a request's origin, or "" when it is not allowed.
// http://* and https://* allow every origin of their scheme.
func (c *CORS) origin(origin string) string {
	for _, allowed := range c.AllowOrigins {
		if allowed == "*" && !c.AllowCredentials {
			return "*"
		}
		prefix, wild := strings.CutSuffix(allowed, "*")
		if strings.EqualFold(allowed, origin) ||
			wild && strings.HasPrefix(strings.ToLower(origin), strings.ToLower(prefix)) {
			return origin
		}
	}
	return ""
}

// Allows reports whether the API answers to pages of the origin, by its CORS. An API without CORS leaves that to the
// functions whose routes take OPTIONS. The origin "" is one that the browser does not tell: it is allowed where all
// are.
func (g *Gateway) Allows(r *http.Request, origin string) bool {
	if g.api.CORS != nil {
		return g.api.CORS.origin(origin) != ""
	}
	path, _ := g.locate(r.URL.Path)
	route, _ := g.table.match(http.MethodOptions, path)
	return path != "" && route != nil
}

// allow says which origin is allowed, on preflights and actual requests alike.
func (c *CORS) allow(h http.Header, allowed string) {
	h.Set("Access-Control-Allow-Origin", allowed)
	if allowed != "*" {
		h.Set("Vary", "Origin")
	}
	if c.AllowCredentials {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
}

func (c *CORS) actual(h http.Header, origin string) {
	allowed := c.origin(origin)
	if allowed == "" {
		return
	}
	c.allow(h, allowed)
	if len(c.ExposeHeaders) > 0 {
		h.Set("Access-Control-Expose-Headers", strings.Join(c.ExposeHeaders, ","))
	}
}

func (c *CORS) preflight(h http.Header, origin, method string) {
	allowed := c.origin(origin)
	if allowed == "" || !slices.Contains(c.AllowMethods, "*") && !slices.Contains(c.AllowMethods, method) {
		return
	}
	c.allow(h, allowed)
	if len(c.AllowMethods) > 0 {
		h.Set("Access-Control-Allow-Methods", strings.Join(c.AllowMethods, ","))
	}
	if len(c.AllowHeaders) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.ToLower(strings.Join(c.AllowHeaders, ",")))
	}
	if c.MaxAge > 0 {
		h.Set("Access-Control-Max-Age", strconv.Itoa(c.MaxAge))
	}
}
