// Package synthtest synthesises stacks for the tests of constructs, and has the
// checks that every platform passes.
package synthtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// childVariable tells a child process of Main which folder to write.
const childVariable = "ONESYNTH_SYNTHTEST_FOLDER"

// Main is for TestMain: it synthesises what declare declares, once, hands the
// folder of the cloud assembly to use, runs the tests and exits. The CDK is one
// process that takes one call at a time, so tests look at the assembly instead of
// calling the CDK.
//
// The synthesis runs in a child process, because closing the CDK is a data race
// within jsii, which would fail every test under the race detector. Built
// handlers are kept in a folder of the run's own.
func Main(m *testing.M, declare func(awscdk.App), use func(folder string) error) {
	if folder := os.Getenv(childVariable); folder != "" {
		synthesise(folder, declare)
		return
	}
	code, err := run(m, use)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func synthesise(folder string, declare func(awscdk.App)) {
	defer jsii.Close()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &folder, AnalyticsReporting: jsii.Bool(false)})
	declare(app)
	app.Synth(nil)
}

func run(m *testing.M, use func(folder string) error) (int, error) {
	folder, err := os.MkdirTemp("", "synthtest-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if err := os.Setenv("ONESYNTH_CACHE", filepath.Join(folder, "cache")); err != nil {
		return 0, err
	}
	assembly := filepath.Join(folder, "cdk.out")
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	child := exec.Command(program)
	child.Env = append(os.Environ(), childVariable+"="+assembly,
		"GORACE=exitcode=0 log_path="+filepath.Join(folder, "race"))
	if output, err := child.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("synthesising: %w\n%s", err, output)
	}
	if err := use(assembly); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
