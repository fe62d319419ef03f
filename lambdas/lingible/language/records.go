package language

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
)

// Scratch returns an empty file without a name. It is gone when it is closed, or the process ends.
func Scratch() (*os.File, error) {
	file, err := os.CreateTemp("", "lexicon-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// part is a section of an index that is being made, in a file.
type part struct {
	file   *os.File
	buffer *bufio.Writer
	size   int64
}

func newPart() (*part, error) {
	file, err := Scratch()
	return &part{file: file, buffer: bufio.NewWriter(file)}, err
}

// Write implements [io.Writer].
func (p *part) Write(written []byte) (int, error) {
	n, err := p.buffer.Write(written)
	p.size += int64(n)
	return n, err
}

// append writes bytes, and returns their offset.
func (p *part) append(written []byte) (offset uint64, err error) {
	offset = uint64(p.size)
	_, err = p.Write(written)
	return offset, err
}

func (p *part) flush() error { return p.buffer.Flush() }

// reader reads all that was written before the last flush.
func (p *part) reader() io.Reader { return io.NewSectionReader(p.file, 0, p.size) }

// record is a value that an index has under a text of one of its sections.
type record struct {
	section int
	text    string
	// Values under one text are in this order: those that are not isNearly, those of the higher score, and those that
	// were added first, which number tells.
	isNearly bool
	score    float64
	number   uint64
	value    uint64
}

func (r record) compare(o record) int {
	nearly := func(r record) int {
		if r.isNearly {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(r.section, o.section), strings.Compare(r.text, o.text), cmp.Compare(nearly(r), nearly(o)),
		cmp.Compare(o.score, r.score), cmp.Compare(r.number, o.number))
}

// maxRecords is how many records are in memory: some 5 MB.
const maxRecords = 40_000

// records sorts any number of records. Its zero value is ready to use.
type records struct {
	added  []record
	number uint64
	// runs are records in their order, in the file of spill.
	runs  []run
	spill *part
}

// run is a part of the spill.
type run struct{ from, size int64 }

func (s *records) close() {
	if s.spill != nil {
		s.spill.file.Close()
	}
}

// add adds a record, whose number it sets.
func (s *records) add(r record) {
	s.number++
	r.number = s.number
	s.added = append(s.added, r)
}

// spilled writes the records into the spill if there are many.
func (s *records) spilled() (err error) {
	if len(s.added) < maxRecords {
		return nil
	}
	if s.spill == nil {
		if s.spill, err = newPart(); err != nil {
			return err
		}
	}
	slices.SortFunc(s.added, record.compare)
	from := s.spill.size
	var encoded []byte
	for _, r := range s.added {
		encoded = r.encode(encoded[:0])
		if _, err := s.spill.Write(encoded); err != nil {
			return fmt.Errorf("write records of the index: %w", err)
		}
	}
	s.runs = append(s.runs, run{from, s.spill.size - from})
	clear(s.added)
	s.added = s.added[:0]
	return s.spill.flush()
}

func (r record) encode(into []byte) []byte {
	nearly := byte(0)
	if r.isNearly {
		nearly = 1
	}
	into = append(into, byte(r.section), nearly)
	for _, number := range []uint64{math.Float64bits(r.score), r.number, r.value, uint64(len(r.text))} {
		into = binary.AppendUvarint(into, number)
	}
	return append(into, r.text...)
}

// decode reads a record. The error is [io.EOF] behind the last one.
func decode(from *bufio.Reader) (r record, err error) {
	section, err := from.ReadByte()
	if err != nil {
		return r, err
	}
	nearly, err := from.ReadByte()
	var numbers [4]uint64
	for i := range numbers {
		if err == nil {
			numbers[i], err = binary.ReadUvarint(from)
		}
	}
	text := make([]byte, numbers[3])
	if err == nil {
		_, err = io.ReadFull(from, text)
	}
	if err != nil {
		return r, fmt.Errorf("read records of the index: %w", err)
	}
	return record{section: int(section), isNearly: nearly == 1, score: math.Float64frombits(numbers[0]),
		number: numbers[1], value: numbers[2], text: string(text)}, nil
}

// source yields the records of a run.
type source struct {
	first record
	next  func() (record, error)
}

// sources is a heap of sources, by their first records.
type sources []*source

func (s sources) Len() int           { return len(s) }
func (s sources) Less(i, j int) bool { return s[i].first.compare(s[j].first) < 0 }
func (s sources) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sources) Push(x any)        { *s = append(*s, x.(*source)) }
func (s *sources) Pop() any {
	last := len(*s) - 1
	popped := (*s)[last]
	*s = (*s)[:last]
	return popped
}

// all yields all records in their order.
func (s *records) all() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		slices.SortFunc(s.added, record.compare)
		at := 0
		readers := []func() (record, error){func() (record, error) {
			if at == len(s.added) {
				return record{}, io.EOF
			}
			at++
			return s.added[at-1], nil
		}}
		for _, of := range s.runs {
			from := bufio.NewReader(io.NewSectionReader(s.spill.file, of.from, of.size))
			readers = append(readers, func() (record, error) { return decode(from) })
		}
		var open sources
		for _, next := range readers {
			first, err := next()
			if errors.Is(err, io.EOF) {
				continue
			}
			if err != nil {
				yield(first, err)
				return
			}
			open = append(open, &source{first, next})
		}
		heap.Init(&open)
		for len(open) > 0 {
			if !yield(open[0].first, nil) {
				return
			}
			next, err := open[0].next()
			switch {
			case errors.Is(err, io.EOF):
				heap.Pop(&open)
			case err != nil:
				yield(next, err)
				return
			default:
				open[0].first = next
				heap.Fix(&open, 0)
			}
		}
	}
}

// groups yields the records of each text of a section, in their order. A group is valid until the next one.
func (s *records) groups() iter.Seq2[[]record, error] {
	return func(yield func([]record, error) bool) {
		var same []record
		for r, err := range s.all() {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(same) > 0 && (same[0].section != r.section || same[0].text != r.text) {
				if !yield(same, nil) {
					return
				}
				same = same[:0]
			}
			same = append(same, r)
		}
		if len(same) > 0 {
			yield(same, nil)
		}
	}
}
