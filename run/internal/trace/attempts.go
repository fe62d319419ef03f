package trace

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Attempt is a request that has ended, as one of the attempts to handle a message, a batch or an event.
type Attempt struct {
	// Request is the id of the request; empty if the run has none, or has it no more.
	Request string `json:"request,omitempty"`
	// Function is the label of the function that was invoked.
	Function string    `json:"function,omitempty"`
	At       time.Time `json:"at,omitzero"`
	// Error says why it failed; empty if it did not, or did not say.
	Error string `json:"error,omitempty"`
}

type handlesKey struct{}

// Handling returns a context whose invocations handle what the ids name: messages, the first record of a batch, or an
// event. [Recorder.Attempts] finds them. It has no effect on invocations of a request that [Recorder.Begin] began.
func Handling(ctx context.Context, ids ...string) context.Context {
	return context.WithValue(ctx, handlesKey{}, ids)
}

type recordsKey struct{}

// Delivering returns a context whose invocations get the records of the table's stream with these sequence numbers.
func Delivering(ctx context.Context, table string, sequences []string) context.Context {
	names := make([]string, len(sequences))
	for i, sequence := range sequences {
		names[i] = recordName(table, sequence)
	}
	return context.WithValue(ctx, recordsKey{}, names)
}

// Attempts returns the newest attempt to handle each of the ids. An id may be that of an invocation, too.
func (r *Recorder) Attempts(ids []string) map[string]Attempt {
	found := map[string]Attempt{}
	if r == nil || len(ids) == 0 {
		return found
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, kept := range slices.Backward(r.requests) {
		if kept.running || len(kept.handles) == 0 {
			continue
		}
		for _, id := range kept.handles {
			if _, known := found[id]; !known && slices.Contains(ids, id) {
				found[id] = r.attemptLocked(kept)
			}
		}
	}
	for _, id := range ids {
		if _, known := found[id]; known {
			continue
		}
		if i := r.byInvocation[traceRoot(id)]; i != nil && i.id == id && i.done {
			found[id] = r.attemptLocked(i.of)
		}
	}
	return found
}

// NewestOf returns the newest attempt of the kind for each path, such as that of each schedule.
func (r *Recorder) NewestOf(kind Kind) map[string]Attempt {
	found := map[string]Attempt{}
	if r == nil {
		return found
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, kept := range slices.Backward(r.requests) {
		if _, known := found[kept.Path]; !known && kept.Kind == kind && !kept.running {
			found[kept.Path] = r.attemptLocked(kept)
		}
	}
	return found
}

// attemptLocked reads a request. The error of a function that only reports what it did not handle is in its log.
func (r *Recorder) attemptLocked(kept *request) Attempt {
	attempt := Attempt{Request: kept.id, At: kept.at, Error: kept.problem}
	for _, i := range kept.invocations {
		attempt.Function = i.label
	}
	if attempt.Error != "" || len(kept.handles) == 0 {
		return attempt
	}
	for _, line := range slices.Backward(r.lines) {
		if line.Request == kept.id && (line.Level == "error" || line.Level == "warn") {
			record := Parse(line.Text)
			said := []string{record.Message}
			for _, attribute := range record.Attributes {
				if attribute.Name == "error" {
					said = append(said, attribute.Value)
				}
			}
			attempt.Error = strings.Join(said, ": ")
			break
		}
		if line.At.Before(kept.at) {
			break
		}
	}
	return attempt
}
