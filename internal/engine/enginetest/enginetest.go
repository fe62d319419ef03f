// Package enginetest gives tests a real DynamoDB, empty and their own.
//
// One DynamoDB Local serves a whole test process; it is started by the first test that asks and ends with the process.
// When ONESYNTH_DYNAMODB_URL is set, every package shares the engine at that URL instead. Tests can
// run in parallel on either: every access key is a database of its own.
package enginetest

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/internal/engine"
)

// URLVariable names the environment variable that holds the URL of a running DynamoDB Local.
const URLVariable = "ONESYNTH_DYNAMODB_URL"

// Go keeps the result of a test for the variables that it gets and the files of the module that it
// looks for. A result depends on the releases of DynamoDB Local and of Java, which ONESYNTH_TOOLS
// tells, and not on a port. So the tests look for these in any case, and Environ, unlike Getenv,
// hides the port from Go.
var shared = sync.OnceValues(func() (*engine.Engine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_ = os.Getenv("ONESYNTH_TOOLS")
	var options engine.Options
	options.Jar, _ = engine.FindJar("") // without one, Start says what to do
	for _, variable := range os.Environ() {
		if url, ok := strings.CutPrefix(variable, URLVariable+"="); ok {
			options.URL = url
		}
	}
	return engine.Start(ctx, options)
})

// Engine returns the DynamoDB of this test process. The test fails when there is none: a missing engine is never
// skipped.
func Engine(t testing.TB) *engine.Engine {
	t.Helper()
	started, err := shared()
	if err != nil {
		t.Fatalf("DynamoDB for tests: %v", err)
	}
	return started
}

// AccessKey returns a new random alphanumeric access key: the name of an empty database.
func AccessKey() string { return "TEST" + rand.Text() }

// Client returns a client on a new, empty database.
func Client(t testing.TB) *dynamodb.Client {
	t.Helper()
	return Engine(t).Client(AccessKey())
}
