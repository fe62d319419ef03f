package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

const (
	// webhookCount is the number of webhooks that are measured.
	webhookCount = 50
	// webhookTime is the maximum time from a change to its webhook.
	webhookTime = 30 * time.Second
)

// webhooks measures, for each platform that sends webhooks, the time from the response to a change until its webhook
// arrives.
func (b *bench) webhooks(ctx context.Context) error {
	for _, p := range b.platforms {
		if p.Webhook == nil {
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		measure := func(ctx context.Context, l *local, p platform) error { return b.webhookTimes(ctx, l, p, listener) }
		if err := b.measured(ctx, p, measure, "--webhook-endpoint", "http://"+listener.Addr().String()); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) webhookTimes(ctx context.Context, l *local, p platform, listener net.Listener) error {
	arrived := make(chan time.Time, 1)
	endpoint := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- time.Now()
	})}
	go func() { _ = endpoint.Serve(listener) }()
	defer endpoint.Close()
	change := p.Client(l.Run, p.Webhook)
	endpointOf := map[string]any{p.WebhookField: "http://" + listener.Addr().String()}
	var times []time.Duration
	// The first one starts the functions on the way.
	for range 1 + webhookCount {
		if _, err := change(ctx, endpointOf); err != nil {
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
	b.title("%s: from the answer to a change to its webhook", p.Schema.Title)
	b.times("webhooks", times)
	return b.out.Flush()
}
