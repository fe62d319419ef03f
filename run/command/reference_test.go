package command

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// docs/reference/command.md has the help of every command.
func TestCommandReference(t *testing.T) {
	t.Parallel()
	parser := must.Get(newParser(t.Context()))(t)
	page := &reference.Page{Links: map[string]string{}}
	page.Heading(1, "The command onesynth")
	page.Text("", parser.Model.Help, "")
	page.Text("", parser.Model.Detail, "")
	commands := shown(parser.Model.Node)
	for _, c := range commands {
		page.Links[c.FullPath()] = reference.Anchor(c.FullPath())
	}
	group := ""
	for _, c := range commands {
		if of := c.ClosestGroup().Title; of != group {
			group = of
			page.Text("", group+":", "")
			page.Item(true, page.Link(c.FullPath())+":", c.Help, "")
			continue
		}
		page.Item(false, page.Link(c.FullPath())+":", c.Help, "")
	}
	for _, c := range commands {
		if c.Help == "" {
			t.Errorf("%s has no help", c.FullPath())
		}
		page.Heading(2, c.FullPath())
		page.Text("", c.Help, "")
		page.Code("onesynth " + c.Summary())
		page.Text("", c.Detail, "")
		first := true
		add := func(value *kong.Value, label, kind string) {
			if value.Help == "" {
				t.Errorf("%s: %s has no help", c.FullPath(), label)
			}
			text := value.Help
			if value.HasDefault && !value.IsBool() {
				text += fmt.Sprintf(" Default: %s.", value.Default)
			}
			if len(value.Tag.Envs) > 0 {
				text += fmt.Sprintf(" Environment variable: %s.", strings.Join(value.Tag.Envs, ", "))
			}
			if value.Required {
				kind += ", required"
			}
			page.Item(first, fmt.Sprintf("`%s` (%s):", label, strings.TrimPrefix(kind, ", ")), text, "")
			first = false
		}
		for _, argument := range c.Positional {
			add(argument, argument.Summary(), kindOf(argument))
		}
		for _, flag := range c.Flags {
			if flag.Hidden {
				continue
			}
			label := "--" + flag.Name
			if flag.Short != 0 {
				label = fmt.Sprintf("-%c, %s", flag.Short, label)
			}
			if !flag.IsBool() {
				label += " " + cmp.Or(flag.PlaceHolder, strings.ToUpper(flag.Name))
			}
			add(flag.Value, label, kindOf(flag.Value))
		}
	}
	page.Check(t, "command")
}

// shown returns the commands below a node, each before its own.
func shown(node *kong.Node) (all []*kong.Node) {
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(append(all, child), shown(child)...)
		}
	}
	return all
}

// kindOf says in a word what a flag or an argument takes.
func kindOf(value *kong.Value) string {
	of := value.Target.Type()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[time.Duration]():
		return "duration"
	case of == reflect.TypeFor[port]():
		return "port"
	case value.Enum != "":
		return "word"
	case value.Tag.Type == "path":
		return "path"
	}
	return cmp.Or(map[reflect.Kind]string{reflect.Bool: "switch", reflect.Int: "number",
		reflect.Slice: "list of texts", reflect.Map: "texts by name"}[of.Kind()], "text")
}
