package lambda

import (
	"bytes"
	"sync"
)

const (
	maxLine   = 256 << 10 // CloudWatch Logs' largest event
	keptLines = 1000      // of what a start that failed has printed
)

// lineWriter cuts a process's output into lines. Lines over maxLine are cut, as CloudWatch does.
type lineWriter struct {
	emit func(string)

	mu      sync.Mutex
	pending []byte
}

// Write never fails: output does not break a process.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		w.pending = append(w.pending, p[:i]...)
		p = p[i+1:]
		w.flushLocked()
	}
	w.pending = append(w.pending, p...)
	for len(w.pending) >= maxLine {
		rest := bytes.Clone(w.pending[maxLine:])
		w.pending = w.pending[:maxLine]
		w.flushLocked()
		w.pending = append(w.pending, rest...)
	}
	return n, nil
}

func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushLocked()
}

func (w *lineWriter) flushLocked() {
	if line := bytes.TrimRight(w.pending, "\r"); len(line) > 0 {
		w.emit(string(line))
	}
	w.pending = w.pending[:0]
}
