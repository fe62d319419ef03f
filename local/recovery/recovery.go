// Package recovery lets what polls in a run survive a panic in one of its rounds, as a poller of AWS Lambda would: the round has failed,
// and the next one comes.
package recovery

import (
	"fmt"
	"runtime/debug"
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

// Call does work and returns its error, or a [*PanicError] if it panics. A panic in a goroutine that work starts still ends the process.
func Call(work func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = &PanicError{Reason: reason, Stack: debug.Stack()}
		}
	}()
	return work()
}
