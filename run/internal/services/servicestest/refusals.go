// Package servicestest has what tests of several packages need of the services of a run.
package servicestest

import (
	_ "embed"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Refusal is a request that AWS refuses, as the API reference of its service says.
type Refusal struct {
	// Call is the service and the operation, such as "SQS SendMessage".
	Call string
	// Of names the parameter or state that AWS refuses.
	Of string
	// Code is the error code with which a run refuses it, too. Empty: a run takes it.
	Code string
	// Requests are requests of the call that are refused or taken so, as refusals.txtar writes them.
	Requests []string
}

//go:embed refusals.txtar
var refusals []byte

// Refusals returns those of each call of lambdas/kit, as refusals.txtar lists them. The tests of package services send
// the requests.
func Refusals(t testing.TB) (all []Refusal) {
	t.Helper()
	for _, file := range txtar.Parse(refusals).Files {
		for line := range strings.Lines(string(file.Data)) {
			line = strings.TrimSuffix(line, "\n")
			if request, ok := strings.CutPrefix(line, "  "); ok {
				last := &all[len(all)-1]
				last.Requests = append(last.Requests, request)
				continue
			}
			at := strings.LastIndex(line, ": ")
			if at < 0 {
				t.Fatalf("refusals.txtar: %s: %q has no code", file.Name, line)
			}
			all = append(all, Refusal{Call: file.Name, Of: line[:at], Code: strings.TrimPrefix(line[at+2:], "taken")})
		}
	}
	return all
}
