package routes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Calls returns the table of [SectionCalls] of a platform, from a traced run: for each of its routes, the
// calls of DynamoDB that a request makes at least, by stage. missing are the routes of the schema that no
// request was made of.
func (m Measured) Calls(ctx context.Context, platform schema.Platform, run *Run, tracer *Tracer) (text string,
	missing []string, err error) {
	// The first requests of all, and those of a route, read what the next ones know.
	const first, compared = 2, 3
	serve, seen := Serving(platform), map[string]bool{}
	var b strings.Builder
	b.WriteString("| Request | Calls | Stages | First | Second | Further |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range m.Routes {
		if r.Waits {
			continue
		}
		traced, failed := tracer.Route(ctx, run, r, cmp.Or(r.Warm, first)+compared, serve)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		usual := usual(traced[first:])
		seen[r.Operation.Route] = true
		stages := make([]string, 3)
		for s, calls := range byStage(usual.Calls, platform.Database) {
			at := min(s, 2)
			stages[at] = strings.TrimPrefix(stages[at]+"; then "+strings.Join(calls, ", "), "; then ")
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", r, len(usual.Calls), usual.Stages(), strings.Join(stages, " | "))
	}
	for _, r := range platform.Operations() {
		if !seen[r.Key()] {
			missing = append(missing, r.Key())
		}
	}
	return b.String(), missing, err
}

// Serving returns the names of the functions that serve a platform's routes, as [Tracer.Route] takes them.
func Serving(platform schema.Platform) []string {
	var names []string
	for _, r := range platform.Routes {
		names = append(names, r.Function)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// usual is the request of the fewest calls, and of these the one of the fewest stages: others read what the next ones
// know, count a step of calls, or repeat a call, and a busy machine delays calls that run in parallel.
func usual(traced []Traced) Traced {
	return slices.MinFunc(traced, func(a, b Traced) int {
		return cmp.Or(len(a.Calls)-len(b.Calls), a.Stages()-b.Stages())
	})
}

// byStage describes the calls of each stage, sorted.
func byStage(calls []Call, database schema.Database) [][]string {
	var stages [][]string
	for _, c := range calls {
		if c.Stage > len(stages) {
			stages = append(stages, nil)
		}
		stages[c.Stage-1] = append(stages[c.Stage-1], c.describe(database))
	}
	for i := range stages {
		slices.Sort(stages[i])
		stages[i] = counted(stages[i])
	}
	return stages
}

// counted replaces repetitions by their number, as in "2 Update Guards".
func counted(texts []string) []string {
	times := map[string]int{}
	for _, text := range texts {
		times[text]++
	}
	var once []string
	for _, text := range texts {
		n := times[text]
		if times[text] = 0; n > 1 {
			text = fmt.Sprint(n, " ", text)
		}
		if n > 0 {
			once = append(once, text)
		}
	}
	return once
}

// describe is such as "Query Questions/ByStatus", or "TransactWriteItems (Put Questions, 2 Update Guards)".
func (c Call) describe(database schema.Database) string {
	var input struct {
		TableName, IndexName string
		RequestItems         map[string]json.RawMessage
		TransactItems        []map[string]struct{ TableName string }
	}
	if err := json.Unmarshal(c.Body, &input); err != nil {
		return c.Operation
	}
	logical := func(physical string) (name string) {
		for _, t := range database.Tables {
			if strings.Contains(physical, t.Name) && len(t.Name) > len(name) {
				name = t.Name
			}
		}
		return name
	}
	switch {
	case len(input.RequestItems) > 0:
		var tables []string
		for physical := range input.RequestItems {
			tables = append(tables, logical(physical))
		}
		slices.Sort(tables)
		return c.Operation + " " + strings.Join(tables, ", ")
	case len(input.TransactItems) > 0:
		var writes []string
		for _, item := range input.TransactItems {
			for operation, of := range item {
				writes = append(writes, operation+" "+logical(of.TableName))
			}
		}
		return c.Operation + " (" + strings.Join(counted(writes), ", ") + ")"
	case input.IndexName != "":
		return c.Operation + " " + logical(input.TableName) + "/" + input.IndexName
	}
	return c.Operation + " " + logical(input.TableName)
}
