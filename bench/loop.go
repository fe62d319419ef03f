package main

import (
	"context"
	"fmt"
	"time"

	dynamodblocal "github.com/onesynth-cdk/onesynth/local/engine"
)

// loop measures what a developer waits for: in turn, so that other load on the machine affects all of it, the start of a run, and
// a synth of one platform and of all; then a save to its new code.
func (b *bench) loop(ctx context.Context) error {
	first := b.platforms[0]
	context := []string{"-c", "env=dev", "-c", "arch=" + b.arch}
	one := append([]string{"-c", "platform=" + first.Name()}, context...)
	var engines, starts, ones, alls []time.Duration
	for i := range b.runs + 1 {
		var alone *dynamodblocal.Engine
		startOfEngine, err := timed(func() (err error) {
			alone, err = dynamodblocal.Start(ctx, dynamodblocal.Options{})
			return err
		})
		if err != nil {
			return err
		}
		alone.Close()
		l, err := b.runLocal(ctx)
		if err != nil {
			return err
		}
		if err := l.stop(); err != nil {
			return fmt.Errorf("stop onesynth local: %w", err)
		}
		single, err := timed(b.synthesiseUnchecked(ctx, "one.out", one...))
		if err != nil {
			return err
		}
		all, err := timed(b.synthesiseUnchecked(ctx, "all.out", context...))
		if err != nil {
			return err
		}
		if i == 0 {
			continue // warms the caches of jsii, of the handlers' build and of the engine's classes
		}
		engines, starts = append(engines, startOfEngine), append(starts, l.ready)
		ones, alls = append(ones, single), append(alls, all)
	}
	ofOne, err := b.sharesOf(ctx, "cdk-app", "one.out", one...)
	if err != nil {
		return err
	}
	ofAll, err := b.sharesOf(ctx, "cdk-app", "all.out", context...)
	if err != nil {
		return err
	}
	b.title("The inner loop, measured in turn; synths are warm and without the check of the templates, as in make run")
	b.row("start to ready, all stacks", spread(starts), "at most 3 s", median(starts) <= 3*time.Second)
	b.row("  of it DynamoDB Local, alone", spread(engines), "", true)
	b.row("synth of "+first.Name(), spread(ones), "", true)
	b.row("  shares, in a profiled synth", ofOne.String(), "", true)
	b.row(fmt.Sprintf("synth of all %d", len(b.platforms)), spread(alls), "", true)
	b.row("  shares, in a profiled synth", ofAll.String(), "", true)
	return b.watch(ctx)
}
