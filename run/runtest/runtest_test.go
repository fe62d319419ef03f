package runtest_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// start starts a run of two queues.
func start(t *testing.T) runtest.Run {
	t.Helper()
	dir := assemblytest.Write(t, assemblytest.Anywhere, map[string]string{"Stack": `{"Resources": {
		"Work": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "work", "DelaySeconds": 900}},
		"Failed": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "failed"}},
		"Reports": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "reports"}}}}`})
	runner := must.Get(run.Start(t.Context(), run.Options{
		Assembly: dir, DynamoDB: enginetest.Engine(t).URL(), AccessKey: enginetest.AccessKey(), Log: t.Output(),
	}))(t)
	t.Cleanup(runner.Close)
	return runtest.Of(runner)
}

// A message is sent, is read, and its delay ends when a test says so.
func TestMessages(t *testing.T) {
	t.Parallel()
	runner := start(t)
	if got := runner.Queues(); !slices.Equal(got, []string{"failed", "work"}) {
		t.Errorf("got the queues %v", got)
	}
	must.OK(t, runner.Send("work", "ü", map[string]string{"Kind": "test"}))
	messages, err := runner.Messages("work")
	if err != nil || len(messages) != 1 || messages[0].Body != "ü" || messages[0].Attributes["Kind"] != "test" ||
		messages[0].Received != 0 {
		t.Errorf("got %+v, %v", messages, err)
	}
	for _, want := range []int{1, 0} {
		if due, err := runner.MakeDue("work"); err != nil || due != want {
			t.Errorf("got %d messages whose delay ended, %v; want %d", due, err, want)
		}
	}
}

// A bucket's objects are read by their keys.
func TestObjects(t *testing.T) {
	t.Parallel()
	runner := start(t)
	if keys, err := runner.Objects("reports", ""); err != nil || len(keys) != 0 {
		t.Errorf("got the objects %v, %v of an empty bucket", keys, err)
	}
	if _, err := runner.Object("reports", "daily"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v of an object that is not there", err)
	}
	if _, err := runner.Objects("nothing", ""); err == nil {
		t.Error("got no error of a bucket that is not there")
	}
}

// What a run does not have is an error that says what it has; what did not happen is nothing.
func TestUnknown(t *testing.T) {
	t.Parallel()
	runner := start(t)
	_, messages := runner.Messages("other")
	_, due := runner.MakeDue("other")
	_, next := runner.NextRun("other")
	for name, err := range map[string]error{
		"Messages": messages, "MakeDue": due, "NextRun": next, "Send": runner.Send("other", "body", nil),
		"Kill":      runner.Kill("other"),
		"SetFaults": runner.SetFaults(runtest.Faults{Throttle: 2}),
	} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if err := runner.SetFaults(runtest.Faults{Throttle: 1, Seed: 1}); err != nil {
		t.Error(err)
	}
	calls, lines, refused := runner.Calls("/"), runner.Lines(""), runner.Refused()
	if len(calls)+len(lines)+len(refused) > 0 {
		t.Errorf("got the calls %v, the lines %v and the refusals %v", calls, lines, refused)
	}
}

// A run says that it has ended.
func TestEnded(t *testing.T) {
	t.Parallel()
	var runner runtest.Run
	t.Run("Runs", func(t *testing.T) {
		runner = start(t)
		if err := runner.Ended(); err != nil {
			t.Errorf("got %v before the end", err)
		}
	})
	if runner.Ended() == nil {
		t.Error("got nil after the end")
	}
}
