package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// firstViews is the number of first views that are measured.
	firstViews = 50
	// firstViewBytes is the maximum size of a first view, compressed.
	firstViewBytes = 60_000
)

// page measures, for each platform with a web page, the files of a first view: their bytes as a browser receives them, and the time to
// load them. What a browser does with them, BenchmarkFirstView in test/page measures.
func (b *bench) page(ctx context.Context) error {
	for _, p := range b.platforms {
		if !slices.ContainsFunc(p.Schema.Routes, func(r schema.Route) bool { return r.Key() == "GET /" }) {
			continue
		}
		l, err := b.runLocal(ctx, p.stack())
		if err != nil {
			return err
		}
		err = b.firstViews(ctx, l, p)
		if err := errors.Join(err, l.stop()); err != nil {
			return fmt.Errorf("page of %s: %w", p.Schema.Title, err)
		}
	}
	return nil
}

func (b *bench) firstViews(ctx context.Context, l *local, p platform) error {
	var times []time.Duration
	var files, size int
	// The first one starts the function.
	for range 1 + firstViews {
		took, err := timed(func() (err error) {
			files, size, err = firstView(ctx, l.API)
			return err
		})
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	times = times[1:]
	b.title(fmt.Sprintf("%s: the files of the page's first view, over HTTP, compressed", p.Schema.Title))
	b.row(fmt.Sprintf("%d files", files), fmt.Sprintf("%d bytes", size), fmt.Sprintf("at most %d", firstViewBytes), size <= firstViewBytes)
	fmt.Fprintln(b.out, "views\tp50\tp99\tlongest")
	fmt.Fprintf(b.out, "%d\t%.0f ms\t%.0f ms\t%.0f ms\n", len(times), milliseconds(median(times)), milliseconds(quantile(times, 0.99)), milliseconds(slices.Max(times)))
	return b.out.Flush()
}

// atOnce finds the files that a document makes a browser load at once, and the texts of the first language.
var atOnce = regexp.MustCompile(`(?:rel="(?:stylesheet|modulepreload)" href|src|data-texts)="(/assets/[^" ]+)`)

// firstView loads the page as a browser does that has none of its files: the document, and then the rest side by side.
func firstView(ctx context.Context, address string) (files, size int, err error) {
	transport := &http.Transport{DisableCompression: true, MaxConnsPerHost: 6}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	document, size, err := load(ctx, client, address+"/")
	if err != nil {
		return 0, 0, err
	}
	found := atOnce.FindAllSubmatch(document, -1)
	if len(found) < 3 {
		return 0, 0, fmt.Errorf("the document names %d files, want style, modules and texts", len(found))
	}
	sizes, failures := make([]int, len(found)), make(chan error, len(found))
	for i, match := range found {
		go func() {
			var err error
			_, sizes[i], err = load(ctx, client, address+string(match[1]))
			failures <- err
		}()
	}
	for range found {
		err = errors.Join(err, <-failures)
	}
	for _, n := range sizes {
		size += n
	}
	return 1 + len(found), size, err
}

// load returns a file, and its size as it came.
func load(ctx context.Context, client *http.Client, address string) (content []byte, size int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, 0, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("GET %s: got %d", address, response.StatusCode)
	}
	if response.Header.Get("Content-Encoding") != "gzip" {
		return received, len(received), nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(received))
	if err != nil {
		return nil, 0, fmt.Errorf("GET %s: %w", address, err)
	}
	content, err = io.ReadAll(unpacked)
	return content, len(received), err
}
