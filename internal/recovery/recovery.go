// Package recovery runs the rounds of what polls in a run. A panic fails one round alone, as in a poller of AWS Lambda,
// and the next round comes after a wait.
package recovery

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// PanicError is a panic that Call has recovered.
type PanicError struct {
	// Reason is the value that was panicked with.
	Reason any
	// Stack is where.
	Stack []byte
}

// Error has the reason, and the stack in further lines.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Reason, e.Stack) }

// Call does work and returns its error, or a [*PanicError] if it panics. A panic in a goroutine that work starts still
// ends the process.
func Call(work func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = &PanicError{Reason: reason, Stack: debug.Stack()}
		}
	}()
	return work()
}

// Wait waits between two rounds. It reports whether the time has passed; otherwise ctx ended first.
func Wait(ctx context.Context, duration time.Duration) bool { return Sleep(ctx, duration) == nil }

// Sleep waits. It returns the error of a context that ends first.
func Sleep(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
