package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// profiler is loaded into the CDK's process. It writes a profile of the processor, by V8's sampler, when the process
// ends.
const profiler = `if ((process.argv[1] || "").endsWith("program.js")) {
  const { Session } = require("node:inspector");
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.setSamplingInterval", { interval: 500 });
  session.post("Profiler.start");
  process.on("exit", () => session.post("Profiler.stop", (error, stopped) => {
    require("node:fs").writeFileSync(process.env.BENCH_PROFILE, JSON.stringify(stopped.profile));
  }));
}
`

// shares are how a synth's time divides.
type shares struct {
	// cdk is the time in aws-cdk-lib and constructs, jsii that in its runtime, which carries calls between Go and
	// Node.js.
	cdk, jsii time.Duration
	// own is the time that the CDK's process waits for the Go program: the constructs, with jsii's client, and the
	// build of the handlers.
	own time.Duration
	// start is the rest: both processes' starts and ends.
	start time.Duration
}

func (s shares) String() string {
	return fmt.Sprintf("CDK %.2f s, jsii %.2f s, our Go program %.2f s, start and end of processes %.2f s",
		s.cdk.Seconds(), s.jsii.Seconds(), s.own.Seconds(), s.start.Seconds())
}

// sharesOf synthesises once more, with a profile of the CDK's process.
func (b *bench) sharesOf(ctx context.Context, out string, arguments ...string) (shares, error) {
	script, profile := b.path("profiler.cjs"), b.path("profile.json")
	if err := os.WriteFile(script, []byte(profiler), 0o600); err != nil {
		return shares{}, err
	}
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f={{.Dir}}", "github.com/aws/jsii-runtime-go")
	list.Dir = b.root
	folder, err := list.Output()
	if err != nil {
		return shares{}, fmt.Errorf("find the runtime of jsii: %w", err)
	}
	runtime := filepath.Join(strings.TrimSpace(string(folder)), "internal", "embedded", "resources", "bin",
		"jsii-runtime.js")
	variables := append([]string{"BENCH_PROFILE=" + profile,
		fmt.Sprintf("JSII_RUNTIME=node --require '%s' '%s'", script, runtime)}, unchecked...)
	took, err := timed(func() error { return b.synthesise(ctx, "cdk-app", out, variables, arguments...) })
	if err != nil {
		return shares{}, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return shares{}, err
	}
	s, err := readProfile(text)
	if err != nil {
		return shares{}, fmt.Errorf("profile of the synth: %w", err)
	}
	s.start = max(0, took-s.cdk-s.jsii-s.own)
	return s, nil
}

// readProfile divides a profile of V8: each sample counts for the code that called what it is in. The runtime reads
// calls with a read that blocks: that is the time in which it waits.
func readProfile(text []byte) (shares, error) {
	var profile struct {
		Nodes []struct {
			ID        int
			CallFrame struct {
				FunctionName string
				URL          string
			}
			Children []int
		}
		Samples    []int
		TimeDeltas []int64
	}
	if err := json.Unmarshal(text, &profile); err != nil {
		return shares{}, err
	}
	if len(profile.Samples) == 0 || len(profile.Samples) != len(profile.TimeDeltas) {
		return shares{}, fmt.Errorf("got %d samples and %d times", len(profile.Samples), len(profile.TimeDeltas))
	}
	parent, at := map[int]int{}, map[int]int{}
	for i, node := range profile.Nodes {
		at[node.ID] = i
		for _, child := range node.Children {
			parent[child] = node.ID
		}
	}
	var s shares
	for i, id := range profile.Samples {
		took := time.Duration(profile.TimeDeltas[i]) * time.Microsecond
		frame := profile.Nodes[at[id]].CallFrame
		into := &s.jsii
		if frame.FunctionName == "read" && frame.URL == "" || frame.FunctionName == "(idle)" {
			into = &s.own
		} else {
			for caller, ok := id, true; ok; caller, ok = parent[caller] {
				if url := profile.Nodes[at[caller]].CallFrame.URL; strings.Contains(url,
					"/node_modules/aws-cdk-lib/") || strings.Contains(url, "/node_modules/constructs/") {
					into = &s.cdk
					break
				}
			}
		}
		*into += took
	}
	return s, nil
}
