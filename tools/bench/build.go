package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
)

// rebuild measures the handlers' build when nothing has changed since the last, and
// the binaries for each processor.
func (b *bench) rebuild(ctx context.Context) error {
	times, err := inTurn(b.runs, timing(func() error { _, err := b.build(ctx, gofunction.ARM64); return err }))
	if err != nil {
		return err
	}
	b.figure("rebuild of the handlers, nothing changed", sampleOf(times[0]).spread())

	largest, figures := map[string]int{}, map[string][]string{}
	for _, architecture := range []gofunction.Architecture{gofunction.ARM64, gofunction.X86_64} {
		binaries, err := b.build(ctx, architecture)
		if err != nil {
			return err
		}
		for handler, binary := range binaries {
			size, err := zipSize(binary.Directory)
			if err != nil {
				return err
			}
			largest[handler] = max(largest[handler], size)
			figures[handler] = append(figures[handler], fmt.Sprintf("%s %.1f MB", architecture, float64(size)/1e6))
		}
	}
	for _, handler := range slices.Sorted(maps.Keys(figures)) {
		b.row("zip of "+handler, strings.Join(figures[handler], ", "), "at most 8 MB", largest[handler] <= 8e6)
	}
	return nil
}

// build builds the handlers of all platforms, and returns them by folder.
func (b *bench) build(ctx context.Context, architecture gofunction.Architecture) (map[string]gofunction.Binary, error) {
	var list []*platforms.Platform
	for _, p := range b.platforms {
		p.Common().Architecture = architecture
		list = append(list, p.Platform)
	}
	platforms.Build(ctx, list)
	binaries := map[string]gofunction.Binary{}
	for _, p := range list {
		for _, folder := range p.Handlers().Packages {
			binary, err := p.Common().Build.Binary(folder)
			if err != nil {
				return nil, err
			}
			binaries[folder] = binary
		}
	}
	return binaries, nil
}

// zipSize returns the size of the zip file of a folder that Lambda would get, in bytes.
func zipSize(folder string) (int, error) {
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	err := errors.Join(writer.AddFS(os.DirFS(folder)), writer.Close())
	return archive.Len(), err
}
