package events

// What happened on the buses, for the console.

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of the history: the newest events, and how much of a detail is kept of each.
const (
	// MaxEvents is how many events are kept.
	MaxEvents     = 1000
	longestDetail = 8 << 10
)

// Bus is a bus, with its rules and how many events it has got.
type Bus struct {
	Name    string `json:"name"`
	ARN     string `json:"arn"`
	Account string `json:"account"`
	Region  string `json:"region"`
	Events  int    `json:"events"`
	Rules   []Rule `json:"rules"`
}

// Rule is a rule that fires here.
type Rule struct {
	Name string `json:"name"`
	ARN  string `json:"arn"`
	// Pattern is that of the events that fire it, and Expression that of the times.
	Pattern    json.RawMessage `json:"pattern,omitempty"`
	Expression string          `json:"expression,omitempty"`
	Targets    []Target        `json:"targets"`
}

// Target is a function or a queue.
type Target struct {
	Name string `json:"name"`
	// Kind is function or queue.
	Kind string `json:"kind"`
	ARN  string `json:"arn"`
	// DeadLetter is the ARN of the queue of events that were not delivered.
	DeadLetter string `json:"dead_letter,omitempty"`
}

// Event is an event that came to a bus.
type Event struct {
	ID string `json:"id"`
	// Bus is the bus's name, and BusARN tells buses of one name apart.
	Bus    string    `json:"bus"`
	BusARN string    `json:"bus_arn"`
	At     time.Time `json:"at"`
	// Source and DetailType are the event's, and Detail its detail: JSON, or the beginning of it if Cut.
	Source     string `json:"source"`
	DetailType string `json:"detail_type"`
	Detail     string `json:"detail"`
	Cut        bool   `json:"cut,omitempty"`
	// Function has published it, in the request From; both are empty for an event of a bucket.
	Function string `json:"function,omitempty"`
	From     string `json:"from,omitempty"`
	// Dropped says that there is no such bus.
	Dropped    bool       `json:"dropped,omitempty"`
	Deliveries []Delivery `json:"deliveries"`
}

// The states of a delivery.
const (
	Waiting   = "waiting"
	Delivered = "delivered"
	Failed    = "failed"
)

// Delivery is that of an event to a target of a rule.
type Delivery struct {
	Rule   string `json:"rule"`
	Target string `json:"target"`
	// Kind is function or queue. A function that has taken an event may still fail on it.
	Kind string `json:"kind"`
	// State is waiting, delivered or failed.
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	// Times is how often the target has taken it.
	Times int    `json:"times"`
	Error string `json:"error,omitempty"`
	// DeadLetter is the ARN of the queue that has the event instead.
	DeadLetter string `json:"dead_letter,omitempty"`
}

type history struct {
	mutex  sync.Mutex
	events []*keptEvent
	counts map[bus]int
}

type keptEvent struct {
	Event
	deliveries []*Delivery
}

func (h *history) add(to bus, e event, by publisher, targets []*target, known bool) *keptEvent {
	kept := &keptEvent{Event: Event{
		ID: e.ID, Bus: to.name, BusARN: to.arn(), At: time.Now(), Source: e.Source, DetailType: e.DetailType,
		Detail: string(e.Detail), Function: by.function, From: by.request, Dropped: !known,
	}}
	if by.label != "" {
		kept.Function = by.label
	}
	if len(kept.Detail) > longestDetail {
		kept.Detail, kept.Cut = strings.ToValidUTF8(kept.Detail[:longestDetail], ""), true
	}
	for _, t := range targets {
		kept.deliveries = append(kept.deliveries, &Delivery{Rule: t.rule.name, Target: t.name, Kind: t.kind(),
			State: Waiting})
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.counts == nil {
		h.counts = map[bus]int{}
	}
	h.counts[to]++
	if h.events = append(h.events, kept); len(h.events) > MaxEvents {
		h.events = slices.Delete(h.events, 0, 1)
	}
	return kept
}

// note notes an attempt at a delivery.
func (h *history) note(kept *Delivery, err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	kept.Attempts++
	if err != nil {
		kept.Error = err.Error()
		return
	}
	kept.State, kept.Error = Delivered, ""
	kept.Times++
}

func (h *history) giveUp(kept *Delivery, cause error, deadLetter string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	kept.State, kept.Error, kept.DeadLetter = Failed, cause.Error(), deadLetter
}

func (t *target) kind() string {
	if t.function != "" {
		return "function"
	}
	return "queue"
}

// Buses returns the buses of the assembly, each with its rules.
func (s *Service) Buses() []Bus {
	rules := s.rules.Load()
	all := rules.Buses()
	s.history.mutex.Lock()
	defer s.history.mutex.Unlock()
	for i, b := range rules.buses {
		all[i].Events = s.history.counts[b]
	}
	return all
}

// Buses returns the buses, each with its rules, without what happened on them.
func (r *Rules) Buses() []Bus {
	all := []Bus{}
	for _, b := range r.buses {
		one := Bus{Name: b.name, ARN: b.arn(), Account: b.account, Region: b.region, Rules: []Rule{}}
		for _, of := range r.rules {
			if of.bus != b {
				continue
			}
			shown := Rule{Name: of.name, ARN: of.arn, Pattern: of.pattern, Expression: of.expression}
			for _, t := range of.targets {
				shown.Targets = append(shown.Targets, Target{Name: t.name, Kind: t.kind(), ARN: t.arn,
					DeadLetter: t.deadLetter})
			}
			one.Rules = append(one.Rules, shown)
		}
		all = append(all, one)
	}
	return all
}

// Events returns the newest events of all buses, the newest first, at most as many as the limit. The text is one that
// the id, bus, source, type, detail, function or request contains, in any case.
func (s *Service) Events(limit int, text string) []Event {
	text = strings.ToLower(text)
	s.history.mutex.Lock()
	defer s.history.mutex.Unlock()
	found := []Event{}
	for _, kept := range slices.Backward(s.history.events) {
		if len(found) == limit {
			break
		}
		if !slices.ContainsFunc([]string{kept.ID, kept.Bus, kept.Source, kept.DetailType, kept.Detail, kept.Function,
			kept.From}, func(of string) bool { return strings.Contains(strings.ToLower(of), text) }) {
			continue
		}
		one := kept.Event
		one.Deliveries = make([]Delivery, len(kept.deliveries))
		for i, delivery := range kept.deliveries {
			one.Deliveries[i] = *delivery
		}
		found = append(found, one)
	}
	return found
}
