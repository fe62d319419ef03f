package dynamotest

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Covering wraps the run of a package's tests, such as [testing.M.Run], for TestMain. The run then fails, even if each
// test passes, unless the tests have made a request by each access pattern of the database, as the schema declares it.
// With -v it prints what the requests consumed. A selection of tests (-run) need not cover anything.
func Covering(run func() (code int), database schema.Database) func() (code int) {
	return func() int {
		code := run()
		if code != 0 || some() {
			return code
		}
		made.Lock()
		defer made.Unlock()
		text, missing := consumed(database.AccessPatterns, made.requests)
		for _, name := range missing {
			fmt.Fprintf(os.Stderr, "FAIL: no test requests the access pattern %s as it is declared\n", name)
			code = 1
		}
		if testing.Verbose() {
			fmt.Print(text)
		}
		return code
	}
}

// some reports whether some tests run, and not all.
func some() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz", "test.bench"} {
		if flag.Lookup(name).Value.String() != "" {
			return true
		}
	}
	return false
}

// made are the requests of all tests that succeeded, by access pattern.
var made struct {
	sync.Mutex
	requests map[string][]Request
}

func cover(r Request) {
	made.Lock()
	defer made.Unlock()
	if made.requests == nil {
		made.requests = map[string][]Request{}
	}
	made.requests[r.Pattern] = append(made.requests[r.Pattern], r)
}

// consumed returns a table of what the requests of each pattern consumed, and the names of patterns that no request
// made as declared.
func consumed(patterns []schema.AccessPattern, made map[string][]Request) (table string, missing []string) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "access pattern\toperation\ton\trequests\tconsumed units")
	for _, p := range patterns {
		requests := 0
		var least, most float64
		for _, r := range made[p.Name] {
			if !r.declared(p) {
				continue
			}
			if requests++; requests == 1 || r.Units < least {
				least = r.Units
			}
			most = max(most, r.Units)
		}
		if requests == 0 {
			missing = append(missing, p.Name)
		}
		on := strings.TrimSuffix(p.Table+"/"+p.Index, "/")
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.1f to %.1f\n", p.Name, p.Action, on, requests, least, most)
	}
	w.Flush() // a strings.Builder takes everything
	return text.String(), missing
}

// declared reports whether a request is that of the pattern.
func (r Request) declared(p schema.AccessPattern) bool {
	return r.Action == p.Action && r.Table == p.Table && r.Index == p.Index
}

// agent is where a request says which pattern it is for.
var agent = regexp.MustCompile(`\baccess-pattern/(\S+)`)

// requestKey is the key of the request in the context of its attempts.
type requestKey struct{}
