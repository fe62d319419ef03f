// Package test checks the platform from outside: over HTTP, through the assembly
// that would be deployed.
//
//	go test -race ./...                            on this machine
//	ONESYNTH_TEST_TARGET=aws go test ./...         deploys the stack, then the same checks
//
// On this machine the assembly is synthesised once and run within the test process,
// against a DynamoDB Local of its own; nothing outside is needed but node_modules
// at the root of the repository. ONESYNTH_TEST_ASSEMBLY names an assembly for this
// machine's processor that is there already.
//
// On AWS, ONESYNTH_TEST_STACK names the stack (default: onesynth-askahuman-dev), and
// ONESYNTH_TEST_DEPLOY=false takes it as it is. What only a local run can do (faults,
// killing, the push inbox, addresses of one's own) is skipped there, with the reason.
// The stack stays: `make destroy` removes it. A second run within the hour meets the
// hourly limits of this machine's address.
//
// target_test.go has the two targets, client_test.go the client; each other file has
// one concern. Of terratest, shell, retry and http-helper are used. Its package aws
// is not: it brings the clients of thirty services, which take three minutes to
// compile on two processors.
package test

import (
	"flag"
	"os"
	"testing"

	"github.com/gruntwork-io/terratest/modules/logger"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of the tests wait most of the time, some for a question's whole minute, so
	// more of them run at once than there are processors. A fuzzer, though, takes it
	// for its number of processes.
	if flag.Lookup("test.fuzz").Value.String() == "" {
		if err := flag.Set("test.parallel", "12"); err != nil {
			panic(err)
		}
	}
	// What terratest has to say belongs to the test that it is said in.
	logger.Default = logger.TestingT
	status := m.Run()
	closeTargets()
	os.Exit(status)
}
