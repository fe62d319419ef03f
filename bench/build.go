package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
)

// rebuild measures the handlers' build when nothing has changed since the last, and
// what it gives.
func (b *bench) rebuild(ctx context.Context) error {
	architecture, ok := gofunction.ArchitectureOf(runtime.GOARCH)
	if !ok {
		return fmt.Errorf("handlers do not run on %s", runtime.GOARCH)
	}
	var builds []*gofunction.Build
	var times []time.Duration
	for range b.runs + 1 {
		took, err := timed(func() error {
			builds = nil
			for _, p := range platforms() {
				builds = append(builds, gofunction.Start(ctx, p.handlers(architecture)))
			}
			for _, build := range builds {
				if err := build.Wait(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	b.row("rebuild of the handlers, nothing changed", spread(times[1:]), "", true)
	for i, p := range platforms() {
		for _, folder := range p.handlers(architecture).Packages {
			binary, err := builds[i].Binary(path.Base(folder))
			if err != nil {
				return err
			}
			size, err := zipSize(filepath.Join(binary.Directory, "bootstrap"))
			if err != nil {
				return err
			}
			b.row("zip of "+folder, fmt.Sprintf("%.1f MB", float64(size)/1e6), "at most 8 MB", size <= 8e6)
		}
	}
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
