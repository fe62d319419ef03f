package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// clientOf is a client of the stack whose name has the word, as a user.
func clientOf(t *testing.T, runner *run.Runner, word, subject string) *onesynthtest.Client {
	t.Helper()
	for _, api := range runtest.Of(runner).APIs() {
		if !strings.Contains(api.Stack, word) {
			continue
		}
		made := &onesynthtest.Client{URL: api.URL, HTTP: http.DefaultClient, IdempotencyKeys: true}
		if len(api.Issuers) > 0 {
			token := must.Get(runner.Token(t.Context(), run.TokenRequest{Subject: subject, Stack: api.Stack}))(t)
			made.Header = http.Header{"Authorization": {"Bearer " + token}}
		}
		return made
	}
	t.Fatalf("no stack %s", word)
	return nil
}
