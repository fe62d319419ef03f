package run

import (
	"github.com/onesynth-cdk/onesynth/internal/console"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
)

func init() { rooms.Of = func(run any) console.Parts { return run.(*Runner).Parts() } }
