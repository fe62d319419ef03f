package lakecommand

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/lake/catalog"
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
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, file()), text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
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
