// Package output writes a command's answer in the form that the flag --format names.
package output

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"
)

// Format is the flag of commands that answer with rows. Text is the form for people: a table, unless the command says
// otherwise.
type Format struct {
	Format string `help:"Form of the output: ${enum}." enum:"text, table, json, jsonlines, csv" default:"text"`
}

// Rows writes rows: as a table with a column for each field, a JSON list, a JSON object a line, or CSV with the names
// on the first line. Rows are structs whose exported fields have JSON names. Times in tables and CSV are in RFC 3339,
// and lists and objects in JSON.
func Rows[Row any](to io.Writer, format Format, rows []Row) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	switch format.Format {
	case "json":
		encoder.SetIndent("", "  ")
		return encoder.Encode(append([]Row{}, rows...))
	case "jsonlines":
		for _, row := range rows {
			if err := encoder.Encode(row); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		w := csv.NewWriter(to)
		if err := w.Write(columns[Row]()); err != nil {
			return err
		}
		for _, row := range rows {
			if err := w.Write(cells(row)); err != nil {
				return err
			}
		}
		w.Flush()
		return w.Error()
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	names := columns[Row]()
	for i, name := range names {
		names[i] = strings.ToUpper(strings.ReplaceAll(strings.TrimSuffix(name, "_at"), "_", " "))
	}
	fmt.Fprintln(w, strings.Join(names, "\t"))
	for _, row := range rows {
		line := cells(row)
		for i, cell := range line {
			// A cell is on one line, and an empty one is seen.
			if line[i] = strings.Join(strings.Fields(cell), " "); line[i] == "" {
				line[i] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	return w.Flush()
}

// columns returns the JSON names of a row's fields.
func columns[Row any]() (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Row]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// cells returns the values of a row's fields as text.
func cells(row any) (all []string) {
	value := reflect.ValueOf(row)
	for _, field := range reflect.VisibleFields(value.Type()) {
		if field.Tag.Get("json") != "" {
			all = append(all, text(value.FieldByIndex(field.Index)))
		}
	}
	return all
}

func text(value reflect.Value) string {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			return ""
		}
		return text(value.Elem())
	case reflect.Slice, reflect.Map:
		if value.Len() == 0 {
			return ""
		}
	}
	switch v := value.Interface().(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case json.RawMessage:
		return string(v)
	}
	if kind := value.Kind(); kind == reflect.Slice || kind == reflect.Map || kind == reflect.Struct {
		var encoded strings.Builder
		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(value.Interface()); err != nil {
			return err.Error()
		}
		return strings.TrimSuffix(encoded.String(), "\n")
	}
	return fmt.Sprint(value)
}

// UsageError says that arguments or flags of a command are wrong: repeating the command cannot help.
type UsageError struct{ Err error }

// Usagef returns a [UsageError] with the text that fmt.Errorf makes.
func Usagef(format string, arguments ...any) error {
	return &UsageError{fmt.Errorf(format, arguments...)}
}

// Error returns the text.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *UsageError) Unwrap() error { return e.Err }
