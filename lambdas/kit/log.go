package kit

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// NewLogger returns a logger that writes JSON lines with timestamp, level and message, as Lambda's own JSON log format
// names them, and function_name. In the context of an invocation it adds request_id, route and, during the first
// invocation, cold_start.
//
// level is debug, info, warn or error; empty means info. Any other is an error.
func NewLogger(w io.Writer, level, function string) (*slog.Logger, error) {
	var threshold slog.Level
	if level != "" {
		if err := threshold.UnmarshalText([]byte(level)); err != nil {
			return nil, fmt.Errorf("LOG_LEVEL is %q: write debug, info, warn or error", level)
		}
	}
	handler := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: threshold, ReplaceAttr: lambdacontext.ReplaceAttr})
	return slog.New(invocationLogger{handler}).With("function_name", function), nil
}

// invocationLogger adds what the context knows of the invocation.
type invocationLogger struct{ slog.Handler }

func (h invocationLogger) Handle(ctx context.Context, record slog.Record) error {
	if invocation, ok := ctx.Value(invocationKey{}).(*Invocation); ok {
		record = record.Clone()
		record.AddAttrs(slog.String("request_id", invocation.RequestID))
		if invocation.ColdStart {
			record.AddAttrs(slog.Bool("cold_start", true))
		}
		if invocation.Route != "" {
			record.AddAttrs(slog.String("route", invocation.Route))
		}
	}
	return h.Handler.Handle(ctx, record)
}

func (h invocationLogger) WithAttrs(attrs []slog.Attr) slog.Handler {
	return invocationLogger{h.Handler.WithAttrs(attrs)}
}

func (h invocationLogger) WithGroup(name string) slog.Handler {
	return invocationLogger{h.Handler.WithGroup(name)}
}

// Panicked logs a recovered panic, and returns it as an error. It keeps only the runtime's own messages, because others
// may quote the request. The stack, which contains no texts, shows the place.
func Panicked(ctx context.Context, log *slog.Logger, reason any) error {
	err := fmt.Errorf("a panic with a %T", reason)
	if own, ok := reason.(runtime.Error); ok {
		err = own
	}
	log.ErrorContext(ctx, "panic", "error", err.Error(), "stack", string(debug.Stack()))
	return err
}

// milliseconds returns a duration in the form of log lines and metrics.
func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}
