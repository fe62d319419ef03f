// Package events is Amazon EventBridge on this machine: buses, with the events that functions put on them and those of
// buckets; rules, whose patterns choose among the events of a bus; and their targets, which are functions and queues.
//
// An event reaches each target at least once, and a bus keeps no order ("Event buses in Amazon EventBridge",
// EventBridge user guide).
package events

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/internal/recovery"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Functions takes events without waiting for what becomes of them (lambda.Service).
type Functions interface {
	InvokeAsync(ctx context.Context, name string, payload []byte) (requestID string, err error)
}

// Options of a Service. Queue is required.
type Options struct {
	// Queue is the queue of an ARN, or nil.
	Queue func(arn string) *sqs.Queue
	// Redeliver is asked after each delivery: true delivers the event once more. Default: never.
	Redeliver func() bool
	// Trace has the requests that publish events. Default: none.
	Trace *trace.Recorder
	// Log gets what is not delivered. Default: none.
	Log *slog.Logger
	// Sleep waits; nil waits on a timer. It returns early with an error when ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Service is Amazon EventBridge at the endpoint of functions. Make one with New.
type Service struct {
	aws.Operations
	options Options
	rules   atomic.Pointer[Rules]
	// functions are set before any event comes.
	functions Functions
	history   history

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	// closing is held to begin a delivery, and to end all.
	closing sync.RWMutex
}

// New makes the service, without buses.
func New(options Options) *Service {
	if options.Redeliver == nil {
		options.Redeliver = func() bool { return false }
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Sleep == nil {
		options.Sleep = recovery.Sleep
	}
	s := &Service{options: options}
	s.rules.Store(&Rules{})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.Operations = aws.Operations{"PutEvents": aws.Typed(needs, s.putEvents)}
	return s
}

// DeliverTo names the functions that targets invoke. Call it before any event comes.
func (s *Service) DeliverTo(functions Functions) { s.functions = functions }

// Prepare reads the buses and rules of an assembly. What it returns makes the service have these. Errors as of Read.
func (s *Service) Prepare(source *assembly.Assembly) (apply func(), err error) {
	rules, err := Read(source)
	return func() { s.rules.Store(rules) }, err
}

// Close ends deliveries that wait for another attempt, and returns when all have ended.
func (s *Service) Close() {
	s.closing.Lock()
	s.cancel()
	s.closing.Unlock()
	s.running.Wait()
}

// defaultBus is the bus that each account has in each region.
const defaultBus = "default"

// bus is an event bus.
type bus struct{ account, region, name string }

func (b bus) arn() string {
	return fmt.Sprintf("arn:aws:events:%s:%s:event-bus/%s", b.region, b.account, b.name)
}

// busOf is the bus of a name, in the account and region, or that of an ARN.
func busOf(account, region, id string) bus {
	if parts := strings.SplitN(id, ":", 6); len(parts) == 6 {
		return bus{account: parts[4], region: parts[3], name: strings.TrimPrefix(parts[5], "event-bus/")}
	}
	return bus{account, region, cmp.Or(id, defaultBus)}
}

// event is an event on a bus ("Events in Amazon EventBridge", metadata).
type event struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       time.Time       `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// encode is JSON as it came, without escapes for HTML.
func encode(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // texts, times and JSON that was read before always encode
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// entry is an event to put on a bus.
type entry struct {
	Source, DetailType, Detail, EventBusName string
	Resources                                []string
	Time                                     *float64
}

type putEventsInput struct {
	Entries []entry
}

// Limits of PutEvents ("PutEvents", EventBridge API reference; "Amazon EventBridge quotas": 1 MB since January 2026).
const (
	maxEntries = 10
	longest    = 1 << 20
	sizeOfTime = 14
	// endOfTime is the year 10000, in seconds since 1970: JSON has no later time.
	endOfTime = 253402300800
)

func needs(call *aws.Call, in putEventsInput) (needed []aws.Permission, err error) {
	for _, one := range in.Entries {
		permission := aws.Permission{Action: "events:PutEvents", Resource: busOf(call.Account,
			cmp.Or(call.Region, assembly.DefaultRegion), one.EventBusName).arn()}
		if !slices.ContainsFunc(needed, func(p aws.Permission) bool { return p.Resource == permission.Resource }) {
			needed = append(needed, permission)
		}
	}
	return needed, nil
}

// size is that of "Calculating Amazon EventBridge PutEvents event entry size".
func (e entry) size() int {
	size := len(e.Source) + len(e.DetailType) + len(e.Detail)
	if e.Time != nil {
		size += sizeOfTime
	}
	for _, resource := range e.Resources {
		size += len(resource)
	}
	return size
}

// outcome is what became of an entry ("PutEventsResultEntry").
type outcome struct {
	EventId      string `json:",omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

// check returns why EventBridge does not take the entry; nil: it does.
func (e entry) check() *outcome {
	for _, required := range [][2]string{{"Source", e.Source}, {"DetailType", e.DetailType}, {"Detail", e.Detail}} {
		if required[1] == "" {
			return &outcome{ErrorCode: "InvalidArgument", ErrorMessage: fmt.Sprintf(
				"Parameter %[1]s is not valid. Reason: %[1]s is a required argument.", required[0])}
		}
	}
	var detail map[string]json.RawMessage
	switch {
	case e.Time != nil && (*e.Time < 0 || *e.Time >= endOfTime):
		return &outcome{ErrorCode: "InvalidArgument", ErrorMessage: "Parameter Time is not valid."}
	case strings.HasPrefix(e.Source, "aws."):
		return &outcome{ErrorCode: "NotAuthorizedForSourceException", ErrorMessage: "Not authorized for the source."}
	case json.Unmarshal([]byte(e.Detail), &detail) != nil || detail == nil:
		return &outcome{ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed."}
	}
	return nil
}

func (s *Service) putEvents(call *aws.Call, in putEventsInput) (any, error) {
	size := 0
	for _, one := range in.Entries {
		size += one.size()
	}
	const constraint = "1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must " +
		"have length %s than or equal to %d"
	switch {
	case len(in.Entries) == 0:
		return nil, aws.Invalid(fmt.Sprintf(constraint, "greater", 1))
	case len(in.Entries) > maxEntries:
		return nil, aws.Invalid(fmt.Sprintf(constraint, "less", maxEntries))
	case size > longest:
		return nil, aws.Invalid("Total size of the entries in the request is over the limit.")
	}
	from := publisher{function: call.Function}
	from.request, from.label = s.options.Trace.RequestOf(call.Request.Header.Get("X-Amzn-Trace-Id"))
	outcomes, failed := make([]outcome, len(in.Entries)), 0
	for i, one := range in.Entries {
		if refused := one.check(); refused != nil {
			outcomes[i] = *refused
			failed++
			continue
		}
		to := busOf(call.Account, cmp.Or(call.Region, assembly.DefaultRegion), one.EventBusName)
		outcomes[i].EventId = s.take(to, call.Account, one, from)
	}
	return map[string]any{"FailedEntryCount": failed, "Entries": outcomes}, nil
}

// ErrNoBus says that the assembly has no such bus.
var ErrNoBus = errors.New("no such bus in the assembly")

// Put puts an event on the bus of a name or ARN, for no function and past all roles, and returns its id. Errors:
// ErrNoBus, or why EventBridge would not take the event.
func (s *Service) Put(name, source, detailType string, detail []byte) (id string, err error) {
	buses := s.rules.Load().buses
	at := slices.IndexFunc(buses, func(b bus) bool { return b.name == name || b.arn() == name })
	if at < 0 {
		return "", fmt.Errorf("%w: got %q", ErrNoBus, name)
	}
	one := entry{Source: source, DetailType: detailType, Detail: string(detail)}
	if refused := one.check(); refused != nil {
		return "", fmt.Errorf("%s: %s", refused.ErrorCode, refused.ErrorMessage)
	}
	return s.take(buses[at], buses[at].account, one, publisher{}), nil
}

// take makes an event of an entry that is right, publishes it, and returns its id.
func (s *Service) take(to bus, account string, one entry, by publisher) (id string) {
	at := time.Now()
	if one.Time != nil {
		at = time.UnixMilli(int64(*one.Time * 1000))
	}
	e := event{Version: "0", ID: uuid.NewString(), DetailType: one.DetailType, Source: one.Source, Account: account,
		Time: at.UTC().Truncate(time.Second), Region: to.region, Resources: one.Resources,
		Detail: json.RawMessage(one.Detail)}
	if e.Resources == nil {
		e.Resources = []string{}
	}
	s.publish(to, e, by, trace.Origin{Kind: trace.Bus, Path: to.name + " " + e.DetailType})
	return e.ID
}

// publisher is the request that has published an event, and its function; zero for an event of a bucket.
type publisher struct{ function, label, request string }

// publish delivers an event to the targets of all rules of the bus that let it through. The origin is that of the
// requests that it leads to.
func (s *Service) publish(to bus, e event, by publisher, origin trace.Origin) {
	text, rules := encode(e), s.rules.Load()
	s.spread(to, e, by, origin, rules.matching(to, text), rules.has(to))
	if !rules.has(to) {
		s.options.Log.Warn("an event is dropped, as on AWS: the assembly has no such bus", "bus", to.arn(),
			"detail-type", e.DetailType, "function", by.function)
	}
}

// spread delivers an event to targets. known says that its bus is there.
func (s *Service) spread(to bus, e event, by publisher, origin trace.Origin, matched []*target, known bool) {
	text := encode(e)
	origin.Event, origin.From = e.ID, by.request
	kept := s.history.add(to, e, by, matched, known)
	published := time.Now()
	s.closing.RLock()
	defer s.closing.RUnlock()
	for i, t := range matched {
		if s.ctx.Err() != nil {
			return
		}
		s.running.Go(func() {
			s.deliver(trace.About(s.ctx, origin), t, transformed{e, text, published}, kept.deliveries[i])
		})
	}
}
