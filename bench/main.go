// Bench measures the platforms' synthesis, build, start, requests and lakes on this
// machine, and prints each figure beside its target. It asserts nothing, because machines
// differ.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := bench{out: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	flag.IntVar(&b.runs, "runs", 5, "number of measurements of whole commands")
	flag.DurationVar(&b.load, "load", 3*time.Second, "duration of the load on each route with each number of clients")
	flag.DurationVar(&b.delay, "delay", time.Minute, "duration of the changes whose way into the lake is timed")
	flag.IntVar(&b.compared, "compare", 60, "number of requests of a route, of ours and of the yardstick, before they change turns")
	flag.IntVar(&b.askCount, "asks", 20_000, "number of requests in a row")
	flag.StringVar(&b.arch, "arch", "", "`processor` to synthesise for, arm64 or x86_64: with that of this machine, runs need not build the handlers again (default arm64)")
	flag.IntVar(&b.filling, "filling", 5, "number of requests of each route before it is measured, and then 10 and 50 times as many")
	flag.BoolVar(&b.write, "write", false, "write the prices of routes into docs/COST.md, and their growth into docs/SCALE.md")
	platformName := flag.String("platform", "", "measure the platform of this `name` only (default all)")
	only := flag.String("only", "", "measure one `part`: synthesis, loop, requests, compare, prices, growth, asks, lake, webhooks or page (default all)")
	flag.Parse()
	if err := b.run(ctx, *only, *platformName); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	runs  int
	load  time.Duration
	delay time.Duration
	arch  string
	// filling is the number of requests of each route in the first measurement of growth.
	filling int
	write   bool // the prices into docs/COST.md, and the growth into docs/SCALE.md
	// compared is the number of requests of a turn.
	compared int
	// askCount is the number of requests in a row.
	askCount int
	out      *tabwriter.Writer

	platforms []platform

	root   string // the repository
	folder string // for what is built and written
}

// part is something to measure.
type part struct {
	name    string
	measure func(context.Context) error
}

func (b *bench) run(ctx context.Context, only, platform string) error {
	parts := []part{{"synthesis", b.synthesis}, {"loop", b.loop}, {"requests", b.requests}, {"compare", b.compare}, {"prices", b.prices}, {"growth", b.growth}, {"asks", b.asks}, {"lake", b.lake}, {"webhooks", b.webhooks}, {"page", b.page}}
	if only != "" {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == only })
		if i < 0 {
			return fmt.Errorf("got -only %s, allowed is synthesis, loop, requests, compare, prices, growth, asks, lake, webhooks or page", only)
		}
		parts = parts[i : i+1]
	}
	var err error
	if b.platforms, err = all(); err != nil {
		return err
	}
	if platform != "" {
		b.platforms = slices.DeleteFunc(b.platforms, without(platform))
	}
	if b.root, err = repository(); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "onesynth-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	fmt.Println("building the CDK app, the small app and the command…")
	for name, source := range map[string]string{"cdk-app": ".", "onesynth": "./cmd/onesynth", "three": "./bench/threeresources"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", b.path(name), source)
		cmd.Dir, cmd.Stderr = b.root, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build %s: %w", source, err)
		}
	}
	if err := b.synthesise(ctx, "cdk-app", "cdk.out", "-c", "env=dev", "-c", "arch="+b.arch)(); err != nil {
		return err
	}
	for _, part := range parts {
		if err := part.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		if err := b.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }

// row prints a figure, its target, and whether it reaches the target.
func (b *bench) row(what, figure, reach string, reached bool) {
	verdict := ""
	if reach != "" {
		verdict = "reached"
		if !reached {
			verdict = "NOT reached"
		}
	}
	fmt.Fprintf(b.out, "%s\t%s\t%s\t%s\n", what, figure, reach, verdict)
}

func (b *bench) title(text string) {
	fmt.Fprintf(b.out, "\n%s\n", text)
}

// synthesise returns a function that writes an app's assembly into a folder.
func (b *bench) synthesise(ctx context.Context, app, out string, arguments ...string) func() error {
	return func() error { return synthesised(app, b.command(ctx, app, out, arguments...)) }
}

// synthesiseUnchecked is synthesise of the platforms, without the check of the templates.
func (b *bench) synthesiseUnchecked(ctx context.Context, out string, arguments ...string) func() error {
	return func() error {
		cmd := b.command(ctx, "cdk-app", out, arguments...)
		cmd.Env = append(cmd.Env, "CDK_VALIDATION=false")
		return synthesised("cdk-app", cmd)
	}
}

// command is an app that writes its assembly into a folder.
func (b *bench) command(ctx context.Context, app, out string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.path(app), arguments...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "CDK_OUTDIR="+b.path(out), "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1", "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION=1")
	return cmd
}

func synthesised(app string, cmd *exec.Cmd) error {
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("synthesise %s: %w\n%s", app, err, output)
	}
	return nil
}

// synthesis compares the app of all platforms with the small one. It runs them in turn, so
// that other load on the machine affects both.
func (b *bench) synthesis(ctx context.Context) error {
	all, small := b.synthesise(ctx, "cdk-app", "again.out", "-c", "env=dev", "-c", "arch="+b.arch), b.synthesise(ctx, "three", "small.out")
	var allTimes, smallTimes, ratios []time.Duration
	for i := range b.runs + 1 {
		p, err := timed(all)
		if err != nil {
			return err
		}
		s, err := timed(small)
		if err != nil {
			return err
		}
		if i == 0 {
			continue // warms the caches of jsii and of the handlers' build
		}
		allTimes, smallTimes = append(allTimes, p), append(smallTimes, s)
		ratios = append(ratios, p*1000/s)
	}
	b.title("Synthesis, warm, nothing changed (so the handlers' rebuild is in it)")
	b.row("three-resource app", spread(smallTimes), "", true)
	b.row(fmt.Sprintf("%d platforms", len(b.platforms)), spread(allTimes), "", true)
	ratio := float64(median(ratios)) / 1000
	b.row("ratio", fmt.Sprintf("%.2f", ratio), "at most 2.0", ratio <= 2)
	return b.rebuild(ctx)
}

// repository returns the folder of the repository.
func repository() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "cdk.json")); statErr == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			err = errors.New("no cdk.json in this folder or above it: run `make bench` in the repository")
		}
		dir = parent
	}
	return "", err
}

func timed(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

func median(durations []time.Duration) time.Duration { return quantile(durations, 0.5) }

func quantile(durations []time.Duration, q float64) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func spread(durations []time.Duration) string {
	return fmt.Sprintf("%.2f s (%.2f–%.2f)", median(durations).Seconds(), slices.Min(durations).Seconds(), slices.Max(durations).Seconds())
}
