package workflows

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decode reads a document of which every field is known.
func decode(content []byte, into any) findings {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return findings{err.Error()}
	}
	return nil
}

// findings are what GitHub has against a file.
type findings []string

func (f *findings) add(format string, arguments ...any) {
	*f = append(*f, fmt.Sprintf(format, arguments...))
}

// need finds a field that is empty.
func (f *findings) need(place, field, value string) {
	if strings.TrimSpace(value) == "" {
		f.add("%s%s is missing", place, field)
	}
}

// element is an element of an issue form.
type element struct {
	Type, ID   string
	Attributes struct {
		Label, Description, Placeholder, Value, Render string
		Options                                        []yaml.Node
		Multiple                                       bool
	}
	Validations struct{ Required bool }
}

// checkForm returns what GitHub has against an issue form ("Common validation errors when creating issue forms").
func checkForm(content []byte) findings {
	var form struct {
		Name, Description, Title string
		Labels, Assignees        []string
		Body                     []element
	}
	problems := decode(content, &form)
	problems.need("", "name", form.Name)
	problems.need("", "description", form.Description)
	asks := false
	ids, labels := map[string]bool{}, map[string]bool{}
	for i, e := range form.Body {
		place := fmt.Sprintf("body[%d]: ", i)
		if e.Type == "markdown" {
			problems.need(place, "value", e.Attributes.Value)
			continue
		}
		asks = true
		problems.need(place, "label", e.Attributes.Label)
		if !slices.Contains([]string{"textarea", "input", "dropdown", "checkboxes"}, e.Type) {
			problems.add("%stype %q is none of GitHub's", place, e.Type)
		}
		if e.ID != "" && !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(e.ID) {
			problems.add("%sid %q has other characters than letters, digits, - and _", place, e.ID)
		}
		if ids[e.ID] {
			problems.add("%sid %q is there twice", place, e.ID)
		}
		if labels[e.Attributes.Label] {
			problems.add("%slabel %q is there twice", place, e.Attributes.Label)
		}
		ids[e.ID], labels[e.Attributes.Label] = e.ID != "", true
		if hasOptions := e.Type == "dropdown" || e.Type == "checkboxes"; hasOptions && len(e.Attributes.Options) == 0 {
			problems.add("%soptions are missing", place)
		}
		for _, option := range e.Attributes.Options {
			want := yaml.ScalarNode
			if e.Type == "checkboxes" {
				want = yaml.MappingNode
			}
			// GitHub takes no other values of YAML for texts, such as the Boolean yes.
			if option.Kind != want || want == yaml.ScalarNode && option.Tag != "!!str" {
				problems.add("%soption %q has another form", place, option.Value)
			}
		}
	}
	if !asks {
		problems.add("body asks nothing")
	}
	return problems
}

// checkChooser returns what GitHub has against the page on which people choose a form.
func checkChooser(content []byte) findings {
	var chooser struct {
		BlankIssues  *bool                               `yaml:"blank_issues_enabled"`
		ContactLinks []struct{ Name, URL, About string } `yaml:"contact_links"`
	}
	problems := decode(content, &chooser)
	for i, link := range chooser.ContactLinks {
		place := fmt.Sprintf("contact_links[%d]: ", i)
		problems.need(place, "name", link.Name)
		problems.need(place, "url", link.URL)
		problems.need(place, "about", link.About)
	}
	return problems
}

// checkDependabot returns the folders that Dependabot looks at, by kind, and what GitHub has against its configuration
// ("Dependabot options reference").
func checkDependabot(content []byte) (folders map[string][]string, problems findings) {
	var configuration struct {
		Version int
		Updates []struct {
			Kind        string `yaml:"package-ecosystem"`
			Directory   string
			Directories []string
			Schedule    struct{ Interval string }
			Groups      map[string]struct{ Patterns []string }
		}
	}
	problems = decode(content, &configuration)
	if configuration.Version != 2 {
		problems.add("version %d: want 2", configuration.Version)
	}
	folders = map[string][]string{}
	for i, update := range configuration.Updates {
		place := fmt.Sprintf("updates[%d]: ", i)
		all := update.Directories
		if update.Directory != "" {
			all = append(all, update.Directory)
		}
		if len(all) == 0 {
			problems.add("%sdirectories are missing", place)
		}
		folders[update.Kind] = append(folders[update.Kind], all...)
		if !slices.Contains([]string{"gomod", "npm", "pip", "github-actions"}, update.Kind) {
			problems.add("%spackage-ecosystem %q is none that these tests know", place, update.Kind)
		}
		if !slices.Contains([]string{"daily", "weekly", "monthly"}, update.Schedule.Interval) {
			problems.add("%sinterval %q is none", place, update.Schedule.Interval)
		}
		for name, group := range update.Groups {
			if len(group.Patterns) == 0 {
				problems.add("%sgroup %s has no patterns", place, name)
			}
		}
	}
	return folders, problems
}

// owner matches a person, a team or an email address.
var owner = regexp.MustCompile(`^(@[\w-]+(/[\w.-]+)?|\S+@\S+\.\S+)$`)

// checkOwners returns what GitHub has against a file of owners ("About code owners").
func checkOwners(content []byte) (problems findings) {
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		rule, _, _ := strings.Cut(line, "#")
		words := strings.Fields(rule)
		if len(words) == 0 {
			continue
		}
		if strings.ContainsAny(words[0], "![]") {
			problems.add("line %d: pattern %q: GitHub takes no ! and no [ ]", number, words[0])
		}
		for _, name := range words[1:] {
			if !owner.MatchString(name) {
				problems.add("line %d: owner %q: write @person, @organisation/team or an email address", number,
					name)
			}
		}
	}
	return problems
}
