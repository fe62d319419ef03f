// Package lakequery answers SQL on the lakes of a local run. It links a lake's Parquet files in the run's folder, or
// copies them from its console, and gives them to DuckDB under the names of the catalog, with the catalog's views over
// them, so that a SELECT has the answer that Amazon Athena gives to it in AWS.
//
// DuckDB's settings are Athena's: the time zone is UTC, timestamps have none, and the quotient of two integers is an
// integer. Macros give functions Athena's answers where DuckDB's are others. What cannot have Athena's answer is
// refused, with a *[RefusedError]: docs/reference/lake-sql.md has the rules, and what no rule can tell.
package lakequery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

var (
	// ErrNotQuery says that a text is no single SELECT, SHOW, DESCRIBE or EXPLAIN.
	ErrNotQuery = errors.New("not a query")
	// ErrWithoutEngine says that this program was built without DuckDB.
	ErrWithoutEngine = errors.New("this program was built with CGO_ENABLED=0 or for another system than Linux and " +
		"macOS, so without DuckDB, which needs cgo: install a C compiler such as gcc, with C++, and build it again " +
		"with CGO_ENABLED=1")
)

// RefusedError says that a query is not answered, because Athena would answer it otherwise.
type RefusedError struct {
	// Expression is the part that Athena answers otherwise, as DuckDB writes it.
	Expression string
	// Athena is what Athena does with it.
	Athena string
	// Instead is what has one answer in both; empty if nothing has.
	Instead string
	// Local says that Athena answers the query, so that it is no mistake there.
	Local bool
}

// Error names the expression, Athena's answer, and what to write.
func (e *RefusedError) Error() string {
	if e.Instead == "" {
		return fmt.Sprintf("%s: Athena %s", e.Expression, e.Athena)
	}
	return fmt.Sprintf("%s: Athena %s. Write: %s", e.Expression, e.Athena, e.Instead)
}

// Options of [Open]. The zero value is for a run with one lake.
type Options struct {
	// Database names the lake, and Stack the stack that declares it. Default: the run's only lake.
	Database, Stack string
}

// Lake is a copy of a lake as it was when it was opened. It is safe for concurrent use.
type Lake struct {
	catalog.Lake
	folder string
	engine engine
}

// engine is DuckDB, where it is built in.
type engine interface {
	// statements are the statements of the text. Each is a SELECT, or one in other words, such as SHOW TABLES.
	// It returns ErrNotQuery for any other.
	statements(ctx context.Context, text string) (int, error)
	query(ctx context.Context, text string) (*sql.Rows, error)
	close() error
}

// Open copies a lake from the run with that console, such as http://127.0.0.1:8079, into a temporary folder. Close
// removes it. Errors: *catalog.DatabaseError, ErrWithoutEngine, those of the network (syscall.ECONNREFUSED when nothing
// runs there), and what is wrong with the lake itself, such as a file whose column is not of the catalog's type.
func Open(ctx context.Context, console string, options Options) (*Lake, error) {
	if !hasEngine {
		return nil, ErrWithoutEngine
	}
	lakes, err := source{console}.lakes(ctx)
	if err != nil {
		return nil, err
	}
	described, err := catalog.Choose(lakes, options.Database, options.Stack)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "onesynth-lake-")
	if err != nil {
		return nil, fmt.Errorf("folder for the lake's copy: %w", err)
	}
	lake := &Lake{Lake: described, folder: folder}
	if err := lake.open(ctx, source{console}); err != nil {
		return nil, errors.Join(err, lake.Close())
	}
	return lake, nil
}

// Check finds the tables, views and saved queries of a lake that cannot be queried. It needs no data: all are bound
// over empty tables. A text that only names a broken view is no failure. Errors: ErrWithoutEngine, or why DuckDB did
// not start.
func Check(ctx context.Context, lake catalog.Lake) ([]catalog.Failure, error) {
	return check(ctx, lake)
}

func (l *Lake) open(ctx context.Context, from source) error {
	files := map[string][]string{}
	for i, table := range l.Tables {
		// Numbers, as a table's name may not be one for a folder, or differ from another's in case alone.
		copied, err := from.copyTable(ctx, table, filepath.Join(l.folder, "files", fmt.Sprint(i)))
		if err != nil {
			return fmt.Errorf("table %s: %w", table.Name, err)
		}
		files[table.Name] = copied
	}
	var err error
	l.engine, err = openEngine(ctx, l.Lake, files, l.folder)
	return err
}

// Query runs one SELECT, SHOW, DESCRIBE or EXPLAIN. Tables and views need no database before their name, and may have
// it. The caller closes the rows. Errors: ErrNotQuery, the engine's.
func (l *Lake) Query(ctx context.Context, text string) (*sql.Rows, error) {
	n, err := l.engine.statements(ctx, explained(text))
	if err != nil {
		return nil, err
	}
	if n != 1 {
		return nil, fmt.Errorf("%w: got %d statements, want one", ErrNotQuery, n)
	}
	return l.engine.query(ctx, text)
}

var explain = regexp.MustCompile(`(?i)^\s*explain\s*(\banalyze\b\s*)?(\([^)]*\)\s*)?`)

// explained is the query of an EXPLAIN, and any other text as it is.
func explained(text string) string { return explain.ReplaceAllString(text, "") }

// Close ends the queries and removes the copy.
func (l *Lake) Close() error {
	var err error
	if l.engine != nil {
		err = l.engine.close()
	}
	return errors.Join(err, os.RemoveAll(l.folder))
}
