package run

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// The failure of one part interrupts all others. Releases follow when all have ended: once, and in reverse order.
func TestGroup(t *testing.T) {
	t.Parallel()
	failure := errors.New("this part failed")
	for name, end := range map[string]func(*group) error{
		"failure": func(g *group) error {
			g.start(func(context.Context) error { return failure })
			return failure
		},
		"close": func(g *group) error {
			g.cancel()
			return context.Canceled
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t.Context())
			var released []string
			var interrupted atomic.Int32
			for _, name := range []string{"folder", "engine"} {
				g.afterwards(func() {
					if interrupted.Load() != 2 {
						t.Errorf("%s ended before the parts", name)
					}
					released = append(released, name)
				})
			}
			g.onStop(func() { interrupted.Add(1) })
			g.start(func(ctx context.Context) error {
				<-ctx.Done()
				interrupted.Add(1)
				return nil
			})
			want := end(g)
			<-g.ctx.Done()
			if got := context.Cause(g.ctx); !errors.Is(got, want) {
				t.Errorf("got cause %v, want %v", got, want)
			}
			g.close()
			g.close()
			if !slices.Equal(released, []string{"engine", "folder"}) {
				t.Errorf("released %v", released)
			}
		})
	}
}

// A server that can no longer accept connections is a failure; an interrupted one is not.
func TestGroupServes(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"listener dies": true, "interrupted": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			g := newGroup(t.Context())
			g.serve(listener, http.NotFoundHandler())
			answer := must.Get(http.Get(url(listener)))(t)
			_ = answer.Body.Close()
			if fails {
				_ = listener.Close()
				<-g.ctx.Done()
			}
			g.close()
			if failed := !errors.Is(context.Cause(g.ctx), context.Canceled); failed != fails {
				t.Errorf("got cause %v", context.Cause(g.ctx))
			}
			if _, err := http.Get(url(listener)); err == nil {
				t.Error("the server answers after the end")
			}
		})
	}
}
