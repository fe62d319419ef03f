//go:build cgo && (linux || darwin) && (amd64 || arm64)

package lakequery

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

// hasEngine says that DuckDB is built in.
const hasEngine = true

// databases is the name of Athena's catalog. A query may write it before a database's name.
const databases = "awsdatacatalog"

// columnTypes are the types of AWS Glue that tables and views may have, as DuckDB calls them.
var columnTypes = map[string]string{
	"string": "VARCHAR", "bigint": "BIGINT", "double": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE",
	"timestamp": "TIMESTAMP",
}

// utcTimestamp is DuckDB's type of a Parquet timestamp that is one in UTC. Athena shows it without a time zone. Its
// microseconds are taken as they are: AT TIME ZONE 'UTC' asks the tables of time zones about each value, and takes
// eight times as long.
const utcTimestamp = "TIMESTAMP WITH TIME ZONE"

// maxMemory is what DuckDB takes for the rows that it sorts, groups and joins; what needs more goes to its files, up
// to maxSpilled. Texts that a query makes are not counted: onesynth-lake has a limit for its process.
const (
	maxMemory  = "1GB"
	maxSpilled = "10GB"
)

type duck struct {
	db *sql.DB
	// guard says which queries have Athena's answers; nil in a guard and in a check.
	guard *guard
}

// openEngine gives the files to DuckDB as the lake's tables, and creates the lake's views over them. From then on it
// can read these files and nothing else, and write nothing but what does not fit into memory, into the folder.
func openEngine(ctx context.Context, lake catalog.Lake, files map[string][]string, folder string) (engine, error) {
	guard, err := openGuard(ctx, lake)
	if err != nil {
		return nil, err
	}
	d, err := openDuck(lake, func(d *duck, use string) error {
		d.guard = guard
		return d.setUp(ctx, use, lake, files, folder)
	})
	if err != nil {
		return nil, err // no engine, rather than one that is a nil *duck
	}
	return d, nil
}

// openDuck starts DuckDB. Queries that come after setUp find the lake's tables without its database's name.
func openDuck(lake catalog.Lake, setUp func(d *duck, use string) error) (*duck, error) {
	use := "USE " + databases + "." + identifier(lake.Database)
	ready := false
	connector, err := duckdb.NewConnector("?autoinstall_known_extensions=false&autoload_known_extensions=false",
		func(connection driver.ExecerContext) error {
			if !ready {
				return nil
			}
			_, err := connection.ExecContext(context.Background(), use, nil)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("open DuckDB: %w", err)
	}
	d := &duck{db: sql.OpenDB(connector)}
	if err := setUp(d, use); err != nil {
		return nil, errors.Join(err, d.close())
	}
	ready = true
	return d, nil
}

func (d *duck) setUp(ctx context.Context, use string, lake catalog.Lake, files map[string][]string,
	folder string) error {
	connection, err := d.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open DuckDB: %w", err)
	}
	defer connection.Close()
	if err := asAthena(ctx, connection, use, lake, false,
		"SET GLOBAL temp_directory = "+literal(filepath.Join(folder, "spill")),
		"SET GLOBAL max_temp_directory_size = "+literal(maxSpilled),
		"SET GLOBAL memory_limit = "+literal(maxMemory),
	); err != nil {
		return err
	}
	for _, table := range lake.Tables {
		if err := createTable(ctx, connection, table, files[table.Name]); err != nil {
			return fmt.Errorf("table %s: %w", table.Name, err)
		}
	}
	for _, view := range lake.Views {
		err := d.guard.check(ctx, view.SQL, func() error { return bind(ctx, connection, view.SQL) })
		if err == nil {
			err = createView(ctx, connection, view)
		}
		if err != nil {
			return fmt.Errorf("view %s: %w", view.Name, err)
		}
	}
	for _, statement := range []string{
		"SET GLOBAL allowed_directories = [" + literal(filepath.Join(folder, "files")+"/") + "]",
		"SET GLOBAL enable_external_access = false",
		"SET GLOBAL lock_configuration = true",
	} {
		if _, err := connection.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("close DuckDB to the outside: %s: %w", statement, err)
		}
	}
	return nil
}

// asAthena sets DuckDB to answer as Amazon Athena does, and gives it the lake's database. A guard has no macros in
// place of DuckDB's own functions.
func asAthena(
	ctx context.Context, connection *sql.Conn, use string, lake catalog.Lake, isGuard bool, settings ...string,
) error {
	schema := databases + "." + identifier(lake.Database)
	statements := append(settings,
		"SET GLOBAL TimeZone = 'UTC'",
		"SET GLOBAL integer_division = true",
		"SET GLOBAL ieee_floating_point_ops = true",
		"SET GLOBAL default_null_order = 'nulls_last'",
		"SET GLOBAL parquet_metadata_cache = true",
		"ATTACH ':memory:' AS "+databases,
		"CREATE SCHEMA "+schema,
		use,
	)
	if isGuard {
		statements = append(statements, createMacros(macroPlace, isMissing, schema))
	} else {
		// In main are those that DuckDB calls for special syntax, such as substring(x FROM 1).
		statements = append(statements, createMacros(0, func(macro) bool { return true }, schema, databases+".main"))
	}
	for _, statement := range statements {
		if _, err := connection.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("set up DuckDB: %.200s: %w", strings.TrimSpace(statement), err)
		}
	}
	return nil
}

// createTable makes the files the table's rows. As in Athena, columns are found by their names in any case, those that
// a file does not have are null, and those that the catalog does not have are left out.
func createTable(ctx context.Context, connection *sql.Conn, table catalog.Table, files []string) error {
	present := map[string]string{}
	from := ""
	if len(files) > 0 {
		from = readParquet(table, files)
		columns, err := columnsOf(ctx, connection,
			"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "+from+")")
		if err != nil {
			return err
		}
		for _, c := range columns {
			present[strings.ToLower(c.name)] = c.dataType
		}
	}
	var selected []string
	for _, column := range slices.Concat(table.Columns, table.PartitionKeys) {
		want, err := columnType(column)
		if err != nil {
			return err
		}
		name := identifier(column.Name)
		switch got := present[column.Name]; got {
		case "":
			selected = append(selected, fmt.Sprintf("CAST(NULL AS %s) AS %s", want, name))
		case want:
			selected = append(selected, name)
		case utcTimestamp:
			if want != "TIMESTAMP" {
				return typeError(column, got)
			}
			selected = append(selected, fmt.Sprintf("make_timestamp(epoch_us(%s)) AS %s", name, name))
		default:
			return typeError(column, got)
		}
	}
	statement := fmt.Sprintf("CREATE VIEW %s AS SELECT %s", identifier(table.Name), strings.Join(selected, ", "))
	if from == "" {
		statement += " WHERE false"
	} else {
		statement += " FROM " + from
	}
	_, err := connection.ExecContext(ctx, statement)
	return err
}

func readParquet(table catalog.Table, files []string) string {
	var quoted, types []string
	for _, file := range files {
		quoted = append(quoted, literal(file))
	}
	options := ", union_by_name = true, hive_partitioning = false"
	for _, key := range table.PartitionKeys {
		types = append(types, literal(key.Name)+": "+columnTypes[key.Type])
	}
	if len(types) > 0 {
		options = ", union_by_name = true, hive_partitioning = true, hive_types = {" + strings.Join(types, ", ") + "}"
	}
	return "read_parquet([" + strings.Join(quoted, ", ") + "]" + options + ")"
}

// createView creates the view, and compares its columns with the catalog's: Athena refuses a view whose SELECT has
// others ("Work with views").
func createView(ctx context.Context, connection *sql.Conn, view catalog.View) error {
	if _, err := connection.ExecContext(ctx, "CREATE VIEW "+identifier(view.Name)+" AS "+view.SQL); err != nil {
		return err
	}
	// DESCRIBE would read all files again.
	got, err := columnsOf(ctx, connection, "SELECT column_name, data_type FROM duckdb_columns() WHERE NOT internal "+
		"AND table_name = "+literal(view.Name)+" ORDER BY column_index")
	if err != nil {
		return err
	}
	for i, column := range view.Columns {
		want, err := columnType(column)
		if err != nil {
			return err
		}
		if i >= len(got) || got[i].name != column.Name {
			return fmt.Errorf("column %d of the SELECT is not %s, which the catalog says: list both in one order", i+1,
				column.Name)
		}
		if got[i].dataType != want {
			return fmt.Errorf("column %s is %s, but %s in the catalog: write CAST(… AS %s)", column.Name,
				got[i].dataType, column.Type, column.Type)
		}
	}
	if len(got) > len(view.Columns) {
		return fmt.Errorf("column %s of the SELECT is not in the catalog: list it there, or leave it out",
			got[len(view.Columns)].name)
	}
	return nil
}

// columnsOf reads names and types of columns, which are the query's rows.
func columnsOf(ctx context.Context, connection *sql.Conn, query string) (columns []column, err error) {
	rows, err := connection.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.dataType); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

func columnType(column catalog.Column) (string, error) {
	t, ok := columnTypes[column.Type]
	if !ok {
		return "", fmt.Errorf("column %s is a %s: of the catalog's types string, bigint, double, boolean, date and "+
			"timestamp are understood", column.Name, column.Type)
	}
	return t, nil
}

func typeError(column catalog.Column, got string) error {
	return fmt.Errorf("column %s is %s in the files, but %s in the catalog: change one of them", column.Name, got,
		column.Type)
}

// statements asks DuckDB's own parser, so that it reads the text as the query will be read.
func (d *duck) statements(ctx context.Context, text string) (int, error) {
	var document string
	if err := d.db.QueryRowContext(ctx, "SELECT CAST(json_serialize_sql(CAST(? AS VARCHAR)) AS VARCHAR)",
		text).Scan(&document); err != nil {
		return 0, fmt.Errorf("parse: %w", err)
	}
	var parsed struct {
		Error      bool
		Type       string `json:"error_type"`
		Message    string `json:"error_message"`
		Statements []json.RawMessage
	}
	if err := json.Unmarshal([]byte(document), &parsed); err != nil {
		return 0, fmt.Errorf("parse: %w", err)
	}
	switch {
	case parsed.Error && parsed.Type == "parser":
		return 0, errors.New(parsed.Message)
	case parsed.Error:
		return 0, fmt.Errorf("%w: a lake is read with SELECT, WITH, SHOW, DESCRIBE or EXPLAIN, and written by its "+
			"stream alone", ErrNotQuery)
	}
	return len(parsed.Statements), nil
}

func (d *duck) query(ctx context.Context, text string) (*sql.Rows, error) {
	asked := explained(text)
	if err := d.guard.check(ctx, asked, d.bindWith(ctx, asked)); err != nil {
		return nil, err
	}
	rows, err := d.db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if err := answerable(rows); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return rows, nil
}

func (d *duck) close() error {
	err := d.db.Close()
	if d.guard != nil {
		err = errors.Join(err, d.guard.close())
	}
	return err
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
