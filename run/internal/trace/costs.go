package trace

import (
	"cmp"
	"math"
	"slices"
)

// Costs are what the requests that a run keeps used, and would cost on AWS.
type Costs struct {
	// Requests is how many of those that have ended the figures are of.
	Requests int `json:"requests"`
	// Causes are the routes, schedules, streams and so on that caused requests, the dearest first.
	Causes []CostRow `json:"causes"`
	// Functions are the functions that requests invoked, the dearest first, each with what it used itself.
	Functions []CostRow `json:"functions"`
}

// CostRow is what one cause or function used, and would cost on AWS.
type CostRow struct {
	// Kind is that of a cause's requests; empty for a function.
	Kind  Kind   `json:"kind,omitempty"`
	Stack string `json:"stack,omitempty"`
	API   string `json:"api,omitempty"`
	// Name is a route's key, the name of what else caused requests, or that of a function, which people call Label. It
	// is empty for requests that no route takes.
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
	// Requests is how many requests or, of a function, invocations the figures are of.
	Requests int `json:"requests"`
	// Mean and P95 have the units of one request, and the US$ of a million of them. Only one in twenty has figures
	// above P95's.
	Mean Use `json:"mean"`
	P95  Use `json:"p95"`
	// Sum has the units and the US$ of all of them.
	Sum Use `json:"sum"`
}

// Use is what was used of DynamoDB, and the cost of this and of all else.
type Use struct {
	ReadUnits  float64 `json:"read_units"`
	WriteUnits float64 `json:"write_units"`
	// Milliseconds is how long functions took.
	Milliseconds float64 `json:"took_ms"`
	Cost
}

// figures are pointers to all figures of a Use.
func (u *Use) figures() []*float64 {
	return []*float64{&u.ReadUnits, &u.WriteUnits, &u.Milliseconds, &u.DynamoDB, &u.Lambda, &u.Gateway, &u.Logs,
		&u.Total}
}

// use is what an invocation used. The cost is that of a million.
func (i *invocation) use() (used Use) {
	for _, call := range i.calls {
		used.ReadUnits += call.ReadUnits
		used.WriteUnits += call.WriteUnits
	}
	used.Milliseconds = milliseconds(i.took)
	used.DynamoDB = PriceOf(used.ReadUnits, used.WriteUnits, 0, 0).DynamoDB
	used.Lambda = PriceOf(0, 0, used.Milliseconds, cmp.Or(i.memory, DefaultMemory)).Lambda
	used.Total = used.DynamoDB + used.Lambda
	return used
}

// use is what a request used with all its invocations. The cost is that of a million.
func (q *request) use() (used Use) {
	for _, i := range q.invocations {
		own := i.use()
		for n, figure := range own.figures() {
			*used.figures()[n] += *figure
		}
	}
	if q.Kind == HTTP {
		price := PriceOf(0, used.WriteUnits, 0, 0)
		used.Gateway, used.Logs = price.Gateway, price.Logs
		used.Total += used.Gateway + used.Logs
	}
	return used
}

// Costs returns the figures of the requests that are kept, of one stack or, if it is empty, of all.
func (r *Recorder) Costs(stack string) Costs {
	causes, functions := &costTable{}, &costTable{}
	all := Costs{}
	if r != nil {
		r.mutex.Lock()
		for _, kept := range r.requests {
			if kept.running || stack != "" && kept.Stack != stack {
				continue
			}
			all.Requests++
			cause := CostRow{Kind: kept.Kind, Stack: kept.Stack, API: kept.API, Name: kept.cause()}
			causes.add(cause, kept.use())
			for _, i := range kept.invocations {
				functions.add(CostRow{Stack: kept.Stack, Name: i.function, Label: i.label}, i.use())
			}
		}
		r.mutex.Unlock()
	}
	all.Causes, all.Functions = causes.rows(), functions.rows()
	return all
}

// costTable collects what requests used, by the row that they belong to.
type costTable map[CostRow][]Use

func (t *costTable) add(row CostRow, used Use) {
	if *t == nil {
		*t = costTable{}
	}
	(*t)[row] = append((*t)[row], used)
}

func (t *costTable) rows() []CostRow {
	rows := make([]CostRow, 0, len(*t))
	for row, uses := range *t {
		row.Requests = len(uses)
		for n := range row.Sum.figures() {
			values := make([]float64, len(uses))
			sum := 0.0
			for i := range uses {
				values[i] = *uses[i].figures()[n]
				sum += values[i]
			}
			slices.Sort(values)
			*row.Mean.figures()[n] = sum / float64(len(uses))
			*row.P95.figures()[n] = values[int(math.Ceil(0.95*float64(len(uses))))-1]
			*row.Sum.figures()[n] = sum
		}
		// The costs were those of a million each.
		for _, figure := range []*float64{&row.Sum.DynamoDB, &row.Sum.Lambda, &row.Sum.Gateway, &row.Sum.Logs,
			&row.Sum.Total} {
			*figure /= 1e6
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b CostRow) int {
		return cmp.Or(-cmp.Compare(a.Mean.Total, b.Mean.Total), cmp.Compare(a.Stack, b.Stack),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.API, b.API))
	})
	return rows
}
