package lakecommand

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

// The context of an answer ends when its reader does, who then closes the input.
func TestServeUntilNobodyWaits(t *testing.T) {
	t.Parallel()
	input, request := io.Pipe()
	go func() {
		io.WriteString(request, `{"Console": "http://127.0.0.1:1", "Question": {"sql": "SELECT 1"}, "Format": "csv"}`)
	}()
	err := Serve(t.Context(), input, func(ctx context.Context, got Request) error {
		if got.Question.SQL != "SELECT 1" || got.Format != "csv" || got.Check != nil {
			t.Errorf("got %+v", got)
		}
		if err := request.Close(); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	err = Serve(t.Context(), strings.NewReader(`{"Explain": true}`), func(context.Context, Request) error {
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "Explain") {
		t.Errorf("a request of another version: got %v", err)
	}
}

// What lies beside the program and is not the command of its version is not run, and the error names it.
func TestAnotherVersion(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	own := must.Get(os.Executable())(t)
	text, err := os.ReadFile(own)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, file()), text, 0o700)
	}
	must.OK(t, err)
	c := &Command{program: program{module: "example.com/m", version: "v1.2.3", beside: []string{folder}, cache: folder}}
	_, err = c.Check(t.Context(), catalog.Lake{})
	for _, part := range []string{file() + " is not of version v1.2.3", "cannot be built without Go",
		"go install example.com/m/cmd/onesynth-lake@v1.2.3"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q", err, part)
		}
	}
	if c.Built() {
		t.Error("it counts as built")
	}
	// Another one builds it: who asks does not wait until that ends.
	c = &Command{path: "built"}
	c.mutex.Lock()
	if c.Built() {
		t.Error("what is being built counts as built")
	}
	c.mutex.Unlock()
	if !c.Built() {
		t.Error("what is there does not count as built")
	}
}

// A command without DuckDB is not run, and the error says why it has none and what to do.
func TestWithoutCgo(t *testing.T) {
	t.Parallel()
	p := program{module: "example.com/m", version: "v1.2.3"}
	built := func(cgo string) error {
		return p.check(&debug.BuildInfo{Path: "example.com/m/cmd/onesynth-lake",
			Main:     debug.Module{Path: "example.com/m", Version: "v1.2.3"},
			Settings: []debug.BuildSetting{{Key: "CGO_ENABLED", Value: cgo}}})
	}
	if err := built("1"); err != nil {
		t.Errorf("with cgo: got %v", err)
	}
	err := built("0")
	for _, part := range []string{"CGO_ENABLED=0", "DuckDB, which needs cgo and a C compiler",
		"again with CGO_ENABLED=1"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("without cgo: got %v, want %q", err, part)
		}
	}
}

func TestPublished(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		undetermined: false, "v1.2.3": true, "v0.0.0-20260102030405-0123456789ab": true, "v1.2.3+dirty": false,
		"v0.0.0-20260102030405-0123456789ab+dirty": false,
	} {
		if got := (program{version: version}).published(); got != want {
			t.Errorf("%s: got %v", version, got)
		}
	}
}
