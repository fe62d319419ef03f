package lakequery

import (
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// Format is a form in which rows are written.
type Format string

// The formats. Dates are YYYY-MM-DD in all of them. Timestamps are as Athena writes them, such as 2026-01-31
// 09:00:00.000, in tables and CSV, and RFC 3339 in JSON.
const (
	// FormatTable is for people: aligned columns, escaped control characters, null as "null", and the number of rows.
	FormatTable Format = "table"
	// FormatCSV is RFC 4180 with a header. Null is empty, as is an empty text.
	FormatCSV Format = "csv"
	// FormatJSON is one array with an object for each row.
	FormatJSON Format = "json"
	// FormatJSONLines is one object on each line.
	FormatJSONLines Format = "jsonlines"
)

// Write writes all rows and closes them.
func Write(to io.Writer, format Format, rows *sql.Rows) (err error) {
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	var w rowWriter
	switch format {
	case FormatTable:
		w = &tableWriter{to: tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)}
	case FormatCSV:
		w = &csvWriter{csv.NewWriter(to)}
	case FormatJSON, FormatJSONLines:
		w = &jsonWriter{to: to, lines: format == FormatJSONLines}
	default:
		return fmt.Errorf("format %q: want table, csv, json or jsonlines", format)
	}
	columns := make([]column, len(types))
	values, pointers := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		columns[i] = column{t.Name(), t.DatabaseTypeName()}
		pointers[i] = &values[i]
	}
	if err := w.begin(columns); err != nil {
		return err
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return fmt.Errorf("row: %w", err)
		}
		if err := w.row(columns, values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return w.end()
}

// column is a column of an answer, with the engine's name of its type.
type column struct{ name, dataType string }

type rowWriter interface {
	begin(columns []column) error
	row(columns []column, values []any) error
	end() error
}

type tableWriter struct {
	to   *tabwriter.Writer
	rows int
}

func (w *tableWriter) begin(columns []column) error {
	cells, rules := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		cells[i] = escape(c.name)
		rules[i] = strings.Repeat("-", len([]rune(cells[i])))
	}
	if err := w.line(cells); err != nil {
		return err
	}
	return w.line(rules)
}

func (w *tableWriter) row(columns []column, values []any) error {
	w.rows++
	cells := make([]string, len(values))
	for i, v := range values {
		if v == nil {
			cells[i] = "null"
			continue
		}
		cells[i] = escape(text(columns[i], v))
	}
	return w.line(cells)
}

func (w *tableWriter) line(cells []string) error {
	_, err := fmt.Fprintln(w.to, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	return err
}

func (w *tableWriter) end() error {
	if err := w.to.Flush(); err != nil {
		return err
	}
	rows := "rows"
	if w.rows == 1 {
		rows = "row"
	}
	if _, err := fmt.Fprintf(w.to, "(%d %s)\n", w.rows, rows); err != nil {
		return err
	}
	return w.to.Flush()
}

// escape keeps a text on its line, and its control sequences from the terminal.
func escape(text string) string {
	if strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unprintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unprintable reports characters that end lines or cells, control terminals, or turn the direction of the text after
// them.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

type csvWriter struct{ to *csv.Writer }

func (w *csvWriter) begin(columns []column) error {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	return w.to.Write(cells)
}

func (w *csvWriter) row(columns []column, values []any) error {
	cells := make([]string, len(values))
	for i, v := range values {
		if v != nil {
			cells[i] = text(columns[i], v)
		}
	}
	return w.to.Write(cells)
}

func (w *csvWriter) end() error {
	w.to.Flush()
	return w.to.Error()
}

type jsonWriter struct {
	to    io.Writer
	lines bool
	names [][]byte
	rows  int
}

func (w *jsonWriter) begin(columns []column) error {
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.name] {
			return fmt.Errorf("column %s is there twice, which JSON cannot hold: give one another name with AS", c.name)
		}
		seen[c.name] = true
		name, err := json.Marshal(c.name)
		if err != nil {
			return err
		}
		w.names = append(w.names, name)
	}
	return nil
}

func (w *jsonWriter) row(columns []column, values []any) error {
	var b strings.Builder
	switch {
	case w.lines:
	case w.rows == 0:
		b.WriteString("[\n")
	default:
		b.WriteString(",\n")
	}
	w.rows++
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(w.names[i])
		b.WriteByte(':')
		value, err := jsonValue(columns[i], v)
		if err != nil {
			return fmt.Errorf("column %s: %w", columns[i].name, err)
		}
		b.Write(value)
	}
	b.WriteByte('}')
	if w.lines {
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w.to, b.String())
	return err
}

func (w *jsonWriter) end() error {
	var err error
	switch {
	case w.lines:
	case w.rows == 0:
		_, err = io.WriteString(w.to, "[]\n")
	default:
		_, err = io.WriteString(w.to, "\n]\n")
	}
	return err
}

// jsonValue leaves numbers, booleans, lists and objects to JSON. NaN and infinity, which JSON does not have, become
// text.
func jsonValue(c column, v any) ([]byte, error) {
	value := v
	switch v := v.(type) {
	case time.Time:
		value = text(c, v)
		if strings.HasPrefix(c.dataType, "TIMESTAMP") {
			value = v.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
		}
	case *big.Int:
		value = json.Number(v.String())
	case fmt.Stringer:
		value = v.String()
		if strings.HasPrefix(c.dataType, "DECIMAL") {
			value = json.Number(v.String())
		}
	}
	document, err := json.Marshal(value)
	if err != nil {
		return json.Marshal(text(c, v))
	}
	return document, nil
}

// text is the value, which is not nil, as Athena writes it into its CSV files.
func text(c column, v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time:
		switch {
		case c.dataType == "DATE":
			return v.Format(time.DateOnly)
		case c.dataType == "TIMESTAMPTZ":
			return v.UTC().Format("2006-01-02 15:04:05.000 UTC")
		default:
			return v.Format("2006-01-02 15:04:05.000")
		}
	case float64:
		if math.IsInf(v, 0) {
			return strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+") + "inity"
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case fmt.Stringer:
		if scale := scales.FindStringSubmatch(c.dataType); scale != nil {
			return padded(v.String(), scale[1])
		}
		return v.String()
	case []any:
		entries := make([]string, len(v))
		for i, entry := range v {
			if entries[i] = "null"; entry != nil {
				entries[i] = text(column{}, entry)
			}
		}
		return "[" + strings.Join(entries, ", ") + "]"
	case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32:
		return fmt.Sprint(v)
	}
	if document, err := json.Marshal(v); err == nil {
		return string(document)
	}
	return fmt.Sprint(v)
}

var scales = regexp.MustCompile(`^DECIMAL\(\d+,(\d+)\)$`)

// padded is the decimal with all digits of its scale.
func padded(number, scale string) string {
	digits, err := strconv.Atoi(scale)
	if err != nil || digits == 0 {
		return number
	}
	whole, fraction, _ := strings.Cut(number, ".")
	return whole + "." + fraction + strings.Repeat("0", max(0, digits-len(fraction)))
}
