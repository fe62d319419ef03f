package trace

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
)

// Line is a line that a function logged.
type Line struct {
	// Seq numbers lines and requests in the order in which they came.
	Seq int64     `json:"seq"`
	At  time.Time `json:"at"`
	// Function is the function's name, and Label what people call it.
	Function string `json:"function"`
	Label    string `json:"label"`
	// Request is the id of the request that caused the line, or empty.
	Request string `json:"request,omitempty"`
	// Level is debug, info, warn or error. A line that names none is an info.
	Level string `json:"level"`
	// Text is the line as the function wrote it.
	Text string `json:"text"`
}

// Line keeps a line of a function. The invocation is that in which the function was when it wrote, or empty; one that
// the line names comes first.
func (r *Recorder) Line(function, label, invocation, text string) {
	if r == nil {
		return
	}
	level, named := header(text)
	line := Line{Function: function, Label: label, Level: level, Text: cut(text, maxText)}
	r.mutex.Lock()
	line.At = r.now()
	kept := r.byInvocation[traceRoot(named)]
	if kept == nil {
		kept = r.byInvocation[traceRoot(invocation)]
	}
	r.seq++
	line.Seq = r.seq
	unattributed := true
	if kept != nil {
		line.Request = kept.of.id
		if unattributed = !kept.of.running; !unattributed {
			kept.of.pending = append(kept.of.pending, line)
		}
	}
	r.lines = append(r.lines, line)
	r.lineSize += line.size()
	drop := 0
	for len(r.lines)-drop > MaxLines || r.lineSize > maxBytes && len(r.lines)-drop > 1 {
		r.lineSize -= r.lines[drop].size()
		r.lines[drop] = Line{}
		drop++
	}
	r.lines = r.lines[drop:]
	r.tellLocked(func() Event { return Event{Type: "line", Data: line, id: line.Seq} })
	r.mutex.Unlock()
	if unattributed {
		r.options.Unattributed(line)
	}
}

func (l Line) size() int { return 150 + len(l.Text) + len(l.Function) + len(l.Request) }

// LineFilter chooses lines.
type LineFilter struct {
	// Function is the name or the label of a function; empty: all.
	Function string
	// Request is the id of a request; empty: all.
	Request string
	// After leaves out the lines up to this one.
	After int64
	// Level is the lowest level: debug, info, warn or error; empty: all.
	Level string
	// Text is what the line or its function's label contains, in any case.
	Text string
}

// Levels are the levels of lines, the lowest first.
var Levels = []string{"debug", "info", "warn", "error"}

// Newest returns the newest lines that the filter lets through, at most limit, the oldest first.
func (r *Recorder) Newest(filter LineFilter, limit int) []Line {
	if r == nil {
		return nil
	}
	lines := []Line{}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, line := range slices.Backward(r.lines) {
		if len(lines) == limit {
			break
		}
		if filter.Takes(line) {
			lines = append(lines, line)
		}
	}
	slices.Reverse(lines)
	return lines
}

// Lines returns the lines that the filter lets through, the oldest first.
func (r *Recorder) Lines(filter LineFilter) []Line { return r.Newest(filter, MaxLines) }

// Takes reports whether the filter lets the line through.
func (f LineFilter) Takes(line Line) bool {
	text := strings.ToLower(f.Text)
	return line.Seq > f.After && (f.Function == "" || f.Function == line.Function || f.Function == line.Label) &&
		(f.Request == "" || f.Request == line.Request) &&
		slices.Index(Levels, line.Level) >= slices.Index(Levels, f.Level) &&
		(text == "" || strings.Contains(strings.ToLower(line.Text), text) ||
			strings.Contains(strings.ToLower(line.Label), text))
}

// Record is what a line says, if it is a record in JSON as Lambda's own log format has them, or a text.
type Record struct {
	// Level is debug, info, warn or error; info if the line names none.
	Level string
	// Message is the record's message, or the whole line.
	Message string
	// Invocation is the id of the invocation that the record names, or empty.
	Invocation string
	// Stack is the record's stack of calls, or empty.
	Stack string
	// Attributes are the others, in the order of their names.
	Attributes []Attribute
	// Routine says that the line only counts: metrics, the end of an invocation, or an access log. The line of the
	// request says the same.
	Routine bool
}

// Attribute is a member of a record.
type Attribute struct{ Name, Value string }

// Parse reads a line.
func Parse(text string) Record {
	record := Record{Level: "info", Message: text}
	if !strings.HasPrefix(text, "{") {
		if strings.HasPrefix(text, "panic:") || strings.HasPrefix(text, "fatal error:") {
			record.Level = "error"
		}
		return record
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil {
		return record
	}
	if _, metrics := members["_aws"]; metrics {
		record.Routine = true
	}
	take := func(names ...string) (value string) {
		for _, name := range names {
			raw, ok := members[name]
			if !ok {
				continue
			}
			delete(members, name)
			if json.Unmarshal(raw, &value) != nil {
				value = string(raw)
			}
			return value
		}
		return ""
	}
	message := take("message", "msg")
	if message == "" {
		return record
	}
	record.Message = message
	var level slog.Level
	if level.UnmarshalText([]byte(take("level"))) == nil {
		record.Level = levelName(level)
	}
	record.Invocation, record.Stack = take("request_id", "requestId"), take("stack")
	take("timestamp", "time")
	take("function_name")
	// The kit's own records of the end of an invocation.
	_, timed := members["ms"]
	record.Routine = record.Routine || timed && record.Level == "info" &&
		(message == "request" || message == "invocation")
	for _, name := range slices.Sorted(maps.Keys(members)) {
		record.Attributes = append(record.Attributes, Attribute{name, take(name)})
	}
	return record
}

// header returns the level and the invocation of a record, as [Parse] does, without reading the rest.
func header(text string) (level, invocation string) {
	if !strings.HasPrefix(text, "{") {
		return Parse(text).Level, ""
	}
	var members struct {
		Level      slog.Level
		Invocation string `json:"request_id"`
		Other      string `json:"requestId"`
	}
	if json.Unmarshal([]byte(text), &members) != nil {
		record := Parse(text)
		return record.Level, record.Invocation
	}
	return levelName(members.Level), cmp.Or(members.Invocation, members.Other)
}

func levelName(level slog.Level) string {
	switch {
	case level < slog.LevelInfo:
		return "debug"
	case level < slog.LevelWarn:
		return "info"
	case level < slog.LevelError:
		return "warn"
	}
	return "error"
}
