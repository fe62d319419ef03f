package lake

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// merge is one step of compaction of the objects of a partition.
type merge struct {
	table     *table
	bucket    Bucket
	partition partition
	// inputs are merged, and then deleted.
	inputs []Object
	// shadows are left as they are; rows of inputs that they have are dropped.
	shadows []Object
	// generation is the generation of the outputs.
	generation int
	// target is the size in bytes at which an output ends.
	target int64
}

// merged says what a merge has done.
type merged struct {
	outputs          []Object
	rows, duplicates int
}

// run writes the outputs, and only then deletes the inputs: a crash leaves changes
// in two objects, never in none.
func (m *merge) run(ctx context.Context) (merged, error) {
	var result merged
	err := m.write(ctx, &result)
	if err != nil {
		return result, err
	}
	for _, input := range m.inputs {
		if err := m.bucket.Delete(ctx, input.Key); err != nil {
			return result, fmt.Errorf("delete %s, which is merged: %w", input.Key, err)
		}
	}
	return result, nil
}

func (m *merge) write(ctx context.Context, result *merged) error {
	sources, err := m.open(ctx)
	defer func() {
		for _, s := range sources {
			s.close()
		}
	}()
	if err != nil {
		return err
	}
	queue := make(sourceQueue, 0, len(sources))
	for _, s := range sources {
		more, err := s.advance()
		if err != nil {
			return err
		}
		if more {
			queue = append(queue, s)
		}
	}
	heap.Init(&queue)
	out := &outputs{merge: m}
	defer out.discard()
	row := make(parquet.Row, len(m.table.columns))
	var sequence, eventID []byte // of the row before
	for len(queue) > 0 {
		s := queue[0]
		next, id := s.sequence.value.ByteArray(), s.eventID.value.ByteArray()
		same := bytes.Equal(next, sequence) && bytes.Equal(id, eventID)
		switch {
		case s.shadow:
		case same:
			result.duplicates++
			err = s.drop()
		default:
			if err = s.row(m.table, row); err == nil {
				err = out.write(ctx, row, next)
			}
		}
		if err != nil {
			return err
		}
		sequence, eventID = append(sequence[:0], next...), append(eventID[:0], id...)
		more, err := s.advance()
		if err != nil {
			return err
		}
		if !more {
			heap.Pop(&queue)
			continue
		}
		if bytes.Compare(s.sequence.value.ByteArray(), sequence) < 0 {
			return &unreadableError{s.key, errors.New("its rows are not in the order of their sequence numbers")}
		}
		heap.Fix(&queue, 0)
	}
	if err := out.finish(ctx); err != nil {
		return err
	}
	result.outputs, result.rows = out.done, out.rows
	return nil
}

func (m *merge) open(ctx context.Context) ([]*source, error) {
	var sources []*source
	for i, o := range slices.Concat(m.shadows, m.inputs) {
		s, err := m.table.openSource(ctx, m.bucket, o, i < len(m.shadows))
		if err != nil {
			return sources, err
		}
		s.rank = i
		sources = append(sources, s)
	}
	return sources, nil
}

// sourceQueue has the source of the lowest row first. Among sources with the same row, shadows come
// first, then the lower key.
type sourceQueue []*source

func (q sourceQueue) Len() int      { return len(q) }
func (q sourceQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q sourceQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	if order := bytes.Compare(a.sequence.value.ByteArray(), b.sequence.value.ByteArray()); order != 0 {
		return order < 0
	}
	if order := bytes.Compare(a.eventID.value.ByteArray(), b.eventID.value.ByteArray()); order != 0 {
		return order < 0
	}
	return a.rank < b.rank
}

// Push adds a source.
func (q *sourceQueue) Push(s any) { *q = append(*q, s.(*source)) }

// Pop takes the last source.
func (q *sourceQueue) Pop() any {
	last := len(*q) - 1
	s := (*q)[last]
	*q = (*q)[:last]
	return s
}

// outputs writes a merge's rows as one object after the other. An object is
// written to a temporary file first, because its name is known at its end.
type outputs struct {
	merge *merge
	file  *os.File // nil: none is begun
	out   *fileWriter
	first string
	last  []byte
	rows  int
	done  []Object
}

// write adds a row, and puts the object when it is long enough.
func (o *outputs) write(ctx context.Context, row parquet.Row, sequence []byte) error {
	if o.file == nil {
		file, err := os.CreateTemp("", "lake-*.parquet")
		if err != nil {
			return fmt.Errorf("create a temporary file: %w", err)
		}
		// It has no name from here on, so that a process that dies leaves nothing.
		if err := os.Remove(file.Name()); err != nil {
			return errors.Join(fmt.Errorf("unlink a temporary file: %w", err), file.Close())
		}
		o.file, o.out, o.first = file, o.merge.table.newFileWriter(file), string(sequence)
	}
	o.last = append(o.last[:0], sequence...)
	o.rows++
	if err := o.out.write(row); err != nil {
		return err
	}
	if o.out.flushed < o.merge.target {
		return nil
	}
	return o.finish(ctx)
}

// finish puts the object that is begun, if there is one.
func (o *outputs) finish(ctx context.Context) error {
	if o.file == nil {
		return nil
	}
	defer o.discard()
	if err := o.out.close(); err != nil {
		return err
	}
	if _, err := o.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("go to the start of a temporary file: %w", err)
	}
	inputs := make([]string, len(o.merge.inputs))
	for i, input := range o.merge.inputs {
		inputs[i] = input.Key
	}
	name := compactedName(o.first, string(o.last), o.merge.generation, inputs, len(o.done))
	object := Object{Key: o.merge.partition.key(name), Size: o.out.size()}
	if err := o.merge.bucket.Put(ctx, object.Key, o.file); err != nil {
		return fmt.Errorf("write %s: %w", object.Key, err)
	}
	o.done = append(o.done, object)
	return nil
}

// discard closes the temporary file, if there is one.
func (o *outputs) discard() {
	if o.file == nil {
		return
	}
	_ = o.file.Close()
	o.file = nil
}

// plan says which objects of a partition to merge next, and which of those that
// are long enough may have the same changes. Without inputs there is nothing to do.
//
// Objects of target bytes are never merged again, nor deleted. So each is made
// without the changes of those before it that reach into its range, and none has
// a change of another. All others are merged until one is left. That one is
// merged alone if one of target bytes has been made since and reaches into its
// range: a crash may have left it.
func plan(objects []Object, target int64) (inputs, shadows []Object, generation int) {
	type named struct {
		Object
		name
	}
	var open, full []named
	for _, o := range objects {
		n, ok := parseKey(o.Key)
		if !ok {
			continue
		}
		generation = max(generation, n.generation)
		if n.compacted && o.Size >= target {
			full = append(full, named{o, n})
		} else {
			open = append(open, named{o, n})
		}
	}
	generation++
	slices.SortFunc(open, func(a, b named) int {
		if order := strings.Compare(a.first, b.first); order != 0 {
			return order
		}
		return strings.Compare(a.Key, b.Key)
	})
	chosen, bytes := 0, int64(0)
	for chosen < len(open) && (chosen < 2 || chosen < maxInputs && bytes+open[chosen].Size <= maxInputBytes) {
		bytes += open[chosen].Size
		chosen++
	}
	open = open[:chosen]
	if chosen == 0 {
		return nil, nil, 0
	}
	first, last := open[0].first, open[0].last
	for _, o := range open {
		last = max(last, o.last)
	}
	newest := -1 // generation of the full ones in range
	for _, f := range full {
		if f.first <= last && f.last >= first {
			shadows = append(shadows, f.Object)
			newest = max(newest, f.generation)
		}
	}
	if chosen == 1 && (newest < 0 || open[0].compacted && open[0].generation >= newest) {
		return nil, nil, 0
	}
	for _, o := range open {
		inputs = append(inputs, o.Object)
	}
	return inputs, shadows, generation
}

const (
	// maxInputs and maxInputBytes are how much is merged at once: all inputs are
	// open at the same time.
	maxInputs     = 200
	maxInputBytes = 256 << 20
)
