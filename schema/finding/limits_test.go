package finding_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

type mapping struct {
	Size   int           `min:"1" max:"10000" default:"100"`
	Window time.Duration `min:"0s" max:"5m" step:"1s" default:"none"`
	Every  time.Duration `min:"1m" step:"1m"`
	Most   int64         `max:"9"`
	Free   int
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		given mapping
		want  string
	}{
		"Defaults": {mapping{Every: time.Minute}, ""},
		"Lowest":   {mapping{Size: 1, Window: time.Second, Every: time.Minute, Most: -1, Free: -1}, ""},
		"Highest":  {mapping{Size: 10000, Window: 5 * time.Minute, Every: 100 * time.Hour, Most: 9}, ""},
		"Below": {mapping{Size: -1, Window: -time.Second}, `3 findings:
  Props.Size: got -1, allowed is 1 to 10000: leave it 0 for 100
  Props.Window: got "-1s", allowed is 0s to 5m0s in whole seconds: leave it 0 for none
  Props.Every: got "0s", allowed is 1m0s or more in whole minutes: write one of these`},
		"Above": {mapping{Size: 10001, Window: 5*time.Minute + time.Second, Every: 90 * time.Second, Most: 10},
			`4 findings:
  Props.Size: got 10001, allowed is 1 to 10000: leave it 0 for 100
  Props.Window: got "5m1s", allowed is 0s to 5m0s in whole seconds: leave it 0 for none
  Props.Every: got "1m30s", allowed is 1m0s or more in whole minutes: write one of these
  Props.Most: got 10, allowed is up to 9: write one of these`},
	} {
		var f finding.List
		f.Limits("Props", &test.given)
		got := ""
		if err := f.Err(); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
