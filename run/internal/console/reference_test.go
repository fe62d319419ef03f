package console

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// docs/reference/console.md has every request that the console answers, and the forms of bodies and answers.
func TestConsoleReference(t *testing.T) {
	t.Parallel()
	source := reference.Read(t, "run/internal/console", "run/internal/aws", "run/internal/services/*",
		"run/internal/trace", "run/internal/lake/catalog", "run/internal/eventsource")
	routes := append([]route{{request: "GET /", does: "What there is. A browser gets the page instead.",
		answers: reflect.TypeFor[Index]()}}, New(Parts{}).routes...)
	routes = append(routes, route{request: "POST " + WebhooksPath + "{path...}",
		does: "The endpoint for webhooks of the run. It needs no header " + Header + "."})
	var roots []string
	for _, route := range routes {
		for _, of := range []reflect.Type{route.takes, route.answers} {
			if of != nil && of != reflect.TypeFor[nothing]() {
				roots = append(roots, typeName.FindAllString(of.String(), -1)...)
			}
		}
	}
	page := &reference.Page{Links: map[string]string{}}
	forms := source.Reach(roots...)
	for _, name := range forms {
		page.Links[name] = reference.Anchor(name)
	}
	page.Heading(1, "The console's API")
	page.Text("", "A run serves it at http://localhost:8079 for programs of the same machine. Bodies and answers are "+
		"JSON. An answer of the status 400 or above has the member error, with what to do. Every request but GET and "+
		"HEAD needs the header "+Header+", with any value, unless it is a webhook, or of people who sign in.", "")
	page.Code(fmt.Sprintf("curl -H '%s: 1' localhost:8079/token -d '{\"sub\": \"alice\"}'", Header))
	page.Heading(2, "Requests")
	for _, route := range routes {
		request, query, _ := strings.Cut(route.request, "?")
		if route.does == "" {
			t.Errorf("%s: say in its route what it does", request)
		}
		page.Heading(3, request)
		page.Text("", route.does, "console")
		if query != "" {
			page.Text("Parameters: `"+strings.ReplaceAll(query, "&", "`, `")+"`.", "", "")
		}
		if route.takes != nil {
			page.Text("Body: "+form(page, source, route.takes.String())+".", "", "")
		}
		switch {
		case route.answers == reflect.TypeFor[nothing]():
			page.Text("Answer: 204, without a body.", "", "")
		case route.answers != nil:
			page.Text("Answer: "+form(page, source, route.answers.String())+".", "", "")
		}
	}
	page.Heading(2, "Bodies and answers")
	for _, name := range forms {
		of := source[name]
		page.Heading(3, name)
		page.Text("", of.Doc, of.Package)
		for i, value := range of.Values {
			page.Item(i == 0, strings.TrimSuffix("`"+value.Value+"`: "+value.Doc, ": "), "", "")
		}
		for _, field := range of.Fields {
			if field.Embedded {
				page.Text("Has the members of "+page.Link(field.Name)+".", "", "")
			}
		}
		first := true
		for _, group := range of.Described() {
			var labels []string
			for _, field := range group {
				if field.JSON == "-" {
					continue
				}
				label := fmt.Sprintf("`%s`, %s", field.JSON, form(page, source, field.Type))
				if field.Optional {
					label = strings.TrimSuffix(label, " or null") + ", may be absent"
				}
				labels = append(labels, label)
			}
			if len(labels) == 0 {
				continue
			}
			label := strings.Join(labels, "; ")
			if group[0].Doc != "" {
				label += ":"
			}
			page.Item(first, label, group[0].Doc, of.Package)
			first = false
		}
	}
	page.Check(t, "console")
}

// typeName matches the types of packages in the name of a type.
var typeName = regexp.MustCompile(`\b[a-z0-9]+\.[A-Za-z]+\b`)

// words say what JSON has for types of Go.
var words = map[string]string{
	"string": "text", "bool": "true or false", "time.Time": "time", "time.Duration": "number of nanoseconds",
	"json.RawMessage": "any JSON", "any": "any JSON", "interface {}": "any JSON", "int": "number", "int64": "number",
	"uint64": "number", "float64": "number", "[]byte": "text in base64", "http.Header": "object of lists of texts",
}

// form says what JSON has for a type, and links to those that the page describes.
func form(page *reference.Page, source reference.Source, of string) string {
	if word := words[of]; word != "" {
		return word
	}
	if of, ok := strings.CutPrefix(of, "[]"); ok {
		return "list of " + form(page, source, of)
	}
	if of, ok := strings.CutPrefix(of, "map[string]"); ok {
		return "object of " + form(page, source, of)
	}
	if of, ok := strings.CutPrefix(of, "*"); ok {
		return form(page, source, of) + " or null"
	}
	if page.Links[of] != "" {
		return page.Link(of)
	}
	panic("say in words what JSON has for the type " + of)
}
