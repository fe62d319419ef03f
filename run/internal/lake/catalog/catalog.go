// Package catalog reads the lakes that a cloud assembly declares: AWS Glue databases with their tables and views, and
// the Amazon Athena queries saved for them. It runs no query: onesynth lake does, on the lakes that this package reads.
package catalog

import "context"

// Engine answers queries of lakes, for runs and their consoles. The zero value answers none: programs with DuckDB need
// a C compiler and are large.
type Engine struct {
	// Check finds views and saved queries of a lake that do not run, while a run starts. Its error ends the run; its
	// warnings are printed. Default: no check.
	Check func(context.Context, Lake) (warnings []string, err error)
	// Ask answers SQL on the lakes of the run with that console. Default: the console's page has no SQL.
	Ask func(ctx context.Context, console string, question Question) (Answer, error)
	// Ready reports whether Ask would begin at once, instead of building its engine first. Default: it would.
	Ready func() bool
}

// Lake is a database of the catalog.
type Lake struct {
	// Database is its name in AWS Glue.
	Database string `json:"database"`
	// Stack declares the database. Stacks of several regions may have databases of one name.
	Stack string `json:"stack"`
	// Tables are the tables of files in a bucket, sorted by name.
	Tables []Table `json:"tables"`
	// Views are stored SELECTs, in an order in which each names only tables and views before it.
	Views []View `json:"views"`
	// Queries are saved for people, sorted by name.
	Queries []Query `json:"queries"`
	// Workgroup is the name of the Athena workgroup of the queries; empty when there is none.
	Workgroup string `json:"workgroup"`
}

// Table is an external table: Parquet files below a location.
type Table struct {
	Name string `json:"name"`
	// Columns are those of the files.
	Columns []Column `json:"columns"`
	// PartitionKeys are columns whose values are in the folders' names, such as event_date=2026-01-31.
	PartitionKeys []Column `json:"partition_keys"`
	// Location is s3://BUCKET/PREFIX/, below which the files are.
	Location string `json:"location"`
}

// View is a stored SELECT.
type View struct {
	Name string `json:"name"`
	// SQL is the SELECT as it was written, not as Athena stores it.
	SQL     string   `json:"sql"`
	Columns []Column `json:"columns"`
}

// Query is a saved SELECT.
type Query struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	SQL         string `json:"sql"`
}

// Column is a column of a table or view.
type Column struct {
	Name string `json:"name"`
	// Type is AWS Glue's: string, bigint, double, boolean, date or timestamp, or another type of the table.
	Type string `json:"type"`
}

// Question is a query of a lake.
type Question struct {
	// Database names the lake, and Stack the stack that declares it. Default: the run's only lake.
	Database string `json:"database"`
	Stack    string `json:"stack"`
	// SQL is one SELECT, SHOW, DESCRIBE or EXPLAIN.
	SQL string `json:"sql"`
	// Most is how many rows the answer has at the most. Default: all.
	Most int `json:"most"`
}

// Answer is what a query found.
type Answer struct {
	// Columns have the engine's names of types.
	Columns []Column `json:"columns"`
	// Rows have the text of each column's value, as Amazon Athena writes it, and nil for null.
	Rows [][]*string `json:"rows"`
	// Milliseconds is how long the query took, without reading the lake before it.
	Milliseconds float64 `json:"took_ms"`
	// More says that there are rows beyond the asked number, or beyond [LargestAnswer].
	More bool `json:"more,omitempty"`
	// Cut is how many values are longer than [LongestValue], and end there.
	Cut int `json:"cut,omitempty"`
}

// Bounds of an [Answer], in bytes of text: people read it on a page. Lake.Query of lakequery has none.
const (
	LongestValue  = 64 << 10
	LargestAnswer = 8 << 20
)
