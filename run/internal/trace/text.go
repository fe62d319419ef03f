package trace

// Requests as people read them.

import (
	"cmp"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"time"
	"unicode"
)

// Text writes requests and lines for people. The zero value shows lines from info up, without colours.
type Text struct {
	// Level is the lowest level of lines that are shown.
	Level slog.Level
	// Colours are those of a terminal.
	Colours bool
}

// indent is below the time of a request.
const indent = "          "

// The colours of a terminal: codes of ECMA-48.
const (
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (t Text) paint(colour, text string) string {
	if !t.Colours || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// Request is a line such as "12:00:01  POST /links  201  36 ms  2 reads 1 write  linksapi", and below it the lines that
// functions logged.
func (t Text) Request(s Summary, lines []Line) string {
	what := s.Method + " " + s.Path
	if s.Kind != HTTP {
		what = string(s.Kind) + " " + s.Path
	}
	outcome, colour := "ok", green
	switch {
	case s.Status > 0:
		outcome = fmt.Sprint(s.Status)
		if s.Status >= 500 {
			colour = red
		} else if s.Status >= 400 {
			colour = yellow
		}
	case s.Error != "" || s.Kind == HTTP:
		outcome, colour = "failed", red
	}
	columns := []string{
		t.paint(faint, s.At.Local().Format(time.TimeOnly)), printable(what), t.paint(colour, outcome),
		fmt.Sprintf("%.0f ms", s.Milliseconds),
	}
	if calls := strings.TrimSpace(counted(s.Reads, "read") + " " + counted(s.Writes, "write")); calls != "" {
		columns = append(columns, calls)
	}
	// A request that reached no function was refused by its API.
	if by := cmp.Or(strings.Join(s.Functions, ", "), s.API); by != "" {
		columns = append(columns, t.paint(faint, by))
	}
	if s.ColdStart {
		columns = append(columns, t.paint(faint, "cold start"))
	}
	var text strings.Builder
	text.WriteString(strings.Join(columns, "  ") + "\n")
	if s.Error != "" && (s.Status == 0 || s.Status >= 500) {
		text.WriteString(indent + t.paint(red, printable(s.Error)) + "\n")
	}
	for _, line := range lines {
		text.WriteString(t.below(line))
	}
	return text.String()
}

func counted(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Line is a line outside of a request, with its time and function; "" if its level is too low.
func (t Text) Line(line Line) string {
	shown := t.below(line)
	if shown == "" {
		return ""
	}
	return t.paint(faint, line.At.Local().Format(time.TimeOnly)) + "  " + t.paint(faint, line.Label) + "  " +
		strings.TrimPrefix(shown, indent)
}

// below is what a line says, indented, or nothing if its level is too low.
func (t Text) below(line Line) string {
	record := Parse(line.Text)
	var level slog.Level
	if level.UnmarshalText([]byte(record.Level)) != nil || level < t.Level ||
		record.Routine && t.Level > slog.LevelDebug {
		return ""
	}
	said := printable(record.Message)
	for _, attribute := range record.Attributes {
		said += "  " + t.paint(faint, printable(attribute.Name)+"=") + printable(attribute.Value)
	}
	switch {
	case level >= slog.LevelError:
		said = t.paint(red, "ERROR") + "  " + said
	case level >= slog.LevelWarn:
		said = t.paint(yellow, "WARN") + "  " + said
	}
	text := indent + said + "\n"
	for _, frame := range frames(record.Stack) {
		text += indent + "  " + printable(frame) + "\n"
	}
	return text
}

// frames are the calls of a stack in the form of runtime/debug, the innermost first, without those of the runtime: each
// is such as "links.Create  links/links.go:42".
func frames(stack string) (shown []string) {
	lines := strings.Split(strings.TrimSpace(stack), "\n")
	for i := 0; i+1 < len(lines); i++ {
		place, ok := strings.CutPrefix(lines[i+1], "\t")
		if !ok {
			continue
		}
		function := lines[i]
		i++
		if strings.HasPrefix(function, "runtime") || strings.HasPrefix(function, "panic(") ||
			strings.HasPrefix(function, "created by runtime") {
			if strings.HasPrefix(function, "panic(") {
				// What is above a panic is how it was recovered.
				shown = nil
			}
			continue
		}
		if at := strings.LastIndex(function, "("); at > 0 && strings.HasSuffix(function, ")") {
			function = function[:at]
		}
		place, _, _ = strings.Cut(place, " +0x")
		folder, file := path.Split(place)
		shown = append(shown, path.Base(function)+"  "+path.Join(path.Base(folder), file))
	}
	return shown
}

// printable replaces characters that would change the terminal: texts of strangers reach the log.
func printable(text string) string {
	if strings.IndexFunc(text, func(c rune) bool { return c != ' ' && !unicode.IsGraphic(c) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\n':
			b.WriteString("\n" + indent + "  ")
		case c == '\t':
			b.WriteString("  ")
		case unicode.IsGraphic(c):
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, "\\u%04x", c)
		}
	}
	return b.String()
}
