package platform

import (
	"runtime/debug"
	"testing"
	"time"
)

// A missed run of an hour and more is noticed within an interval and an hour, and never
// by an alarm that Amazon CloudWatch refuses.
func TestUnmissed(t *testing.T) {
	t.Parallel()
	for every := time.Minute; every <= 24*time.Hour; every += time.Minute {
		period, periods := unmissed(every)
		looks := period * time.Duration(periods)
		most := 24 * time.Hour
		if period >= time.Hour {
			most *= 7
		}
		if looks > most || period%time.Minute != 0 {
			t.Errorf("every %s: got %d x %s, which is more than %s", every, periods, period, most)
		}
		if looks < every+min(every, 5*time.Minute) || every >= time.Hour && looks > every+2*period {
			t.Errorf("every %s: got %d x %s, want a little more than an interval", every, periods, period)
		}
		if every < 23*time.Hour && every >= time.Hour && looks > every+10*time.Minute {
			t.Errorf("every %s: a missed run is noticed after %s", every, looks)
		}
	}
}

// An alarm links to the page of the deployed version.
func TestRunbook(t *testing.T) {
	t.Parallel()
	library := func(version string, replace *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: "example.com/app", Version: "v9.9.9"}, Deps: []*debug.Module{
			{Path: "github.com/aws/jsii-runtime-go", Version: "v1.139.0"},
			{Path: library, Version: version, Replace: replace},
		}}
	}
	tests := map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"Release": {library("v1.2.3", nil), "v1.2.3"},
		"Before":  {library("v1.2.3-rc.1", nil), "v1.2.3-rc.1"},
		"Commit":  {library("v0.0.0-20261120123456-0123456789ab", nil), "0123456789ab"},
		"Folder":  {library("v1.2.3", &debug.Module{Path: "../onesynth"}), "main"},
		"Own": {&debug.BuildInfo{Main: debug.Module{Path: library("", nil).Deps[1].Path,
			Version: "v0.0.0-20261120123456-0123456789ab+dirty"}}, "main"},
		"Devel":    {library("(devel)", nil), "main"},
		"NoRecord": {nil, "main"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := "https://github.com/onesynth-cdk/onesynth/blob/" + test.want + "/docs/operate/alarms.md#alarms"
			if got := runbook(test.info); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
