package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
)

// rebuild measures the handlers' build when nothing has changed since the last.
func (b *bench) rebuild(ctx context.Context) error {
	architecture, ok := gofunction.ArchitectureOf(runtime.GOARCH)
	if !ok {
		return fmt.Errorf("handlers do not run on %s", runtime.GOARCH)
	}
	var times []time.Duration
	for range b.runs + 1 {
		took, err := timed(func() error { return gofunction.Start(ctx, askahuman.Handlers(architecture)).Wait() })
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	b.row("rebuild of the handlers, nothing changed", spread(times[1:]), "", true)
	return nil
}

// zipSize is how large a file is in the zip that Lambda gets.
func zipSize(path string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var size counter
	archive := zip.NewWriter(&size)
	entry, err := archive.Create("bootstrap")
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(entry, file); err != nil {
		return 0, err
	}
	err = archive.Close()
	return int64(size), err
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
