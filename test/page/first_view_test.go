package page

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// whenShown notes the moment at which the first question is drawn, in ms since the address was asked for.
const whenShown = `addEventListener('DOMContentLoaded', () => {
	const main = document.getElementById('main');
	new MutationObserver((_, observer) => {
		if (!main.querySelector('.card')) return;
		observer.disconnect();
		requestAnimationFrame(() => { globalThis.shown = performance.now(); });
	}).observe(main, {childList: true, subtree: true});
})`

// The first view of someone whose browser has nothing of the page, with a list of questions, over a fast and a slow
// network.
func BenchmarkFirstView(b *testing.B) {
	for n := range 20 {
		ask(b, unique(fmt.Sprintf("What would you ask as number %d?", n)), 5)
	}
	b.Run("fast", func(b *testing.B) { firstView(b, browser.Options{Before: whenShown}) })
	b.Run("slow", func(b *testing.B) { firstView(b, browser.Options{Before: whenShown, Slow: true}) })
}

func firstView(b *testing.B, options browser.Options) {
	run, driven := suite.Start(b)
	type view struct{ Painted, Shown, Bytes, Requests float64 }
	var views []view
	look := func() view {
		tab := driven.Open(b, run.URL("")+"/", options)
		tab.Until("globalThis.shown")
		return browser.Evaluate[view](tab, `(() => {
			const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter((one) => one.startTime < shown);
			const painted = performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
			return {painted, shown, bytes: loaded.reduce((sum, one) => sum + one.encodedBodySize, 0), requests: loaded.length};
		})()`)
	}
	// The first one starts the functions.
	look()
	for b.Loop() {
		views = append(views, look())
	}
	slices.SortFunc(views, func(a, other view) int { return int(a.Shown - other.Shown) })
	middle := views[len(views)/2]
	b.ReportMetric(middle.Painted, "ms-until-painted")
	b.ReportMetric(middle.Shown, "ms-until-shown")
	b.ReportMetric(views[len(views)-1].Shown, "ms-longest")
	b.ReportMetric(middle.Bytes, "bytes")
	b.ReportMetric(middle.Requests, "requests")
}
