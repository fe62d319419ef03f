package main

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

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/lakecommand"
)

type lakeCommand struct {
	running
	SQL      string `arg:"" optional:"" name:"sql" help:"SELECT, SHOW, DESCRIBE or EXPLAIN. Default: list the lake's tables, views and saved queries."`
	Query    string `help:"Run the saved query of that name." placeholder:"NAME"`
	Database string `help:"Database of the lake, where the run has several." placeholder:"NAME"`
	Stack    string `help:"Stack that declares the lake, where several stacks have a database of the name; with --check, as --stack of onesynth local." placeholder:"NAME"`
	Format   string `help:"Form of the answer: ${enum}." enum:"table,csv,json,jsonlines" default:"table"`
	Check    bool   `help:"Instead, check that all views and saved queries of an assembly run. It needs neither a run nor data; the exit code is 1 when one does not."`
	Assembly string `help:"Folder of the cloud assembly, for --check." default:"cdk.out" type:"path"`
}

// Run prints the result of the query.
func (c *lakeCommand) Run(ctx context.Context) error {
	if c.Check {
		return c.check(ctx, os.Stdout)
	}
	if c.SQL != "" && c.Query != "" {
		return errors.New("got SQL and --query: give one of them")
	}
	var lakes []catalog.Lake
	if err := c.call(ctx, http.MethodGet, "/lakes", nil, &lakes); err != nil {
		return err
	}
	lake, err := catalog.Choose(lakes, c.Database, c.Stack)
	if err != nil && len(lakes) > 0 {
		return fmt.Errorf("%w: choose with --database, or with --stack", err)
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
	return lakecommand.New(os.Stderr).Write(ctx, os.Stdout, c.Console, question, c.Format)
}

// check prints the views and saved queries of the assembly's lakes that fail.
func (c *lakeCommand) check(ctx context.Context, out io.Writer) error {
	if c.SQL != "" || c.Query != "" {
		return errors.New("got --check and a query: give one of them")
	}
	set, err := readSettings()
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
			fmt.Fprintln(out, finding)
		}
		if len(findings) == 0 {
			fmt.Fprintf(out, "stack %s, database %s: all tables, views and saved queries can be queried\n", lake.Stack, lake.Database)
		}
	}
	switch {
	case checked == 0 && len(lakes) > 0:
		var known []string
		for _, lake := range lakes {
			known = append(known, lake.Database+" of stack "+lake.Stack)
		}
		return fmt.Errorf("--database and --stack name no lake of the assembly: it has %s", strings.Join(known, ", "))
	case checked == 0:
		fmt.Fprintln(out, "the assembly has no lake")
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

func saved(lake catalog.Lake, name string) (string, error) {
	var known []string
	for _, q := range lake.Queries {
		if strings.EqualFold(q.Name, name) {
			return q.SQL, nil
		}
		known = append(known, fmt.Sprintf("%q", q.Name))
	}
	if len(known) == 0 {
		return "", fmt.Errorf("no saved query %q: the lake has none", name)
	}
	return "", fmt.Errorf("no saved query %q: the lake has %s", name, strings.Join(known, ", "))
}

func (c *lakeCommand) list(out io.Writer, lake catalog.Lake) error {
	switch c.Format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(lake)
	case "table":
	default:
		return fmt.Errorf("--format %s is for the rows of a query: list as table or json", c.Format)
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
