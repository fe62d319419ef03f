package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// growth prints what each route costs of DynamoDB with 1, 10 and 50 times the items, and writes it into docs/SCALE.md
// if b.write says so.
func (b *bench) growth(ctx context.Context) error {
	fillings := []int{b.filling, 10 * b.filling, 50 * b.filling}
	var document strings.Builder
	for _, p := range b.platforms {
		l, err := b.runLocal(ctx, p.stack())
		if err != nil {
			return err
		}
		err = b.growthOf(ctx, l, p, fillings, &document)
		if err := errors.Join(err, l.stop()); err != nil {
			return err
		}
	}
	if !b.write {
		return nil
	}
	return writeSection(b.root+"/docs/SCALE.md", "## What each route costs with more items\n", document.String())
}

func (b *bench) growthOf(ctx context.Context, l *local, p platform, fillings []int, document *strings.Builder) error {
	grown, err := p.Growth(ctx, &l.Run, fillings, func(line string) { fmt.Fprintln(os.Stderr, line) })
	if err != nil {
		return err
	}
	b.title(fmt.Sprintf("%s: calls, read and write units of a client's first and second request, after %v requests of each route", p.Schema.Title, fillings))
	fmt.Fprintln(b.out, "route\tfirst\tsecond\t10 times\t50 times\tgrows")
	fmt.Fprintf(document, "\n### %s, with more items\n\n| Request | First: calls, read, write | Second | Second, 10 × | Second, 50 × |\n| --- | --- | --- | --- | --- |\n", p.Schema.Title)
	growing := 0
	for _, g := range grown {
		cells := []string{strings.Join(strings.Fields(g.Route), " ")}
		for _, c := range append(slices.Clone(g.First[:1]), g.Second...) {
			cells = append(cells, fmt.Sprintf("%d, %.1f, %.1f", c.Calls, c.Read, c.Write))
		}
		fmt.Fprintf(document, "| %s |\n", strings.Join(cells, " | "))
		remark := ""
		if g.Grows() {
			remark = "grows"
			growing++
		}
		fmt.Fprintf(b.out, "%s\t%s\n", strings.Join(cells, "\t"), remark)
	}
	b.row("routes whose second request grows", fmt.Sprint(growing), "0", growing == 0)
	return b.out.Flush()
}
