package kit

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// routesVariable has the keys of the routes by which an API calls the function, one a line. A local run sets it: so
// handlers and API that do not fit fail before they are deployed.
const routesVariable = "ONESYNTH_ROUTES"

// checkRoutes returns an error that names the routes, of a list as in routesVariable, which the API does not serve.
func (a *API) checkRoutes(list string) error {
	var missing []string
	for key := range strings.SplitSeq(list, "\n") {
		if key != "" && !a.serves(key) {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("routes of the API: got %s, which this function does not serve, allowed are those that it "+
		"serves: register an operation for each, or let the route name the function that has the operation; "+
		"without one, callers get 404 or 405", strings.Join(missing, ", "))
}

// serves reports whether there is an operation for the key of a route. A route for any method, or for all paths that
// begin alike, leaves to the function what it serves.
func (a *API) serves(key string) bool {
	method, path, single := strings.Cut(key, " ")
	if !single || method == "ANY" || strings.HasSuffix(path, "+}") || slices.Contains(a.NotAllowed, key) {
		return true
	}
	_, pattern := a.Routes.Handler(&http.Request{Method: method, URL: &url.URL{Path: path}})
	return unnamed(strings.TrimSuffix(pattern, "{$}")) == unnamed(key)
}

var parameter = regexp.MustCompile(`\{[^/]*\}`)

// unnamed is a route's key without the names of its parameters, which the API and the function may call differently.
func unnamed(key string) string { return parameter.ReplaceAllString(key, "{}") }
