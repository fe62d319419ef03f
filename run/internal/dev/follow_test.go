package dev

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
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
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	save("go.mod", "module example.com/app\n\ngo 1.26\n")
	save("main.go", "package main\n\nfunc main() {}\n")
	reported := make(chan trace.Change, 10)
	f := must.Get(Follow(t.Context(), Options{
		Folder: t.TempDir(), App: "go run .",
		Functions: func() []lambda.Declared { return nil },
		Recent:    func() []string { return nil },
		Running:   func() map[string]string { return nil },
		Report:    func(change trace.Change) { reported <- change },
		Log:       func(string) {},
	}))(t)
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

// Saves in a row do not keep a build from its end. Each is answered at once meanwhile: the function that was asked last
// does not wait for the others.
func TestMayBreakOff(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		overtaken      int
		answered, want bool
	}{
		{overtaken: 0, want: true}, {overtaken: 1}, {overtaken: 1, answered: true, want: true},
		{overtaken: maxOvertaken - 1, answered: true, want: true}, {overtaken: maxOvertaken, answered: true},
	} {
		f := &Follower{overtaken: test.overtaken}
		f.answered.Store(test.answered)
		if got := f.mayBreakOff(); got != test.want {
			t.Errorf("broken off %d times, answered %t: got %t", test.overtaken, test.answered, got)
		}
	}
}

// A function's file changes no app, so its build does not wait until the app of the start is known. If the app that is
// there is not the run's, each change may be one of it.
func TestMayChangeApp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.com/m\n\ngo 1.26\n",
		"main.go":           "package main\n\nfunc main() {}\n",
		"lambdas/a/main.go": "package main\n\nfunc main() {}\n",
	} {
		path := filepath.Join(folder, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	programs := []gobuild.Listing{{Directory: folder, Patterns: []string{"./lambdas/a"}},
		{Directory: folder, Patterns: []string{"."}}}
	watcher := must.Get(New(t.Context(), programs, nil, 0))(t)
	defer watcher.Close()
	f := &Follower{watcher: watcher, app: &app{Listing: programs[1]}, learned: make(chan struct{})}
	want := func(when string, ofFunction bool) {
		t.Helper()
		if got := f.mayChangeApp([]string{filepath.Join(folder, "lambdas", "a", "main.go")}); got != ofFunction {
			t.Errorf("%s: got %t of a function's file", when, got)
		}
		if !f.mayChangeApp([]string{filepath.Join(folder, "main.go")}) {
			t.Errorf("%s: the app's file is none of the app", when)
		}
	}
	want("until the app is known", false)
	close(f.learned)
	want("with an app that does not compile", true)
	f.applied = "one"
	want("with the run's app", false)
	f.refused = "another"
	want("with an app that was refused", true)
	f.refused = ""
	watcher.Forget()
	want("after a change of the app", true)
	must.OK(t, watcher.Find(t.Context(), programs))
	want("after the next search", false)
}
