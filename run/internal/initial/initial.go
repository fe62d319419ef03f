// Package initial loads the initial data of platforms: it finds the functions that have the data by the outputs of
// stacks, and invokes each until all items are there. These functions answer as seed.Load of lambdas/kit/seed does.
package initial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// output matches the outputs with names of functions that load initial data (schema.Platform.SeedOutput), with the
// platform. If a platform is not directly below its stack, the CDK ends the output's name with a hash.
var output = regexp.MustCompile(`Seed([A-Z][a-z0-9]*)FunctionName([0-9A-F]{8})?$`)

// Loader is a function that loads the initial data of a platform.
type Loader struct {
	// Stack has the platform, which has the name in its schema, in lower case.
	Stack, Platform string
	// Function is the function's name.
	Function string
}

// Named reports whether an output with that name has the name of a loader.
func Named(name string) bool { return output.MatchString(name) }

// Loaders returns the loaders in the outputs of a stack, sorted by platform.
func Loaders(stack string, outputs map[string]string) (found []Loader) {
	for name, function := range outputs {
		if match := output.FindStringSubmatch(name); match != nil {
			found = append(found, Loader{Stack: stack, Platform: strings.ToLower(match[1]), Function: function})
		}
	}
	slices.SortFunc(found, func(a, b Loader) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Function, b.Function))
	})
	return found
}

// Loaded is what a load has done.
type Loaded struct {
	Loader
	// Total is how many items there are, and Added how many of them are new.
	Total, Added int
}

// String says it to people.
func (l Loaded) String() string {
	return fmt.Sprintf("%s has its %d items of initial data, %d of them new", l.Platform, l.Total, l.Added)
}

// Invoke invokes a function with an event and returns its answer, or AWS Lambda's description of its failure if failure
// is not empty.
type Invoke func(ctx context.Context, function string, event []byte) (answer []byte, failure string, err error)

// request is the event of an invocation, and progress the answer: Request and Progress of lambdas/kit/seed.
type (
	request struct {
		Next int `json:"next"`
	}
	progress struct{ Next, Total, Added int }
)

// Load invokes the function until all items are there, and calls step after each invocation. Items that are there
// already stay as they are. Errors: those of invoke, and what the function failed with or answered.
func (l Loader) Load(ctx context.Context, invoke Invoke, step func(done, total int)) (Loaded, error) {
	loaded := Loaded{Loader: l}
	for next := 0; next < loaded.Total || loaded.Total == 0; {
		p, err := l.invoke(ctx, invoke, next)
		if err != nil {
			of := "an unknown number of"
			if loaded.Total > 0 {
				of = fmt.Sprint(loaded.Total)
			}
			return loaded, fmt.Errorf("%s: loaded %d of %s items: %w: what is loaded stays", l.Platform, next, of, err)
		}
		loaded.Total, loaded.Added, next = p.Total, loaded.Added+p.Added, p.Next
		step(next, p.Total)
	}
	return loaded, nil
}

func (l Loader) invoke(ctx context.Context, invoke Invoke, next int) (p progress, err error) {
	event, err := json.Marshal(request{next})
	if err != nil {
		return p, fmt.Errorf("request: %w", err)
	}
	answer, failure, err := invoke(ctx, l.Function, event)
	if err != nil {
		return p, err
	}
	if failure != "" {
		var failure struct{ ErrorMessage string }
		if err := json.Unmarshal(answer, &failure); err != nil || failure.ErrorMessage == "" {
			failure.ErrorMessage = string(answer)
		}
		return p, fmt.Errorf("function %s failed: %s", l.Function, failure.ErrorMessage)
	}
	if err := json.Unmarshal(answer, &p); err != nil {
		return p, fmt.Errorf("function %s answered %s, which is no progress: answer as seed.Load of lambdas/kit/seed "+
			"does", l.Function, answer)
	}
	if p.Total < 1 || p.Next <= next || p.Next > p.Total {
		return p, fmt.Errorf("function %s answered %s to %s, which is not the next step of loading: answer as "+
			"seed.Load of lambdas/kit/seed does",
			l.Function, answer, event)
	}
	return p, nil
}
