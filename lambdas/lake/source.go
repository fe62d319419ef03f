package lake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

const (
	// wholeBytes is up to which length an object is read at once.
	wholeBytes = 1 << 20
	// rangeBytes is how much is read at once of a column of a longer one.
	rangeBytes = 512 << 10
	// cursorValues is how many values of a column are read at once.
	cursorValues = 64
)

// unreadableError is about an object that is no Parquet file of its table.
type unreadableError struct {
	key   string
	cause error
}

// Error says which object, and why.
func (e *unreadableError) Error() string { return fmt.Sprintf("read %s: %v", e.key, e.cause) }

// Unwrap returns the cause.
func (e *unreadableError) Unwrap() error { return e.cause }

// source gives the rows of an object one after the other, in the order of the
// file.
type source struct {
	key    string
	reader *objectReader
	// columns are in the order of the table; nil: the file has none of this name.
	columns []*cursor
	// sequence and eventID are the columns that the rows are ordered by.
	sequence, eventID *cursor
	// shadow says that only sequence and eventID are read: the rows stay where they
	// are, and others that are the same are dropped.
	shadow bool
	// rank decides among rows that are the same.
	rank int
}

// openSource opens an object of the table. The error is an [*unreadableError], or
// one of the bucket's.
func (t *table) openSource(ctx context.Context, bucket Bucket, o Object, shadow bool) (opened *source, err error) {
	s := &source{key: o.Key, reader: &objectReader{ctx: ctx, bucket: bucket, object: o}, shadow: shadow}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("reading it panicked: %v", cause)
		}
		if err != nil {
			opened, err = nil, s.failed(err)
		}
	}()
	readBuffer := rangeBytes
	if o.Size <= wholeBytes && !shadow {
		body, err := bucket.Get(ctx, o.Key, 0, o.Size)
		if err != nil {
			s.reader.err = err
			return nil, err
		}
		s.reader.whole = bytes.NewReader(body)
		readBuffer = 4 << 10
	}
	file, err := parquet.OpenFile(s.reader, o.Size, &parquet.FileConfig{
		SkipPageIndex: true, SkipBloomFilters: true, ReadBufferSize: readBuffer,
	})
	if err != nil {
		return nil, err
	}
	if err := s.bind(t, file); err != nil {
		return nil, err
	}
	return s, nil
}

// bind finds the table's columns in the file. A file may have fewer: it is older
// than the column. It must not have others, which would be lost in a merge.
func (s *source) bind(t *table, file *parquet.File) error {
	s.columns = make([]*cursor, len(t.columns))
	found := 0
	for i, c := range t.columns {
		want, _ := t.schema.Lookup(c.Name)
		got, ok := file.Schema().Lookup(c.Name)
		if !ok {
			if want.Node.Required() {
				return fmt.Errorf("it has no column %s", c.Name)
			}
			continue
		}
		if got.MaxRepetitionLevel > 0 || got.Node.Type().Kind() != want.Node.Type().Kind() ||
			got.Node.Type().String() != want.Node.Type().String() {
			return fmt.Errorf("its column %s is a %s, and not a %s", c.Name, got.Node.Type(), want.Node.Type())
		}
		if want.Node.Required() && !got.Node.Required() {
			return fmt.Errorf("its column %s may be null", c.Name)
		}
		found++
		if s.shadow && i != t.sequence && i != t.eventID {
			continue
		}
		column := &cursor{}
		for _, group := range file.RowGroups() {
			column.chunks = append(column.chunks, group.ColumnChunks()[got.ColumnIndex])
		}
		s.columns[i] = column
	}
	if total := len(file.Schema().Columns()); total != found && !s.shadow {
		return fmt.Errorf("it has %d columns that the definition has not: they would be lost", total-found)
	}
	s.sequence, s.eventID = s.columns[t.sequence], s.columns[t.eventID]
	return nil
}

// failed returns the bucket's error, if there is one, or else the object's.
func (s *source) failed(err error) error {
	if s.reader.err != nil {
		return fmt.Errorf("read %s: %w", s.key, s.reader.err)
	}
	return &unreadableError{s.key, err}
}

// advance goes to the next row. It returns false after the last.
func (s *source) advance() (bool, error) {
	more, err := s.sequence.next()
	if err == nil {
		var moreIDs bool
		if moreIDs, err = s.eventID.next(); err == nil && moreIDs != more {
			err = errUneven
		}
	}
	if err == nil && more && !isSequence(s.sequence.value.ByteArray()) {
		err = fmt.Errorf("a sequence number is %q: the lake's have %d digits",
			shortened(s.sequence.value.String(), 100), sequenceDigits)
	}
	if err != nil {
		return false, s.failed(err)
	}
	return more, nil
}

// isSequence reports whether text is a sequence number as the lake writes it.
func isSequence(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) == sequenceDigits
}

var errUneven = errors.New("its columns are not of the same length")

// row reads the rest of the row into values. They are valid until the next advance.
func (s *source) row(t *table, values parquet.Row) error {
	for i, c := range s.columns {
		if c == nil {
			values[i] = t.placed(parquet.NullValue(), i)
			continue
		}
		if c != s.sequence && c != s.eventID {
			if err := s.step(c); err != nil {
				return err
			}
		}
		values[i] = t.placed(c.value, i)
	}
	return nil
}

// drop passes over the rest of the row.
func (s *source) drop() error {
	for _, c := range s.columns {
		if c != nil && c != s.sequence && c != s.eventID {
			if err := s.step(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *source) step(c *cursor) error {
	more, err := c.next()
	if err == nil && !more {
		err = errUneven
	}
	if err != nil {
		return s.failed(err)
	}
	return nil
}

func (s *source) close() {
	for _, c := range s.columns {
		if c != nil {
			c.close()
		}
	}
}

// cursor gives the values of a column, over all row groups. A value is valid until the next one is
// read.
type cursor struct {
	value parquet.Value

	chunks []parquet.ColumnChunk
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buffer []parquet.Value
	at     int
}

func (c *cursor) next() (bool, error) {
	if c.at == len(c.buffer) {
		if more, err := c.fill(); !more || err != nil {
			return false, err
		}
	}
	c.value = c.buffer[c.at]
	c.at++
	return true, nil
}

// fill reads the next values. A page that is damaged may make the library panic.
func (c *cursor) fill() (more bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			more, err = false, fmt.Errorf("reading a page panicked: %v", cause)
		}
	}()
	if c.buffer == nil {
		c.buffer = make([]parquet.Value, cursorValues)
	}
	c.at, c.buffer = 0, c.buffer[:0]
	for {
		if c.values != nil {
			n, err := c.values.ReadValues(c.buffer[:cap(c.buffer)])
			if err != nil && !errors.Is(err, io.EOF) {
				return false, err
			}
			if n > 0 {
				c.buffer = c.buffer[:n]
				return true, nil
			}
			parquet.Release(c.page)
			c.page, c.values = nil, nil
		}
		if c.pages == nil {
			if len(c.chunks) == 0 {
				return false, nil
			}
			c.pages, c.chunks = c.chunks[0].Pages(), c.chunks[1:]
		}
		page, err := c.pages.ReadPage()
		switch {
		case errors.Is(err, io.EOF):
			if err := c.pages.Close(); err != nil {
				return false, err
			}
			c.pages = nil
		case err != nil:
			return false, err
		default:
			c.page, c.values = page, page.Values()
		}
	}
}

func (c *cursor) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages != nil {
		_ = c.pages.Close()
	}
	c.chunks, c.pages, c.page, c.values, c.buffer, c.at = nil, nil, nil, nil, nil, 0
}

// objectReader reads an object in ranges. It remembers why it could not, which
// the Parquet library may not say.
type objectReader struct {
	ctx    context.Context
	bucket Bucket
	object Object
	whole  *bytes.Reader // nil: read it in ranges
	err    error
}

// ReadAt implements [io.ReaderAt].
func (r *objectReader) ReadAt(p []byte, offset int64) (int, error) {
	if r.whole != nil {
		return r.whole.ReadAt(p, offset)
	}
	if offset >= r.object.Size {
		return 0, io.EOF
	}
	body, err := r.bucket.Get(r.ctx, r.object.Key, offset, min(int64(len(p)), r.object.Size-offset))
	if err != nil {
		r.err = err
		return 0, err
	}
	if n := copy(p, body); n < len(p) {
		return n, io.EOF
	}
	return len(p), nil
}
