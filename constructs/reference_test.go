package constructs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// docs/reference has the props of the platforms, those of the other constructs, and the language of the contracts.
func TestPropsReference(t *testing.T) {
	t.Parallel()
	source := reference.Read(t, "constructs/*", "schema")
	all := slices.Sorted(maps.Keys(source))
	named := func(pattern string) (names []string) {
		for _, name := range all {
			if regexp.MustCompile(pattern).MatchString(name) {
				names = append(names, name)
			}
		}
		return names
	}
	pages := []*propsPage{
		{name: "props", title: "Props of the platforms",
			roots: []string{"platform.Props", "platform.UserProps", "platform.LakeProps"},
			about: "What you may set on a platform. A field that you leave out has its default. cdk.json sets the " +
				"fields by the same names with a small first letter, such as jwtIssuer, except for those that are " +
				"for Go alone."},
		{name: "parts", title: "Props of the parts", roots: named("Props$"),
			about: "What you may set on the constructs that make up a platform of your own, one in each package of " +
				"constructs. A field that you leave out has its default."},
		{name: "schema", title: "The contract of a platform",
			roots: append([]string{"schema.Platform", "schema.Own", "schema.Extra", "schema.Description",
				"schema.Strict"}, named(`^schema\.On[A-Z]`)...),
			about: "The contract of a platform is a value of schema.Platform. The constructs make the template of " +
				"it, and the functions their requests. This is all that it consists of."},
	}
	for _, name := range listed(t) {
		pages[0].roots = append(pages[0].roots, name+".Props")
	}
	taken := map[string]bool{}
	for _, page := range pages {
		for _, name := range source.Reach(page.roots...) {
			of := source[name]
			empty := of.Package != "schema" && of.Underlying == "struct" && len(of.Fields) == 0
			if !taken[name] && !empty && (of.Package == "schema") == (page.name == "schema") {
				taken[name] = true
				page.types = append(page.types, name)
			}
		}
	}
	for _, page := range pages {
		page.text.Links = map[string]string{}
		for _, name := range all {
			for _, other := range pages {
				if slices.Contains(other.types, name) {
					page.text.Links[name] = strings.TrimPrefix(other.name+".md"+reference.Anchor(name), page.name+".md")
				}
			}
		}
		for _, name := range all {
			page.linkMembers(source, name, name)
		}
		page.write(source)
		page.text.Check(t, page.name)
	}
}

// propsPage is a page about types that an importer sets.
type propsPage struct {
	name, title, about string
	// types are those of the roots, and all that these need, but for those of the pages before.
	roots, types []string
	text         reference.Page
}

// linkMembers gives the constants of a type their addresses, and the fields, also those of types that it embeds. They
// are those of the type that declares them.
func (p *propsPage) linkMembers(source reference.Source, name, declares string) {
	page, _, shown := strings.Cut(p.text.Links[declares], "#")
	if !shown {
		return
	}
	for _, value := range source[declares].Values {
		p.text.Links[source[declares].Package+"."+value.Name] = p.text.Links[declares]
	}
	for _, field := range source[declares].Fields {
		if field.Embedded {
			_, short, _ := strings.Cut(field.Name, ".")
			p.text.Links[name+"."+short] = p.text.Links[field.Name]
			p.linkMembers(source, name, field.Name)
		}
	}
	for _, group := range source[declares].Described() {
		for _, field := range group {
			p.text.Links[name+"."+field.Name] = page + reference.Anchor(heading(declares, group))
		}
	}
}

func (p *propsPage) write(source reference.Source) {
	p.text.Heading(1, p.title)
	p.text.Text("", p.about, "")
	for i, name := range p.types {
		of := source[name]
		first := strings.SplitAfter(strings.Join(strings.Fields(of.Doc), " "), ". ")[0]
		p.text.Item(i == 0, p.text.Link(name)+":", first, of.Package)
	}
	for _, name := range p.types {
		of := source[name]
		p.text.Heading(2, name)
		kind := ""
		if of.Underlying != "struct" {
			kind = p.typed(of.Underlying, of.Of) + "."
		}
		p.text.Text(kind, of.Doc, of.Package)
		for i, value := range of.Values {
			label := fmt.Sprintf("`%s.%s`", of.Package, value.Name)
			if value.Value != "" {
				label = fmt.Sprintf("`%s.%s = %s`", of.Package, value.Name, value.Value)
			}
			if value.Doc != "" {
				label += ":"
			}
			p.text.Item(i == 0, label, value.Doc, of.Package)
		}
		for _, field := range of.Fields {
			if field.Embedded {
				p.text.Text("Has the fields of "+p.text.Link(field.Name)+".", field.Doc, of.Package)
			}
		}
		for _, group := range of.Described() {
			p.text.Heading(3, heading(name, group))
			var kinds []string
			for _, field := range group {
				if kind := p.typed(field.Type, field.Of); !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
			}
			kind := strings.Join(kinds, ", ") + "."
			if group[0].JSON == "-" {
				kind += " For Go alone."
			}
			p.text.Text(kind, group[0].Doc, of.Package)
		}
	}
}

// heading is that of fields which one comment describes.
func heading(declares string, group []reference.Field) string {
	var names []string
	for _, field := range group {
		names = append(names, field.Name)
	}
	return declares + "." + strings.Join(names, ", ")
}

// typed returns a type, with links to those that it names.
func (p *propsPage) typed(text string, names []string) string {
	text = "`" + text + "`"
	for _, name := range names {
		if address := p.text.Links[name]; address != "" {
			text = strings.Replace(text, name, "`[`"+name+"`]("+address+")`", 1)
		}
	}
	return strings.ReplaceAll(text, "``", "")
}
