package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/onesynth-cdk/onesynth/run/command/output"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakecommand"
)

type lakeCommand struct {
	Query lakeQueryCommand `cmd:"" default:"withargs" help:"Query the lake, or list what is in it."`
	Check lakeCheckCommand `cmd:"" help:"Check that every view and saved query of an assembly works, without a run and without data. The exit code is 1 if one does not."`
}

// Help returns the text of --help below the summary.
func (c *lakeCommand) Help() string {
	return `onesynth lake SQL is short for onesynth lake query SQL: onesynth lake query --help has the flags.`
}

type lakeQueryCommand struct {
	target.Console
	output.Format
	SQL       string `arg:"" optional:"" name:"sql" help:"SELECT, SHOW, DESCRIBE or EXPLAIN. Default: list the lake's tables, views and saved queries."`
	Query     string `help:"Run the saved query of that name." placeholder:"NAME"`
	Database  string `help:"Database of the lake, if the run has several." placeholder:"NAME"`
	Stack     string `help:"Stack that declares the lake, if several stacks have a database of that name." placeholder:"NAME"`
	CheckFlag bool   `name:"check" hidden:""`
	Assembly  string `hidden:"" default:"cdk.out" type:"path"`
}

type lakeCheckCommand struct {
	Database string `help:"Database to check. Default: all." placeholder:"NAME"`
	Stack    string `help:"Stacks to check, as for --stack of onesynth local." placeholder:"NAME"`
	Assembly string `help:"Folder of the cloud assembly." default:"cdk.out" type:"path"`
}

// Run prints the result of the query.
func (c *lakeQueryCommand) Run(ctx context.Context) error {
	switch {
	case c.CheckFlag && (c.SQL != "" || c.Query != ""):
		return output.Usagef("got --check and a query: give one of them")
	case c.CheckFlag:
		renamed("lake --check", "lake check")
		return (&lakeCheckCommand{c.Database, c.Stack, c.Assembly}).Run(ctx)
	case c.SQL != "" && c.Query != "":
		return output.Usagef("got SQL and --query: give one of them")
	}
	var lakes []catalog.Lake
	if err := c.Call(ctx, http.MethodGet, "/lakes", nil, &lakes); err != nil {
		return err
	}
	lake, err := catalog.Choose(lakes, c.Database, c.Stack)
	if err != nil && len(lakes) > 0 {
		return output.Usagef("%w: choose with --database, or with --stack", err)
	}
	if err != nil {
		return err
	}
	text := c.SQL
	if c.Query != "" {
		if text, err = saved(lake, c.Query); err != nil {
			return err
		}
	}
	if text == "" {
		return c.list(os.Stdout, lake)
	}
	question := catalog.Question{Database: lake.Database, Stack: lake.Stack, SQL: text}
	format := c.Format.Format
	if format == "text" {
		format = "table"
	}
	return lakecommand.New(os.Stderr).Write(ctx, os.Stdout, c.URL, question, format)
}

// Run prints the views and saved queries of the assembly's lakes that fail.
func (c *lakeCheckCommand) Run(ctx context.Context) error {
	set, err := target.ReadSettings()
	if err != nil {
		return err
	}
	// As in a run: stacks that are not chosen need not resolve.
	load := assembly.Options{Stacks: set.Stacks, SSMParameters: set.SSMParameters}
	if c.Stack != "" {
		load.Stacks = []string{c.Stack}
	}
	source, err := assembly.Load(c.Assembly, load)
	if err != nil {
		return err
	}
	lakes, err := catalog.Read(source)
	if err != nil {
		return err
	}
	broken, checked := 0, 0
	command := lakecommand.New(os.Stderr)
	for _, lake := range lakes {
		if c.Database != "" && c.Database != lake.Database {
			continue
		}
		checked++
		findings, err := command.Check(ctx, lake)
		if err != nil {
			return fmt.Errorf("database %s: %w", lake.Database, err)
		}
		for _, finding := range findings {
			if !finding.Unchecked {
				broken++
			}
			fmt.Println(finding)
		}
		if len(findings) == 0 {
			fmt.Printf("stack %s, database %s: all tables, views and saved queries can be queried\n", lake.Stack,
				lake.Database)
		}
	}
	switch {
	case checked == 0 && len(lakes) > 0:
		var known []string
		for _, lake := range lakes {
			known = append(known, lake.Database+" of stack "+lake.Stack)
		}
		return output.Usagef("--database and --stack name no lake of the assembly: it has %s",
			strings.Join(known, ", "))
	case checked == 0:
		fmt.Println("the assembly has no lake")
	case broken == 1:
		return errors.New("1 finding: Athena would answer a query of it with an error")
	case broken > 0:
		return fmt.Errorf("%d findings: Athena would answer a query of them with an error", broken)
	}
	return nil
}

// checkLake returns what refuses a run with a lake whose views fail. A run does not wait for a build of the command.
func checkLake(command *lakecommand.Command) func(context.Context, catalog.Lake) (warnings []string, err error) {
	return func(ctx context.Context, lake catalog.Lake) (warnings []string, err error) {
		if !command.Built() {
			return nil, nil
		}
		findings, err := command.Check(ctx, lake)
		if _, isMissing := errors.AsType[*lakecommand.MissingError](err); isMissing {
			return nil, nil // what is kept is of another checkout, whose source is not here
		}
		problems := []error{err}
		for _, finding := range findings {
			if finding.Unchecked {
				warnings = append(warnings, finding.String())
			} else {
				problems = append(problems, errors.New(finding.String()))
			}
		}
		return warnings, errors.Join(problems...)
	}
}

// saved returns the SQL of a saved query.
func saved(lake catalog.Lake, name string) (string, error) {
	var known []string
	for _, q := range lake.Queries {
		if strings.EqualFold(q.Name, name) {
			return q.SQL, nil
		}
		known = append(known, fmt.Sprintf("%q", q.Name))
	}
	if len(known) == 0 {
		return "", fmt.Errorf("no saved query %q: the lake has no saved queries", name)
	}
	return "", fmt.Errorf("no saved query %q: the lake has %s", name, strings.Join(known, ", "))
}

// lakeRow is a column of a table or view of the lake, or a saved query, whose type is empty.
type lakeRow struct {
	Kind        string `json:"kind"`
	Of          string `json:"of"`
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

// list prints what is in the lake: as text and json in its order, and in the other forms as a row for each column and
// saved query.
func (c *lakeQueryCommand) list(out io.Writer, lake catalog.Lake) error {
	var rows []lakeRow
	add := func(kind, of string, columns []catalog.Column) {
		for _, column := range columns {
			rows = append(rows, lakeRow{Kind: kind, Of: of, Name: column.Name, Type: column.Type})
		}
	}
	switch c.Format.Format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(lake)
	case "table", "csv", "jsonlines":
		for _, table := range lake.Tables {
			add("column", table.Name, table.Columns)
			add("partition key", table.Name, table.PartitionKeys)
		}
		for _, view := range lake.Views {
			add("column of a view", view.Name, view.Columns)
		}
		for _, q := range lake.Queries {
			rows = append(rows, lakeRow{Kind: "saved query", Name: q.Name, Description: q.Description})
		}
		return output.Rows(out, c.Format, rows)
	}
	// The tabwriter aligns each list of columns separately, because the lines between have no tabs.
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	columns := func(columns []catalog.Column, remark string) {
		for _, column := range columns {
			fmt.Fprintf(w, "  %s\t%s%s\n", column.Name, column.Type, remark)
		}
	}
	fmt.Fprintf(w, "Database %s\n", lake.Database)
	for _, table := range lake.Tables {
		fmt.Fprintf(w, "\nTable %s\n", table.Name)
		columns(table.Columns, "")
		columns(table.PartitionKeys, ", of the folder")
	}
	for _, view := range lake.Views {
		fmt.Fprintf(w, "\nView %s\n", view.Name)
		columns(view.Columns, "")
	}
	if len(lake.Queries) > 0 {
		fmt.Fprintf(w, "\nSaved queries, for --query\n")
	}
	for _, q := range lake.Queries {
		fmt.Fprintf(w, "  %s\t%s\n", q.Name, q.Description)
	}
	return w.Flush()
}
