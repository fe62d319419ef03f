package catalog

import (
	"fmt"
	"strings"
)

// DatabaseError says that the run has no such database, or several.
type DatabaseError struct {
	// Got and Stack are the names in the request, empty when there were none.
	Got, Stack string
	// Known are the databases of the run, each with its stack, as "shop of stack shop-eu-west-1".
	Known []string
}

// Error names the run's databases.
func (e *DatabaseError) Error() string {
	known := strings.Join(e.Known, ", ")
	switch {
	case len(e.Known) == 0:
		return "the run has no lake: none of its stacks has an AWS::Glue::Database"
	case e.Got == "" && e.Stack == "":
		return "the run has several lakes, name the database of one, or its stack: " + known
	case e.Stack == "":
		return fmt.Sprintf("no database %q, or several: the run has %s", e.Got, known)
	default:
		return fmt.Sprintf("no database %q of stack %q, or several: the run has %s", e.Got, e.Stack, known)
	}
}

// Choose returns the only lake with that database and that stack; either may be empty. Errors: *DatabaseError.
func Choose(lakes []Lake, database, stack string) (Lake, error) {
	unclear := &DatabaseError{Got: database, Stack: stack}
	var meant []Lake
	for _, lake := range lakes {
		if (lake.Database == database || database == "") && (lake.Stack == stack || stack == "") {
			meant = append(meant, lake)
		}
		unclear.Known = append(unclear.Known, lake.Database+" of stack "+lake.Stack)
	}
	if len(meant) != 1 {
		return Lake{}, unclear
	}
	return meant[0], nil
}

// Failure is a table, view or saved query that does not run, or could not be checked.
type Failure struct {
	// Stack declares the lake, whose database has that name.
	Stack, Database string
	// Subject is the kind and name, such as: view kpis.
	Subject string
	// Problem is the engine's error, which shows the place in the text, or names the column that is not as the catalog
	// says.
	Problem string
	// Unchecked says that the engine lacks a function that the text, or a view that it names, calls. Amazon Athena may
	// have the function; no query of a local run can use the view.
	Unchecked bool
}

// String writes the failure in lines without the last end of line.
func (f Failure) String() string {
	text := strings.ReplaceAll(strings.TrimSpace(f.Problem), "\n", "\n  ")
	if f.Unchecked {
		text = "could not be checked, and cannot be queried on this machine, as DuckDB lacks a function that Athena " +
			"may have: " + text
	}
	return fmt.Sprintf("stack %s, database %s, %s: %s", f.Stack, f.Database, f.Subject, text)
}
