// Package rooms is the way of this module's commands and tests into a run of package local, whose importers have none:
// what a run consists of may change at any time.
package rooms

import "github.com/onesynth-cdk/onesynth/internal/console"

// Of returns what a *run.Runner consists of now. Package run, which this one cannot import, sets it.
var Of func(run any) console.Parts
