package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/lakequery"
)

type lakeCommand struct {
	running
	SQL      string           `arg:"" optional:"" name:"sql" help:"SELECT, SHOW, DESCRIBE or EXPLAIN. Default: list the lake's tables, views and saved queries."`
	Query    string           `help:"Run the saved query of that name." placeholder:"NAME"`
	Database string           `help:"Database of the lake, where the run has several." placeholder:"NAME"`
	Stack    string           `help:"Stack that declares the lake, where several stacks have a database of the name." placeholder:"NAME"`
	Format   lakequery.Format `help:"Form of the answer: ${enum}." enum:"table,csv,json,jsonlines" default:"table"`
}

// Run prints the answer.
func (c *lakeCommand) Run(ctx context.Context) error {
	// A reader such as head may leave before the end: then the copy of the lake is still removed.
	signal.Ignore(syscall.SIGPIPE)
	out := bufio.NewWriter(os.Stdout)
	err := c.run(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	var unknown *lakequery.DatabaseError
	switch {
	case errors.Is(err, syscall.EPIPE):
		return nil
	case errors.As(err, &unknown) && len(unknown.Known) > 0:
		return fmt.Errorf("%w: choose with --database, or with --stack", err)
	}
	return c.explain(err)
}

func (c *lakeCommand) run(ctx context.Context, out io.Writer) (err error) {
	options := lakequery.Options{Database: c.Database, Stack: c.Stack}
	if c.SQL != "" && c.Query != "" {
		return errors.New("got SQL and --query: give one of them")
	}
	text := c.SQL
	if text == "" {
		described, err := lakequery.Describe(ctx, c.Console, options)
		if err != nil {
			return err
		}
		if c.Query == "" {
			return c.list(out, described)
		}
		if text, err = saved(described, c.Query); err != nil {
			return err
		}
	}
	lake, err := lakequery.Open(ctx, c.Console, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lake.Close()) }()
	rows, err := lake.Query(ctx, text)
	if err != nil {
		return err
	}
	return lakequery.Write(out, c.Format, rows)
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
	case lakequery.FormatJSON:
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(lake)
	case lakequery.FormatTable:
	default:
		return fmt.Errorf("--format %s is for the rows of a query: list as table or json", c.Format)
	}
	// Each list of columns is aligned by itself, as the lines between have no tabs.
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
