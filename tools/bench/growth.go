package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// growth prints what each route costs of DynamoDB with 1, 10 and 50 times the items, and writes it into
// docs/reference/routes if b.write says so.
func (b *bench) growth(ctx context.Context) error {
	return b.document(ctx, routes.SectionGrowth, b.growthOf)
}

func (b *bench) growthOf(ctx context.Context, l *local, p platform, document *strings.Builder) error {
	fillings := []int{b.filling, 10 * b.filling, 50 * b.filling}
	grown, err := p.Growth(ctx, l.Run, fillings, func(line string) { fmt.Fprintln(os.Stderr, line) })
	if err != nil {
		return err
	}
	b.title("%s: calls, read and write units of a client's first and second request, after %v requests of each route",
		p.Schema.Title, fillings)
	b.cells("route", "first", "second", "10 times", "50 times", "grows")
	document.WriteString("| Request | First: calls, read, write | Second | Second, 10 × | Second, 50 × |\n" +
		"| --- | --- | --- | --- | --- |\n")
	growing := 0
	for _, g := range grown {
		cells := []string{g.Route.String()}
		for _, c := range append(slices.Clone(g.First[:1]), g.Second...) {
			cells = append(cells, fmt.Sprintf("%.0f, %.1f, %.1f", c.Calls, c.Read, c.Write))
		}
		fmt.Fprintf(document, "| %s |\n", strings.Join(cells, " | "))
		remark := ""
		if g.Grows() {
			remark = "grows"
			growing++
		}
		b.cells(append(cells, remark)...)
	}
	b.row("routes whose second request grows", fmt.Sprint(growing), "0", growing == 0)
	return b.out.Flush()
}
