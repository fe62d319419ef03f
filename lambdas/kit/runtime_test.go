package kit

import (
	"maps"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestRuntimeFor(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for name, test := range map[string]struct {
		megabytes string
		operator  map[string]string
		want      runtimeSettings
	}{
		"the least memory":           {megabytes: "128", want: runtimeSettings{1, 400, 96 * mb}},
		"the default":                {megabytes: "256", want: runtimeSettings{1, 400, 224 * mb}},
		"a tenth is more":            {megabytes: "1024", want: runtimeSettings{1, 400, 922 * mb}},
		"just below a processor":     {megabytes: "1768", want: runtimeSettings{1, 400, 1592 * mb}},
		"a whole processor":          {megabytes: "1769", want: runtimeSettings{0, 400, 1593 * mb}},
		"the most memory":            {megabytes: "10240", want: runtimeSettings{0, 400, 9216 * mb}},
		"not on Lambda":              {},
		"no number":                  {megabytes: "256 MB"},
		"less than what is reserved": {megabytes: "32"},
		"processors of the operator": {megabytes: "256", operator: map[string]string{"GOMAXPROCS": "2"},
			want: runtimeSettings{0, 400, 224 * mb}},
		"collections of the operator": {megabytes: "256", operator: map[string]string{"GOGC": "100"},
			want: runtimeSettings{1, 0, 224 * mb}},
		"memory limit of the operator": {megabytes: "256", operator: map[string]string{"GOMEMLIMIT": "off"},
			want: runtimeSettings{1, 400, 0}},
		"everything is the operator's ": {megabytes: "256",
			operator: map[string]string{"GOMAXPROCS": "4", "GOGC": "off", "GOMEMLIMIT": "200MiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": test.megabytes}
			maps.Copy(values, test.operator)
			if got := runtimeFor(environment(values)); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// Not parallel: the settings are the process's.
func TestApplyRuntimeSettings(t *testing.T) {
	processors, collect, limit := runtime.GOMAXPROCS(0), debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	before := runtimeSettings{processors, collect, limit}
	defer before.apply()
	read := func() runtimeSettings {
		collect := debug.SetGCPercent(100)
		debug.SetGCPercent(collect)
		return runtimeSettings{runtime.GOMAXPROCS(0), collect, debug.SetMemoryLimit(-1)}
	}
	want := runtimeSettings{1, 400, 224 << 20}
	want.apply()
	if got := read(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	(runtimeSettings{}).apply()
	if got := read(); got != want {
		t.Errorf("no settings: got %+v, want %+v as before", got, want)
	}
}
