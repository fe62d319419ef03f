//go:build cgo && (linux || darwin) && (amd64 || arm64)

package lakequery

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

// guard tells whether DuckDB's answer to a query is Athena's. It binds queries in a DuckDB of its own, over empty
// tables in place of a lake's tables and views, and without the macros of functions that DuckDB has: their operands
// have the types there that the query gives them.
type guard struct{ duck *duck }

// openGuard starts the guard of a lake. A view has the columns of the catalog.
func openGuard(ctx context.Context, lake catalog.Lake) (*guard, error) {
	d, err := openDuck(lake, func(d *duck, use string) error {
		connection, err := d.db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("open DuckDB: %w", err)
		}
		defer connection.Close()
		if err := asAthena(ctx, connection, use, lake, true, "SET GLOBAL threads = 1",
			"SET GLOBAL enable_external_access = false"); err != nil {
			return err
		}
		relations := map[string][]catalog.Column{}
		for _, table := range lake.Tables {
			relations[table.Name] = append(append(relations[table.Name], table.Columns...), table.PartitionKeys...)
		}
		for _, view := range lake.Views {
			relations[view.Name] = view.Columns
		}
		for name, columns := range relations {
			var described []string
			for _, column := range columns {
				if columnTypes[column.Type] != "" {
					described = append(described, identifier(column.Name)+" "+columnTypes[column.Type])
				}
			}
			if len(described) == 0 {
				continue // createTable says which type is wrong
			}
			statement := "CREATE TABLE " + identifier(name) + " (" + strings.Join(described, ", ") + ")"
			if _, err := connection.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &guard{d}, nil
}

func (g *guard) close() error { return g.duck.close() }

// check returns a *RefusedError for a query that DuckDB answers and Athena does not, or otherwise. A query that names
// what is not there is no refusal: bind, which lets DuckDB bind it over the lake, says so.
func (g *guard) check(ctx context.Context, text string, bind func() error) error {
	if len(text) > macroPlace {
		return &RefusedError{Expression: fmt.Sprintf("a query of %d bytes", len(text)),
			Athena: fmt.Sprintf("takes queries of at most %d bytes", macroPlace)}
	}
	root, err := g.parse(ctx, text)
	if err != nil {
		return cmp.Or(bind(), err) // bind shows the place
	}
	written := newStatement(text, root)
	if err := g.refusal(ctx, written.unknown()); err != nil {
		return err
	}
	unbound, found := bind(), written.refused()
	if unbound != nil {
		// DuckDB's error says more of a name that is not there, and of a file that it may not read.
		found = slices.DeleteFunc(found, func(f finding) bool { return f.expression == nil || f.reads })
	}
	if err := cmp.Or(g.refusal(ctx, found), unbound); err != nil || written.shows {
		return err
	}
	// In DuckDB's own words each CAST has a place.
	reword(map[string]any(root))
	worded, err := g.write(ctx, root.sub("node"))
	if err != nil {
		return fmt.Errorf("write as DuckDB does: %w", err)
	}
	if root, err = g.parse(ctx, worded); err != nil {
		return err
	}
	if found, err = g.aliases(ctx, root); err != nil {
		return err
	}
	if err := g.refusal(ctx, found); err != nil {
		return err
	}
	plans, err := g.plan(ctx, worded)
	if err != nil {
		return &RefusedError{Expression: text, Local: true,
			Athena: "may answer it, but its types cannot be checked here: " + err.Error()}
	}
	return g.refusal(ctx, boundFindings(root, plans))
}

// reword changes what DuckDB would write with another meaning, or without its place: it writes the double 1e0 as 1.0,
// which is a decimal, and binds GROUP BY 1 as an expression in the place of the 1.
func reword(node any) {
	walk(node, nil, func(t tree, _ []tree) bool {
		value := t.sub("value")
		if t.str("class") == "CONSTANT" && value.sub("type").str("id") == "DOUBLE" && value["value"] != nil {
			child := map[string]any{"class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "",
				"query_location": t["query_location"], "value": map[string]any{"is_null": false,
					"value": fmt.Sprint(value["value"]), "type": map[string]any{"id": "VARCHAR", "type_info": nil}}}
			delete(t, "value")
			t["class"], t["type"], t["child"], t["try_cast"] = "CAST", "OPERATOR_CAST", child, false
			t["cast_type"] = map[string]any{"id": "DOUBLE", "type_info": nil}
			return false
		}
		groups, _ := t["group_expressions"].([]any)
		items := t.list("select_list")
		for i, group := range t.list("group_expressions") {
			place, err := strconv.Atoi(fmt.Sprint(group.sub("value")["value"]))
			if group.str("class") == "CONSTANT" && err == nil && 0 < place && place <= len(items) &&
				items[place-1].str("class") != "STAR" {
				copied := maps.Clone(items[place-1])
				copied["alias"] = ""
				groups[i] = map[string]any(copied)
			}
		}
		return true
	})
}

// parse is the one statement of the text.
func (g *guard) parse(ctx context.Context, text string) (tree, error) {
	var document struct {
		Message    string `json:"error_message"`
		Statements []tree
	}
	if err := g.serialised(ctx, "json_serialize_sql(CAST(? AS VARCHAR))", text, &document); err != nil {
		return nil, err
	}
	if len(document.Statements) != 1 {
		return nil, fmt.Errorf("%w: got %d statements, want one: %s", ErrNotQuery, len(document.Statements),
			document.Message)
	}
	return document.Statements[0], nil
}

func (g *guard) plan(ctx context.Context, text string) (plans any, err error) {
	var document struct {
		Message string `json:"error_message"`
		Plans   any
	}
	if err := g.serialised(ctx, "json_serialize_plan(CAST(? AS VARCHAR), optimize := false)", text,
		&document); err != nil {
		return nil, err
	}
	if document.Message != "" {
		return nil, errors.New(document.Message)
	}
	return document.Plans, nil
}

func (g *guard) serialised(ctx context.Context, call, text string, into any) error {
	var document string
	if err := g.duck.db.QueryRowContext(ctx, "SELECT CAST("+call+" AS VARCHAR)", text).Scan(&document); err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	return nil
}

// refusal is the error of the first finding.
func (g *guard) refusal(ctx context.Context, found []finding) error {
	if len(found) == 0 {
		return nil
	}
	f := found[0]
	refused := &RefusedError{Expression: f.name, Athena: f.athena, Instead: f.instead, Local: f.local}
	if f.expression != nil {
		var err error
		if refused.Expression, err = g.write(ctx, selectOf(f.expression)); err != nil {
			refused.Expression = strings.ToLower(f.expression.str("function_name") + f.expression.str("type"))
		}
		refused.Expression = withIntervals(strings.TrimPrefix(refused.Expression, "SELECT "))
	}
	return refused
}

// intervals are DuckDB's words for INTERVAL '1' day.
var intervals = regexp.MustCompile(`to_(\w+)s\(CAST\(trunc\(CAST\(('?\d+'?) AS DOUBLE\)\) AS (INTEGER|BIGINT)\)\)`)

// withIntervals writes the intervals of an expression of DuckDB as a query does.
func withIntervals(expression string) string {
	return intervals.ReplaceAllString(expression, "INTERVAL $2 $1")
}

// selectOf is a SELECT of the expression alone.
func selectOf(expression tree) tree {
	return tree{"type": "SELECT_NODE", "modifiers": []any{}, "cte_map": tree{"map": []any{}},
		"select_list": []any{withoutSchema(map[string]any(expression))},
		"from_table": tree{"type": "EMPTY", "alias": "", "sample": nil,
			"query_location": json.Number("18446744073709551615")}, "where_clause": nil,
		"group_expressions": []any{}, "group_sets": []any{}, "aggregate_handling": "STANDARD_HANDLING", "having": nil,
		"sample": nil, "qualify": nil}
}

// withoutSchema leaves out the schema main, which DuckDB writes before functions of special syntax.
func withoutSchema(node any) any {
	switch node := node.(type) {
	case map[string]any:
		copied := map[string]any{}
		for key, value := range node {
			if key == "schema" && value == "main" {
				value = ""
			}
			copied[key] = withoutSchema(value)
		}
		return copied
	case []any:
		var copied = []any{}
		for _, value := range node {
			copied = append(copied, withoutSchema(value))
		}
		return copied
	}
	return node
}

// write is the SQL of a SELECT.
func (g *guard) write(ctx context.Context, node tree) (text string, err error) {
	document, err := json.Marshal(tree{"error": false,
		"statements": []any{tree{"node": node, "named_param_map": []any{}}}})
	if err != nil {
		return "", err
	}
	err = g.duck.db.QueryRowContext(ctx, "SELECT json_deserialize_sql(CAST(? AS JSON))", string(document)).Scan(&text)
	return text, err
}

// aliases finds uses of a name that the same SELECT gives with AS, other than in its ORDER BY: Athena knows it only
// there, unless a column has the name.
func (g *guard) aliases(ctx context.Context, root tree) (found []finding, err error) {
	walk(map[string]any(root), nil, func(node tree, around []tree) bool {
		if node.str("type") != "SELECT_NODE" || err != nil {
			return err == nil
		}
		given := map[string]bool{}
		for _, item := range node.list("select_list") {
			if alias := strings.ToLower(item.str("alias")); alias != "" && item.str("class") != "STAR" {
				given[alias] = true
			}
		}
		for _, key := range []string{"where_clause", "group_expressions", "having", "select_list"} {
			walk(node[key], nil, func(use tree, _ []tree) bool {
				if use.str("class") == "SUBQUERY" || err != nil {
					return false
				}
				names, _ := use["column_names"].([]any)
				if use.str("class") != "COLUMN_REF" || len(names) != 1 {
					return true
				}
				name, _ := names[0].(string)
				if !given[strings.ToLower(name)] {
					return true
				}
				var isColumn bool
				if isColumn, err = g.isColumn(ctx, use, node, around); err == nil && !isColumn {
					found = append(found, finding{expression: use,
						athena:  "knows a name after AS only in ORDER BY",
						instead: "the expression again, or its position in GROUP BY, such as GROUP BY 1"})
				}
				return true
			})
		}
		return true
	})
	return found, err
}

// isColumn reports whether a name is a column of what the SELECT reads.
func (g *guard) isColumn(ctx context.Context, use, node tree, around []tree) (bool, error) {
	alone := maps.Clone(use)
	alone["alias"] = ""
	probe := selectOf(alone)
	probe["from_table"] = node["from_table"]
	var with []any
	for _, outer := range append([]tree{node}, around...) {
		entries, _ := outer.sub("cte_map")["map"].([]any)
		with = append(with, entries...)
	}
	if len(with) > 0 {
		probe["cte_map"] = tree{"map": with}
	}
	text, err := g.write(ctx, probe)
	if err != nil {
		return false, fmt.Errorf("look for a column: %w", err)
	}
	_, err = g.plan(ctx, text)
	return err == nil, nil
}

// bindWith lets DuckDB bind the query over the lake.
func (d *duck) bindWith(ctx context.Context, text string) func() error {
	return func() error {
		connection, err := d.db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("open DuckDB: %w", err)
		}
		defer connection.Close()
		return bind(ctx, connection, text)
	}
}

// answerable are the types of DuckDB that a column of an answer may have. Athena writes others in another form.
func answerable(rows *sql.Rows) error {
	types, err := rows.ColumnTypes()
	if err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	for _, t := range types {
		switch name := t.DatabaseTypeName(); name {
		case "INTERVAL", "BLOB", "TIME", "TIMETZ", "BIT", "UUID", "GEOMETRY", "VARIANT":
			return &RefusedError{Expression: withIntervals(t.Name()), Local: true,
				Athena:  "writes values of type " + strings.ToLower(name) + " in another format",
				Instead: "a number or a text, such as date_diff('second', a, b)"}
		}
	}
	return nil
}
