package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

const (
	// webhookCount is the number of webhooks that are measured.
	webhookCount = 50
	// webhookTime is the maximum time from a change to its webhook.
	webhookTime = 30 * time.Second
)

// webhooks measures, for each platform that sends webhooks, the time from the response to a change until its webhook arrives.
func (b *bench) webhooks(ctx context.Context) error {
	for _, p := range b.platforms {
		if p.Webhook == nil {
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		l, err := b.runLocalOf(ctx, "cdk.out", "--stack", p.stack(), "--webhook-endpoint", "http://"+listener.Addr().String())
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		err = b.webhookTimes(ctx, l, p, listener)
		if err := errors.Join(err, l.stop()); err != nil {
			return fmt.Errorf("webhooks of %s: %w", p.Schema.Title, err)
		}
	}
	return nil
}

func (b *bench) webhookTimes(ctx context.Context, l *local, p platform, listener net.Listener) error {
	arrived := make(chan time.Time, 1)
	endpoint := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- time.Now() })}
	go func() { _ = endpoint.Serve(listener) }()
	defer endpoint.Close()
	change := p.Webhook(&l.Run)
	var times []time.Duration
	// The first one starts the functions on the way.
	for range 1 + webhookCount {
		if err := change(ctx, "http://"+listener.Addr().String()); err != nil {
			return err
		}
		answered := time.Now()
		select {
		case at := <-arrived:
			times = append(times, at.Sub(answered))
		case <-time.After(webhookTime):
			return fmt.Errorf("no webhook within %s", webhookTime)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	times = times[1:]
	b.title(fmt.Sprintf("%s: from the answer to a change to its webhook", p.Schema.Title))
	fmt.Fprintln(b.out, "webhooks\tp50\tp99\tlongest")
	fmt.Fprintf(b.out, "%d\t%.0f ms\t%.0f ms\t%.0f ms\n", len(times), milliseconds(median(times)), milliseconds(quantile(times, 0.99)), milliseconds(slices.Max(times)))
	return b.out.Flush()
}
