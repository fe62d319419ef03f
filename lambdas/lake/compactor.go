package lake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// targetBytes is the size from which on an object takes no further row group: with its
	// last one it has 128 MB at most, a size that Amazon Athena recommends ("Performance
	// tuning tips": optimize file sizes).
	targetBytes = 96 << 20
	// stopTime is what is left of an invocation's time when the compactor stops.
	stopTime = 5 * time.Second
	// mergeTime is the least time in which a merge is begun.
	mergeTime = 15 * time.Second
)

// Report says what a run of the compactor has done.
type Report struct {
	// Partitions is the number of partitions (a day of an entity) whose objects were merged.
	Partitions int `json:"partitions"`
	// ObjectsBefore and ObjectsAfter are how many objects these had.
	ObjectsBefore int `json:"objects_before"`
	ObjectsAfter  int `json:"objects_after"`
	// Rows is the number of rows that were written.
	Rows int `json:"rows"`
	// Duplicates is the number of rows that were dropped because another has the
	// same event.
	Duplicates int `json:"duplicates"`
	// Unreadable is the number of objects that were left alone because they are no
	// Parquet files of their table.
	Unreadable int `json:"unreadable"`
	// Unfinished says that time ran out: the next run goes on.
	Unfinished bool `json:"unfinished"`
}

// Compactor merges the small objects of the lake, sorted by sequence number and with each change
// once. It leaves unknown objects alone.
//
// A query that lists the objects before a merge may find one of them deleted, and fails; a repeated
// query finds the merged object.
//
// It may run while the writer writes. Two runs at once lose nothing, but may write
// a change twice, and one of them may fail on objects that the other has deleted.
type Compactor struct {
	bucket Bucket
	tables map[string]*table
	names  []string // of the entities, in the definition's order
	// Log is the log. Nil: slog.Default().
	Log *slog.Logger
	// Metrics takes, for each run, LakeObjectsMerged, LakeDuplicates and
	// LakeCompactionFailures. Nil: none.
	Metrics *kit.Metrics

	target int64
}

// NewCompactor returns a compactor of the definition's entities.
func NewCompactor(d schema.LakeDefinition, bucket Bucket) *Compactor {
	c := &Compactor{bucket: bucket, tables: tablesOf(d), target: targetBytes}
	for _, e := range d.Entities {
		c.names = append(c.names, e.Name)
	}
	return c
}

// Run merges until there is nothing to merge, or until shortly before the context's deadline, and
// reports on it. A failure to read or write an object does not stop the rest; the error has all
// failures.
func (c *Compactor) Run(ctx context.Context) (Report, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-stopTime))
		defer cancel()
	}
	log := cmp.Or(c.Log, slog.Default())
	r := &run{compactor: c}
	for _, name := range c.names {
		if r.stopped(ctx) {
			break
		}
		r.entity(ctx, name)
	}
	c.Metrics.Emit(ctx,
		kit.Count("LakeObjectsMerged", r.report.ObjectsBefore),
		kit.Count("LakeDuplicates", r.report.Duplicates),
		kit.Count("LakeCompactionFailures", len(r.failures)))
	log.InfoContext(ctx, "compaction", "partitions", r.report.Partitions,
		"objects_before", r.report.ObjectsBefore, "objects_after", r.report.ObjectsAfter,
		"rows", r.report.Rows, "duplicates", r.report.Duplicates, "unreadable", r.report.Unreadable, "unfinished",
		r.report.Unfinished)
	return r.report, errors.Join(r.failures...)
}

// run is one run of the compactor.
type run struct {
	compactor *Compactor
	report    Report
	failures  []error
}

// stopped reports whether there is no time for another merge.
func (r *run) stopped(ctx context.Context) bool {
	if kit.Ends(ctx, mergeTime) {
		r.report.Unfinished = true
	}
	return r.report.Unfinished
}

// failed keeps an error for the end, unless it is only that time ran out.
func (r *run) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		r.report.Unfinished = true
		return
	}
	r.failures = append(r.failures, err)
}

// entity compacts an entity's partitions, which a listing gives one after the
// other.
func (r *run) entity(ctx context.Context, entity string) {
	var (
		current partition
		objects []Object
	)
	for o, err := range r.compactor.bucket.List(ctx, entityPrefix(entity)) {
		if err != nil {
			r.failed(ctx, fmt.Errorf("list the objects of %s: %w", entity, err))
			return
		}
		n, ok := parseKey(o.Key)
		if !ok {
			continue
		}
		if n.partition != current {
			r.partition(ctx, current, objects)
			current, objects = n.partition, nil
		}
		objects = append(objects, o)
		if r.report.Unfinished {
			return
		}
	}
	r.partition(ctx, current, objects)
}

// partition merges a partition's objects until there is nothing to merge.
func (r *run) partition(ctx context.Context, p partition, objects []Object) {
	before, begun := len(objects), false
	for {
		inputs, shadows, generation := plan(objects, r.compactor.target)
		if len(inputs) == 0 || r.stopped(ctx) {
			break
		}
		m := &merge{
			table: r.compactor.tables[p.entity], bucket: r.compactor.bucket, partition: p,
			inputs: inputs, shadows: shadows, generation: generation, target: r.compactor.target,
		}
		done, err := m.run(ctx)
		if err != nil {
			r.failed(ctx, err)
			unreadable, ok := errors.AsType[*unreadableError](err)
			if !ok {
				break
			}
			r.report.Unreadable++
			objects = without(objects, Object{Key: unreadable.key})
			continue
		}
		begun = true
		r.report.Rows += done.rows
		r.report.Duplicates += done.duplicates
		objects = append(without(objects, inputs...), done.outputs...)
	}
	if begun {
		r.report.Partitions++
		r.report.ObjectsBefore += before
		r.report.ObjectsAfter += len(objects)
	}
}

// without returns the objects except those with the keys of others.
func without(objects []Object, others ...Object) []Object {
	keys := map[string]bool{}
	for _, o := range others {
		keys[o.Key] = true
	}
	return slices.DeleteFunc(slices.Clone(objects), func(o Object) bool { return keys[o.Key] })
}
