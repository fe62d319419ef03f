package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Summary is a request in a list. Times are in milliseconds.
type Summary struct {
	// Seq orders requests by their beginning.
	Seq  int64     `json:"seq"`
	ID   string    `json:"id"`
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	// Stack and API are the names of the stack, that of the API or else of the first function, and of the API.
	Stack  string `json:"stack,omitempty"`
	API    string `json:"api,omitempty"`
	Method string `json:"method,omitempty"`
	// Path is that of an HTTP request; other kinds have the name of the schedule, table, bucket, user pool or function,
	// and an event of a bus the bus and the event's type.
	Path  string `json:"path"`
	Route string `json:"route,omitempty"`
	// Event is the id of the event of Amazon EventBridge that it is about, and From that of the request that published
	// the event.
	Event string `json:"event,omitempty"`
	From  string `json:"from,omitempty"`
	// Status is that of the answer; 0 while there is none, and for other kinds.
	Status       int     `json:"status,omitempty"`
	Milliseconds float64 `json:"took_ms"`
	// Functions are the labels of those that were invoked.
	Functions []string `json:"functions"`
	// Reads and Writes count calls of DynamoDB; ReadUnits and WriteUnits are what these consumed.
	Reads      int     `json:"reads"`
	Writes     int     `json:"writes"`
	ReadUnits  float64 `json:"read_units"`
	WriteUnits float64 `json:"write_units"`
	ColdStart  bool    `json:"cold_start"`
	// Error says why the request failed, if the status does not.
	Error   string `json:"error,omitempty"`
	Running bool   `json:"running"`
	// Failure is what the answer says, if its status is 400 or above.
	Failure Failure `json:"failure,omitzero"`
	// IdempotencyKey is the one that the client sent.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// CallErrors are the different errors of calls, at most 20.
	CallErrors []string `json:"call_errors,omitempty"`
}

// Details are a request with all that it did.
type Details struct {
	Summary
	// Led are the requests about events that this one published, and the batches of streams with records that it wrote,
	// the oldest first.
	Led []Summary `json:"led,omitempty"`
	// Records are those of the batch of a stream that the request is about, as far as the run still has them.
	Records []RecordDetails `json:"records,omitempty"`
	// RecordsOmitted is how many further records the batch has.
	RecordsOmitted int                 `json:"records_omitted,omitempty"`
	Invocations    []InvocationDetails `json:"invocations"`
	// CostPerMillion is what a million such requests would cost on AWS.
	CostPerMillion Cost `json:"cost_per_million"`
	// Sent and Answer are what the client of an HTTP request sent and got, once it has ended, if the run still has
	// them.
	Sent   Message `json:"sent,omitzero"`
	Answer Message `json:"answer,omitzero"`
}

// Cost is in US$, at list prices of us-east-1.
type Cost struct {
	DynamoDB float64 `json:"dynamodb"`
	Lambda   float64 `json:"lambda"`
	Gateway  float64 `json:"api_gateway"`
	Logs     float64 `json:"logs"`
	Total    float64 `json:"total"`
}

// InvocationDetails are an invocation of a function.
type InvocationDetails struct {
	ID       string `json:"id"`
	Function string `json:"function"`
	Label    string `json:"label"`
	// Began is how long after the request's beginning it began, Waited how long it waited for an instance, and Took how
	// long the instance worked on it, all in milliseconds.
	Began     float64       `json:"began_ms"`
	Waited    float64       `json:"waited_ms"`
	Took      float64       `json:"took_ms"`
	ColdStart bool          `json:"cold_start"`
	Running   bool          `json:"running"`
	Error     string        `json:"error,omitempty"`
	Calls     []CallDetails `json:"calls"`
	// Omitted is how many more calls there were.
	Omitted int    `json:"calls_omitted,omitempty"`
	Lines   []Line `json:"lines"`
}

// CallDetails are a call of AWS.
type CallDetails struct {
	Service   string `json:"service"`
	Operation string `json:"operation"`
	// Patterns are the access patterns that the function names.
	Patterns []string `json:"patterns"`
	Table    string   `json:"table,omitempty"`
	Index    string   `json:"index,omitempty"`
	Bucket   string   `json:"bucket,omitempty"`
	// Key is the key or the key condition with its values, as people write them.
	Key        string  `json:"key,omitempty"`
	Began      float64 `json:"began_ms"`
	Took       float64 `json:"took_ms"`
	ReadUnits  float64 `json:"read_units"`
	WriteUnits float64 `json:"write_units"`
	Status     int     `json:"status,omitempty"`
	Error      string  `json:"error,omitempty"`
	// CostPerMillion is the price of the units of a million such calls, in US$.
	CostPerMillion float64 `json:"cost_per_million"`
	// Input is the beginning of the call's input.
	Input string `json:"input,omitempty"`
}

// Search chooses requests.
type Search struct {
	// Limit is the most that are returned. Default and most: MaxResults.
	Limit int
	// Before leaves out this request and those after it. 0: none.
	Before int64
	// Text is what the method and path, the route, the stack, the id, that of its event or of the request that
	// published it, a function's label, the error, the code or message of the answer, the idempotency key or the error
	// of a call contains, in any case. A number of three digits is the status instead. With the prefix "header:" it is
	// what a header of the request or the answer contains, as "Name: value", without the secrets in it; with "body:" it
	// is what one of their bodies contains, of which the first 32 KB are kept.
	Text string
	// Only leaves out all others. Stack leaves out those of other stacks. Empty: none.
	Only  Outcome
	Stack string
}

// Outcome is what became of requests.
type Outcome string

// The outcomes of requests.
const (
	// Failed are those with an error of either kind, without an answer, or whose function failed.
	Failed       Outcome = "failed"
	ClientErrors Outcome = "4xx"
	ServerErrors Outcome = "5xx"
	// SlowOnes took at least Slow.
	SlowOnes Outcome = "slow"
)

// Outcomes are all outcomes.
var Outcomes = []Outcome{Failed, ClientErrors, ServerErrors, SlowOnes}

// Slow is how long a slow request takes at least.
const Slow = time.Second

// statusText matches the texts of a search that are a status.
var statusText = regexp.MustCompile(`^[1-5]\d\d$`)

func (o Outcome) has(q *request) bool {
	switch o {
	case Failed:
		return !q.running && (q.status >= 400 || q.status == 0 && (q.Kind == HTTP || q.problem != ""))
	case ClientErrors, ServerErrors:
		return fmt.Sprint(q.status/100)+"xx" == string(o)
	case SlowOnes:
		return q.took >= Slow
	}
	return true
}

// MaxResults is how many requests a search returns at most.
const MaxResults = 500

// Requests returns those that the search finds, the newest first, and whether there are older ones.
func (r *Recorder) Requests(search Search) (found []Summary, more bool) {
	found = []Summary{}
	if r == nil {
		return found, false
	}
	limit := search.Limit
	if limit <= 0 || limit > MaxResults {
		limit = MaxResults
	}
	text := strings.ToLower(search.Text)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, kept := range slices.Backward(r.requests) {
		if search.Before > 0 && kept.seq >= search.Before {
			continue
		}
		if search.Stack != "" && kept.Stack != search.Stack || !search.Only.has(kept) || !kept.matches(text) {
			continue
		}
		if len(found) == limit {
			return found, true
		}
		found = append(found, kept.summary())
	}
	return found, false
}

func (q *request) matches(text string) bool {
	if statusText.MatchString(text) {
		return fmt.Sprint(q.status) == text
	}
	in := func(value string) bool { return strings.Contains(strings.ToLower(value), text) }
	if part, found := strings.CutPrefix(text, "header:"); found {
		text = strings.TrimSpace(part)
		return q.exchange.has(func(m Message) bool {
			for name, values := range m.Headers {
				if slices.ContainsFunc(values, func(value string) bool { return in(name + ": " + value) }) {
					return true
				}
			}
			return false
		})
	}
	if part, found := strings.CutPrefix(text, "body:"); found {
		text = strings.TrimSpace(part)
		return q.exchange.has(func(m Message) bool { return in(m.Body) })
	}
	return in(q.Method+" "+q.Path) || in(q.Route) || in(q.Stack) || in(q.API) || in(string(q.Kind)) || in(q.id) ||
		in(q.problem) || in(q.Event) || in(q.From) || in(q.failure.Code) || in(q.failure.Message) || in(q.key) ||
		slices.ContainsFunc(q.callErrors, in) ||
		slices.ContainsFunc(q.invocations, func(i *invocation) bool { return in(i.label) || in(i.id) })
}

func (q *request) summary() Summary {
	s := Summary{
		Seq: q.seq, ID: q.id, At: q.at, Kind: q.Kind, Stack: q.Stack, API: q.API, Method: q.Method, Path: q.Path,
		Route: q.Route, Event: q.Event, From: q.From, Status: q.status,
		Milliseconds: milliseconds(q.took), Functions: []string{}, Error: q.problem, Running: q.running,
		Failure: q.failure, IdempotencyKey: q.key, CallErrors: slices.Clone(q.callErrors),
	}
	for _, i := range q.invocations {
		if !slices.Contains(s.Functions, i.label) {
			s.Functions = append(s.Functions, i.label)
		}
		s.ColdStart = s.ColdStart || i.cold
		for _, c := range i.calls {
			if c.Service != "dynamodb" {
				continue
			}
			if c.Write {
				s.Writes++
			} else {
				s.Reads++
			}
			s.ReadUnits += c.ReadUnits
			s.WriteUnits += c.WriteUnits
		}
	}
	return s
}

// Request returns a request by its id, or by that of one of its invocations, if it is among the newest.
func (r *Recorder) Request(id string) (Details, bool) {
	if r == nil {
		return Details{}, false
	}
	r.mutex.Lock()
	kept := r.byRequest[id]
	if i := r.byInvocation[traceRoot(id)]; kept == nil && i != nil {
		kept = i.of
	}
	if kept == nil {
		r.mutex.Unlock()
		return Details{}, false
	}
	details := Details{Summary: kept.summary(), Invocations: []InvocationDetails{}}
	var writers map[string]*request
	if kept.wrote || len(kept.records) > 0 {
		r.mutex.Unlock()
		writers = r.writers()
		r.mutex.Lock()
	}
	r.addRecordsLocked(&details, kept, writers)
	// What a call was does not change: reading its input needs no lock.
	calls := make([][]*Call, len(kept.invocations))
	lines := map[string][]Line{}
	for _, line := range r.lines {
		if line.Request == kept.id {
			lines[line.Function] = append(lines[line.Function], line)
		}
	}
	for n, i := range kept.invocations {
		calls[n] = slices.Clone(i.calls)
		shown := InvocationDetails{
			ID: i.id, Function: i.function, Label: i.label, Began: milliseconds(i.began.Sub(kept.at)),
			Took: milliseconds(i.took), ColdStart: i.cold,
			Running: !i.done, Error: i.problem, Calls: []CallDetails{}, Omitted: i.omitted, Lines: []Line{},
		}
		if !i.started.IsZero() {
			shown.Waited = milliseconds(i.started.Sub(i.began))
		}
		// A request invokes a function once, but for tries of the platform's own.
		shown.Lines = append(shown.Lines, lines[i.function]...)
		delete(lines, i.function)
		details.Invocations = append(details.Invocations, shown)
	}
	details.CostPerMillion = kept.use().Cost
	at, exchanged := kept.at, kept.exchange
	r.mutex.Unlock()
	if exchanged != nil {
		details.Sent, details.Answer = exchanged.sent.shown(), exchanged.answer.shown()
	}
	for n := range details.Invocations {
		for _, c := range calls[n] {
			details.Invocations[n].Calls = append(details.Invocations[n].Calls, c.details(at, r.options.Keys))
		}
	}
	return details, true
}

func (c *Call) details(at time.Time, keys func(table string) []string) CallDetails {
	shown := CallDetails{
		Service: c.Service, Operation: c.Operation, Patterns: []string{}, Table: c.Table, Index: c.Index,
		Bucket: c.Bucket, Key: c.key(keys),
		Began: milliseconds(c.Began.Sub(at)), Took: milliseconds(c.Took), ReadUnits: c.ReadUnits,
		WriteUnits: c.WriteUnits, Status: c.Status, Error: c.Error,
		CostPerMillion: PriceOf(c.ReadUnits, c.WriteUnits, 0, 0).DynamoDB, Input: string(c.Body),
	}
	if c.Pattern != "" {
		shown.Patterns = append(shown.Patterns, c.Pattern)
	}
	if c.Service == "secretsmanager" {
		shown.Input = ""
	}
	return shown
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// placeholder matches the names that expressions have for attributes and values.
var placeholder = regexp.MustCompile(`[#:][A-Za-z0-9_]+`)

// key describes what a call of DynamoDB asks for, if its input was kept whole. keys are the key attributes of a table.
func (c *Call) key(keys func(table string) []string) string {
	if c.Bucket != "" {
		return string(c.Body)
	}
	type part struct {
		TableName string
		Key, Item map[string]json.RawMessage
	}
	var input struct {
		part
		KeyConditionExpression    string
		ExpressionAttributeNames  map[string]string
		ExpressionAttributeValues map[string]json.RawMessage
		RequestItems              map[string]struct{ Keys []map[string]json.RawMessage }
		TransactItems             []map[string]part
	}
	if c.Service != "dynamodb" || json.Unmarshal(c.Body, &input) != nil {
		return ""
	}
	text := func(p part) string {
		if len(p.Item) == 0 {
			return keyText(p.Key)
		}
		var parts []string
		for _, name := range keys(p.TableName) {
			if value, ok := p.Item[name]; ok {
				parts = append(parts, name+" = "+plain(value))
			}
		}
		return strings.Join(parts, ", ")
	}
	switch {
	case input.KeyConditionExpression != "":
		return placeholder.ReplaceAllStringFunc(input.KeyConditionExpression, func(name string) string {
			if attribute, ok := input.ExpressionAttributeNames[name]; ok {
				return attribute
			}
			if value, ok := input.ExpressionAttributeValues[name]; ok {
				return plain(value)
			}
			return name
		})
	case len(input.Key) > 0 || len(input.Item) > 0:
		return text(input.part)
	case len(input.TransactItems) > 0:
		var parts []string
		for _, item := range input.TransactItems {
			for operation, of := range item {
				parts = append(parts, strings.TrimSpace(operation+" "+of.TableName+" "+text(of)))
			}
		}
		return strings.Join(parts, "; ")
	case len(input.RequestItems) > 0:
		var parts []string
		for _, table := range slices.Sorted(maps.Keys(input.RequestItems)) {
			for _, key := range input.RequestItems[table].Keys {
				parts = append(parts, keyText(key))
			}
		}
		return strings.Join(parts, "; ")
	}
	return ""
}

func keyText(key map[string]json.RawMessage) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(key)) {
		parts = append(parts, name+" = "+plain(key[name]))
	}
	return strings.Join(parts, ", ")
}

// plain is a value of DynamoDB's JSON without its type.
func plain(value json.RawMessage) string {
	var typed map[string]json.RawMessage
	if json.Unmarshal(value, &typed) == nil && len(typed) == 1 {
		for kind, inner := range typed {
			var number string
			if kind == "N" && json.Unmarshal(inner, &number) == nil {
				return number
			}
			return string(inner)
		}
	}
	return string(value)
}
