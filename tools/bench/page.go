package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

const (
	// firstViews is the number of first views that are measured.
	firstViews = 50
	// firstViewBytes is the maximum size of a first view, compressed.
	firstViewBytes = 60_000
)

// page measures, for each platform with a web page, the files of a first view: their bytes as a browser receives them,
// and the time to load them. What a browser does with them, BenchmarkFirstView in test/page measures.
func (b *bench) page(ctx context.Context) error {
	for _, p := range b.platforms {
		if slices.ContainsFunc(p.Schema.Routes, func(r schema.Route) bool { return r.Key() == "GET /" }) {
			if err := b.measured(ctx, p, b.firstViews); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) firstViews(ctx context.Context, l *local, p platform) error {
	var files, size int
	times, err := inTurn(firstViews, timing(func() (err error) {
		files, size, err = firstView(ctx, l.API)
		return err
	}))
	if err != nil {
		return err
	}
	b.title("%s: the files of the page's first view, over HTTP, compressed", p.Schema.Title)
	b.row(fmt.Sprintf("%d files", files), fmt.Sprintf("%d bytes", size), fmt.Sprintf("at most %d", firstViewBytes),
		size <= firstViewBytes)
	b.times("views", times[0])
	return b.out.Flush()
}

// atOnce finds the files that a document makes a browser load at once, and the texts of the first language.
var atOnce = regexp.MustCompile(`(?:rel="(?:stylesheet|modulepreload)" href|src|data-texts)="(/assets/[^" ]+)`)

// firstView loads the page as a browser does that has none of its files: the document, and then the rest side by side.
func firstView(ctx context.Context, address string) (files, size int, err error) {
	transport := &http.Transport{DisableCompression: true, MaxConnsPerHost: 6}
	defer transport.CloseIdleConnections()
	client := &onesynthtest.Client{URL: address, HTTP: &http.Client{Transport: transport}}
	document, size, err := load(ctx, client, "/")
	if err != nil {
		return 0, 0, err
	}
	found := atOnce.FindAllSubmatch(document, -1)
	if len(found) < 3 {
		return 0, 0, fmt.Errorf("the document names %d files, want style, modules and texts", len(found))
	}
	sizes := make([]int, len(found))
	group, ctx := errgroup.WithContext(ctx)
	for i, match := range found {
		group.Go(func() (err error) {
			_, sizes[i], err = load(ctx, client, string(match[1]))
			return err
		})
	}
	err = group.Wait()
	for _, n := range sizes {
		size += n
	}
	return 1 + len(found), size, err
}

// load returns a file, and its size as it came.
func load(ctx context.Context, client *onesynthtest.Client, path string) (content []byte, size int, err error) {
	reply, err := routes.Demand(http.StatusOK)(client.Send(ctx, http.MethodGet, path,
		http.Header{"Accept-Encoding": {"gzip"}}, nil))
	if err != nil || reply.Header.Get("Content-Encoding") != "gzip" {
		return reply.Body, len(reply.Body), err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(reply.Body))
	if err != nil {
		return nil, 0, fmt.Errorf("GET %s: %w", path, err)
	}
	content, err = io.ReadAll(unpacked)
	return content, len(reply.Body), err
}
