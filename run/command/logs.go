package command

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/command/output"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

type logsCommand struct {
	target.Console
	Function string `arg:"" optional:"" help:"Function, by its name or by the short name that the log shows. Default: all."`
	Follow   bool   `short:"f" help:"Go on and print what happens, until Ctrl-C."`
	Request  string `help:"Id of a request or of an invocation: print its line and what functions logged meanwhile." placeholder:"ID"`
	Format   string `help:"Form of the output: ${enum}. text has a line for each request, jsonlines the lines of functions as they wrote them; table, json and csv say where each line is from." enum:"text, table, json, jsonlines, csv" default:"text"`
	Log      string `hidden:"" enum:"text, json" default:"text"`
	LogLevel string `help:"Lowest level of functions' lines in the form text: ${enum}." enum:"debug, info, warn, error" default:"info"`
}

// Help returns the text of --help below the summary.
func (c *logsCommand) Help() string {
	return fmt.Sprintf("The run keeps the newest %d requests and %d lines; this shows up to 500 requests with their "+
		"lines.", trace.MaxRequests, trace.MaxLines)
}

// Run prints the log.
func (c *logsCommand) Run(ctx context.Context) error {
	if c.Log == "json" {
		renamed("logs --log json", "logs --format jsonlines")
		c.Format = "jsonlines"
	}
	switch {
	case c.Request != "" && (c.Follow || c.Function != ""):
		return output.Usagef("--request shows all of one request that the run keeps: leave out -f and FUNCTION")
	case c.Follow && c.Format != "text" && c.Format != "jsonlines":
		return output.Usagef("--format: got %s with -f, which ends when you end it: text and jsonlines are written "+
			"as things happen", c.Format)
	}
	p := &logPrinter{out: os.Stdout, raw: c.Format == "jsonlines",
		text: trace.Text{Level: levelOf(c.LogLevel), Colours: coloured(os.Stdout)}, pending: map[string][]trace.Line{}}
	if c.Request != "" {
		var details trace.Details
		if err := c.Call(ctx, http.MethodGet, "/requests/"+url.PathEscape(c.Request), nil, &details); err != nil {
			return err
		}
		var lines []trace.Line
		if err := c.Call(ctx, http.MethodGet, "/lines?"+url.Values{"request": {details.ID}}.Encode(), nil,
			&lines); err != nil {
			return err
		}
		if p.raw || c.Format == "text" {
			p.past([]trace.Summary{details.Summary}, lines)
			return p.err
		}
		return output.Rows(os.Stdout, output.Format{Format: c.Format}, lines)
	}
	if c.Function != "" {
		label, err := c.label(ctx)
		if err != nil {
			return err
		}
		p.label = label
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Events first: what happens while the lists are read is in both, and printed once.
	var events io.ReadCloser
	if c.Follow {
		var err error
		if events, err = c.listen(ctx); err != nil {
			return err
		}
	}
	var requests console.Requests
	if err := c.Call(ctx, http.MethodGet, "/requests?limit=500", nil, &requests); err != nil {
		return err
	}
	var lines []trace.Line
	if err := c.Call(ctx, http.MethodGet, "/lines", nil, &lines); err != nil {
		return err
	}
	if requests.Next > 0 {
		lines = slices.DeleteFunc(lines, func(l trace.Line) bool {
			return l.Seq < requests.Requests[len(requests.Requests)-1].Seq
		})
	}
	if !p.raw && c.Format != "text" {
		lines = slices.DeleteFunc(lines, func(l trace.Line) bool { return p.label != "" && l.Label != p.label })
		return output.Rows(os.Stdout, output.Format{Format: c.Format}, lines)
	}
	slices.Reverse(requests.Requests)
	p.past(requests.Requests, lines)
	if !c.Follow || p.err != nil {
		return p.err
	}
	err := p.follow(events)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return cmp.Or(err, fmt.Errorf("the run at %s has ended, or sent more than could be printed", c.URL))
}

// label returns what the log calls the function.
func (c *logsCommand) label(ctx context.Context) (string, error) {
	var functions []lambda.Status
	if err := c.Call(ctx, http.MethodGet, "/functions", nil, &functions); err != nil {
		return "", err
	}
	var known []string
	for _, f := range functions {
		if f.Name == c.Function || f.Label == c.Function {
			return f.Label, nil
		}
		known = append(known, f.Label)
	}
	return "", output.Usagef("FUNCTION: got %q, allowed are %s", c.Function, strings.Join(known, ", "))
}

// listen opens the stream of events.
func (c *logsCommand) listen(ctx context.Context) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/events", nil)
	if err != nil {
		return nil, fmt.Errorf("console address: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, c.Explain(err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("GET /events answered %s: is %s the console of a local run?", response.Status, c.URL)
	}
	return response.Body, nil
}

// logPrinter prints requests when they have ended, with their lines.
type logPrinter struct {
	out  io.Writer
	raw  bool
	text trace.Text
	// label chooses a function; empty: all.
	label string
	// pending are the lines of requests that have not ended.
	pending map[string][]trace.Line
	// seq is the newest event that was printed, and ended the requests that were.
	seq   int64
	ended map[string]bool
	err   error
}

func (p *logPrinter) print(text string) {
	if text != "" && p.err == nil {
		_, p.err = io.WriteString(p.out, text)
	}
}

// past prints what has happened: requests and lines in the order in which they came.
func (p *logPrinter) past(requests []trace.Summary, lines []trace.Line) {
	p.ended = map[string]bool{}
	listed := map[string]bool{}
	for _, r := range requests {
		listed[r.ID] = true
	}
	var strays []trace.Line
	for _, l := range lines {
		p.seq = max(p.seq, l.Seq)
		if listed[l.Request] && !p.raw {
			p.pending[l.Request] = append(p.pending[l.Request], l)
		} else {
			strays = append(strays, l)
		}
	}
	for _, r := range requests {
		for ; len(strays) > 0 && strays[0].Seq < r.Seq; strays = strays[1:] {
			p.line(strays[0])
		}
		if !p.raw && !r.Running {
			p.request(r, p.pending[r.ID])
			delete(p.pending, r.ID)
		}
	}
	for _, l := range strays {
		p.line(l)
	}
}

func (p *logPrinter) request(r trace.Summary, lines []trace.Line) {
	p.ended[r.ID] = true
	if p.label == "" || slices.Contains(r.Functions, p.label) {
		p.print(p.text.Request(r, lines))
	}
}

func (p *logPrinter) line(l trace.Line) {
	switch {
	case p.label != "" && l.Label != p.label:
	case p.raw:
		p.print(l.Text + "\n")
	default:
		p.print(p.text.Line(l))
	}
}

// follow prints events until the stream ends.
func (p *logPrinter) follow(events io.Reader) error {
	reader := bufio.NewReader(events)
	kind := ""
	for {
		text, err := reader.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("events: %w", err)
		}
		if name, ok := strings.CutPrefix(text, "event: "); ok {
			kind = strings.TrimSpace(name)
		}
		data, ok := strings.CutPrefix(text, "data: ")
		if !ok {
			continue
		}
		if err := p.event(kind, []byte(data)); err != nil {
			return err
		}
	}
}

func (p *logPrinter) event(kind string, data []byte) error {
	switch kind {
	case "request":
		var r trace.Summary
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("event: %w", err)
		}
		switch {
		case p.raw || p.ended[r.ID] || r.Running:
		default:
			lines := p.pending[r.ID]
			delete(p.pending, r.ID)
			p.request(r, lines)
		}
	case "line":
		var l trace.Line
		if err := json.Unmarshal(data, &l); err != nil {
			return fmt.Errorf("event: %w", err)
		}
		if l.Seq <= p.seq {
			return p.err
		}
		if l.Request != "" && !p.raw && !p.ended[l.Request] {
			p.pending[l.Request] = append(p.pending[l.Request], l)
		} else {
			p.line(l)
		}
	}
	return p.err
}

// levelOf reads a level that the flags allow.
func levelOf(name string) (level slog.Level) {
	if level.UnmarshalText([]byte(name)) != nil {
		return slog.LevelInfo
	}
	return level
}

// coloured reports whether a file is a terminal whose user has not asked for texts without colours (NO_COLOR).
func coloured(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" &&
		os.Getenv("TERM") != "dumb"
}
