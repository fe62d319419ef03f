package trace

import (
	"time"
)

// Change is what a watched run does with files that have changed.
type Change struct {
	At time.Time `json:"at"`
	// What is build, for functions whose source has changed, or apply, for another assembly.
	What string `json:"what"`
	// State is began, done or failed.
	State string `json:"state"`
	// Functions are the labels of those that were built.
	Functions []string `json:"functions,omitempty"`
	// Text says what has changed, or why it failed, in the words of the compiler or the app.
	Text string `json:"text,omitempty"`
	// Milliseconds is how long it took; 0 while it lasts.
	Milliseconds float64 `json:"took_ms"`
}

// Event is what has just happened: Data is a Summary of a request that begins or ends (Type "request"), a Line ("line")
// or a Change ("change").
type Event struct {
	Type string
	Data any
	id   int64
}

// ID numbers events. Those of a listener ascend.
func (e Event) ID() int64 { return e.id }

// listener gets events. Its channel closes when it does not keep up.
type listener struct {
	events chan Event
	closed bool
}

// pending is how many events a listener may be behind.
const pending = 1024

// Listen returns the events from now on, until stop is called. A listener that falls 1,024 events behind gets no more:
// its channel closes.
func (r *Recorder) Listen() (events <-chan Event, stop func()) {
	l := &listener{events: make(chan Event, pending)}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.listeners[l] = struct{}{}
	return l.events, func() {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.dismissLocked(l)
	}
}

func (r *Recorder) dismissLocked(l *listener) {
	if !l.closed {
		l.closed = true
		delete(r.listeners, l)
		close(l.events)
	}
}

// tellLocked makes the event if anyone listens.
func (r *Recorder) tellLocked(make func() Event) {
	if len(r.listeners) == 0 {
		return
	}
	event := make()
	for l := range r.listeners {
		select {
		case l.events <- event:
		default:
			r.dismissLocked(l)
		}
	}
}

// Changed keeps the newest change and tells listeners.
func (r *Recorder) Changed(change Change) {
	if r == nil {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	change.At = r.now()
	r.change = &change
	r.seq++
	r.tellLocked(func() Event { return Event{Type: "change", Data: change, id: r.seq} })
}

// Change returns the newest change, or nil.
func (r *Recorder) Change() *Change {
	if r == nil {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.change
}
