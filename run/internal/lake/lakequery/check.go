//go:build cgo && (linux || darwin) && (amd64 || arm64)

package lakequery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

func check(ctx context.Context, lake catalog.Lake) (findings []catalog.Failure, err error) {
	guard, err := openGuard(ctx, lake)
	if err != nil {
		return nil, err
	}
	d, err := openDuck(lake, func(d *duck, use string) error {
		d.guard = guard
		connection, err := d.db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("open DuckDB: %w", err)
		}
		defer connection.Close()
		if err := asAthena(ctx, connection, use, lake, false, "SET GLOBAL enable_external_access = false"); err != nil {
			return err
		}
		findings = d.findings(ctx, connection, lake)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return findings, d.close()
}

func (d *duck) findings(ctx context.Context, connection *sql.Conn, lake catalog.Lake) (findings []catalog.Failure) {
	// A view that names a broken one is not itself wrong. A view that names an unchecked one cannot be checked either.
	var broken, unchecked []string
	find := func(subject string, err error) {
		failure, ok := errors.AsType[*duckdb.Error](err)
		unknown := ok && failure.Type == duckdb.ErrorTypeCatalog &&
			strings.Contains(failure.Msg, "Function with name") ||
			errors.Is(err, errNamesUnchecked)
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			unknown = refused.Local
		}
		findings = append(findings, catalog.Failure{Stack: lake.Stack, Database: lake.Database, Subject: subject,
			Problem: err.Error(), Unchecked: unknown})
	}
	for _, table := range lake.Tables {
		if err := createTable(ctx, connection, table, nil); err != nil {
			find("table "+table.Name, err)
			broken = append(broken, table.Name)
		}
	}
	for _, view := range lake.Views {
		if names(view.SQL, broken) {
			broken = append(broken, view.Name)
			continue
		}
		err := namesUnchecked(view.SQL, unchecked)
		if err == nil {
			// Alone first: an error then shows the place in the SELECT as it was written.
			err = d.guard.check(ctx, view.SQL, func() error { return bind(ctx, connection, view.SQL) })
		}
		if err == nil {
			err = createView(ctx, connection, view)
		}
		if err == nil {
			continue
		}
		if find("view "+view.Name, err); findings[len(findings)-1].Unchecked {
			unchecked = append(unchecked, view.Name)
		} else {
			broken = append(broken, view.Name)
		}
	}
	for _, query := range lake.Queries {
		if names(query.SQL, broken) {
			continue
		}
		n, err := d.statements(ctx, explained(query.SQL))
		if err == nil {
			err = namesUnchecked(query.SQL, unchecked)
		}
		if err == nil && n != 1 {
			err = fmt.Errorf("%w: got %d statements, want one", ErrNotQuery, n)
		}
		if err == nil {
			asked := explained(query.SQL)
			err = d.guard.check(ctx, asked, func() error { return bind(ctx, connection, asked) })
		}
		if err != nil {
			find(fmt.Sprintf("saved query %q", query.Name), err)
		}
	}
	return findings
}

var errNamesUnchecked = errors.New("it names a view that could not be checked")

func namesUnchecked(text string, unchecked []string) error {
	for _, view := range unchecked {
		if names(text, []string{view}) {
			return fmt.Errorf("%w: %s", errNamesUnchecked, view)
		}
	}
	return nil
}

var word = regexp.MustCompile(`\w+`)

// names reports whether the text has one of the names as a word.
func names(text string, any []string) bool {
	return slices.ContainsFunc(word.FindAllString(text, -1), func(w string) bool {
		return slices.ContainsFunc(any, func(name string) bool { return strings.EqualFold(name, w) })
	})
}

// bind lets DuckDB resolve the names of a query, without running it.
func bind(ctx context.Context, connection *sql.Conn, query string) error {
	prepared, err := connection.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	return prepared.Close()
}
