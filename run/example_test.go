package run_test

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"

	"github.com/onesynth-cdk/onesynth/run"
)

// A test runs the assembly on free ports, calls its API as a user, and has all that
// follows done when it looks.
func ExampleStart() {
	ctx := context.Background()
	runner, err := run.Start(ctx, run.Options{Assembly: "cdk.out", NoSchedules: true})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()

	token, err := runner.Token(ctx, run.TokenRequest{Subject: "alice"})
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, runner.URL("todo")+"/api/v1/tasks", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	tasks, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer tasks.Body.Close()

	for _, schedule := range runner.Schedules() {
		if err := runner.RunSchedule(ctx, schedule); err != nil {
			log.Fatal(err)
		}
	}
	if err := runner.FlushStreams(ctx); err != nil {
		log.Fatal(err)
	}
}

// What `onesynth local` does: the assembly runs until Ctrl-C.
func ExampleRun() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run.Run(ctx, run.Options{
		Assembly:    "cdk.out",
		Port:        run.PlatformPorts,
		ConsolePort: run.DefaultConsolePort,
		Data:        ".onesynth",
		Log:         os.Stdout,
	})
	if err != nil {
		log.Fatal(err)
	}
}
