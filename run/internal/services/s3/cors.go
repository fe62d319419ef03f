package s3

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
)

// corsRule is a rule of AWS::S3::Bucket CorsConfiguration.
type corsRule struct {
	AllowedHeaders, AllowedMethods, AllowedOrigins, ExposedHeaders []string
	MaxAge                                                         int
}

// allows reports whether one of the patterns, in which * is any text, is the text.
func allows(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		before, after, any := strings.Cut(pattern, "*")
		return pattern == text || any && len(text) >= len(before)+len(after) && strings.HasPrefix(text, before) &&
			strings.HasSuffix(text, after)
	})
}

// rule returns the first rule of the bucket of a request that allows the origin and the method ("How does Amazon S3
// evaluate the CORS configuration on a bucket?", Amazon S3 user guide), or nil.
func (s *Store) rule(r *http.Request, origin string) *corsRule {
	name, _, _ := strings.Cut(strings.TrimPrefix(path.Clean(r.URL.Path), "/"), "/")
	method := r.Method
	if method == http.MethodOptions {
		method = r.Header.Get("Access-Control-Request-Method")
	}
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	b := s.buckets[name]
	if b == nil || origin == "" {
		return nil
	}
	for i, rule := range b.cors {
		if allows(rule.AllowedOrigins, origin) && slices.Contains(rule.AllowedMethods, method) {
			return &b.cors[i]
		}
	}
	return nil
}

// Allows reports whether a page of the origin may send the request: a presigned one, or the question before it, that
// the bucket's CORS configuration allows.
func (s *Store) Allows(r *http.Request, origin string) bool {
	return (aws.Presigned(r) || r.Method == http.MethodOptions) && s.rule(r, origin) != nil
}

// Pages answers the questions that browsers ask before requests of pages, and adds to answers which page may read them.
// An object that a browser shows runs no script: the address is that of the whole endpoint.
func (s *Store) Pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		rule, h := s.rule(r, origin), w.Header()
		if aws.Presigned(r) {
			h.Set("Content-Security-Policy", "sandbox")
		}
		if rule != nil {
			h.Add("Vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method")
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", strings.Join(rule.ExposedHeaders, ", "))
		}
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		for header := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
			header = strings.ToLower(strings.TrimSpace(header))
			lower := func(text string) bool { return allows([]string{strings.ToLower(text)}, header) }
			if rule == nil || header != "" && !slices.ContainsFunc(rule.AllowedHeaders, lower) {
				http.Error(w, "CORSResponse: This CORS request is not allowed.", http.StatusForbidden)
				return
			}
		}
		h.Set("Access-Control-Allow-Methods", strings.Join(rule.AllowedMethods, ", "))
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Max-Age", strconv.Itoa(rule.MaxAge))
	})
}
