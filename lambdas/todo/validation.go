package todo

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Validate returns an [*InvalidError] with the fields email and name.
func (in UserInput) Validate() error {
	var f findings
	f.email(in.Email)
	f.text("name", in.Name, 1, MaxNameLength)
	return f.err()
}

// Validate returns an [*InvalidError] with the fields title, description, status,
// priority, category and due_date.
func (in TaskInput) Validate() error {
	var f findings
	f.text("title", in.Title, 1, MaxTitleLength)
	f.text("description", in.Description, 0, MaxDescriptionLength)
	if in.Status != "" {
		oneOf(&f, "status", in.Status, Statuses())
	}
	f.optional(in.Priority, in.Category, in.DueDate)
	return f.err()
}

// Validate returns an [*InvalidError] with the fields of [TaskInput.Validate].
func (c TaskChange) Validate() error {
	var f findings
	if c.Title != nil {
		f.text("title", *c.Title, 1, MaxTitleLength)
	}
	if c.Description != nil {
		f.text("description", *c.Description, 0, MaxDescriptionLength)
	}
	if c.Status != nil {
		oneOf(&f, "status", *c.Status, Statuses())
	}
	f.optional(value(c.Priority), value(c.Category), value(c.DueDate))
	return f.err()
}

// Validate returns an [*InvalidError] with the fields status, priority, category,
// due_from, due_to, q, sort and limit. Whether a cursor is one shows when it is
// used.
func (t TaskFilter) Validate() error {
	f := t.findings()
	return f.err()
}

func (t TaskFilter) findings() findings {
	var f findings
	if t.Status != "" {
		oneOf(&f, "status", t.Status, Statuses())
	}
	if t.Priority != NoPriority {
		oneOf(&f, "priority", t.Priority, Priorities())
	}
	f.text("category", t.Category, 0, MaxCategoryLength)
	from, to := f.date("due_from", t.DueFrom), f.date("due_to", t.DueTo)
	if from && to && t.DueTo < t.DueFrom {
		f.add("due_to", "is %s, before due_from, which is %s: exchange them", shown(string(t.DueTo)), shown(string(t.DueFrom)))
	}
	f.text("q", t.Search, 0, MaxSearchLength)
	if t.Sort != ByDefault {
		oneOf(&f, "sort", t.Sort, []Sort{ByCreation, ByStatus, ByDueDate, ByPriority, ByCategory})
	}
	if t.Limit < 0 || t.Limit > MaxPageSize {
		f.add("limit", "is %d; allowed is 1 to %d", t.Limit, MaxPageSize)
	}
	return f
}

// ValidateBulk returns an [*InvalidError] with the fields task_ids, task_ids[i]
// and status of a change of many tasks. An id that no task can have is none that
// is wrong: there is no such task.
func ValidateBulk(ids []string, status Status) error {
	var f findings
	if len(ids) < 1 || len(ids) > MaxBulkTasks {
		f.add("task_ids", "has %d ids; allowed are 1 to %d", len(ids), MaxBulkTasks)
	} else {
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				f.add(fmt.Sprintf("task_ids[%d]", i), "is %s again: give each id once", shown(id))
			}
		}
	}
	oneOf(&f, "status", status, Statuses())
	return f.err()
}

// findings gathers what is wrong with a request, so that the caller hears of
// everything at once.
type findings []FieldError

func (f *findings) add(field, format string, arguments ...any) {
	*f = append(*f, FieldError{Field: field, Message: fmt.Sprintf(format, arguments...)})
}

// err is nil when nothing is wrong, else an [*InvalidError].
func (f findings) err() error {
	if len(f) == 0 {
		return nil
	}
	return &InvalidError{Fields: f}
}

// text checks what a person wrote. It is kept exactly as written; blanks are not
// enough where something is required.
func (f *findings) text(field, value string, least, most int) {
	switch length := utf8.RuneCountInString(value); {
	case !utf8.ValidString(value):
		f.add(field, "is not valid UTF-8: send text")
	case strings.ContainsRune(value, 0):
		f.add(field, "contains the character NUL (U+0000), which is not text: leave it out")
	case length > most:
		f.add(field, "has %d characters; at most %d are allowed", length, most)
	case least > 0 && value == "":
		f.add(field, "is empty; it needs %d to %d characters", least, most)
	case least > 0 && isBlank(value):
		f.add(field, "holds only white space; it needs %d to %d characters", least, most)
	}
}

// isBlank reports whether nothing in s can be seen: white space, control and
// zero-width characters.
func isBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

func (f *findings) optional(priority Priority, category string, due Date) {
	if priority != NoPriority {
		oneOf(f, "priority", priority, Priorities())
	}
	f.text("category", category, 0, MaxCategoryLength)
	f.date("due_date", due)
}

// date checks a day of the years 0001 to 9999, the range in which text sorts as
// days do and every SQL engine has the same calendar. It reports whether there is
// one.
func (f *findings) date(field string, value Date) bool {
	if value == "" {
		return false
	}
	if day, err := time.Parse(time.DateOnly, string(value)); err != nil || day.Year() < 1 {
		f.add(field, "is %s; a day is written YYYY-MM-DD, such as 2026-02-28", shown(string(value)))
		return false
	}
	return true
}

func oneOf[T ~string](f *findings, field string, value T, allowed []T) {
	if slices.Contains(allowed, value) {
		return
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	f.add(field, "is %s; allowed are %s", shown(string(value)), strings.Join(names, ", "))
}

// emailPattern is the "Dot-string" form of RFC 5321's mailbox, with a domain of
// at least two labels: what mail servers take without quoting. Addresses in other
// scripts have a domain in Punycode.
var emailPattern = regexp.MustCompile("^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*" +
	`@([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)

// maxLocalPart is the longest part before the @ (RFC 5321, 4.5.3.1.1).
const maxLocalPart = 64

func (f *findings) email(value string) {
	switch {
	case value == "":
		f.add("email", "is empty; it needs an email address, such as ada@example.com")
	case len(value) > MaxEmailLength:
		f.add("email", "has %d characters; at most %d are allowed", utf8.RuneCountInString(value), MaxEmailLength)
	case !emailPattern.MatchString(value) || strings.Index(value, "@") > maxLocalPart:
		f.add("email", "is %s, which is not an email address, such as ada@example.com", shown(value))
	}
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// shown quotes what was got, cut so that a message stays readable.
func shown(value string) string {
	const most = 40
	if utf8.RuneCountInString(value) > most {
		return strconv.Quote(string([]rune(value)[:most])) + "…"
	}
	return strconv.Quote(value)
}
