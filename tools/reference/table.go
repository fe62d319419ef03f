package reference

import (
	"slices"
	"strings"
	"testing"
)

// Row is a row of a table. Its first cell names it.
type Row []string

func (r Row) String() string { return "| " + strings.Join(r, " | ") + " |" }

// Table is a table in Markdown. Its first row is the heading.
type Table []Row

func (t Table) String() string { return strings.Join(t.lines(), "\n") }

func (t Table) lines() []string {
	lines := []string{t[0].String(), "|" + strings.Repeat(" --- |", len(t[0]))}
	for _, r := range t[1:] {
		lines = append(lines, r.String())
	}
	return lines
}

// In returns the text of a page with this table in place of the one whose heading begins with the same cell. The test
// fails if the page has no such table.
func (t Table) In(tb testing.TB, page string) string {
	tb.Helper()
	lines := strings.Split(page, "\n")
	begin := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| "+t[0][0]+" |") })
	if begin < 0 {
		tb.Fatalf("there is no table that begins with %q", t[0][0])
	}
	end := begin
	for end < len(lines) && strings.HasPrefix(lines[end], "|") {
		end++
	}
	return strings.Join(slices.Replace(lines, begin, end, t.lines()...), "\n")
}
