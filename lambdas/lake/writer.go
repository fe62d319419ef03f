package lake

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// ErrDeadline is the error of a batch whose invocation has less time left than writing
// may take.
var ErrDeadline = errors.New("too little time is left of the invocation to write the batch: it is delivered again; " +
	"raise the function's timeout, or lower the batch size")

const (
	// writeTime is the least time that an invocation has for writing.
	writeTime = 2 * time.Second
	// sendsAtOnce is how many messages are sent at the same time. A batch of up to 10,000 records
	// that all cannot be converted has to be done in time, too.
	sendsAtOnce = 16
)

// Writer writes the changes of a table as Parquet objects.
type Writer struct {
	put       func(ctx context.Context, key string, body io.ReadSeeker) error
	failures  trigger.Failures
	converter converter
	// Log is the log. Nil: slog.Default().
	Log *slog.Logger
	// Metrics takes, for each batch, LakeRows; LakeDelay, the time until its oldest change was
	// written; LakeFailures, the records that could not be converted; and LakeWriteFailures, 1 when
	// the batch failed. Nil: none.
	Metrics *kit.Metrics
	Clock   wire.Clock
}

// NewWriter returns a writer of the definition's entities. put writes an object of the bucket, as [Bucket] does.
func NewWriter(d schema.LakeDefinition, put func(ctx context.Context, key string, body io.ReadSeeker) error,
	failures trigger.Failures) *Writer {
	return &Writer{put: put, failures: failures, converter: converter{definition: d, tables: tablesOf(d)}}
}

// Handle writes a batch and reports on it. An error is of the whole batch: the stream delivers the
// batch again, and writing it again changes no object that is already written. Records that cannot
// be converted are no error: they are in the failure queue when Handle returns nil, at least once. With Again
// they are one, and nothing is written.
func (w *Writer) Handle(ctx context.Context, batch trigger.Records) error {
	written, err := w.write(ctx, batch)
	log := cmp.Or(w.Log, slog.Default())
	if err != nil {
		w.Metrics.Emit(ctx, kit.Count("LakeWriteFailures", 1))
		return err
	}
	metrics := []kit.Metric{kit.Count("LakeRows", written.rows), kit.Count("LakeFailures", written.failures)}
	if !written.oldest.IsZero() {
		metrics = append(metrics, kit.Milliseconds("LakeDelay", max(0, w.Clock.Now().Sub(written.oldest))))
	}
	w.Metrics.Emit(ctx, metrics...)
	log.InfoContext(ctx, "batch", "records", len(batch.Records), "rows", written.rows, "objects", written.objects,
		"failures", written.failures)
	return nil
}

// written is the outcome of a batch.
type written struct {
	rows, objects, failures int
	oldest                  time.Time // change; zero without rows
}

func (w *Writer) write(ctx context.Context, batch trigger.Records) (written, error) {
	var all written
	objects, failures, err := w.convert(batch, &all)
	if err == nil && batch.Again {
		for _, failure := range failures {
			err = errors.Join(err, errors.New(failure.Cause))
		}
	}
	if err != nil {
		return all, err
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < writeTime && len(objects)+len(failures) > 0 {
		return all, ErrDeadline
	}
	for _, o := range objects {
		if err := w.put(ctx, o.key, bytes.NewReader(o.body)); err != nil {
			return all, fmt.Errorf("write %s: %w", o.key, err)
		}
	}
	// Messages come last, because a repeated batch would send them again.
	sends, ctx := errgroup.WithContext(ctx)
	sends.SetLimit(sendsAtOnce)
	for _, failure := range failures {
		sends.Go(func() error {
			message, err := failure.Message(ctx)
			if err != nil {
				return err
			}
			return w.failures.Send(ctx, message)
		})
	}
	if err := sends.Wait(); err != nil {
		return all, fmt.Errorf("send a record that cannot be converted to the failure queue: %w", err)
	}
	return all, nil
}

type object struct {
	key  string
	body []byte
}

// convert makes the objects of a batch in the order of their keys, and the
// failures of its records that cannot be converted.
func (w *Writer) convert(batch trigger.Records, all *written) (objects []object, failures []trigger.Failure,
	err error) {
	var rows []*row
	var eventIDs []string
	seen := map[string]bool{}
	for _, raw := range batch.Records {
		made, parsed, failure := w.converter.convert(raw)
		eventIDs = append(eventIDs, parsed.EventID)
		if failure != nil {
			failures = append(failures, *failure)
			continue
		}
		if made != nil && !seen[made.eventID] {
			seen[made.eventID] = true
			rows = append(rows, made)
		}
	}
	all.rows, all.failures = len(rows), len(failures)
	if len(rows) == 0 {
		return nil, failures, nil
	}
	slices.SortFunc(rows, func(a, b *row) int {
		if order := strings.Compare(a.sequence, b.sequence); order != 0 {
			return order
		}
		return strings.Compare(a.eventID, b.eventID)
	})
	slices.Sort(eventIDs)
	name := writtenName(rows[0].sequence, rows[len(rows)-1].sequence, slices.Compact(eventIDs))
	parts := map[partition][]*row{}
	for _, r := range rows {
		parts[r.partition] = append(parts[r.partition], r)
		if all.oldest.IsZero() || r.time.Before(all.oldest) {
			all.oldest = r.time
		}
	}
	for part, rows := range parts {
		body, err := w.converter.tables[part.entity].encode(rows)
		if err != nil {
			return nil, nil, fmt.Errorf("write the rows of %s of %s as Parquet: %w", part.entity, part.date, err)
		}
		objects = append(objects, object{part.key(name), body})
	}
	slices.SortFunc(objects, func(a, b object) int { return strings.Compare(a.key, b.key) })
	all.objects = len(objects)
	return objects, failures, nil
}
