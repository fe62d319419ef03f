package reference

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TypesPage is a page about types: those of the roots, and all that these need, but for those of the pages before. The
// page schema has the types of package schema, and no other page has them.
type TypesPage struct {
	Name, Title, About string
	// Roots are names of types, such as "table.Props".
	Roots []string
	types []string
	text  Page
}

// CheckTypes compares pages, which link to each other, with those in docs/reference, or writes them.
func CheckTypes(t testing.TB, source Source, pages ...*TypesPage) {
	t.Helper()
	taken := map[string]bool{}
	for _, page := range pages {
		for _, name := range source.Reach(page.Roots...) {
			of := source[name]
			empty := of.Package != "schema" && of.Underlying == "struct" && len(of.Fields) == 0
			if !taken[name] && !empty && (of.Package == "schema") == (page.Name == "schema") {
				taken[name] = true
				page.types = append(page.types, name)
			}
		}
	}
	all := slices.Sorted(maps.Keys(source))
	for _, page := range pages {
		page.text.Links = map[string]string{}
		for _, name := range all {
			for _, other := range pages {
				if slices.Contains(other.types, name) {
					page.text.Links[name] = strings.TrimPrefix(other.Name+".md"+Anchor(name), page.Name+".md")
				}
			}
		}
		for _, name := range all {
			page.linkMembers(source, name, name)
		}
		page.write(source)
		page.text.Check(t, page.Name)
	}
}

// linkMembers gives the constants of a type their addresses, and the fields, also those of types that it embeds. They
// are those of the type that declares them.
func (p *TypesPage) linkMembers(source Source, name, declares string) {
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
			p.text.Links[name+"."+field.Name] = page + Anchor(headingOf(declares, group))
		}
	}
}

func (p *TypesPage) write(source Source) {
	p.text.Heading(1, p.Title)
	p.text.Text("", p.About, "")
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
			p.text.Heading(3, headingOf(name, group))
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

// headingOf returns the heading of fields that share one comment.
func headingOf(declares string, group []Field) string {
	var names []string
	for _, field := range group {
		names = append(names, field.Name)
	}
	return declares + "." + strings.Join(names, ", ")
}

// typed returns a type, with links to those that it names.
func (p *TypesPage) typed(text string, names []string) string {
	text = "`" + text + "`"
	for _, name := range names {
		if address := p.text.Links[name]; address != "" {
			text = strings.Replace(text, name, "`[`"+name+"`]("+address+")`", 1)
		}
	}
	return strings.ReplaceAll(text, "``", "")
}
