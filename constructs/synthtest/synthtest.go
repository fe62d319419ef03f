// Package synthtest synthesises stacks for the tests of constructs, and has the
// checks that every platform passes.
package synthtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// ValidationVariable tells the CDK whether to check templates by the rules of AWS CloudFormation,
// which costs ten seconds of processor time for the smallest one. The tests in test/security check
// all templates; by default, [Main] checks none.
const ValidationVariable = "CDK_VALIDATION"

// assembly is the folder of the cloud assembly of Main.
var assembly string

// childVariable tells a child process of Main which folder to write.
const childVariable = "ONESYNTH_SYNTHTEST_FOLDER"

// Main is for TestMain: it synthesises what declare declares, once, hands the folder of the cloud assembly to use, runs
// the tests and exits. The CDK is one process that takes one call at a time, so tests read templates by [Stack] instead
// of calling the CDK.
//
// The synthesis runs in a child process, because closing the CDK is a data race
// within jsii, which would fail every test under the race detector. Built
// handlers are kept in the folder that ONESYNTH_CACHE names, by default in one of the run's own.
func Main(m *testing.M, declare func(awscdk.App), use ...func(folder string) error) {
	if folder := os.Getenv(childVariable); folder != "" {
		defer props.Close()
		app := awscdk.NewApp(&awscdk.AppProps{Outdir: &folder, AnalyticsReporting: jsii.Bool(false)})
		declare(app)
		app.Synth(nil)
		return
	}
	code, err := run(m, use...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M, use ...func(folder string) error) (int, error) {
	folder, err := os.MkdirTemp("", "synthtest-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if os.Getenv("ONESYNTH_CACHE") == "" {
		if err := os.Setenv("ONESYNTH_CACHE", filepath.Join(folder, "cache")); err != nil {
			return 0, err
		}
	}
	_ = os.Getenv("ONESYNTH_TOOLS") // Go runs the tests again when it changes
	assembly = filepath.Join(folder, "cdk.out")
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	child := exec.Command(program)
	child.Env = slices.Concat([]string{ValidationVariable + "=false"}, os.Environ(),
		[]string{childVariable + "=" + assembly, "GORACE=exitcode=0 log_path=" + filepath.Join(folder, "race")})
	if output, err := child.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("synthesising: %w\n%s", err, output)
	}
	for _, use := range use {
		if err := use(assembly); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// PanicsWithFindings checks that a construct's New panics with the findings of those paths, in order. declare calls New
// without a scope, which is the first finding: New finds all before it calls the CDK.
func PanicsWithFindings(t *testing.T, declare func(), paths ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{"scope"}, paths...), Paths(t, PanicOf(declare))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// PanicOf returns the error that a function panics with, or nil.
func PanicOf(f func()) (err error) {
	defer func() {
		if value := recover(); value != nil {
			var ok bool
			if err, ok = value.(error); !ok {
				err = fmt.Errorf("a panic with no error: %v", value)
			}
		}
	}()
	f()
	return nil
}
