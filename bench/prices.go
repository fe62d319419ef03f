package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/trace"
	"github.com/onesynth-cdk/onesynth/schema"
)

// prices prints what a million requests of each route cost, and writes it into docs/operate/cost.md if b.write says so.
func (b *bench) prices(ctx context.Context) error {
	return b.document(ctx, "docs/operate/cost.md", "## A million requests of each route\n", b.pricesOf)
}

func (b *bench) pricesOf(ctx context.Context, l *local, p platform, document *strings.Builder) error {
	memory := memoryOf(p.Schema)
	b.title("%s: US$ for a million requests, with %d MB", p.Schema.Title, memory)
	b.cells("route", "read units", "write units", "if indexes count once", "ms", "DynamoDB", "Lambda", "gateway",
		"logs", "sum")
	fmt.Fprintf(document, "\n### %s, a million\n\n| Request | Read units each | Write units each | If indexes count "+
		"once | ms | DynamoDB | Lambda | HTTP API | Logs | US$ |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", p.Schema.Title)
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
		// (docs/operate/cost.md).
		once := writes - max(r.Transaction.Indexed, 1)*cost.TransactIndexes/2
		c := trace.PriceOf(cost.Read, writes, milliseconds(slices.Min(result.times)), memory)
		row := fmt.Sprintf("%.1f\t%.1f\t%.1f\t%s", cost.Read, writes, once, c)
		b.cells(r.String(), row)
		fmt.Fprintf(document, "| %s | %s |\n", r, strings.ReplaceAll(row, "\t", " | "))
	}
	return b.out.Flush()
}

// memoryOf is the memory of the functions that serve routes, in MB.
func memoryOf(platform schema.Platform) int {
	memory := trace.DefaultMemory
	for _, f := range platform.Functions {
		if slices.ContainsFunc(platform.Routes, func(r schema.Route) bool { return r.Function == f.Name }) {
			memory = max(memory, f.MemoryMegabytes)
		}
	}
	return memory
}

// document measures each platform, and writes the tables that measure makes into a section of a document if b.write
// says so.
func (b *bench) document(ctx context.Context, file, section string,
	measure func(context.Context, *local, platform, *strings.Builder) error) error {
	var tables strings.Builder
	err := b.each(ctx, func(ctx context.Context, l *local, p platform) error { return measure(ctx, l, p, &tables) })
	if err != nil || !b.write {
		return err
	}
	return writeSection(filepath.Join(b.root, file), section, tables.String())
}

// writeSection replaces the tables of a section of a document: what is below its text, from the first heading on.
func writeSection(file, title, tables string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, after, ok := strings.Cut(string(content), title)
	text, rest, more := strings.Cut(after, "\n## ")
	if !ok || !more {
		return fmt.Errorf("%s has no section %q before another section", file, strings.TrimSpace(title))
	}
	text, _, _ = strings.Cut(text, "\n### ")
	return os.WriteFile(file, []byte(before+title+text+tables+"\n## "+rest), 0o644)
}
