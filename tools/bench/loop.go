package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/engine"
)

// unchecked leaves out the check of the templates.
var unchecked = []string{"CDK_VALIDATION=false"}

// loop measures what a developer waits for: in turn, so that other load on the machine affects all of it, the start of
// a run, and a synth of one platform and of all; then a save to its new code.
func (b *bench) loop(ctx context.Context) error {
	first := b.platforms[0]
	one, all := b.context("-c", "platform="+first.Name()), b.context()
	database := func() (time.Duration, error) {
		var alone *engine.Engine
		took, err := timed(func() (err error) {
			alone, err = engine.Start(ctx, engine.Options{})
			return err
		})
		if err == nil {
			alone.Close()
		}
		return took, err
	}
	start := func() (time.Duration, error) {
		l, err := b.runLocal(ctx)
		if err != nil {
			return 0, err
		}
		return l.ready, l.stop()
	}
	var loaded []time.Duration // the time until all initial data is there
	startWithData := func() (time.Duration, error) {
		began, lines := time.Now(), make(chan string, 100)
		l, err := b.runLocalOf(ctx, "cdk.out", b.root, func(line string) { lines <- line })
		if err != nil {
			return 0, err
		}
		for waiting := l.loads; waiting > 0; {
			if strings.HasPrefix(<-lines, "data ") {
				waiting--
			}
		}
		loaded = append(loaded, time.Since(began))
		return l.ready, l.stop()
	}
	times, err := inTurn(b.runs, database, start, startWithData,
		timing(func() error { return b.synthesise(ctx, "cdk-app", "one.out", unchecked, one...) }),
		timing(func() error { return b.synthesise(ctx, "cdk-app", "all.out", unchecked, all...) }))
	if err != nil {
		return err
	}
	ofOne, err := b.sharesOf(ctx, "one.out", one...)
	if err != nil {
		return err
	}
	ofAll, err := b.sharesOf(ctx, "all.out", all...)
	if err != nil {
		return err
	}
	engines, starts, dataStarts := sampleOf(times[0]), sampleOf(times[1]), sampleOf(times[2])
	ones, alls := sampleOf(times[3]), sampleOf(times[4])
	b.title("The inner loop, measured in turn; synths are warm and without the check of the templates, as in make run")
	b.row("start to ready, all stacks", starts.spread(), "at most 3 s", starts.median() <= 3)
	b.figure("  of it DynamoDB Local, alone", engines.spread())
	b.row("start to ready, with initial data", dataStarts.spread(), "at most 4 s", dataStarts.median() <= 4)
	b.figure("  and until all of that is there", sampleOf(loaded[1:]).spread())
	b.figure("synth of "+first.Name(), ones.spread())
	b.figure("  shares, in a profiled synth", ofOne.String())
	b.figure(fmt.Sprintf("synth of all %d", len(b.platforms)), alls.spread())
	b.figure("  shares, in a profiled synth", ofAll.String())
	return b.watch(ctx)
}
