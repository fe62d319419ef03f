//go:build cgo && (linux || darwin) && (amd64 || arm64)

package lakequery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// arity is how many arguments calls of a function may have.
type arity struct{ least, most int }

// functions are the functions with one answer in Athena and here: DuckDB's own, or the macro of that name.
var functions = func() map[string]arity {
	known := map[string]arity{
		"count": {0, 1}, "count_star": {0, 0}, "round": {1, 2}, "lag": {1, 3}, "lead": {1, 3}, "concat_ws": {2, 20},
		"coalesce": {2, 100},
	}
	for arguments, names := range map[int]string{
		0: "row_number rank dense_rank percent_rank cume_dist now pi random",
		1: "abs ceil ceiling floor sqrt exp ln log2 log10 sign degrees radians sin cos tan asin acos atan sinh cosh " +
			"tanh lower upper length reverse chr year quarter month week day hour minute second sum avg min max " +
			"any_value bool_and bool_or array_agg stddev stddev_samp stddev_pop variance var_samp var_pop " +
			"ntile first_value last_value",
		2: "log power pow atan2 strpos starts_with ends_with split nullif corr covar_pop covar_samp regr_slope " +
			"regr_intercept nth_value",
		3: "lpad rpad translate",
	} {
		for _, name := range strings.Fields(names) {
			known[name] = arity{arguments, arguments}
		}
	}
	for _, m := range macros {
		for _, overload := range m.overloads {
			n := len(strings.FieldsFunc(overload.parameters, func(r rune) bool { return r == ',' }))
			a, ok := known[m.name]
			if !ok {
				a = arity{n, n}
			}
			known[m.name] = arity{min(a.least, n), max(a.most, n)}
		}
	}
	return known
}()

// operators are those with one answer in both, if their operands have the types that [bound] asks for.
var operators = []string{"+", "-", "*", "/", "%", "||", "~~", "!~~"}

// syntaxes are functions that DuckDB makes of other syntax, such as LIKE … ESCAPE.
var syntaxes = []string{"like_escape", "not_like_escape", "position", "trim", "ltrim", "rtrim", "substring",
	"date_part"}

// aggregateMacros expand to aggregates, and so take no FILTER, DISTINCT, ORDER BY and OVER.
var aggregateMacros = map[string]string{
	"arbitrary": "any_value(…)", "every": "bool_and(…)", "count_if": "count(CASE WHEN … THEN 1 END)",
	"max_by": "a subquery with row_number()", "min_by": "a subquery with row_number()",
}

// instead is what to write for a function that only one of both has, or that answers otherwise in each.
var instead = map[string]string{
	"approx_distinct": "count(DISTINCT x)", "listagg": "array_join(array_agg(x ORDER BY x), ',')",
	"at_timezone": "times in UTC", "with_timezone": "times in UTC", "timezone": "times in UTC",
	"date_parse": "CAST(x AS timestamp) of a text such as 2026-01-31 09:00:00",
	"typeof":     "DESCRIBE", "json_extract": "json_extract_scalar(x, '$.path')",
	"repeat": "rpad('', n, x) for a text of one character", "format": "concat, CAST and date_format",
	"epoch": "to_unixtime(x)", "epoch_ms": "to_unixtime(x) * 1000", "to_timestamp": "from_unixtime(x)",
	"strftime": "date_format(x, '%Y-%m-%d')", "date_part": "extract(YEAR FROM x)", "datepart": "extract(YEAR FROM x)",
	"datediff": "date_diff('day', a, b)", "date_sub": "date_diff('day', a, b)",
	"datesub":   "date_diff('day', a, b)",
	"datetrunc": "date_trunc('day', x)", "dateadd": "date_add('day', n, x)",
	"dayofweek": "day_of_week(x)", "weekday": "day_of_week(x)", "isodow": "day_of_week(x)",
	"isoyear":   "year_of_week(x)",
	"dayofyear": "day_of_year(x)", "dayofmonth": "day(x)", "weekofyear": "week(x)", "last_day": "last_day_of_month(x)",
	"dayname": "date_format(x, '%W')", "monthname": "date_format(x, '%M')", "today": "current_date",
	"make_date": "CAST('2026-01-31' AS date)", "age": "date_diff('day', a, b)",
	"regexp_matches": "regexp_like(x, pattern)", "regexp_full_match": "regexp_like(x, '^(…)$')",
	"string_split": "split(x, separator)", "str_split": "split(x, separator)", "instr": "strpos(x, part)",
	"left": "substr(x, 1, n)", "right": "substr(x, -n)", "prefix": "starts_with(x, start)",
	"suffix": "substr(x, -n) = 'end'", "ifnull": "coalesce(a, b)",
	"char_length": "length(x)", "strlen": "length(x)", "len": "length(x) or cardinality(x)",
	"string_agg":    "array_join(array_agg(x ORDER BY x), ',')",
	"group_concat":  "array_join(array_agg(x ORDER BY x), ',')",
	"list":          "array_agg(x)",
	"list_contains": "contains(list, x)", "array_contains": "contains(list, x)", "list_value": "ARRAY[1, 2]",
	"array_length": "cardinality(list)", "list_extract": "element_at(list, n)",
	"range": "FROM UNNEST(sequence(1, 10)) AS t (n)", "generate_series": "FROM UNNEST(sequence(1, 10)) AS t (n)",
	"unnest": "FROM t CROSS JOIN UNNEST(list) AS u (x)",
	"first":  "any_value(x)", "last": "max_by(x, order)", "arg_max": "max_by(x, y)", "arg_min": "min_by(x, y)",
	"argmax": "max_by(x, y)", "argmin": "min_by(x, y)",
	"trunc": "truncate(x)", "isnan": "is_nan(x)", "isinf": "is_infinite(x)", "isfinite": "is_finite(x)",
	"levenshtein": "levenshtein_distance(a, b)", "uuid": "an id of your own",
	"~~*": "lower(x) LIKE '…'", "!~~*": "lower(x) NOT LIKE '…'", "~~~": "LIKE", "~": "regexp_like(x, pattern)",
	"!~": "NOT regexp_like(x, pattern)", "regexp_full_match_operator": "regexp_like(x, pattern)",
	"**": "power(x, y)", "^": "power(x, y)", "//": "x / y of integers", "^@": "starts_with(x, start)",
	"->": "json_extract_scalar(x, '$.path')", "->>": "json_extract_scalar(x, '$.path')",
	"struct_pack": "columns of their own", "row": "columns of their own",
}

// athenas are functions of Trino that are not in [functions] ("List of functions and operators"): no query here has
// their answer.
var athenas = strings.Fields(`all_match any_match approx_distinct approx_most_frequent approx_percentile approx_set
	array_distinct array_except array_first array_histogram array_intersect array_last array_max array_min
	array_position array_remove array_sort array_union arrays_overlap at_timezone bar beta_cdf bit_count bitwise_and
	bitwise_and_agg bitwise_left_shift bitwise_not bitwise_or bitwise_or_agg bitwise_right_shift
	bitwise_right_shift_arithmetic bitwise_xor bitwise_xor_agg cbrt char2hexint checksum classify color combinations
	contains_sequence convex_hull_agg cosine_distance cosine_similarity crc32 current_timezone date_parse
	empty_approx_set features filter flatten format format_datetime format_number from_base from_base32 from_base64
	from_base64url from_big_endian_32 from_big_endian_64 from_encoded_polyline from_geojson_geometry from_hex
	from_ieee754_32 from_ieee754_64 from_iso8601_date from_iso8601_timestamp from_iso8601_timestamp_nanos
	from_unixtime_nanos from_utf8 geometric_mean great_circle_distance hamming_distance hash_counts histogram hmac_md5
	hmac_sha1 hmac_sha256 hmac_sha512 human_readable_seconds index intersection_cardinality inverse_beta_cdf
	inverse_normal_cdf is_json_scalar jaccard_index json_array_contains json_array_get json_array_length json_exists
	json_extract json_format json_object json_parse json_query json_size json_value kurtosis listagg luhn_check
	make_set_digest map map_agg map_concat map_entries map_filter map_from_entries map_keys map_union map_values
	map_zip_with md5 merge merge_set_digest multimap_agg multimap_from_entries murmur3 ngrams none_match normal_cdf
	normalize numeric_histogram objectid_timestamp overlay parse_data_size parse_datetime parse_duration qdigest_agg
	reduce reduce_agg regexp_count regexp_position render repeat rgb sha1 sha256 sha512 shuffle simplify_geometry
	skewness slice soundex split_to_map split_to_multimap spooky_hash_v2_32 spooky_hash_v2_64 tdigest_agg timezone
	timezone_hour timezone_minute title_case to_base to_base32 to_base64 to_base64url to_big_endian_32
	to_big_endian_64 to_char to_date to_geojson_geometry to_geometry to_hex to_ieee754_32 to_ieee754_64
	to_milliseconds to_timestamp to_utf8 transform transform_keys transform_values trim_array typeof url_decode
	url_encode url_extract_fragment url_extract_host url_extract_parameter url_extract_path url_extract_port
	url_extract_protocol url_extract_query uuid value_at_quantile values_at_quantiles version width_bucket
	wilson_interval_lower wilson_interval_upper with_timezone word_stem xxhash64 zip zip_with`)

// athenaHas reports whether Athena has a function that has no answer here.
func athenaHas(name string) bool {
	_, geometry := strings.CutPrefix(name, "st_")
	return geometry || slices.Contains(athenas, name)
}

// macro gives a function Athena's answer.
type macro struct {
	name      string
	overloads []overload
	// native says that DuckDB has a function of that name, whose operands' types are those to look at.
	native bool
}

type overload struct{ parameters, body string }

// zeroChecked is the operator with Athena's answers for a divisor of zero: an error for integers, infinity and NaN for
// doubles. DuckDB says null to both. A cast that fails is the error, as TRY takes no volatile function such as error().
const zeroChecked = `system.main."OP"(a, CASE WHEN b = 0 AND typeof(system.main."OP"(a, b)) <> 'DOUBLE' ` +
	`THEN cast_to_type('Division by zero', b) ELSE b END)`

// space is a character that Athena trims.
const space = `[\s\x{0b}\x{85}\p{Z}]`

// formats are the specifiers of date_format, as strftime has them, in an order in which none becomes another.
var formats = [][2]string{{"%M", "%B"}, {"%i", "%M"}, {"%T", "%H:%M:%S"}, {"%r", "%I:%M:%S %p"}, {"%s", "%S"},
	{"%W", "%A"}, {"%e", "%-d"}, {"%c", "%-m"}, {"%k", "%-H"}, {"%l", "%-I"}, {"%h", "%I"}}

var macros = slices.Concat(
	[]macro{
		// DuckDB calls / so where the quotient of integers is one. The struct chooses by type, which CASE cannot.
		{"//", []overload{{"a, b", `struct_extract({'exact': ` + strings.ReplaceAll(zeroChecked, "OP", "//") +
			`, 'double': system.main."/"(a, b)}, CASE typeof(system.main."//"(a, b)) WHEN 'DOUBLE' THEN 'double' ` +
			`ELSE 'exact' END)`}}, true},
		{"%", []overload{{"a, b", strings.ReplaceAll(zeroChecked, "OP", "%")}}, true},
		{"mod", []overload{{"a, b", strings.ReplaceAll(zeroChecked, "OP", "%")}}, true},

		{"truncate", []overload{{"x", "system.main.trunc(x)"}}, false},
		{"e", []overload{{"", "system.main.exp(1)"}}, false},
		{"rand", []overload{{"", "system.main.random()"}}, false},
		{"infinity", []overload{{"", "CAST('inf' AS DOUBLE)"}}, false},
		{"nan", []overload{{"", "CAST('nan' AS DOUBLE)"}}, false},
		{"is_nan", []overload{{"x", "system.main.isnan(x)"}}, false},
		{"is_infinite", []overload{{"x", "system.main.isinf(x)"}}, false},
		{"is_finite", []overload{{"x", "system.main.isfinite(x)"}}, false},

		{"substr", substring, true}, {"substring", substring, true},
		{"trim", []overload{
			{"s", `system.main.regexp_replace(s, '^` + space + `+|` + space + `+$', '', 'g')`},
			{"s, characters", "system.main.trim(s, characters)"}}, true},
		{"ltrim", []overload{
			{"s", `system.main.regexp_replace(s, '^` + space + `+', '')`},
			{"s, characters", "system.main.ltrim(s, characters)"}}, true},
		{"rtrim", []overload{
			{"s", `system.main.regexp_replace(s, '` + space + `+$', '')`},
			{"s, characters", "system.main.rtrim(s, characters)"}}, true},
		{"replace", []overload{{"s, a", "system.main.replace(s, a, '')"},
			{"s, a, b", "system.main.replace(s, a, b)"}}, false},
		{"split_part", []overload{{"s, separator, n", `CASE WHEN n < 1
			THEN cast_to_type(CAST('Index must be greater than zero' AS BIGINT), s)
			WHEN separator IS NOT NULL
			THEN system.main.list_extract(system.main.string_split(s, separator), n) END`}}, true},
		{"split", []overload{{"s, separator", `CASE WHEN separator = ''
			THEN cast_to_type('The delimiter may not be the empty string', system.main.string_split(s, separator))
			WHEN separator IS NOT NULL THEN system.main.string_split(s, separator) END`}}, true},
		{"codepoint", []overload{{"s", `CASE WHEN system.main.length(s) <> 1
			THEN cast_to_type('codepoint takes one character', system.main.ord(s))
			ELSE system.main.ord(s) END`}}, false},
		// DuckDB counts bytes, and Athena characters.
		{"levenshtein_distance", []overload{{"a, b", `CASE WHEN system.main.strlen(a) = system.main.length(a)
			AND system.main.strlen(b) = system.main.length(b) THEN system.main.levenshtein(a, b)
			WHEN a IS NOT NULL AND b IS NOT NULL
			THEN cast_to_type('levenshtein_distance takes only ASCII here', system.main.levenshtein(a, b))
			END`}}, false},
		{"regexp_like", []overload{{"s, pattern", "system.main.regexp_matches(s, pattern)"}}, false},
		{"regexp_extract", []overload{
			{"s, pattern", `CASE WHEN system.main.regexp_matches(s, pattern)
				THEN system.main.regexp_extract(s, pattern) END`},
			{"s, pattern, n", `CASE WHEN system.main.regexp_matches(s, pattern)
				THEN system.main.regexp_extract(s, pattern, n) END`}}, true},
		{"regexp_replace", []overload{
			{"s, pattern", "system.main.regexp_replace(s, pattern, '', 'g')"},
			{"s, pattern, put", `system.main.regexp_replace(s, pattern,
				system.main.regexp_replace(put, '\$(\d)', '\\\1', 'g'), 'g')`}}, false},
		{"json_extract_scalar", []overload{{"j, path", `CASE WHEN json_valid(j)
			AND json_type(j, path) NOT IN ('OBJECT', 'ARRAY', 'NULL') THEN json_extract_string(j, path) END`}}, false},

		{"date_trunc", []overload{{"unit, x", "cast_to_type(system.main.date_trunc(unit, x), x)"}}, true},
		{"date_diff", []overload{{"unit, a, b", "system.main.date_sub(unit, a, b)"}}, true},
		{"date_add", []overload{{"unit, n, x", `cast_to_type(x + CASE system.main.lower(unit)
			WHEN 'millisecond' THEN system.main.to_milliseconds(n) WHEN 'second' THEN system.main.to_seconds(n)
			WHEN 'minute' THEN system.main.to_minutes(n) WHEN 'hour' THEN system.main.to_hours(n)
			WHEN 'day' THEN system.main.to_days(n) WHEN 'week' THEN system.main.to_weeks(n)
			WHEN 'month' THEN system.main.to_months(n) WHEN 'quarter' THEN system.main.to_months(3 * n)
			ELSE system.main.to_years(n) END, x)`}}, false},
		{"date_format", []overload{{"x, format", "system.main.strftime(x, " + strftime("format") + ")"}}, false},
		{"from_unixtime", []overload{{"n", "system.main.to_timestamp(n)"}}, false},
		{"to_unixtime", []overload{{"x", "system.main.epoch(x)"}}, false},
		{"to_iso8601", []overload{{"x", `CASE typeof(x) WHEN 'DATE' THEN system.main.strftime(x, '%Y-%m-%d')
			WHEN 'TIMESTAMP' THEN system.main.strftime(x, '%Y-%m-%dT%H:%M:%S.%g')
			ELSE system.main.strftime(x, '%Y-%m-%dT%H:%M:%S.%gZ') END`}}, false},
		{"millisecond", []overload{{"x", "system.main.millisecond(x) % 1000"}}, true},

		{"count_if", []overload{{"x", "system.main.count(CASE WHEN x THEN 1 END)"}}, true},
		{"every", []overload{{"x", "system.main.bool_and(x)"}}, false},
		{"arbitrary", []overload{{"x", "system.main.any_value(x)"}}, true},
		{"max_by", []overload{{"x, y", "system.main.arg_max_null(x, y)"}}, true},
		{"min_by", []overload{{"x, y", "system.main.arg_min_null(x, y)"}}, true},

		{"cardinality", []overload{{"list", "system.main.len(list)"}}, false},
		{"contains", []overload{{"list, x", `CASE WHEN list IS NOT NULL AND x IS NOT NULL THEN
			CASE WHEN system.main.list_contains(list, x) THEN true
			WHEN system.main.len(list) = system.main.list_aggregate(list, 'count') THEN false END END`}}, true},
		{"element_at", []overload{{"list, n", `system.main.list_extract(list, CASE WHEN n = 0
			THEN cast_to_type('SQL array indices start at 1', n) ELSE n END)`}}, false},
		{"array_join", []overload{{"list, separator", `CASE WHEN list IS NOT NULL AND separator IS NOT NULL
			THEN coalesce(system.main.list_aggregate(list, 'string_agg', separator), '') END`}}, false},
		{"sequence", []overload{{"a, b", `CASE WHEN a <= b THEN system.main.generate_series(a, b)
			ELSE system.main.generate_series(a, b, -1) END`}}, false},
	},
	sameAs(map[string]string{"day_of_month": "day", "day_of_week": "isodow", "dow": "isodow",
		"day_of_year": "dayofyear", "doy": "dayofyear", "week_of_year": "week", "year_of_week": "isoyear",
		"yow": "isoyear", "last_day_of_month": "last_day"}),
	[]macro{
		withoutNull("greatest", "system.main.greatest", ", "), withoutNull("least", "system.main.least", ", "),
		withoutNull("concat", "", " || "),
	},
)

// substring is Athena's: empty from place 0 on, before the first character, and with a length below 1.
var substring = []overload{
	{"s, start", `CASE WHEN start = 0 OR start < -system.main.length(s) THEN s[:0]
		ELSE system.main.substr(s, start) END`},
	{"s, start, n", `CASE WHEN start = 0 OR start < -system.main.length(s) OR n < 1 THEN s[:0]
		ELSE system.main.substr(s, start, n) END`},
}

// strftime is SQL that makes a format of strftime of one of date_format.
func strftime(format string) string {
	for _, pair := range formats {
		format = "system.main.replace(" + format + ", " + literal(pair[0]) + ", " + literal(pair[1]) + ")"
	}
	return format
}

func sameAs(names map[string]string) (same []macro) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		same = append(same, macro{name, []overload{{"x", "system.main." + names[name] + "(x)"}}, false})
	}
	return same
}

// withoutNull is a function of 2 to 8 arguments that is null if one of them is.
func withoutNull(name, function, separator string) macro {
	m := macro{name, nil, true}
	for n := 2; n <= 8; n++ {
		parameters := strings.Split("a b c d e f g h", " ")[:n]
		body := function + "(" + strings.Join(parameters, separator) + ")"
		if function != "" {
			body = "CASE WHEN " + strings.Join(parameters, " IS NOT NULL AND ") + " IS NOT NULL THEN " + body + " END"
		}
		m.overloads = append(m.overloads, overload{strings.Join(parameters, ", "), body})
	}
	return m
}

// isMissing reports whether DuckDB has no function of that name.
func isMissing(m macro) bool { return !m.native }

// createMacros are the statements that create macros in the schemas, after so many blanks: DuckDB says of each
// expression where it was written, and those of macros are then far behind those of a query.
func createMacros(blanks int, which func(macro) bool, schemas ...string) string {
	var text strings.Builder
	text.WriteString(strings.Repeat(" ", blanks))
	for _, schema := range schemas {
		for _, m := range macros {
			if !which(m) {
				continue
			}
			var overloads []string
			for _, o := range m.overloads {
				overloads = append(overloads, "("+o.parameters+") AS "+o.body)
			}
			fmt.Fprintf(&text, "CREATE MACRO %s.%s%s;\n", schema, identifier(m.name), strings.Join(overloads, ", "))
		}
	}
	return text.String()
}
