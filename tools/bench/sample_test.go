package main

import (
	"testing"
	"time"
)

func inMilliseconds(values ...time.Duration) sample {
	for i := range values {
		values[i] *= time.Millisecond
	}
	return sampleOf(values)
}

// A sample of fewer than 6 has no interval. Of an even number, the median is between the two in the middle. A value far
// off widens the interval only if it is one of few.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		of         sample
		want       string
		p99, worst string
	}{
		{inMilliseconds(812),
			"812.0ms ± ∞ (need >= 6 samples for confidence interval at level 0.95)", "812.0ms", "812.0ms"},
		{inMilliseconds(2313, 2290, 2402, 2347, 2331, 2368), "2.339s ± 3%", "2.402s", "2.402s"},
		{inMilliseconds(1210, 1187, 1304, 1225, 1198, 1242, 1611, 1219, 1233, 1207), "1.222s ± 7%", "1.611s", "1.611s"},
	} {
		if got := c.of.spread(); got != c.want {
			t.Errorf("the spread of %v is %q, want %q", c.of.Values, got, c.want)
		}
		if got := seconds(c.of.quantile(0.99)); got != c.p99 {
			t.Errorf("p99 of %v is %q, want %q", c.of.Values, got, c.p99)
		}
		if got := seconds(c.of.longest()); got != c.worst {
			t.Errorf("the longest of %v is %q, want %q", c.of.Values, got, c.worst)
		}
	}
}

// Three of each cannot differ enough to tell.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		of, base sample
		want     string
	}{
		{inMilliseconds(142, 139, 147), inMilliseconds(131, 128, 133), "~ (p=0.100 n=3)"},
		{inMilliseconds(142, 139, 147, 140, 144, 141), inMilliseconds(131, 128, 133, 130, 135, 129),
			"+8.43% (p=0.002 n=6)"},
		{inMilliseconds(142, 129, 137, 140, 131, 138), inMilliseconds(141, 128, 143, 130, 135, 139), "~ (p=1.000 n=6)"},
	} {
		if got := c.of.difference(c.base); got != c.want {
			t.Errorf("got %q for %v against %v, want %q", got, c.of.Values, c.base.Values, c.want)
		}
	}
}
