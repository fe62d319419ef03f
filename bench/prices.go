package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/local/trace"
	"github.com/onesynth-cdk/onesynth/schema"
)

// prices prints what a million requests of each route cost, and writes it into docs/COST.md if b.write says so.
func (b *bench) prices(ctx context.Context) error {
	var document strings.Builder
	for _, p := range b.platforms {
		l, err := b.runLocal(ctx, p.stack())
		if err != nil {
			return err
		}
		err = b.pricesOf(ctx, l, p, &document)
		if err := errors.Join(err, l.stop()); err != nil {
			return err
		}
	}
	if !b.write {
		return nil
	}
	return writeSection(b.root+"/docs/COST.md", "## A million requests of each route\n", document.String())
}

func (b *bench) pricesOf(ctx context.Context, l *local, p platform, document *strings.Builder) error {
	memory := memoryOf(p.Schema)
	b.title(fmt.Sprintf("%s: US$ for a million requests, with %d MB", p.Schema.Title, memory))
	fmt.Fprintln(b.out, "route\tread units\twrite units\tif indexes count once\tms\tDynamoDB\tLambda\tgateway\tlogs\tsum")
	fmt.Fprintf(document, "\n### %s, a million\n\n| Request | Read units each | Write units each | If indexes count once | ms | DynamoDB | Lambda | HTTP API | Logs | US$ |\n"+
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
		u := result.units.times(1 / float64(len(result.times)))
		writes := writeUnits(r, u)
		// DynamoDB Local counts indexes twice in a transaction, as it does the items. DynamoDB counts them once (docs/COST.md).
		once := writes - max(r.Transaction.Indexed, 1)*u.transactIndexes/2
		c := trace.PriceOf(u.read, writes, milliseconds(slices.Min(result.times)), memory)
		row := fmt.Sprintf("%.1f\t%.1f\t%.1f\t%s", u.read, writes, once, c)
		fmt.Fprintf(b.out, "%s\t%s\n", r.Name, row)
		fmt.Fprintf(document, "| %s | %s |\n", strings.Join(strings.Fields(r.Name), " "), strings.ReplaceAll(row, "\t", " | "))
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
