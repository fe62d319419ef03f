package console

// Requests of the run, and events as they happen.

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// defaultRequests is how many requests GET /requests lists if it names no limit.
const defaultRequests = 100

// Requests is the answer to GET /requests.
type Requests struct {
	// Requests are the newest first.
	Requests []trace.Summary `json:"requests"`
	// Next is the parameter before of the next page; 0 if this is the last one.
	Next int64 `json:"next,omitempty"`
}

func (c *Console) requests(r *http.Request) (Requests, error) {
	before, err := number(r, "before", 0, math.MaxInt)
	if err != nil {
		return Requests{}, err
	}
	limit, err := number(r, "limit", defaultRequests, trace.MaxResults)
	if err != nil {
		return Requests{}, err
	}
	query := r.URL.Query()
	only, err := choice(r, "only", trace.Outcomes)
	if err != nil {
		return Requests{}, err
	}
	found, more := c.parts.Trace.Requests(trace.Search{Limit: limit, Before: int64(before),
		Text: query.Get("search"), Stack: query.Get("stack"), Only: only})
	answer := Requests{Requests: found}
	if more {
		answer.Next = found[len(found)-1].Seq
	}
	return answer, nil
}

func (c *Console) request(r *http.Request) (trace.Details, error) {
	id := r.PathValue("id")
	details, ok := c.parts.Trace.Request(id)
	if !ok {
		return trace.Details{}, &Problem{http.StatusNotFound,
			fmt.Sprintf("no request %q: the run keeps the newest %d (GET /requests)", id, trace.MaxRequests)}
	}
	return details, nil
}

func (c *Console) costs(r *http.Request) (trace.Costs, error) {
	return c.parts.Trace.Costs(r.URL.Query().Get("stack")), nil
}

func (c *Console) lines(r *http.Request) ([]trace.Line, error) {
	filter, err := lineFilter(r)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", trace.MaxLines, trace.MaxLines)
	if err != nil {
		return nil, err
	}
	return c.parts.Trace.Newest(filter, limit), nil
}

func lineFilter(r *http.Request) (trace.LineFilter, error) {
	after, err := number(r, "after", 0, math.MaxInt)
	if err != nil {
		return trace.LineFilter{}, err
	}
	level, err := choice(r, "level", trace.Levels)
	query := r.URL.Query()
	return trace.LineFilter{Function: query.Get("function"), Request: query.Get("request"), After: int64(after),
		Level: level, Text: query.Get("search")}, err
}

// choice reads a parameter that is one of several values, or empty.
func choice[T ~string](r *http.Request, name string, values []T) (T, error) {
	given := T(r.URL.Query().Get(name))
	if given != "" && !slices.Contains(values, given) {
		return "", &Problem{http.StatusBadRequest, fmt.Sprintf("%s: got %q: write one of %q", name, given, values)}
	}
	return given, nil
}

// keepAlive is the time between comments in a stream of events without any, by which both sides learn that the other is
// there.
const keepAlive = 15 * time.Second

// events streams requests as they begin and end, lines, and changes of a watched run, as server-sent events. With the
// parameter type=line only lines come, with request and function as in GET /lines.
func (c *Console) events(w http.ResponseWriter, r *http.Request) {
	filter, err := lineFilter(r)
	if err != nil {
		c.answer(func(*http.Request) (any, error) { return nil, err })(w, r)
		return
	}
	only := r.URL.Query().Get("type")
	events, stop := c.parts.Trace.Listen()
	defer stop()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	controller := http.NewResponseController(w)
	if _, err := fmt.Fprint(w, ": connected\n\n"); err != nil || controller.Flush() != nil {
		return
	}
	if change := c.parts.Trace.Change(); change != nil && only == "" {
		writeEvent(w, "change", 0, change)
		_ = controller.Flush()
	}
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case event, ok := <-events:
			if !ok {
				// The client was too slow: it connects again, and reads the lists.
				return
			}
			line, isLine := event.Data.(trace.Line)
			wanted := (only == "" || only == event.Type) && (!isLine || filter.Takes(line))
			if wanted && !writeEvent(w, event.Type, event.ID(), event.Data) {
				return
			}
			// Events that come at the same time are sent together.
			if len(events) > 0 {
				continue
			}
		case <-ticker.C:
			if _, err := fmt.Fprint(w, ": here\n\n"); err != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
		if controller.Flush() != nil {
			return
		}
	}
}

func writeEvent(w http.ResponseWriter, kind string, id int64, data any) bool {
	text, err := json.Marshal(data)
	if err == nil {
		_, err = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", id, kind, text)
	}
	return err == nil
}
