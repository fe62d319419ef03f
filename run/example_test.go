package run_test

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/console"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/run"
)

// A test runs the assembly on free ports, calls its API as a user, and has all that
// follows done when it looks.
func ExampleStart() {
	ctx := context.Background()
	run, err := run.Start(ctx, run.Options{Assembly: "cdk.out", NoSchedules: true})
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()

	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, run.ConsoleURL()+"/token",
		strings.NewReader(`{"sub": "alice"}`))
	if err != nil {
		log.Fatal(err)
	}
	ask.Header.Set(console.Header, "example")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var token struct {
		Text string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&token); err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, run.URL("todo")+"/api/v1/tasks", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token.Text)
	tasks, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer tasks.Body.Close()

	for _, schedule := range rooms.Of(run).Schedules.Schedules() {
		if err := run.RunSchedule(ctx, schedule.Name); err != nil {
			log.Fatal(err)
		}
	}
	if err := run.FlushStreams(ctx); err != nil {
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
