package apigateway

import (
	"slices"
	"strings"
)

// Page is a page of an API that people open in a browser.
type Page struct {
	// Name says what the page is to people: "page" at the root; else the group of users that the path names, such as
	// operators for /operator, or without such a group the path without its slash.
	Name string
	// Path is that of its route, such as "/operator".
	Path string
}

// Pages returns the pages of the API, by path. A page is a route GET /x that everyone may call, whose function also
// serves /x/assets/{path+} to everyone. groups are the names of the groups of users.
func (a API) Pages(groups []string) (pages []Page) {
	open := map[string]string{}
	for _, route := range a.Routes {
		if path, ok := strings.CutPrefix(route.Key, "GET "); ok && route.Authorizer == nil {
			open[path] = route.Function
		}
	}
	for path, function := range open {
		above, rest, found := strings.Cut(path, "/assets/{")
		if page := "/" + strings.Trim(above, "/"); found && strings.HasSuffix(rest, "+}") && open[page] == function {
			pages = append(pages, Page{Name: nameOf(page, groups), Path: page})
		}
	}
	slices.SortFunc(pages, func(a, b Page) int { return strings.Compare(a.Path, b.Path) })
	return pages
}

func nameOf(page string, groups []string) string {
	name := strings.Trim(page, "/")
	switch {
	case name == "":
		return "page"
	case slices.Contains(groups, name+"s"):
		return name + "s"
	}
	return name
}
