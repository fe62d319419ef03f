package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	construct "example.com/booking/constructs/booking"
	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/schema"
)

// mistakeVariable names the mistake with which this program, as a CDK app, synthesises the platform.
const mistakeVariable = "BOOKING_MISTAKE"

// The mistakes: one of the contract, whose tests have the others, and one of an app.
const (
	unknownZone = "zone that does not exist"
	shortQueue  = "queue that hides messages too shortly"
)

// synthesise is this program as the CDK app of a platform with a mistake.
func synthesise(mistake string) {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("booking"), nil)
	if mistake == shortQueue {
		b := construct.New(stack, "Booking", settings(app))
		own := awssqs.NewQueue(stack, jsii.String("Own"), &awssqs.QueueProps{
			QueueName: jsii.String("own"), VisibilityTimeout: awscdk.Duration_Seconds(jsii.Number(5))})
		waitList := b.Functions[hotel.WaitList]
		own.GrantConsumeMessages(waitList.Role)
		awslambda.NewEventSourceMapping(stack, jsii.String("Mapping"), &awslambda.EventSourceMappingProps{
			Target: waitList.Resource, EventSourceArn: own.QueueArn()})
		app.Synth(nil)
		return
	}
	contract := hotel.Platform()
	for i, f := range contract.Functions {
		if f.Name == hotel.Reporter {
			contract.Functions[i].Trigger = schema.OnSchedule{Cron: "0 5 * * ? *", TimeZone: "Europe/Wien"}
		}
	}
	platform.Declare(&construct.Booking{}, stack, "Booking", contract,
		platform.Declaration{Module: "example.com/booking", Props: platform.Props{Events: true}})
	app.Synth(nil)
}

// synth runs this program as an app with a mistake, and returns what it prints.
func synth(t *testing.T, mistake, assembly string) (string, error) {
	t.Helper()
	app := exec.Command(os.Args[0])
	app.Env = append(os.Environ(), mistakeVariable+"="+mistake, "CDK_VALIDATION=false", "CDK_OUTDIR="+assembly)
	output, err := app.CombinedOutput()
	return string(output), err
}

// A synth refuses a mistake in the contract, and says what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	output, err := synth(t, unknownZone, filepath.Join(t.TempDir(), "cdk.out"))
	const want = `Functions[reporter].Trigger.TimeZone: got "Europe/Wien", allowed is the IANA name of a time zone: ` +
		`write it as in "Europe/Vienna", or leave it out for UTC`
	if err == nil || !strings.Contains(output, want) {
		t.Errorf("got %v, %s; want %s", err, output, want)
	}
}

// A run refuses a mapping that AWS would not make.
func TestMistakeOfApp(t *testing.T) {
	if testing.Short() {
		t.Skip("synthesises all of the platform, and starts a run: go test without -short does")
	}
	t.Parallel()
	assembly := filepath.Join(t.TempDir(), "cdk.out")
	if output, err := synth(t, shortQueue, assembly); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	runner, err := run.Start(t.Context(), run.Options{Assembly: assembly, NoSchedules: true})
	if err == nil {
		runner.Close()
		t.Fatal("the run takes it")
	}
	want := "the queue own: got VisibilityTimeout 5, below the Timeout of its function"
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got %v; want a text that names %q", err, want)
	}
}
