// Package validate checks what a caller sends against the rules of a platform, and gathers all that is wrong into one
// answer, an [Error].
package validate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Rule is a kind of rule that a value may break.
type Rule string

// The rules. The zero value is a rule of another kind.
const (
	// RuleRequired: the value has to be there.
	RuleRequired Rule = "required"
	// RuleType: the value has to be of [Constraint.Type].
	RuleType Rule = "type"
	// RuleLength: a text has Min to Max characters, a list Min to Max entries.
	RuleLength Rule = "length"
	// RuleRange: a number is Min to Max.
	RuleRange Rule = "range"
	// RuleEnum: the value is one of Allowed.
	RuleEnum Rule = "enum"
	// RuleFormat: a text has a certain form, such as that of a date.
	RuleFormat Rule = "format"
	// RulePattern: a text matches a regular expression.
	RulePattern Rule = "pattern"
	// RuleUnique: the entries of a list differ.
	RuleUnique Rule = "unique"
	// RuleConflict: the value fits the other values of the request.
	RuleConflict Rule = "conflict"
)

// Constraint is the rule that a value breaks, with what the rule allows.
type Constraint struct {
	// Rule is the kind of rule.
	Rule Rule `json:"constraint" enum:"required,type,length,range,enum,format,unique,conflict" doc:"The kind of rule that it breaks: length counts the characters of a text or the entries of a list, unique says that a value stands twice, conflict that it does not go with another one." example:"length"`
	// Type is the type that a form states, by its name in JSON Schema: "string",
	// "integer", "array", …
	Type string `json:"-"`
	// Min and Max are the bounds of a RuleLength or RuleRange. Nil: no bound.
	Min *int `json:"min,omitempty" doc:"Of a length or range: the least that is allowed." example:"10"`
	Max *int `json:"max,omitempty" doc:"Of a length or range: the most that is allowed." example:"2000"`
	// Allowed are the values of a RuleEnum.
	Allowed []string `json:"allowed,omitempty" nullable:"false" doc:"Of an enum: what is allowed." example:"[\"text\",\"multiple_choice\"]"`
	// Wanted says what a RuleFormat or RulePattern wants, after "it must be".
	Wanted string `json:"-"`
	// Got is the value: nil, string, float64, bool, []any or map[string]any from a body, or int64 from a parameter. For
	// a list whose entries a platform's rule counted, it is their number, an int.
	Got any `json:"-"`
}

// Problem is a fault of one part of a request.
type Problem struct {
	// Field is the name of the field, parameter or header; "body" and "query" stand for the whole. Until
	// [Problem.Wire], an entry of a list has its index in the name, such as "options[1]".
	Field string `json:"field" doc:"The field, parameter or header; body or query for the whole of these." example:"title"`
	// Index is set by [Problem.Wire].
	Index *int `json:"index,omitempty" doc:"Of an entry of a list: which one, from 0."`
	// Message says what came and what is allowed.
	Message string `json:"message" doc:"What was got and what is allowed." example:"is missing, but required"`
	// Constraint is the rule that the value breaks. If it is zero, only the message says what is wrong.
	Constraint Constraint `json:"-"`
}

// place is the index of an entry in the name of a field.
var place = regexp.MustCompile(`\[(\d+)\]`)

// Wire returns the problem as an answer has it: the first index in Field moves to Index.
func (p Problem) Wire() Problem {
	if found := place.FindStringSubmatch(p.Field); found != nil {
		if index, err := strconv.Atoi(found[1]); err == nil {
			p.Index = &index
		}
		p.Field = place.ReplaceAllString(p.Field, "")
	}
	return p
}

// Error says that a request is invalid, by its content or by its form.
type Error struct {
	// Status is the HTTP status of the answer. Zero stands for 422: values break rules. With any other there is one
	// problem.
	Status int
	// Text says what is wrong in a sentence. Empty: the problems say it.
	Text string
	// Problems are all problems found, at least one.
	Problems []Problem
}

// Wire returns the problems as an answer has them.
func (e *Error) Wire() []Problem {
	problems := make([]Problem, len(e.Problems))
	for i, p := range e.Problems {
		problems[i] = p.Wire()
	}
	return problems
}

// Error returns the text, or else the list of the problems.
func (e *Error) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.Field + ": " + p.Message
	}
	return cmp.Or(e.Text, strings.Join(texts, "; "))
}

// Errorf returns an [*Error] with status 422 and one problem.
func Errorf(field string, rule Rule, format string, arguments ...any) error {
	var p Problems
	p.Add(field, rule, format, arguments...)
	return p.Err()
}

// Refused returns an [*Error] with that status. message is a sentence that names the wrong part itself.
func Refused(status int, field string, constraint Constraint, message string) *Error {
	return &Error{Status: status, Text: message,
		Problems: []Problem{{Field: field, Message: message, Constraint: constraint}}}
}

// Unreadable returns an [*Error] with status 400, for a header, a query or a body that cannot be read.
func Unreadable(field string, constraint Constraint, message string) error {
	return &Error{Status: 400, Problems: []Problem{{Field: field, Message: message, Constraint: constraint}}}
}

// Problems collects the problems of a request. The zero value is ready to use.
type Problems struct{ found []Problem }

// Err returns an [*Error] with the problems, or nil if there are none.
func (p *Problems) Err() error {
	if len(p.found) == 0 {
		return nil
	}
	return &Error{Problems: p.found}
}

// Add adds a problem that no other method finds.
func (p *Problems) Add(field string, rule Rule, format string, arguments ...any) {
	p.found = append(p.found, Problem{Field: field, Message: fmt.Sprintf(format, arguments...),
		Constraint: Constraint{Rule: rule}})
}

func (p *Problems) broken(field string, c Constraint) { p.found = append(p.found, Broken(field, c)) }

// Text checks what a person wrote: UTF-8 without the character NUL, of least to most characters. White space around it
// counts towards most, but not towards least. If least is not 0, it must have a visible character.
func (p *Problems) Text(field, value string, least, most int) {
	switch {
	case !utf8.ValidString(value):
		p.Add(field, RuleFormat, "is not valid UTF-8; send text")
	case strings.ContainsRune(value, 0):
		p.Add(field, RuleFormat, "contains the character NUL (U+0000), which is not text; leave it out")
	case least > 0 && IsBlank(value), utf8.RuneCountInString(strings.TrimSpace(value)) < least:
		p.broken(field, Constraint{Rule: RuleLength, Min: &least, Max: &most, Got: value})
	default:
		p.Length(field, value, least, most)
	}
}

// Length checks the number of characters of a text alone.
func (p *Problems) Length(field, value string, least, most int) {
	if length := utf8.RuneCountInString(value); length < least || length > most {
		p.broken(field, Constraint{Rule: RuleLength, Min: &least, Max: &most, Got: value})
	}
}

// IsBlank reports whether s has nothing to see: only white space, control and zero-width characters, and letters and
// symbols that are invisible, such as the Hangul fillers and the blank of Braille.
func IsBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '\u2800' &&
			!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}

// Count checks the number of entries of a list.
func (p *Problems) Count(field string, n, least, most int) {
	if n < least || n > most {
		p.broken(field, Constraint{Rule: RuleLength, Min: &least, Max: &most, Got: n})
	}
}

// Number checks a number, which is least to most.
func (p *Problems) Number(field string, value, least, most int) {
	if value < least || value > most {
		p.broken(field, Constraint{Rule: RuleRange, Min: &least, Max: &most, Got: value})
	}
}

// Date checks a day as YYYY-MM-DD, of the years 0001 to 9999. In that range texts sort by day, and every SQL engine has
// the same calendar. Date reports whether there is a day: an empty text is none.
func (p *Problems) Date(field, value string) bool {
	if value == "" {
		return false
	}
	if day, err := time.Parse(time.DateOnly, value); err != nil || day.Year() < 1 {
		p.Add(field, RuleFormat, "is %s; a day is written YYYY-MM-DD, such as 2026-02-28", Quoted(value))
		return false
	}
	return true
}

// emailPattern is the "Dot-string" form of RFC 5321's mailbox, with a domain of
// at least two labels: what mail servers take without quoting. Addresses in other
// scripts have a domain in Punycode.
var emailPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*" +
		`@([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)
})

const (
	// MaxEmailLength is the longest email address, in characters (RFC 5321, 4.5.3.1.3).
	MaxEmailLength = 254
	// maxLocalPart is the longest part before the @ (RFC 5321, 4.5.3.1.1).
	maxLocalPart = 64
)

// Email checks an email address.
func (p *Problems) Email(field, value string) {
	switch {
	case value == "":
		p.Add(field, RuleRequired, "is empty; it needs an email address, such as ada@example.com")
	case len(value) > MaxEmailLength:
		p.Add(field, RuleLength, "has %d characters; at most %d are allowed", utf8.RuneCountInString(value),
			MaxEmailLength)
	case !emailPattern().MatchString(value) || strings.Index(value, "@") > maxLocalPart:
		p.Add(field, RuleFormat, "is %s, which is not an email address, such as ada@example.com", Quoted(value))
	}
}

// OneOf checks that a value is one of those allowed.
func OneOf[T ~string](p *Problems, field string, value T, allowed []T) {
	if slices.Contains(allowed, value) {
		return
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	p.broken(field, Constraint{Rule: RuleEnum, Allowed: names, Got: string(value)})
}

// maxQuoted is how many characters of a text a message quotes.
const maxQuoted = 40

// Quoted returns text as messages quote it: in quotation marks, and cut after 40 characters.
func Quoted(text string) string {
	if utf8.RuneCountInString(text) > maxQuoted {
		return strconv.Quote(string([]rune(text)[:maxQuoted])) + "…"
	}
	return strconv.Quote(text)
}

// longestName is how many characters of a name a message has.
const longestName = 40

// Clipped returns a name that a caller chose, cut to a length that fits into a message.
func Clipped(name string) string {
	if name == "" {
		return `""`
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	if runes := []rune(name); len(runes) > longestName {
		return string(runes[:longestName]) + "…"
	}
	return name
}
