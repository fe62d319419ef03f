//go:build cgo && (linux || darwin) && (amd64 || arm64)

package lakequery

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// tree is a part of a statement or plan, as DuckDB serialises it.
type tree map[string]any

func (t tree) str(key string) string { s, _ := t[key].(string); return s }

func (t tree) is(key string) bool { b, _ := t[key].(bool); return b }

func (t tree) sub(key string) tree { s, _ := t[key].(map[string]any); return s }

func (t tree) list(key string) (list []tree) {
	entries, _ := t[key].([]any)
	for _, entry := range entries {
		if m, ok := entry.(map[string]any); ok {
			list = append(list, m)
		}
	}
	return list
}

// at is the place in the text, and -1 if DuckDB knows none.
func (t tree) at() int {
	number, _ := t["query_location"].(json.Number)
	if n, err := number.Int64(); err == nil {
		return int(n)
	}
	return -1
}

// constant is the text of a constant that is one.
func (t tree) constant() (value string, ok bool) {
	value, ok = t.sub("value")["value"].(string)
	return value, ok && t.str("class") == "CONSTANT"
}

// walk visits the parts of a document from the outside to the inside, with those around each. It leaves out what is
// inside a part whose visit returns false.
func walk(node any, around []tree, visit func(t tree, around []tree) bool) {
	switch node := node.(type) {
	case []any:
		for _, entry := range node {
			walk(entry, around, visit)
		}
	case map[string]any:
		if !visit(node, around) {
			return
		}
		around = append(slices.Clip(around), node)
		for _, entry := range node {
			walk(entry, around, visit)
		}
	}
}

// statement is a SELECT as it is written.
type statement struct {
	text string
	// bare is the text without what is in strings, quoted names and comments, at the same places.
	bare string
	root tree
	// shows says that it is a SHOW, DESCRIBE or SUMMARIZE.
	shows bool
}

func newStatement(text string, root tree) statement {
	from := root.sub("node").sub("from_table")
	return statement{text: text, bare: bare(text), root: root, shows: from.str("type") == "SHOW_REF"}
}

var opaque = regexp.MustCompile(`(?s)[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/`)

func bare(text string) string {
	return opaque.ReplaceAllStringFunc(text, func(part string) string {
		b := []byte(strings.Repeat(" ", len(part)))
		if strings.Contains(`'"eE`, part[:1]) {
			b[0] = part[0]
		}
		return string(b)
	})
}

// from is the text without strings, from the place on.
func (s statement) from(place int) string {
	if place < 0 || place > len(s.bare) {
		return ""
	}
	return s.bare[place:]
}

// finding is what is not in Athena as it is here.
type finding struct {
	expression tree
	// name is what the message names, where there is no expression.
	name string
	// athena is what Athena does, and instead what to write.
	athena, instead string
	// local says that Athena answers it, and this machine alone cannot.
	local bool
	// reads says that it may read what is no lake.
	reads bool
}

// otherWords are of syntax of which DuckDB's statement keeps nothing.
var otherWords = regexp.MustCompile(`(?i)\b(ifnull|isnull|notnull)\b`)

const syntaxError = "does not know this syntax"

// unknown finds the functions that Athena alone has: DuckDB's error would not say so.
func (s statement) unknown() (found []finding) {
	s.visit(func(t tree, _ []tree) *finding {
		name := strings.ToLower(t.str("function_name"))
		if class := t.str("class"); class != "FUNCTION" && class != "WINDOW" {
			return nil
		}
		if _, ok := functions[name]; ok || t.str("schema") == "main" || !athenaHas(name) {
			return nil
		}
		return &finding{expression: t, athena: "has this function, but here it is not available",
			instead: instead[name], local: true}
	}, &found)
	return found
}

// refused finds what DuckDB answers and Athena does not, or otherwise, as the statement alone tells.
func (s statement) refused() (found []finding) {
	if strings.HasPrefix(strings.ToLower(strings.TrimLeft(s.bare, " \t\n(")), "from") {
		found = append(found, finding{name: "FROM before SELECT", athena: syntaxError, instead: "SELECT * FROM …"})
	}
	if word := otherWords.FindString(s.bare); word != "" {
		found = append(found, finding{name: word, athena: syntaxError,
			instead: "coalesce(a, b), x IS NULL, x IS NOT NULL"})
	}
	s.visit(func(t tree, around []tree) *finding {
		switch {
		case t.str("class") != "":
			return s.expression(t, around)
		case t["materialized"] != nil:
			if t.str("materialized") != "CTE_MATERIALIZE_DEFAULT" {
				return &finding{name: "MATERIALIZED", athena: syntaxError, instead: "WITH name AS (…)"}
			}
		case t.str("type") != "":
			return s.clause(t)
		}
		return nil
	}, &found)
	return found
}

func (s statement) visit(find func(t tree, around []tree) *finding, found *[]finding) {
	walk(map[string]any(s.root), nil, func(t tree, around []tree) bool {
		if f := find(t, around); f != nil {
			*found = append(*found, *f)
			return false
		}
		return !s.isInterval(t)
	})
}

// clause looks at a part of a SELECT that is no expression.
func (s statement) clause(t tree) *finding {
	refuse := func(name, instead string) *finding {
		return &finding{name: name, athena: syntaxError, instead: instead}
	}
	switch t.str("type") {
	case "SELECT_NODE":
		switch {
		case t.sub("qualify") != nil:
			return refuse("QUALIFY", "a subquery with the window function, and WHERE around it")
		case t.sub("sample") != nil:
			return refuse("USING SAMPLE", "LIMIT")
		case t.str("aggregate_handling") != "STANDARD_HANDLING":
			return refuse("GROUP BY ALL", "GROUP BY with its columns")
		}
	case "SET_OPERATION_NODE":
		if t.str("setop_type") == "UNION_BY_NAME" {
			return refuse("UNION BY NAME", "UNION of columns in one order")
		}
	case "RECURSIVE_CTE_NODE":
		return &finding{name: "WITH RECURSIVE " + t.str("cte_name"),
			athena: "stops with an error after 10 steps, and DuckDB goes on", instead: "UNNEST(sequence(1, 10))"}
	case "LIMIT_PERCENT_MODIFIER":
		return refuse("LIMIT …%", "LIMIT with a number")
	case "LIMIT_MODIFIER":
		if limit, offset := t.sub("limit"), t.sub("offset"); limit != nil && offset != nil &&
			limit.at() < offset.at() {
			return refuse("LIMIT before OFFSET", "OFFSET before LIMIT, such as OFFSET 20 LIMIT 10")
		}
	case "DISTINCT_MODIFIER":
		if len(t.list("distinct_on_targets")) > 0 {
			return refuse("DISTINCT ON", "a subquery with row_number() … AS n, and WHERE n = 1 around it")
		}
	case "JOIN":
		switch {
		case !slices.Contains([]string{"INNER", "LEFT", "RIGHT", "OUTER", "FULL"}, t.str("join_type")):
			return refuse(t.str("join_type")+" JOIN", "WHERE with IN or EXISTS")
		case !slices.Contains([]string{"REGULAR", "CROSS", "DEPENDENT"}, t.str("ref_type")):
			return refuse(t.str("ref_type")+" JOIN", "JOIN … ON")
		}
	case "BASE_TABLE":
		switch {
		case t.sub("sample") != nil:
			return refuse("TABLESAMPLE", "WHERE and LIMIT")
		case t.sub("at_clause") != nil:
			return refuse("AT", "the table without AT")
		case slices.Contains([]string{"information_schema", "pg_catalog"}, strings.ToLower(t.str("schema_name"))):
			return &finding{name: t.str("schema_name") + "." + t.str("table_name"),
				athena: "lists its own catalog there", instead: "SHOW TABLES or DESCRIBE", local: true}
		}
	case "TABLE_FUNCTION":
		f := t.sub("function")
		if name := strings.ToLower(f.str("function_name")); name != "unnest" {
			return &finding{expression: f, athena: "has no table function " + name, instead: instead[name],
				reads: true}
		}
	case "SHOW_REF":
		if !s.shows || t.str("show_type") == "SUMMARY" {
			return refuse("SHOW, DESCRIBE or SUMMARIZE here", "DESCRIBE name as a statement of its own")
		}
	}
	return nil
}

// expression looks at an expression of the statement.
func (s statement) expression(t tree, around []tree) *finding {
	refuse := func(instead string) *finding {
		return &finding{expression: t, athena: syntaxError, instead: instead}
	}
	here := s.from(t.at())
	switch t.str("class") {
	case "FUNCTION", "WINDOW":
		return s.call(t, around)
	case "CAST":
		return s.cast(t)
	case "CONSTANT":
		if value, ok := t.constant(); ok && here != "" && strings.Contains("eE$", here[:1]) &&
			strings.ContainsAny(s.text[t.at():][1:2], "'$") {
			return refuse("'" + strings.ReplaceAll(value, "'", "''") + "'")
		}
	case "COMPARISON":
		if strings.HasPrefix(here, "==") {
			return refuse("= instead of ==")
		}
	case "COLUMN_REF":
		names, _ := t["column_names"].([]any)
		if name, _ := names[0].(string); len(names) == 1 && slices.Contains([]string{"current_time", "localtime",
			"current_user", "user", "session_user", "current_catalog", "current_schema", "current_role"},
			strings.ToLower(name)) && !strings.HasPrefix(here, `"`) {
			return &finding{expression: t, athena: "returns another value than DuckDB", local: true,
				instead: "current_timestamp for the time"}
		}
	case "STAR":
		if list := t.sub("expr") != nil || t.is("columns"); list || len(t.list("replace_list")) > 0 ||
			nonempty(t["exclude_list"]) || nonempty(t["qualified_exclude_list"]) || nonempty(t["rename_list"]) {
			return refuse("the columns' names")
		}
		if len(around) > 0 && around[len(around)-1].str("type") == "SELECT_NODE" {
			return nil
		}
		return refuse("the columns' names")
	case "OPERATOR":
		switch t.str("type") {
		case "OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "COMPARE_IN", "COMPARE_NOT_IN",
			"OPERATOR_COALESCE", "OPERATOR_TRY", "ARRAY_CONSTRUCTOR", "GROUPING_FUNCTION":
		case "ARRAY_EXTRACT":
			return &finding{expression: t, local: true, instead: "element_at(list, n)",
				athena: "fails beyond the end of a list, and DuckDB returns null"}
		default:
			return refuse("")
		}
	case "CONJUNCTION", "BETWEEN", "CASE", "SUBQUERY":
	default:
		return refuse("")
	}
	return nil
}

func nonempty(value any) bool {
	switch value := value.(type) {
	case []any:
		return len(value) > 0
	case map[string]any:
		return len(value) > 0
	}
	return false
}

// units are those of date_trunc, date_diff and date_add.
var units = []string{"millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"}

var (
	pathOfJSON  = regexp.MustCompile(`^\$(\.[A-Za-z_]\w*|\[\d+\])*$`)
	dateFormat  = regexp.MustCompile(`^([^%]|%[YmdHhIislSTrMbaWjecfkpy])*$`)
	replacement = regexp.MustCompile(`^([^$\\]|\$\d)*$`)
)

// call looks at a call of a function, which may be an operator.
func (s statement) call(t tree, around []tree) *finding {
	name, arguments := strings.ToLower(t.str("function_name")), t.list("children")
	refuse := func(athena, instead string) *finding {
		return &finding{expression: t, athena: athena, instead: instead}
	}
	if s.isInterval(t) {
		return s.interval(t)
	}
	inFrom := len(around) > 0 && around[len(around)-1].str("type") == "TABLE_FUNCTION"
	switch {
	case inFrom && name == "unnest":
		return nil
	case t.is("is_operator") && t.str("schema") != "main":
		if !slices.Contains(operators, name) {
			return refuse("has no operator "+name, instead[name])
		}
		if name == "/" {
			return s.divisions(t)
		}
		return nil
	case t.str("schema") == "main" && slices.Contains(syntaxes, name):
		if name == "date_part" {
			return s.extract(t, arguments)
		}
		return nil
	case t.str("schema") == "main" && name == "timezone":
		return &finding{expression: t, local: true, instead: instead[name],
			athena: "converts the time to that zone, and DuckDB reads it as a time in that zone"}
	}
	known, ok := functions[name]
	switch n := windowArguments(t, arguments); {
	case !ok && athenaHas(name):
		return &finding{expression: t, athena: "returns another value than DuckDB", instead: instead[name], local: true}
	case !ok:
		return refuse("has no function "+name, instead[name])
	case t.str("schema") != "":
		return refuse("has no schemas for functions", "the name of the function alone")
	case n < known.least || n > known.most:
		arguments := fmt.Sprint(n, " arguments")
		if n == 1 {
			arguments = "1 argument"
		}
		return refuse("has no function "+name+" with "+arguments+", or returns another value", "")
	}
	if want, ok := aggregateMacros[name]; ok && (t.str("class") == "WINDOW" || t.sub("filter") != nil ||
		t.is("distinct") || len(t.sub("order_bys").list("orders")) > 0) {
		return &finding{expression: t, instead: want, local: true,
			athena: "answers it, but here it works only without FILTER, DISTINCT, ORDER BY and OVER"}
	}
	if t.str("class") == "WINDOW" {
		return s.window(t, name)
	}
	return s.constants(t, name, arguments)
}

// windowArguments counts the arguments, of which DuckDB keeps two of lag and lead apart.
func windowArguments(t tree, arguments []tree) int {
	n := len(arguments)
	for _, key := range []string{"offset_expr", "default_expr"} {
		if t.sub(key) != nil {
			n++
		}
	}
	return n
}

// window looks at what OVER has.
func (s statement) window(t tree, name string) *finding {
	switch {
	case t.str("exclude_clause") != "NO_OTHER" && t.str("exclude_clause") != "":
		return &finding{expression: t, athena: syntaxError, instead: "a frame without EXCLUDE"}
	case t.is("ignore_nulls"):
		return &finding{expression: t, athena: "takes IGNORE NULLS after the parenthesis, and DuckDB takes it inside",
			instead: "a subquery with WHERE x IS NOT NULL", local: true}
	case (name == "lag" || name == "lead") && len(t.list("orders")) == 0:
		return &finding{expression: t, athena: "requires an order for " + name,
			instead: "OVER (ORDER BY …)"}
	}
	return nil
}

// constants looks at the arguments that have to be constants, as Athena reads some otherwise.
func (s statement) constants(t tree, name string, arguments []tree) *finding {
	refuse := func(athena, instead string) *finding {
		return &finding{expression: t, athena: athena, instead: instead, local: true}
	}
	value := func(n int) (string, bool) {
		if len(arguments) <= n {
			return "", false
		}
		return arguments[n].constant()
	}
	switch name {
	case "date_trunc", "date_diff", "date_add":
		if unit, ok := value(0); !ok || !slices.Contains(units, strings.ToLower(unit)) {
			return &finding{expression: t, athena: "takes the units " + strings.Join(units, ", "),
				instead: "one of these units in quotes"}
		}
	case "date_format":
		if format, ok := value(1); !ok || !dateFormat.MatchString(format) {
			return refuse("reads this format in another way than DuckDB",
				"a text in quotes with specifiers such as %Y %m %d %H %i %s")
		}
	case "regexp_replace":
		if by, ok := value(2); len(arguments) == 3 && (!ok || !replacement.MatchString(by)) {
			return refuse("reads this replacement in another way than DuckDB",
				"a text in quotes with $1 to $9 and without \\")
		}
	case "json_extract_scalar":
		if path, ok := value(1); !ok || !pathOfJSON.MatchString(path) {
			return refuse("reads this path in another way than DuckDB", "a text in quotes such as '$.name[0]'")
		}
	}
	return nil
}

// maxDivisions is how deep quotients of quotients may be: each level takes DuckDB four times as long.
const maxDivisions = 4

func (s statement) divisions(t tree) *finding {
	deepest := 0
	walk(map[string]any(t), nil, func(_ tree, around []tree) bool {
		depth := 0
		for _, outer := range around {
			if outer.str("function_name") == "/" {
				depth++
			}
		}
		deepest = max(deepest, depth)
		return deepest <= maxDivisions
	})
	if deepest > maxDivisions {
		return &finding{expression: t, athena: "answers it, but DuckDB takes minutes to read it", local: true,
			instead: "a / (b * c)"}
	}
	return nil
}

// extract looks at EXTRACT, and at a call of date_part, which DuckDB makes of it.
func (s statement) extract(t tree, arguments []tree) *finding {
	field, _ := arguments[0].constant()
	switch field = strings.ToLower(field); field {
	case "year", "quarter", "month", "week", "day", "doy", "hour", "minute", "second":
		return nil
	case "dow":
		return &finding{expression: t, instead: "day_of_week(x)", local: true,
			athena: "numbers days from Monday, 1, to Sunday, 7, and DuckDB begins with Sunday, 0"}
	default:
		return &finding{expression: t, athena: "has no field " + field,
			instead: "to_unixtime(x), millisecond(x), year_of_week(x) or a field such as YEAR"}
	}
}

// isInterval reports whether the call is one that DuckDB makes of INTERVAL '1' DAY.
func (s statement) isInterval(t tree) bool {
	if !strings.HasPrefix(t.str("function_name"), "to_") {
		return false
	}
	here := s.from(t.at())
	return !strings.HasPrefix(strings.ToLower(here), "to_") && here != ""
}

var digits = regexp.MustCompile(`^\d+$`)

func (s statement) interval(t tree) *finding {
	count := ""
	walk(map[string]any(t), nil, func(t tree, _ []tree) bool {
		if value, ok := t.constant(); ok {
			count = value
		}
		return true
	})
	if name := t.str("function_name"); !slices.Contains([]string{"to_years", "to_months", "to_days", "to_hours",
		"to_minutes", "to_seconds"}, name) || !digits.MatchString(count) {
		return &finding{expression: t, athena: syntaxError,
			instead: "INTERVAL '7' DAY, with a whole number in quotes and a unit from SECOND to YEAR"}
	}
	return nil
}

var (
	castTo = regexp.MustCompile(`(?is)^(try_)?cast\s*\(`)
	asType = regexp.MustCompile(`(?is)^(.*\s)as\s+(.*)$`)
	// athenaTypes are the types that mean the same in both.
	athenaTypes = regexp.MustCompile(`^(varchar|bigint|integer|int|smallint|tinyint|double|boolean|date|timestamp` +
		`|timestamp with time zone|decimal ?\( ?\d+ ?(, ?\d+ ?)?\))$`)
	theDay    = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	theMoment = regexp.MustCompile(`^\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d(\.\d{1,3})?)?)?$`)
)

// types are what to write for types that Athena has not, or cuts.
var types = map[string]string{
	"string": "varchar", "text": "varchar", "float": "double", "real": "double", "float8": "double",
	"float4": "double", "int8": "bigint", "int4": "integer", "long": "bigint", "hugeint": "bigint",
	"bool": "boolean", "datetime": "timestamp", "decimal": "decimal(38, 2)", "numeric": "decimal(38, 2)",
	"timestamptz": "timestamp with time zone",
}

// cast looks at the type of a CAST as it is written, of which DuckDB keeps a part: varchar for varchar(3) and string.
func (s statement) cast(t tree) *finding {
	here := s.from(t.at())
	refuse := func(athena, instead string) *finding {
		return &finding{expression: t, athena: athena, instead: instead}
	}
	if strings.HasPrefix(here, "::") {
		return refuse(syntaxError, "CAST(… AS type)")
	}
	id := t.sub("cast_type").str("id")
	value, isConstant := t.sub("child").constant()
	if !castTo.MatchString(here) { // DATE '2026-01-31', date(x), true
		switch {
		case id == "DATE" && isConstant && !theDay.MatchString(value):
			return refuse("takes dates in the form 2026-01-31", "DATE '2026-01-31'")
		case id == "TIMESTAMP" && isConstant && !theMoment.MatchString(value):
			return refuse("gives a text with a zone or more digits another type",
				"TIMESTAMP '2026-01-31 09:00:00.000', in UTC")
		case !slices.Contains([]string{"DATE", "TIMESTAMP", "BOOLEAN", "BIGINT", "INTEGER", "DOUBLE", "VARCHAR"}, id):
			return refuse("returns another value than DuckDB", "CAST(… AS type)")
		}
		return nil
	}
	inside, depth := "", 0
	for i, r := range here {
		if r == '(' {
			depth++
		}
		if r == ')' {
			if depth--; depth == 0 {
				inside = here[:i]
				break
			}
		}
	}
	match := asType.FindStringSubmatch(inside)
	if match == nil {
		return nil
	}
	name := strings.ToLower(strings.Join(strings.Fields(match[2]), " "))
	if athenaTypes.MatchString(name) {
		return nil
	}
	base, _, sized := strings.Cut(name, "(")
	switch base = strings.TrimSpace(base); {
	case sized && (base == "varchar" || base == "char"):
		return refuse("cuts the text to this length, and DuckDB keeps all of it", "substr(CAST(… AS varchar), 1, n)")
	case sized && base == "timestamp":
		return refuse("keeps this many digits of a second, and DuckDB keeps six", "timestamp")
	case name == "decimal":
		return refuse("reads it as decimal(38, 0), and DuckDB as decimal(18, 3)", types[name])
	case types[base] != "":
		return refuse("has no type "+name+", or one of another precision", types[base])
	}
	return refuse("has no type "+name+", or one that is not available here", "")
}
