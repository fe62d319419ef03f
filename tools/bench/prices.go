package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// prices prints what a million requests of each route cost, and writes it into docs/reference/routes if b.write says
// so.
func (b *bench) prices(ctx context.Context) error {
	return b.document(ctx, routes.SectionPrices, b.pricesOf)
}

func (b *bench) pricesOf(ctx context.Context, l *local, p platform, document *strings.Builder) error {
	const memory = runtest.DefaultMemory
	b.title("%s: US$ for a million requests, with %d MB", p.Schema.Title, memory)
	b.cells("route", "read units", "write units", "if indexes count once", "ms", "DynamoDB", "Lambda", "gateway",
		"logs", "sum")
	document.WriteString("| Request | Read units each | Write units each | If indexes count once | ms | DynamoDB | " +
		"Lambda | HTTP API | Logs | US$ |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range p.Routes {
		if r.Waits {
			continue
		}
		// The first requests start processes, and read what the next ones know.
		if _, err := b.loadRoute(ctx, l, r, 1); err != nil {
			return err
		}
		result, err := b.loadRoute(ctx, l, r, 1)
		if err != nil {
			return err
		}
		cost := result.each()
		writes := writeUnits(r, cost)
		// DynamoDB Local counts indexes twice in a transaction, as it does the items. DynamoDB counts them once
		// (docs/operate/cost.md#a-million-requests).
		once := writes - max(r.Transaction.Indexed, 1)*cost.TransactIndexes/2
		c := runtest.PriceOf(cost.Read, writes, milliseconds(slices.Min(result.times)), memory)
		row := fmt.Sprintf("%.1f\t%.1f\t%.1f\t%s", cost.Read, writes, once, c)
		b.cells(r.String(), row)
		fmt.Fprintf(document, "| %s | %s |\n", r, strings.ReplaceAll(row, "\t", " | "))
	}
	return b.out.Flush()
}

// document measures each platform, and writes the table that measure makes into a section of the page of its routes if
// b.write says so.
func (b *bench) document(ctx context.Context, section string,
	measure func(context.Context, *local, platform, *strings.Builder) error) error {
	return b.each(ctx, func(ctx context.Context, l *local, p platform) error {
		var table strings.Builder
		if err := measure(ctx, l, p, &table); err != nil || !b.write {
			return err
		}
		page := routes.Page(b.root, p.Name())
		content, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		written, err := routes.Replace(string(content), section, table.String())
		if err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
		return os.WriteFile(page, []byte(written), 0o644)
	})
}
