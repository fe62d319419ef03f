package lake

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/onesynth-cdk/onesynth/schema"
)

// table is the form of an entity's changes in a Parquet file.
type table struct {
	entity schema.Entity
	// columns are all of them, [schema.ChangeColumns] first.
	columns []schema.Column
	// Where the change columns are in columns.
	eventID, eventName, eventTime, sequence int
	schema                                  *parquet.Schema
	// rowGroup is after how many bytes of values a row group ends: they are held in
	// memory until then.
	rowGroup int64
	// compression is the library's own, which keeps its buffers from one file to the
	// next.
	compression compress.Codec
}

// newTable returns the table of an entity.
func newTable(e schema.Entity) *table {
	t := &table{entity: e, rowGroup: rowGroupBytes, compression: &parquet.Zstd}
	group := orderedGroup{Group: parquet.Group{}}
	add := func(c schema.Column, node parquet.Node) {
		t.columns = append(t.columns, c)
		group.Group[c.Name] = node
		group.names = append(group.names, c.Name)
	}
	for i, c := range schema.ChangeColumns() {
		switch c.Name {
		case "event_id":
			t.eventID = i
		case "event_name":
			t.eventName = i
		case "event_time":
			t.eventTime = i
		case "sequence_number":
			t.sequence = i
		}
		node := nodeOf(c.Type)
		if i == t.eventID || i == t.sequence {
			// Each value occurs once, so a dictionary would only add to the length.
			node = parquet.Encoded(parquet.String(), &parquet.Plain)
		}
		add(c, parquet.Required(node))
	}
	for _, c := range e.Columns {
		add(c, parquet.Optional(nodeOf(c.Type)))
	}
	t.schema = parquet.NewSchema(e.Name, group)
	return t
}

// tablesOf returns the tables of a definition by entity.
func tablesOf(d schema.LakeDefinition) map[string]*table {
	tables := map[string]*table{}
	for _, e := range d.Entities {
		tables[e.Name] = newTable(e)
	}
	return tables
}

// orderedGroup is a group whose fields are in the order of the table's columns
// instead of the alphabet's.
type orderedGroup struct {
	parquet.Group
	names []string
}

// Fields returns the group's fields in the order of names.
func (g orderedGroup) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(g.names, a.Name()) - slices.Index(g.names, b.Name())
	})
	return fields
}

// nodeOf is the Parquet type of a column. The encodings are the two that every
// reader of Parquet knows: plain, and of text a dictionary as long as it is short.
func nodeOf(t schema.ColumnType) parquet.Node {
	switch t {
	case schema.ColumnInteger:
		return parquet.Encoded(parquet.Int(64), &parquet.Plain)
	case schema.ColumnDecimal:
		return parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain)
	case schema.ColumnBoolean:
		return parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.Plain)
	case schema.ColumnDate:
		return parquet.Encoded(parquet.Date(), &parquet.Plain)
	case schema.ColumnTimestamp:
		return parquet.Encoded(parquet.Timestamp(parquet.Millisecond), &parquet.Plain)
	}
	return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
}

// placed returns the value as one of the column at that index.
func (t *table) placed(v parquet.Value, column int) parquet.Value {
	definition := 0
	if column >= len(t.columns)-len(t.entity.Columns) && !v.IsNull() {
		definition = 1
	}
	return v.Level(0, definition, column)
}

const (
	// dictionaryBytes is how long a column's dictionary may be. From there on, the
	// column is written plainly.
	dictionaryBytes = 256 << 10
	// rowGroupBytes is how many bytes of values a row group has.
	rowGroupBytes = 24 << 20
)

// fileWriter writes a Parquet file. The same rows give the same bytes.
type fileWriter struct {
	out     *countingWriter
	parquet *parquet.GenericWriter[any]
	limit   int64 // table.rowGroup
	pending int64 // bytes of values in the row group that has not ended
	flushed int64 // bytes of the row groups that have
}

func (t *table) newFileWriter(out io.Writer) *fileWriter {
	counting := &countingWriter{out: out}
	options := []parquet.WriterOption{
		t.schema,
		parquet.Compression(t.compression),
		parquet.CreatedBy("onesynth", "1", "lake"),
		parquet.DataPageVersion(1),
		parquet.DictionaryMaxBytes(dictionaryBytes),
	}
	for _, c := range t.entity.Columns {
		if c.Type == schema.ColumnText {
			// An item's text can be 400 KB long, and its bounds with it.
			options = append(options, parquet.SkipPageBounds(c.Name), parquet.SkipPageStatistics(c.Name))
		}
	}
	return &fileWriter{out: counting, limit: t.rowGroup, parquet: parquet.NewGenericWriter[any](counting, options...)}
}

// write adds a row, and keeps no reference to it.
func (w *fileWriter) write(row parquet.Row) error {
	if _, err := w.parquet.WriteRows([]parquet.Row{row}); err != nil {
		return fmt.Errorf("writing a Parquet row: %w", err)
	}
	for _, v := range row {
		w.pending += 8
		if v.Kind() == parquet.ByteArray {
			w.pending += int64(len(v.ByteArray()))
		}
	}
	if w.pending < w.limit {
		return nil
	}
	w.pending = 0
	if err := w.parquet.Flush(); err != nil {
		return fmt.Errorf("writing a Parquet row group: %w", err)
	}
	w.flushed = w.parquet.Size()
	return nil
}

// size is the length of the file when it is closed.
func (w *fileWriter) size() int64 { return w.out.n }

func (w *fileWriter) close() error {
	if err := w.parquet.Close(); err != nil {
		return fmt.Errorf("closing a Parquet file: %w", err)
	}
	return nil
}

type countingWriter struct {
	out io.Writer
	n   int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	w.n += int64(n)
	return n, err
}

// encode is a Parquet file of the rows, in their order.
func (t *table) encode(rows []*row) ([]byte, error) {
	var out bytes.Buffer
	w := t.newFileWriter(&out)
	for _, r := range rows {
		if err := w.write(r.values); err != nil {
			return nil, err
		}
	}
	if err := w.close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
