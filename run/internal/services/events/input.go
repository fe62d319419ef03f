package events

// What a target gets of an event ("Amazon EventBridge input transformation").

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// input makes what a target gets: the event, unless one of its parts is set.
type input struct {
	// constant is JSON that does not depend on the event.
	constant string
	path     path
	template []part
	// variables are the paths of those that the template may name.
	variables map[string]path
}

// transformed is an event, with its text and the time at which it came.
type transformed struct {
	event
	text     []byte
	ingested time.Time
}

// part is a text of a template, or a variable. A variable within a JSON text is quoted.
type part struct {
	text, variable string
	quoted         bool
}

// Variables that need no path. No path may have their names.
const (
	ruleARN       = "aws.events.rule-arn"
	ruleName      = "aws.events.rule-name"
	wholeEvent    = "aws.events.event"
	wholeJSON     = "aws.events.event.json"
	ingestionTime = "aws.events.event.ingestion-time"
)

var (
	reserved = []string{ruleARN, ruleName, wholeEvent, wholeJSON, ingestionTime}
	variable = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

// maxVariables is the most that an input transformer has.
const maxVariables = 100

func readInput(declared declaredTarget) (read input, err error) {
	transformer := declared.InputTransformer
	given := 0
	for _, one := range []bool{declared.Input != "", declared.InputPath != "", transformer != nil} {
		if one {
			given++
		}
	}
	switch {
	case given > 1:
		return read, errors.New("got more than one of Input, InputPath and InputTransformer: write one")
	case declared.Input != "":
		read.constant = declared.Input
		if !json.Valid([]byte(declared.Input)) {
			err = fmt.Errorf("property Input: got %s: write JSON", declared.Input)
		}
		return read, err
	case declared.InputPath != "":
		if read.path, err = readPath(declared.InputPath); err != nil {
			err = fmt.Errorf("InputPath: %w", err)
		}
		return read, err
	case transformer == nil:
		return read, nil
	}
	if len(transformer.InputPathsMap) > maxVariables {
		return read, fmt.Errorf("InputPathsMap: got %d variables: write %d or fewer", len(transformer.InputPathsMap),
			maxVariables)
	}
	read.variables = map[string]path{}
	for name, text := range transformer.InputPathsMap {
		if !variable.MatchString(name) {
			return read, fmt.Errorf("InputPathsMap: got the name %q: write letters, digits, _ and -", name)
		}
		if read.variables[name], err = readPath(text); err != nil {
			return read, fmt.Errorf("InputPathsMap: %s: %w", name, err)
		}
	}
	read.template, err = readTemplate(transformer.InputTemplate, read.variables)
	return read, err
}

// readTemplate splits a template into texts and variables. A run takes one JSON value, with variables in it.
func readTemplate(text string, variables map[string]path) (parts []part, err error) {
	var plain, sample strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		end := strings.IndexByte(text[i:], '>')
		switch {
		case quoted && text[i] == '\\' && i+1 < len(text):
			plain.WriteString(text[i : i+2])
			i++
		case text[i] == '<' && end > 0:
			name := text[i+1 : i+end]
			if _, known := variables[name]; !known && !slices.Contains(reserved, name) {
				return nil, fmt.Errorf("InputTemplate: got the variable <%s>: EventBridge knows those of "+
					"InputPathsMap, %s, and %s", name, strings.Join(slices.Sorted(maps.Keys(variables)), ", "),
					strings.Join(reserved, ", "))
			}
			sample.WriteString(plain.String())
			if !quoted {
				sample.WriteString("null")
			}
			parts = append(parts, part{text: plain.String()}, part{variable: name, quoted: quoted})
			plain.Reset()
			i += end
		default:
			quoted = quoted != (text[i] == '"')
			plain.WriteByte(text[i])
		}
	}
	sample.WriteString(plain.String())
	if !json.Valid([]byte(sample.String())) {
		return nil, fmt.Errorf("InputTemplate: got %s: write one JSON value, such as a text in quotes, in which "+
			"variables stand for values or within texts", text)
	}
	return append(parts, part{text: plain.String()}), nil
}

// errTemplate says that an event makes no JSON of a template.
var errTemplate = errors.New("the input transformer makes no JSON of the event: EventBridge does not escape values " +
	"within texts")

// of returns what the target of a rule gets of an event.
func (in input) of(e transformed, r *rule) ([]byte, error) {
	switch {
	case in.constant != "":
		return []byte(in.constant), nil
	case in.path == nil && in.template == nil:
		return e.text, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(e.text))
	decoder.UseNumber()
	var members any
	if err := decoder.Decode(&members); err != nil {
		return nil, err
	}
	if in.path != nil {
		value, _ := in.path.find(members)
		return encode(value), nil
	}
	var made bytes.Buffer
	for _, part := range in.template {
		if part.variable == "" {
			made.WriteString(part.text)
			continue
		}
		made.Write(part.of(in.value(part.variable, e, r, members)))
	}
	var minified bytes.Buffer
	if json.Compact(&minified, made.Bytes()) != nil {
		return nil, fmt.Errorf("%w: got %s", errTemplate, made.Bytes())
	}
	return minified.Bytes(), nil
}

// value is that of a variable: an empty text where the event has nothing at its path.
func (in input) value(variable string, e transformed, r *rule, members any) any {
	switch variable {
	case ruleARN:
		return r.arn
	case ruleName:
		return r.name
	case ingestionTime:
		return e.ingested.UTC().Format("2006-01-02T15:04:05.000Z")
	case wholeJSON:
		return json.RawMessage(e.text)
	case wholeEvent:
		// EventBridge leaves the detail out, and calls the type as its API does.
		whole := maps.Clone(members.(map[string]any))
		whole["detailType"] = whole["detail-type"]
		delete(whole, "detail-type")
		delete(whole, "detail")
		return whole
	}
	if value, found := in.variables[variable].find(members); found && value != nil {
		return value
	}
	return ""
}

// of is a value in its place of a template: within a text, a text is not escaped, and other values have no quotes.
func (p part) of(value any) []byte {
	if !p.quoted {
		return encode(value)
	}
	if text, ok := value.(string); ok {
		return []byte(text)
	}
	return bytes.ReplaceAll(encode(value), []byte(`"`), nil)
}

// path leads to a value of an event. An element is the name of a member, the index of an array, or every member or
// element.
type path []any

type every struct{}

// readPath reads the part of JSONPath that EventBridge has: names after dots or in brackets, indexes, and wildcards.
func readPath(text string) (path, error) {
	refuse := fmt.Errorf("got %q: write a path such as $.detail.items[0].id, of names, indexes and *", text)
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return nil, refuse
	}
	read := path{}
	for rest != "" {
		switch {
		case rest[0] == '[':
			inside, after, ok := strings.Cut(rest[1:], "]")
			if !ok {
				return nil, refuse
			}
			index, err := strconv.Atoi(inside)
			switch {
			case err == nil && index >= 0:
				read = append(read, index)
			case inside == "*":
				read = append(read, every{})
			case len(inside) > 2 && (inside[0] == '\'' || inside[0] == '"') && inside[len(inside)-1] == inside[0]:
				read = append(read, inside[1:len(inside)-1])
			default:
				return nil, refuse
			}
			rest = after
		case rest[0] == '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			switch name := rest[:end]; {
			case name == "" || strings.ContainsAny(name, `()?@"'`):
				return nil, refuse
			case name == "*":
				read = append(read, every{})
			default:
				read = append(read, name)
			}
			rest = rest[end:]
		default:
			return nil, refuse
		}
	}
	return read, nil
}

// find returns the value at the path, or, with a wildcard, the list of those that there are.
func (p path) find(value any) (found any, ok bool) {
	if len(p) == 0 {
		return value, true
	}
	switch step := p[0].(type) {
	case string:
		members, _ := value.(map[string]any)
		member, there := members[step]
		if !there {
			return nil, false
		}
		return p[1:].find(member)
	case int:
		elements, _ := value.([]any)
		if step >= len(elements) {
			return nil, false
		}
		return p[1:].find(elements[step])
	}
	elements, _ := value.([]any)
	if members, ok := value.(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			elements = append(elements, members[name])
		}
	}
	all := []any{}
	for _, element := range elements {
		if one, ok := p[1:].find(element); ok {
			all = append(all, one)
		}
	}
	return all, len(all) > 0
}
