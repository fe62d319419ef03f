package lingible_test

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// varied is the i-th of many terms, the initial ones again and again. Those after them have other words.
func varied(initial []lingible.Entry, i int) lingible.Entry {
	e, round := initial[i%len(initial)], i/len(initial)
	if round == 0 {
		return e
	}
	e.Term, e.Variants = fmt.Sprintf("%s x%d", e.Term, round), slices.Clone(e.Variants)
	for i := range e.Variants {
		e.Variants[i] += fmt.Sprintf(" x%d", round)
	}
	if e.Plain != nil {
		e.Plain = &lingible.Plain{Text: fmt.Sprintf("%s y%d", e.Plain.Text, round), PartOfSpeech: e.Plain.PartOfSpeech}
	}
	return e
}

// highest samples a metric of the runtime until it is stopped, and returns the highest value in MB.
func highest(value func() uint64) (stop func() float64) {
	done, ended := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			most = max(most, value())
			select {
			case <-done:
				ended <- most
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() float64 {
		close(done)
		return float64(<-ended) / 1e6
	}
}

func metric(name string) uint64 {
	samples := []metrics.Sample{{Name: name}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

// BenchmarkExport prints what an export of all terms, and one of one changed term, hold in memory: live, which is what
// it needs, and held, with the garbage collector as the function has it with 256 MB.
func BenchmarkExport(b *testing.B) {
	for _, terms := range []int{3_155, 27_000} {
		initial, l := must.Get(lexicons.Initial())(b), newLexicon(b)
		var group errgroup.Group
		group.SetLimit(32)
		for i := range terms {
			group.Go(func() error {
				_, err := l.AddEntry(b.Context(), varied(initial, i))
				return err
			})
		}
		must.OK(b, group.Wait())
		exporter := l.exporter(false)
		for _, export := range []struct {
			name    string
			changed []string
		}{{"All", nil}, {"One", []string{initial[0].Slug()}}} {
			b.Run(fmt.Sprintf("%s/%d", export.name, terms), func(b *testing.B) {
				for b.Loop() {
					for _, as := range []struct {
						name       string
						percent    int
						limit      int64
						isMeasured func() uint64
					}{
						{"live-MB", 25, 1 << 40, func() uint64 { return metric("/gc/heap/live:bytes") }},
						{"held-MB", 400, 224 << 20, func() uint64 {
							return metric("/memory/classes/total:bytes") - metric("/memory/classes/heap/released:bytes")
						}},
					} {
						percent, limit := debug.SetGCPercent(as.percent), debug.SetMemoryLimit(as.limit)
						debug.FreeOSMemory()
						before := float64(as.isMeasured()) / 1e6
						stop := highest(as.isMeasured)
						got, err := exporter.Export(b.Context(), export.changed)
						b.ReportMetric(stop(), as.name)
						b.ReportMetric(before, "before-"+as.name)
						debug.SetGCPercent(percent)
						debug.SetMemoryLimit(limit)
						if got != terms || err != nil {
							b.Fatalf("got %d terms, %v", got, err)
						}
					}
				}
			})
		}
	}
}
