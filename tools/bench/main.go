// Bench measures the platforms' synthesis, build, start, requests and lakes on this
// machine, and prints each figure beside its target. It asserts nothing, because machines
// differ.
//
// Its statistics are those of golang.org/x/perf, as benchstat prints them:
//
//   - "1.234s ± 4%" is the median, and the distance to the further end of its interval of 95 % confidence. Fewer than 6
//     measurements give no such interval, and the text has "± ∞" in its place.
//   - p50 is the median. That of an even number of measurements is the mean of the two in the middle. p99 interpolates
//     between two measurements in the same way.
//   - "p=0.002 n=6" is the probability of two samples of 6 that differ as much if they are of one distribution, by the
//     Mann-Whitney U test. Medians are said to differ, as in "+4.12%", if it is at most 0.05, and "~" otherwise.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := bench{out: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	flag.IntVar(&b.runs, "runs", 6, "number of measurements of whole commands, at least 6 for a confidence interval")
	flag.DurationVar(&b.load, "load", 3*time.Second, "duration of the load on each route with each number of clients")
	flag.DurationVar(&b.delay, "delay", time.Minute, "duration of the changes whose way into the lake is timed")
	flag.IntVar(&b.compared, "compare", 150, "number of requests of a route, of ours and of the yardstick, before "+
		"they change turns")
	flag.IntVar(&b.comparedAfter, "compare-after", 300, "number of requests of a route, of ours and of the "+
		"yardstick, before the first that is compared")
	routeNames := flag.String("routes", "",
		"compare the routes of these `names` only, such as ask,answer (default all)")
	flag.IntVar(&b.askCount, "asks", 20_000, "number of requests in a row")
	flag.IntVar(&b.changes, "changes", 100_000, "number of changes of one table after which an idle run is measured")
	flag.StringVar(&b.arch, "arch", "", "`processor` to synthesise for, arm64 or x86_64: with that of this machine, "+
		"runs need not build the handlers again (default arm64)")
	flag.IntVar(&b.filling, "filling", 5, "number of requests of each route before it is measured, and then 10 and "+
		"50 times as many")
	flag.BoolVar(&b.write, "write", false, "write the prices and the growth of routes into docs/reference/routes")
	platformName := flag.String("platform", "", "measure the platform of this `name` only (default all)")
	only := flag.String("only", "", "measure one `part`: "+names(b.parts())+" (default all)")
	flag.Parse()
	b.routeNames = strings.FieldsFunc(*routeNames, func(r rune) bool { return r == ',' })
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
	write   bool // the prices and the growth into docs/reference/routes
	// compared is the number of requests of a turn, and comparedAfter that before the first turn.
	compared, comparedAfter int
	// routeNames are those of the routes to compare; none: all.
	routeNames []string
	// askCount is the number of requests in a row.
	askCount int
	// changes is the number of changes of a table.
	changes int
	out     *tabwriter.Writer

	platforms []platform

	root   string // the repository
	folder string // for what is built and written
}

// part is something to measure.
type part struct {
	name    string
	measure func(context.Context) error
}

func (b *bench) parts() []part {
	return []part{
		{"synthesis", b.synthesis}, {"loop", b.loop}, {"requests", b.requests}, {"compare", b.compare},
		{"prices", b.prices}, {"growth", b.growth}, {"asks", b.asks}, {"idle", b.idle}, {"lake", b.lake},
		{"webhooks", b.webhooks}, {"page", b.page},
	}
}

func names(parts []part) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.name)
	}
	return strings.Join(all, ", ")
}

func (b *bench) run(ctx context.Context, only, platform string) error {
	parts := b.parts()
	if only != "" {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == only })
		if i < 0 {
			return fmt.Errorf("got -only %s, allowed is one of %s", only, names(parts))
		}
		parts = parts[i : i+1]
	}
	var err error
	if b.platforms, err = all(); err != nil {
		return err
	}
	if platform != "" {
		every := b.platforms
		if b.platforms = slices.DeleteFunc(slices.Clone(every), without(platform)); len(b.platforms) == 0 {
			var allowed []string
			for _, p := range every {
				allowed = append(allowed, p.Name())
			}
			return fmt.Errorf("got -platform %s, allowed is one of %s", platform, strings.Join(allowed, ", "))
		}
	}
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f={{.Dir}}",
		"github.com/onesynth-cdk/onesynth").Output()
	if err != nil {
		return fmt.Errorf("no such module from this folder: run `make bench` in the repository: %w", err)
	}
	b.root = strings.TrimSpace(string(module))
	if b.folder, err = os.MkdirTemp("", "onesynth-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	fmt.Println("building the CDK app, the small app and the command…")
	for name, source := range map[string]string{"cdk-app": ".", "onesynth": "./cmd/onesynth",
		"three": "./tools/bench/threeresources"} {
		if err := b.compile(ctx, name, source); err != nil {
			return err
		}
	}
	if err := b.synthesise(ctx, "cdk-app", "cdk.out", nil, b.context()...); err != nil {
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

// compile builds a program of the repository, with further variables of the environment.
func (b *bench) compile(ctx context.Context, name, source string, variables ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags=lambda.norpc,timetzdata", "-o", b.path(name), source)
	cmd.Dir, cmd.Stderr, cmd.Env = b.root, os.Stderr, append(os.Environ(), variables...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", source, err)
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }

// synthesise writes an app's assembly into a folder, with further variables of the environment.
func (b *bench) synthesise(ctx context.Context, app, out string, variables []string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, b.path(app), arguments...)
	cmd.Dir = b.root
	cmd.Env = slices.Concat(os.Environ(), []string{
		"CDK_OUTDIR=" + b.path(out),
		"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1", "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION=1",
	}, variables)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("synthesise %s: %w\n%s", app, err, output)
	}
	return nil
}

// context are the arguments of the app of all platforms.
func (b *bench) context(further ...string) []string {
	return append([]string{"-c", "env=dev", "-c", "arch=" + b.arch}, further...)
}

// synthesis compares the app of all platforms with the small one.
func (b *bench) synthesis(ctx context.Context) error {
	times, err := inTurn(b.runs,
		timing(func() error { return b.synthesise(ctx, "cdk-app", "again.out", nil, b.context()...) }),
		timing(func() error { return b.synthesise(ctx, "three", "small.out", nil) }))
	if err != nil {
		return err
	}
	b.title("Synthesis, warm, nothing changed (so the handlers' rebuild is in it)")
	ours, small := sampleOf(times[0]), sampleOf(times[1])
	b.figure("three-resource app", small.spread())
	b.figure(fmt.Sprintf("%d platforms", len(b.platforms)), ours.spread())
	ratio := ours.median() / small.median()
	b.row("ratio", fmt.Sprintf("%.2f", ratio), "at most 2.0", ratio <= 2)
	return b.rebuild(ctx)
}
