package local_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/onesynth-cdk/onesynth/local"
)

// What `onesynth local` does: the assembly runs until Ctrl-C.
func ExampleRun() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := local.Run(ctx, local.Options{
		Assembly:    "cdk.out",
		Port:        local.PlatformPorts,
		ConsolePort: local.DefaultConsolePort,
		Data:        ".onesynth",
		Log:         os.Stdout,
	})
	if err != nil {
		log.Fatal(err)
	}
}
