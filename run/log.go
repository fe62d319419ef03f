package run

// What a run prints.

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// LogFormat is a form of lines about requests.
type LogFormat int

const (
	// LogText has a line for each request, and below it the lines that functions logged meanwhile.
	LogText LogFormat = iota
	// LogJSON has each line of functions and stages of APIs as they write it, mostly in JSON, behind the name in
	// brackets.
	LogJSON
)

// log serialises what the run and its functions print.
type log struct {
	format LogFormat
	text   trace.Text
	// quiet is the label of the function that the run invokes itself, a hundred times: what succeeds is not told. Nil:
	// there is none.
	quiet atomic.Pointer[string]

	mu     sync.Mutex
	writer io.Writer
}

func newLog(options Options) *log {
	return &log{format: options.LogFormat, text: trace.Text{Level: options.LogLevel, Colours: options.LogColours},
		writer: options.Log}
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writer.Write(p)
}

func (l *log) printf(format string, arguments ...any) {
	fmt.Fprintf(l, format+"\n", arguments...)
}

func (l *log) line(text string) { l.printf("%s", text) }

// structured is the log with levels and attributes.
func (l *log) structured() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// function prints a line of a function or stage.
func (l *log) function(name, line string) {
	if l.format == LogJSON {
		l.printf("[%s] %s", name, line)
	}
}

// ended prints a request that has ended.
func (l *log) ended(request trace.Summary, lines []trace.Line) {
	if quiet := l.quiet.Load(); quiet != nil && request.Kind == trace.Invocation && request.Error == "" &&
		slices.Contains(request.Functions, *quiet) {
		return
	}
	if l.format == LogText {
		l.Write([]byte(l.text.Request(request, lines)))
	}
}

// unattributed prints a line that belongs to no request that is under way.
func (l *log) unattributed(line trace.Line) {
	if l.format == LogText {
		l.Write([]byte(l.text.Line(line)))
	}
}

// announce prints what runs where, and what ended functions that did not start. The last line begins with "ready".
func (r *Runner) announce() {
	var lines strings.Builder
	for _, api := range r.design.Load().apis {
		fmt.Fprintf(&lines, "%-10s %s  (%s, stack %s)\n", "API", api.URL, api.Name, api.Stack)
		for _, page := range api.Pages {
			fmt.Fprintf(&lines, "%-10s %s\n", page.Name, page.URL)
		}
	}
	fmt.Fprintf(&lines, "%-10s %s\n", "console", r.ConsoleURL())
	fmt.Fprintf(&lines, "%-10s %s\n", "DynamoDB", r.engine.URL())
	fmt.Fprintf(&lines, "%-10s %s  (for aws --endpoint-url: access key %s, secret %s)\n", "AWS", url(r.ports.aws),
		Operator, aws.Secret)
	if r.debugged != "" {
		fmt.Fprintf(&lines, "%-10s 127.0.0.1:%d  %s under delve: attach a debugger there; requests have no time-outs\n",
			"debugger", r.debugPort(), r.design.Load().function(r.debugged).Label)
	}
	for _, table := range r.design.Load().assembly.Tables() {
		if table.Existing {
			fmt.Fprintf(&lines, "%-10s %s  exists elsewhere; here as stack %s describes it\n", "table", table.Name,
				table.Stack.Name)
		}
	}
	for _, s := range r.schedules.Schedules() {
		when := "disabled"
		if s.Next != nil {
			when = "next " + s.Next.Local().Format(time.DateTime)
		}
		if r.options.NoSchedules {
			when = "runs by name only"
		}
		fmt.Fprintf(&lines, "%-10s %s  %s, %s\n", "schedule", s.Name, s.Expression, when)
	}
	if names := r.unloaded(); len(names) > 0 {
		fmt.Fprintf(&lines, "%-10s %s: initial data is loaded now, in the background\n", "data",
			strings.Join(names, ", "))
	}
	for _, function := range r.unstarted {
		fmt.Fprintf(&lines, "%-10s %s\n", "no start", function)
	}
	lines.WriteString("ready")
	if n := len(r.unstarted); n > 0 {
		fmt.Fprintf(&lines, ": %d of %d functions did not start", n, len(r.functions.Functions()))
	}
	lines.WriteString("\n")
	r.log.Write([]byte(lines.String()))
}

// announceEnd prints that the run ends, and how many invocations it breaks off.
func (r *Runner) announceEnd() {
	unfinished := 0
	for _, f := range r.functions.Functions() {
		unfinished += f.Queued
		for _, instance := range f.Instances {
			if instance.Busy {
				unfinished++
			}
		}
	}
	switch unfinished {
	case 0:
		r.log.printf("ending")
	case 1:
		r.log.printf("ending: 1 invocation is broken off")
	default:
		r.log.printf("ending: %d invocations are broken off", unfinished)
	}
}
