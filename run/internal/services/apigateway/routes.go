package apigateway

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// table finds the route of a request ("Working with routes for HTTP APIs"): a full match first, the more
// literal path before the more variable and a method before ANY, then greedy routes, then $default.
type table struct {
	entries  []entry // most specific first
	fallback *Route
}

type entry struct {
	route    *Route
	method   string // "" is ANY
	segments []segment
	greedy   bool
}

type segment struct {
	literal  string
	variable string
}

var methods = []string{
	http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
	http.MethodOptions, "ANY",
}

func newTable(routes []Route) (*table, error) {
	t := &table{}
	var problems []error
	seen := map[string]bool{}
	for i := range routes {
		route := &routes[i]
		if seen[route.Key] {
			problems = append(problems, fmt.Errorf("route %q is declared twice", route.Key))
			continue
		}
		seen[route.Key] = true
		if route.Key == "$default" {
			t.fallback = route
			continue
		}
		e, err := parseRoute(route)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		t.entries = append(t.entries, e)
	}
	slices.SortStableFunc(t.entries, compareEntries)
	return t, errors.Join(problems...)
}

func parseRoute(route *Route) (entry, error) {
	e := entry{route: route}
	method, path, ok := strings.Cut(route.Key, " ")
	if !ok || !slices.Contains(methods, method) || !strings.HasPrefix(path, "/") {
		return e, fmt.Errorf("route key %q: want \"METHOD /path\" with a method of %s, or \"$default\"", route.Key,
			strings.Join(methods, ", "))
	}
	if method != "ANY" {
		e.method = method
	}
	parts := split(path)
	for i, part := range parts {
		name, variable := strings.CutPrefix(part, "{")
		if !variable {
			e.segments = append(e.segments, segment{literal: part})
			continue
		}
		name, closed := strings.CutSuffix(name, "}")
		name, greedy := strings.CutSuffix(name, "+")
		if !closed || name == "" || greedy && i != len(parts)-1 {
			return e, fmt.Errorf("route key %q: a path variable is {name}, or {name+} as the last segment", route.Key)
		}
		e.segments = append(e.segments, segment{variable: name})
		e.greedy = e.greedy || greedy
	}
	return e, nil
}

func split(path string) []string {
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func compareEntries(a, b entry) int {
	if a.greedy != b.greedy {
		return truth(a.greedy) - truth(b.greedy)
	}
	for i := range min(len(a.segments), len(b.segments)) {
		if va, vb := a.segments[i].variable != "", b.segments[i].variable != ""; va != vb {
			return truth(va) - truth(vb)
		}
	}
	if len(a.segments) != len(b.segments) {
		return len(b.segments) - len(a.segments)
	}
	return truth(a.method == "") - truth(b.method == "")
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t *table) has(key string) bool {
	return key == "$default" && t.fallback != nil ||
		slices.ContainsFunc(t.entries, func(e entry) bool { return e.route.Key == key })
}

// match returns the route and its path parameters, or nil.
func (t *table) match(method, path string) (*Route, map[string]string) {
	parts := split(path)
	for i := range t.entries {
		e := &t.entries[i]
		if e.method != "" && e.method != method {
			continue
		}
		if parameters, ok := e.match(parts); ok {
			return e.route, parameters
		}
	}
	return t.fallback, nil
}

func (e *entry) match(parts []string) (map[string]string, bool) {
	if e.greedy && len(parts) < len(e.segments) || !e.greedy && len(parts) != len(e.segments) {
		return nil, false
	}
	for i, s := range e.segments {
		if s.variable == "" && s.literal != parts[i] || s.variable != "" && parts[i] == "" {
			return nil, false
		}
	}
	var parameters map[string]string
	for i, s := range e.segments {
		if s.variable == "" {
			continue
		}
		if parameters == nil {
			parameters = map[string]string{}
		}
		parameters[s.variable] = parts[i]
		if e.greedy && i == len(e.segments)-1 {
			parameters[s.variable] = strings.Join(parts[i:], "/")
		}
	}
	return parameters, true
}
