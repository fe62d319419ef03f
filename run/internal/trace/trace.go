// Package trace keeps what the newest requests of a local run did: which functions each invoked, the calls of AWS that
// these made, with access pattern, key, capacity and time, and the lines that they logged. The run's services write
// into a [Recorder]; the log, the console and its commands read from it.
//
// Its memory is bounded: the oldest requests and lines give way to new ones.
package trace

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind says what caused a request.
type Kind string

// The kinds of requests.
const (
	HTTP       Kind = "http"
	Schedule   Kind = "schedule"
	Stream     Kind = "stream"
	Queue      Kind = "queue"
	Objects    Kind = "objects"
	Bus        Kind = "event"
	SignUp     Kind = "sign-up"
	Invocation Kind = "invocation"
)

// Origin says what a request is about.
type Origin struct {
	Kind Kind
	// Stack is the name of the stack of the API, or else of the first function; API is the API's, empty unless Kind is
	// HTTP.
	Stack, API string
	// Method and Path are the request's. Other kinds have the name of the schedule, table, queue, bucket, user pool or
	// function as Path, and an event of a bus the bus and the event's type.
	Method, Path string
	// Route is the route's key, such as "GET /links/{id}"; empty if none matched.
	Route string
	// Event is the id of the event of Amazon EventBridge that it is about, and From that of the request that published
	// the event; empty if there is none.
	Event, From string
}

// Bounds of a Recorder: what it keeps at most.
const (
	// MaxRequests is how many requests it keeps.
	MaxRequests = 10_000
	// MaxLines is how many lines it keeps.
	MaxLines = 20_000
	// maxBytes is roughly how many bytes requests, what was sent and answered, and lines may take, each.
	maxBytes = 48 << 20
	// maxInput is how much of the input of a call it keeps, maxText how much of a line.
	maxInput, maxText = 4 << 10, 32 << 10
	// maxCalls is how many calls of an invocation it keeps, maxInvocations how many invocations of a request.
	maxCalls, maxInvocations = 500, 100
	// maxErrors is how many different errors of its calls a request keeps.
	maxErrors = 20
)

// Recorder keeps the newest requests. Make one with New. A nil Recorder keeps nothing. It is safe for concurrent use.
type Recorder struct {
	options Options
	now     func() time.Time

	mutex    sync.Mutex
	seq      int64
	requests []*request // by seq
	size     int
	// exchanged is the size of what was sent and answered.
	exchanged int
	// byRequest and byInvocation find what is in requests, by the ids that gateway and functions gave.
	byRequest    map[string]*request
	byInvocation map[string]*invocation
	ways         map[Way]*Count
	lines        []Line
	lineSize     int
	change       *Change
	// writes and reads are the newest writes of items and records of streams, and known are the names of these records.
	writes                []*written
	reads                 []*read
	known                 map[string]*read
	writeBytes, readBytes int
	listeners             map[*listener]struct{}
}

// Options of a Recorder. The zero value works.
type Options struct {
	// Keys returns the names of the key attributes of a table. Default: keys of new items are not shown.
	Keys func(table string) []string
	// Streams reports whether a table has a stream that a function reads. Default: no one asks who wrote a record.
	Streams func(table string) bool
	// StackOf returns the name of the stack of a function. Default: only requests of an API have a stack.
	StackOf func(function string) string
	// Ended is called when a request has ended, with the lines that functions logged meanwhile. Default: none.
	Ended func(Summary, []Line)
	// Unattributed is called with each line that belongs to no request that is under way. Default: none.
	Unattributed func(Line)
}

// New returns a Recorder without requests.
func New(options Options) *Recorder {
	if options.Keys == nil {
		options.Keys = func(string) []string { return nil }
	}
	if options.Streams == nil {
		options.Streams = func(string) bool { return false }
	}
	if options.StackOf == nil {
		options.StackOf = func(string) string { return "" }
	}
	if options.Ended == nil {
		options.Ended = func(Summary, []Line) {}
	}
	if options.Unattributed == nil {
		options.Unattributed = func(Line) {}
	}
	return &Recorder{
		options: options, now: time.Now, byRequest: map[string]*request{}, byInvocation: map[string]*invocation{},
		ways: map[Way]*Count{}, listeners: map[*listener]struct{}{}, known: map[string]*read{},
	}
}

type request struct {
	Origin
	seq         int64
	id          string
	at          time.Time
	took        time.Duration
	status      int
	problem     string
	running     bool
	dropped     bool
	size        int
	invocations []*invocation
	exchange    *exchange
	// failure is what the answer says if its status is 400 or above. key is the idempotency key.
	failure Failure
	key     string
	// callErrors are the different errors of calls, at most maxErrors.
	callErrors []string
	// handles are what the request is an attempt to handle ([Handling]).
	handles []string
	// wrote says that one of its calls wrote to a table with a stream that is read.
	wrote bool
	// records are the names of the records of the batch that it is about.
	records []string
	// pending are the lines since it began, until it ends.
	pending []Line
}

type invocation struct {
	of              *request
	id              string
	function, label string
	memory          int
	began, started  time.Time
	took            time.Duration
	cold            bool
	problem         string
	done            bool
	calls           []*Call
	omitted         int
}

// Call is a request of a function to AWS.
type Call struct {
	// Service is such as dynamodb, and Operation such as Query.
	Service, Operation string
	// Pattern is the access pattern that the function names, if it does.
	Pattern string
	// Table, Index and Bucket are what the call is for; of a batch or transaction, the first table.
	Table, Index, Bucket string
	// Began is when it came, and Took how long its answer took.
	Began time.Time
	Took  time.Duration
	// ReadUnits and WriteUnits are those that it consumed.
	ReadUnits, WriteUnits float64
	// Status is the answer's HTTP status; 0 if there was none. Error is what it says if it is one.
	Status int
	Error  string
	// Write says that the operation writes.
	Write bool
	// Body is the input, in the service's JSON; or, for an object, its key. A Recorder keeps the first 4 KB.
	Body []byte
	// Targets are the ARNs of all tables, buckets, queues and so on that the call is for. A Recorder counts them.
	Targets []string
}

// Request is a request that is under way.
type Request struct {
	recorder *Recorder
	kept     *request
}

// Function is an invocation that is under way.
type Function struct {
	recorder *Recorder
	kept     *invocation
	// ends says that the request ends with the invocation.
	ends bool
}

type (
	requestKey struct{}
	originKey  struct{}
)

// About returns a context whose invocations are about the origin, unless they belong to a request that [Recorder.Begin]
// began.
func About(ctx context.Context, origin Origin) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// Begin begins a request with an id, and returns the context for its invocations.
func (r *Recorder) Begin(ctx context.Context, id string, origin Origin) (context.Context, *Request) {
	if r == nil {
		return ctx, nil
	}
	r.mutex.Lock()
	kept := r.beginLocked(id, origin)
	r.mutex.Unlock()
	return context.WithValue(ctx, requestKey{}, kept), &Request{r, kept}
}

func (r *Recorder) beginLocked(id string, origin Origin) *request {
	r.seq++
	kept := &request{Origin: origin, seq: r.seq, id: id, at: r.now(), running: true}
	r.requests = append(r.requests, kept)
	r.byRequest[id] = kept
	r.growLocked(kept, 300+len(id)+len(origin.Path)+len(origin.Route)+len(origin.Event)+len(origin.From))
	r.tellLocked(func() Event { return Event{Type: "request", Data: kept.summary(), id: r.seq} })
	return kept
}

// growLocked adds to the size of a request.
func (r *Recorder) growLocked(kept *request, bytes int) {
	if !kept.dropped {
		kept.size += bytes
		r.size += bytes
		r.evictLocked()
	}
}

// evictLocked drops the oldest requests until the others are within the bounds.
func (r *Recorder) evictLocked() {
	drop := 0
	for len(r.requests)-drop > MaxRequests || r.size > maxBytes && len(r.requests)-drop > 1 {
		oldest := r.requests[drop]
		oldest.dropped = true
		r.size -= oldest.size
		r.forgetLocked(oldest)
		if r.byRequest[oldest.id] == oldest {
			delete(r.byRequest, oldest.id)
		}
		for _, i := range oldest.invocations {
			delete(r.byInvocation, traceRoot(i.id))
		}
		r.requests[drop] = nil
		drop++
	}
	r.requests = r.requests[drop:]
}

// End ends a request with an HTTP status, or 0, and with the reason if it failed for one that the status does not tell.
func (q *Request) End(status int, problem string) {
	if q == nil {
		return
	}
	q.recorder.end(q.kept, status, problem)
}

func (r *Recorder) end(kept *request, status int, problem string) {
	r.mutex.Lock()
	kept.running, kept.status, kept.problem, kept.took = false, status, cut(problem, maxText), r.now().Sub(kept.at)
	if status >= http.StatusBadRequest && kept.exchange != nil {
		kept.failure = kept.exchange.answer.failure()
	}
	r.growLocked(kept, len(kept.problem)+len(kept.failure.Code)+len(kept.failure.Message))
	r.countRequestLocked(kept)
	summary, lines := kept.summary(), kept.pending
	kept.pending = nil
	r.seq++
	r.tellLocked(func() Event { return Event{Type: "request", Data: summary, id: r.seq} })
	r.mutex.Unlock()
	r.options.Ended(summary, lines)
}

// Invoke begins the invocation of a function with an id, which its own requests show. The label is what people call the
// function, and memory its size in MB. The invocation belongs to the context's request, or is one of its own about the
// context's origin.
func (r *Recorder) Invoke(ctx context.Context, id, function, label string, memory int) *Function {
	if r == nil {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	of, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		origin, named := ctx.Value(originKey{}).(Origin)
		if !named {
			origin = Origin{Kind: Invocation, Path: label}
		}
		origin.Stack = cmp.Or(origin.Stack, r.options.StackOf(function))
		of = r.beginLocked(id, origin)
		of.handles, _ = ctx.Value(handlesKey{}).([]string)
		of.records, _ = ctx.Value(recordsKey{}).([]string)
		r.growLocked(of, 40*(len(of.handles)+len(of.records)))
	}
	kept := &invocation{of: of, id: id, function: function, label: label, memory: memory, began: r.now()}
	if len(of.invocations) < maxInvocations {
		of.invocations = append(of.invocations, kept)
		if !of.dropped {
			r.byInvocation[traceRoot(id)] = kept
		}
		r.growLocked(of, 200+len(id)+len(function))
	}
	return &Function{recorder: r, kept: kept, ends: !ok}
}

// Begin says that an instance has the invocation, and whether it is the instance's first one.
func (f *Function) Begin(cold bool) {
	if f == nil {
		return
	}
	f.recorder.mutex.Lock()
	defer f.recorder.mutex.Unlock()
	f.kept.started, f.kept.cold = f.recorder.now(), cold
}

// End ends the invocation, with AWS's description of its failure if it failed.
func (f *Function) End(problem string) {
	if f == nil {
		return
	}
	f.recorder.mutex.Lock()
	if f.kept.done {
		f.recorder.mutex.Unlock()
		return
	}
	now := f.recorder.now()
	if f.kept.started.IsZero() {
		f.kept.started = now
	}
	f.kept.done, f.kept.problem, f.kept.took = true, cut(problem, maxText), now.Sub(f.kept.started)
	f.recorder.mutex.Unlock()
	if f.ends {
		f.recorder.end(f.kept.of, 0, f.kept.problem)
	}
}

// Call keeps a call of the invocation that an X-Amzn-Trace-Id names, if it is among the newest.
func (r *Recorder) Call(traceID string, call Call) {
	if r == nil {
		return
	}
	wrote := r.newWritten(call)
	call.Body = bytes.Clone(call.Body[:min(len(call.Body), maxInput)])
	call.Error = cut(call.Error, maxInput)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	kept := r.byInvocation[rootOf(traceID)]
	if kept == nil {
		return
	}
	if wrote != nil {
		r.keepWriteLocked(kept.of, wrote)
	}
	for _, target := range call.Targets {
		r.countLocked(Way{From: kept.function, To: target}, call.Error != "" || call.Status >= 400)
	}
	call.Targets = nil
	if known := kept.of.callErrors; call.Error != "" && len(known) < maxErrors && !slices.Contains(known, call.Error) {
		kept.of.callErrors = append(known, call.Error)
		r.growLocked(kept.of, len(call.Error))
	}
	if len(kept.calls) == maxCalls {
		kept.omitted++
		return
	}
	kept.calls = append(kept.calls, &call)
	r.growLocked(kept.of, 250+len(call.Body)+len(call.Error))
}

// RequestOf returns the id of the request, and the label of the function, of the invocation that an X-Amzn-Trace-Id
// names; empty if it is not among the newest.
func (r *Recorder) RequestOf(traceID string) (request, function string) {
	if r == nil {
		return "", ""
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if kept := r.byInvocation[rootOf(traceID)]; kept != nil {
		return kept.of.id, kept.label
	}
	return "", ""
}

// TraceID returns the X-Ray trace header of an invocation; its sampling decision is 0, as there is no X-Ray here.
func TraceID(at time.Time, invocation string) string {
	root := traceRoot(invocation)
	const digits = "0123456789abcdef"
	var seconds [8]byte
	for i, t := len(seconds)-1, uint32(at.Unix()); i >= 0; i, t = i-1, t>>4 {
		seconds[i] = digits[t&15]
	}
	return "Root=1-" + string(seconds[:]) + "-" + root + ";Parent=" + strings.ReplaceAll(invocation, "-", "")[16:] +
		";Sampled=0"
}

// traceRoot is the part of an invocation's id that its trace header has. An id has the form of a UUID.
func traceRoot(invocation string) string {
	id := strings.ReplaceAll(invocation, "-", "")
	return id[:min(len(id), 24)]
}

// rootOf reads a trace header.
func rootOf(traceID string) string {
	for part := range strings.SplitSeq(traceID, ";") {
		if root, ok := strings.CutPrefix(strings.TrimSpace(part), "Root=1-"); ok && len(root) > 9 {
			return root[9:]
		}
	}
	return ""
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
