package dev

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// What is saved between the start of the watching and the first look at the source is built, though no event tells of
// it any more.
func TestSavedBeforeRun(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	save := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("go.mod", "module example.com/app\n\ngo 1.26\n")
	save("main.go", "package main\n\nfunc main() {}\n")
	reported := make(chan trace.Change, 10)
	f, err := Follow(t.Context(), Options{
		Folder: t.TempDir(), App: "go run .",
		Functions: func() []lambda.Declared { return nil },
		Recent:    func() []string { return nil },
		Running:   func() map[string]string { return nil },
		Report:    func(change trace.Change) { reported <- change },
		Log:       func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	save("main.go", "package main\n\nfunc main() { undefined() }\n")
	wait.Until(t, "the watcher has seen it", func() (any, bool) {
		f.watcher.mutex.Lock()
		defer f.watcher.mutex.Unlock()
		return nil, len(f.watcher.pending.Files) > 0
	})
	// The first look takes what events have told, and leaves no signal.
	<-f.watcher.Changed()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	wait.Until(t, "the save is built", func() (any, bool) {
		select {
		case change := <-reported:
			return change, change.What == "build" && change.State == "began"
		default:
			return nil, false
		}
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
