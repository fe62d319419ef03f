//go:build cgo && (linux || darwin) && (amd64 || arm64)

package lakequery

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// macroPlace is where expressions of macros say that they were written, behind those of all queries: it is the longest
// that Athena takes ("Service quotas").
const macroPlace = 262_144

// bound is the plan of a statement, whose expressions have types.
type bound struct {
	// expressions are those of the statement by their place.
	expressions map[int]tree
	// casts are the types of its CASTs by their place.
	casts map[int]string
	// aggregates are its calls of sum and avg, which have no place in a plan.
	aggregates map[string]tree
	found      []finding
}

// boundFindings finds what DuckDB answers and Athena does not, or otherwise, as the types of operands tell. The
// statement has a place for each of its CASTs.
func boundFindings(statement tree, plans any) []finding {
	b := &bound{expressions: map[int]tree{}, casts: map[int]string{}, aggregates: map[string]tree{}}
	walk(map[string]any(statement), nil, func(t tree, _ []tree) bool {
		if name := strings.ToLower(t.str("function_name")); name == "sum" || name == "avg" {
			b.aggregates[name] = t
		}
		if place := t.at(); place >= 0 && t.str("class") != "" {
			if _, ok := b.expressions[place]; !ok {
				b.expressions[place] = t
			}
			if t.str("class") == "CAST" {
				b.casts[place], b.expressions[place] = t.sub("cast_type").str("id"), t
			}
		}
		return true
	})
	walk(plans, nil, func(t tree, around []tree) bool {
		switch t.str("expression_class") {
		case "BOUND_CAST":
			if b.explicit(t) {
				b.explicitCast(t, around)
			} else {
				b.implicitCast(t, around)
			}
		case "BOUND_FUNCTION":
			b.function(t, around)
		case "BOUND_AGGREGATE", "BOUND_WINDOW":
			b.aggregate(t, around)
		}
		return true
	})
	return b.found
}

// refuse adds a finding about the nearest expression that has a place.
func (b *bound) refuse(t tree, around []tree, athena, instead string, local bool) {
	for _, candidate := range append(slices.Clone(around), t) {
		if candidate.at() >= macroPlace {
			return // in a macro, which is right as it is
		}
	}
	f := finding{athena: athena, instead: instead, local: local, expression: b.expressions[t.at()]}
	if strings.Contains("BOUND_AGGREGATE BOUND_WINDOW", t.str("expression_class")) {
		f.expression = b.aggregates[t.str("name")]
	}
	for i := len(around) - 1; i >= 0 && f.expression == nil; i-- {
		f.expression = b.expressions[around[i].at()]
	}
	if f.expression == nil {
		f.name = "an expression"
	}
	b.found = append(b.found, f)
}

// explicit reports whether a CAST was written.
func (b *bound) explicit(cast tree) bool {
	place := cast.at()
	return place >= 0 && b.casts[place] == typeOf(cast)
}

func typeOf(t tree) string {
	switch t.str("expression_class") {
	case "BOUND_COMPARISON", "BOUND_CONJUNCTION":
		return "BOOLEAN"
	case "BOUND_CONSTANT":
		return t.sub("value").sub("type").str("id")
	case "BOUND_FUNCTION":
		// The macro keeps the type.
		if operands := t.list("children"); t.str("name") == "date_trunc" && len(operands) == 2 {
			return typeOf(operands[1])
		}
	}
	return t.sub("return_type").str("id")
}

// written is the operand before DuckDB converted it by itself.
func (b *bound) written(t tree) tree {
	for t.str("expression_class") == "BOUND_CAST" && !b.explicit(t) {
		t = t.sub("child")
	}
	return t
}

// kind groups types by what Athena converts by itself.
func kind(dataType string) string {
	switch dataType {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "INTEGER_LITERAL", "UTINYINT", "USMALLINT", "UINTEGER",
		"UBIGINT", "UHUGEINT":
		return "bigint"
	case "DOUBLE", "FLOAT":
		return "double"
	case "VARCHAR", "STRING_LITERAL", "CHAR":
		return "varchar"
	case "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_TZ":
		return "timestamp with time zone"
	case "NULL", "SQLNULL":
		return "null"
	}
	return strings.ToLower(dataType)
}

func isNumber(kind string) bool { return kind == "bigint" || kind == "decimal" || kind == "double" }

var number = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

func (b *bound) implicitCast(t tree, around []tree) {
	child := t.sub("child")
	from, to := kind(typeOf(child)), kind(typeOf(t))
	switch {
	case t.at() >= macroPlace, child.at() >= macroPlace, from == to, from == "null", isNumber(from) && isNumber(to),
		from == "date" && strings.HasPrefix(to, "timestamp"),
		from == "timestamp" && to == "timestamp with time zone":
		return
	}
	operand := child
	if child.at() < 0 {
		operand = t
	}
	athena := fmt.Sprintf("does not convert a %s to %s by itself", from, to)
	value, constant := child.sub("value")["value"].(string)
	instead := fmt.Sprintf("CAST(… AS %s) for the %s", to, from)
	switch {
	case constant && (to == "date" || to == "timestamp"):
		instead = strings.ToUpper(to) + " " + literal(value)
	case constant && isNumber(to) && number.MatchString(value):
		instead = value + ", without quotes"
	case constant && isNumber(to):
		instead = "CAST(… AS varchar) for the number"
	case to == "varchar" && from == "double":
		instead = "CAST(CAST(… AS decimal(18, 2)) AS varchar) for the double"
	case to == "varchar" && strings.HasPrefix(from, "timestamp"):
		instead = "date_format(…, '%Y-%m-%d %H:%i:%s') for the timestamp"
	}
	// The comparison or call that needs the conversion says more than its operand.
	for i := len(around) - 1; i >= 0; i-- {
		if around[i].str("expression_class") == "" {
			continue
		}
		if e := b.expressions[around[i].at()]; e != nil && around[i].at() < macroPlace {
			operand = around[i]
		}
		break
	}
	b.refuse(operand, around, athena, instead, false)
}

// whole are the functions whose result no cast to an integer rounds.
var whole = []string{"round", "floor", "ceil", "ceiling", "trunc"}

func (b *bound) explicitCast(t tree, around []tree) {
	child := t.sub("child")
	from, to := kind(typeOf(child)), kind(typeOf(t))
	switch {
	case to == "varchar" && from == "double":
		b.refuse(t, around, "writes doubles with an exponent, such as 1.0E0",
			"CAST(CAST(… AS decimal(18, 2)) AS varchar)", true)
	case to == "varchar" && strings.HasPrefix(from, "timestamp"):
		b.refuse(t, around, "writes timestamps with milliseconds, such as 2026-01-31 09:00:00.000",
			"date_format(…, '%Y-%m-%d %H:%i:%s')", true)
	case to == "varchar" && !slices.Contains([]string{"varchar", "bigint", "decimal", "boolean", "date", "null"}, from):
		b.refuse(t, around, "writes a "+from+" in another format", "a CAST of each part", true)
	case to == "bigint" && from == "double":
		inner := b.written(child)
		if inner.str("expression_class") != "BOUND_FUNCTION" || !slices.Contains(whole, inner.str("name")) ||
			len(inner.list("children")) != 1 {
			b.refuse(t, around, "rounds 2.5 to 3, and DuckDB rounds it to 2", "CAST(round(…) AS bigint)", true)
		}
	case to == "list" && from != "list" && from != "null":
		b.refuse(t, around, "does not convert a "+from+" to an array", "ARRAY[…] or split(…, ',')", false)
	}
}

func (b *bound) function(t tree, around []tree) {
	name := t.str("name")
	var operands []tree
	var kinds []string
	for _, child := range t.list("children") {
		operand := b.written(child)
		operands, kinds = append(operands, operand), append(kinds, kind(typeOf(operand)))
	}
	other := func(i int, want ...string) bool {
		return len(kinds) > i && kinds[i] != "null" && !slices.Contains(want, kinds[i])
	}
	switch name {
	case "+", "-", "*", "%", "mod", "/", "//":
		b.arithmetic(t, around, name, operands, kinds)
	case "||", "concat", "concat_ws":
		for i := range kinds {
			if other(i, "varchar", "list") {
				b.refuse(t, around, "does not convert a "+kinds[i]+" to varchar by itself", "CAST(… AS varchar)", false)
				return
			}
		}
	case "length", "reverse", "contains", "len":
		want := "varchar"
		if name == "contains" {
			want = "list"
		}
		if name != "len" && other(0, want) {
			b.refuse(t, around, "has no function "+name+" for a "+kinds[0],
				map[string]string{"length": "cardinality(list)", "contains": "strpos(x, part) > 0"}[name], false)
		}
	case "hour", "minute", "second", "millisecond":
		if other(0, "timestamp", "timestamp with time zone") {
			b.refuse(t, around, "has no function "+name+" for a "+kinds[0], name+"(CAST(… AS timestamp))", false)
		}
	case "date_part":
		field, _ := operands[0].sub("value")["value"].(string)
		if slices.Contains([]string{"hour", "minute", "second"}, strings.ToLower(field)) &&
			other(1, "timestamp", "timestamp with time zone") {
			b.refuse(t, around, "has no "+field+" in a "+kinds[1], field+"(CAST(… AS timestamp))", false)
		}
	case "date_diff", "date_trunc":
		unit, _ := operands[0].sub("value")["value"].(string)
		if slices.Contains([]string{"hour", "minute", "second", "millisecond"}, strings.ToLower(unit)) &&
			!slices.ContainsFunc(kinds[1:], func(k string) bool { return k != "date" }) {
			b.refuse(t, around, "fails: a date has no "+unit, "CAST(… AS timestamp)", false)
		}
	case "round":
		if len(kinds) == 2 && kinds[0] == "decimal" {
			b.refuse(t, around, "fills a rounded decimal up with zeros, such as 1.2300 for round(1.2345, 2)",
				"CAST(… AS decimal(18, 2))", true)
		}
	}
}

// fits are the operands, besides two numbers, that both add and subtract alike.
func (b *bound) arithmetic(t tree, around []tree, name string, operands []tree, kinds []string) {
	if slices.Contains(kinds, "null") || len(kinds) == 1 && isNumber(kinds[0]) {
		return
	}
	if len(kinds) == 2 && isNumber(kinds[0]) && isNumber(kinds[1]) {
		if (name == "/" || name == "//") && slices.Contains(kinds, "decimal") && !slices.Contains(kinds, "double") {
			b.refuse(t, around, "rounds the quotient of decimals to the places of the longer one, such as 0.3 for "+
				"1.0 / 3", "CAST(… AS double) / …", true)
		}
		return
	}
	day, interval := 0, 1
	if len(kinds) == 2 && kinds[0] == "interval" && name == "+" {
		day, interval = 1, 0
	}
	switch {
	case len(kinds) == 2 && (name == "+" || name == "-") && kinds[interval] == "interval" &&
		strings.HasPrefix(kinds[day], "timestamp"):
	case len(kinds) == 2 && (name == "+" || name == "-") && kinds[interval] == "interval" && kinds[day] == "date":
		if !slices.Contains([]string{"to_days", "to_months", "to_years"}, operands[interval].str("name")) {
			b.refuse(t, around, "does not add hours, minutes or seconds to a date",
				"CAST(… AS timestamp)", false)
		} else if !b.compared(around) {
			b.refuse(t, around, "returns a date, and DuckDB returns a timestamp", "CAST(… AS date) around it", true)
		}
	case slices.Contains(kinds, "date") && slices.Contains(kinds, "bigint"):
		b.refuse(t, around, "does not add a number to a date", "date_add('day', n, x)", false)
	case slices.Contains(kinds, "interval") || !slices.ContainsFunc(kinds, func(k string) bool {
		return k != "date" && !strings.HasPrefix(k, "timestamp")
	}):
		b.refuse(t, around, "writes an interval in another format", "date_diff('second', a, b)", true)
	default:
		b.refuse(t, around, "has no operator "+name+" for "+strings.Join(kinds, " and "), "", false)
	}
}

// compared reports whether a value is only compared, or made a date.
func (b *bound) compared(around []tree) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch t := around[i]; t.str("expression_class") {
		case "BOUND_COMPARISON":
			return true
		case "BOUND_OPERATOR":
			return strings.HasPrefix(t.str("type"), "COMPARE_")
		case "BOUND_CAST":
			if b.explicit(t) {
				return typeOf(t) == "DATE"
			}
		case "":
			if strings.HasSuffix(t.str("type"), "_JOIN") {
				return true
			}
			if t["comparison"] == nil {
				return false
			}
			return true
		default:
			return false
		}
	}
	return false
}

func (b *bound) aggregate(t tree, around []tree) {
	name := t.str("name")
	if name != "sum" && name != "avg" {
		return
	}
	children := t.list("children")
	if len(children) == 0 {
		return
	}
	switch k := kind(typeOf(b.written(children[0]))); {
	case name == "avg" && k == "decimal":
		b.refuse(t, around, "rounds the average of decimals to their places", "avg(CAST(… AS double))", true)
	case !isNumber(k) && k != "null":
		b.refuse(t, around, "has no function "+name+" for a "+k, "sum(CASE WHEN … THEN 1 ELSE 0 END)", false)
	}
}
