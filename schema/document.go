package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Document returns the platform's access patterns, tables, grants and routes as Markdown, such as
// docs/reference/access-patterns/todo.md.
func (p Platform) Document() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: access patterns\n\n", p.Title)
	b.WriteString("`make reference` prints this page from the schema.\n\n")
	b.WriteString("Every request that a handler makes of a table is one of these. None is a Scan. A role is granted " +
		"what its\nfunction's patterns need, and no more.\n")
	if slices.ContainsFunc(p.Database.AccessPatterns, func(a AccessPattern) bool { return a.Origin != "" }) {
		b.WriteString("*In the origin* is how the owner of the data model words a pattern, and what it costs there.\n")
	}

	b.WriteString("\n## Access patterns\n")
	for _, pattern := range p.Database.AccessPatterns {
		pattern.document(&b, p.Database)
	}

	b.WriteString("\n## Tables\n")
	for _, t := range p.Database.Tables {
		t.document(&b, p.Database.Prefix)
	}

	b.WriteString("\n## Grants\n\n")
	row(&b, "Function", "Action", "On")
	row(&b, "---", "---", "---")
	for _, f := range p.Functions {
		for _, g := range p.GrantsOf(f.Name) {
			on := g.Table
			if g.Index != "" {
				on += "/index/" + g.Index
			}
			row(&b, f.Name, "`dynamodb:"+string(g.Action)+"`", on)
		}
	}

	b.WriteString("\n## Routes\n\n")
	row(&b, "Route", "Served by", "Caller", "Limit", "")
	row(&b, "---", "---", "---", "---", "---")
	for _, r := range p.Routes {
		limit := ""
		if l, ok := p.RateLimit(r.RateLimit); ok {
			window := strings.ReplaceAll(strings.ReplaceAll(l.Window.String(), "m0s", "m"), "h0m", "h")
			limit = fmt.Sprintf("%s: %d in %s per %s", l.Name, l.Requests, window, l.Per)
			if l.AddressRequests > 0 {
				limit += fmt.Sprintf(", %d per address", l.AddressRequests)
			}
		}
		row(&b, "`"+r.Key()+"`", r.Function, r.Caller.Name, limit, r.Summary)
	}
	return b.String()
}

func (p AccessPattern) document(b *strings.Builder, d Database) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n", p.Name, p.Description)
	on := strings.Join(p.tables(), ", ")
	if p.Index != "" {
		on += "/" + p.Index
	}
	fmt.Fprintf(b, "- `%s` of %s", p.Action, on)
	if p.Action == TransactWriteItems {
		b.WriteString(":\n")
		for _, w := range p.Writes {
			fmt.Fprintf(b, "  - `%s` %s: %s", w.Action, w.Table, w.Description)
			if w.Repeated {
				b.WriteString(" (each)")
			}
			if w.Optional {
				b.WriteString(" (when needed)")
			}
			b.WriteString("\n")
		}
	} else {
		fmt.Fprintf(b, ": %s\n", p.key(d))
	}
	users := slices.Clone(p.Functions)
	if p.Offered {
		users = append(users, "functions that join")
	}
	if p.ByOperators {
		users = append(users, "operators")
	}
	fmt.Fprintf(b, "- Used by %s\n", strings.Join(users, ", "))
	if p.Origin != "" {
		fmt.Fprintf(b, "- In the origin: %s", p.Origin)
		if p.OriginCost != "" {
			fmt.Fprintf(b, " (%s)", p.OriginCost)
		}
		b.WriteString("\n")
	}
}

func (t Table) document(b *strings.Builder, prefix string) {
	fmt.Fprintf(b, "\n### %s (`%s`)\n\n%s", t.Name, t.physicalName(prefix), t.Description)
	capacity := "On-demand."
	if !t.Capacity.OnDemand() {
		capacity = fmt.Sprintf("Provisioned: %d read and %d write units.", t.Capacity.ReadUnits, t.Capacity.WriteUnits)
	}
	fmt.Fprintf(b, " Key: %s. %s", t.Key, capacity)
	if t.TimeToLive != "" {
		fmt.Fprintf(b, " Time to live: `%s`.", t.TimeToLive)
	}
	if t.Stream != StreamNone {
		fmt.Fprintf(b, " Stream: %s.", t.Stream)
	}
	b.WriteString("\n\n")
	row(b, "Attribute", "Type", "Meaning")
	row(b, "---", "---", "---")
	for _, a := range t.Attributes {
		row(b, "`"+a.Name+"`", string(a.Type), a.Description)
	}
	if len(t.Indexes) == 0 {
		return
	}
	b.WriteString("\n")
	row(b, "Index", "Key", "Projection", "Use")
	row(b, "---", "---", "---", "---")
	for _, i := range t.Indexes {
		projection := "ALL"
		if i.Projection != ProjectAll {
			projection = strings.TrimSpace(string(i.Projection) + " " + strings.Join(i.Include, ", "))
		}
		row(b, i.Name, i.key(), projection, i.Description)
	}
}

// physicalName is the table's physical name with the prefix, which may be empty.
func (t Table) physicalName(prefix string) string {
	return strings.TrimPrefix(prefix+"-"+t.PhysicalName, "-")
}

// String returns the key as "`partition`" or "`partition`, `sort`".
func (k Key) String() string { return "`" + strings.Join(k.Attributes(), "`, `") + "`" }

// key is the index key as "`partition`, `sort`", with "+" between the attributes of
// one part.
func (i Index) key() string {
	parts := []string{strings.Join(i.PartitionAttributes(), "` + `")}
	if sort := i.SortAttributes(); len(sort) > 0 {
		parts = append(parts, strings.Join(sort, "` + `"))
	}
	return "`" + strings.Join(parts, "`, `") + "`"
}

// tables are the tables that the pattern's request names, each once.
func (p AccessPattern) tables() []string {
	names := slices.Clone(p.Tables)
	if p.Table != "" {
		names = append(names, p.Table)
	}
	for _, w := range p.Writes {
		if !slices.Contains(names, w.Table) {
			names = append(names, w.Table)
		}
	}
	return names
}

// key says in one line what the pattern's request names, which is no transaction.
func (p AccessPattern) key(d Database) string {
	var parts []string
	switch p.Action {
	case Query:
		for _, c := range p.KeyConditions {
			parts = append(parts, fmt.Sprintf("`%s` %s", c.Attribute, c.Comparison))
		}
	default:
		for _, name := range p.tables() {
			table, _ := d.Table(name)
			for _, name := range table.Key.Attributes() {
				parts = append(parts, fmt.Sprintf("`%s` =", name))
			}
		}
	}
	text := strings.Join(parts, ", ")
	if len(p.Filter) > 0 {
		text += "; filter on `" + strings.Join(p.Filter, "`, `") + "`"
	}
	if p.Action == BatchGetItem && len(p.Tables) == 0 {
		text += ", for each of the items"
	}
	if p.Descending {
		text += "; highest first"
	}
	if p.Count {
		text += "; count only"
	}
	if p.Consistent {
		text += "; consistent"
	}
	return text
}

func row(b *strings.Builder, cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", "\\|")
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}
