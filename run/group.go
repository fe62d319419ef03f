package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// group runs the parts of a run. A part is an actor: a function that executes until its context ends, which interrupts
// it. When a part fails, or the run is closed, the group interrupts all parts at once and waits for them. What they
// need, such as the engine, ends after them.
type group struct {
	// ctx ends when a part has failed, with its error as the cause, and when the run is closed.
	ctx     context.Context
	cancel  context.CancelFunc
	running *errgroup.Group
	last    []func()
	closing sync.Once
}

// newGroup returns a group without parts. The end of ctx does not end it.
func newGroup(ctx context.Context) *group {
	g := &group{}
	ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.running, g.ctx = errgroup.WithContext(ctx)
	return g
}

// start starts a part. Its error ends the run.
func (g *group) start(execute func(ctx context.Context) error) {
	g.running.Go(func() error { return execute(g.ctx) })
}

// onStop adds a part that works by itself. Interrupt ends it, and returns when it has ended.
func (g *group) onStop(interrupt func()) {
	g.start(func(ctx context.Context) error {
		<-ctx.Done()
		interrupt()
		return nil
	})
}

// afterwards releases what parts need, when all of them have ended. The last release that was added comes first.
func (g *group) afterwards(release func()) { g.last = append(g.last, release) }

// close interrupts all parts and returns when they have ended. It is safe to call more than once.
func (g *group) close() {
	g.closing.Do(func() {
		g.cancel()
		_ = g.running.Wait() // [group.ctx] has the error
		for i := len(g.last) - 1; i >= 0; i-- {
			g.last[i]()
		}
	})
}

const (
	headerTimeout  = 10 * time.Second
	shutdownPeriod = time.Second
)

// serve starts a part that answers on the listener. After the interrupt, requests have a second to end.
func (g *group) serve(listener net.Listener, handler http.Handler) {
	g.start(func(ctx context.Context) error {
		server := &http.Server{
			Handler: handler, ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: 64 << 10,
			ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(listener) }()
		select {
		case err := <-ended:
			return fmt.Errorf("server on %s ended: %w", listener.Addr(), err)
		case <-ctx.Done():
		}
		period, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPeriod)
		defer cancel()
		if server.Shutdown(period) != nil {
			_ = server.Close()
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("server on %s: %w", listener.Addr(), err)
		}
		return nil
	})
}
