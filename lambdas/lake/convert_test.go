package lake

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/schema"
)

func TestConvertColumn(t *testing.T) {
	t.Parallel()
	const refused = "refused"
	for _, test := range []struct {
		column schema.ColumnType
		from   schema.Type
		given  string
		want   any // nil: null; refused
	}{
		{schema.ColumnText, schema.String, `{"S":"a"}`, "a"},
		{schema.ColumnText, schema.String, `{"S":""}`, ""},
		{schema.ColumnText, schema.String, `{"S":"TASK#1"}`, "1"},
		{schema.ColumnText, schema.String, `{"S":"TASK#TASK#1"}`, "TASK#1"},
		{schema.ColumnText, schema.String, `{"S":"task#1"}`, "task#1"},
		{schema.ColumnText, schema.String, `{"S":"é漢😀\u0000\ufffe\n\""}`, "é漢😀\x00\ufffe\n\""},
		{schema.ColumnText, schema.String, `{"S":"\ud800"}`, "\ufffd"},
		{schema.ColumnText, schema.String, `{"NULL":true}`, nil},
		{schema.ColumnText, schema.String, ``, nil},
		{schema.ColumnText, schema.String, `{"N":"1"}`, refused},
		{schema.ColumnText, schema.String, `{"S":1}`, refused},
		{schema.ColumnText, schema.String, `{"S":null}`, refused},
		{schema.ColumnText, schema.String, `{}`, refused},
		{schema.ColumnText, schema.String, `null`, refused},
		{schema.ColumnText, schema.String, `"a"`, refused},
		{schema.ColumnText, schema.String, `{"S":"a","N":"1"}`, refused},
		{schema.ColumnText, schema.String, `{"L":[{"S":"a"}]}`, refused},

		{schema.ColumnInteger, schema.Number, `{"N":"0"}`, int64(0)},
		{schema.ColumnInteger, schema.Number, `{"N":"-7"}`, int64(-7)},
		{schema.ColumnInteger, schema.Number, `{"N":"9223372036854775807"}`, int64(math.MaxInt64)},
		{schema.ColumnInteger, schema.Number, `{"N":"-9223372036854775808"}`, int64(math.MinInt64)},
		{schema.ColumnInteger, schema.Number, `{"N":"9223372036854775808"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"1E+18"}`, int64(1e18)},
		{schema.ColumnInteger, schema.Number, `{"N":"1.50E1"}`, int64(15)},
		{schema.ColumnInteger, schema.Number, `{"N":"3.0"}`, int64(3)},
		{schema.ColumnInteger, schema.Number, `{"N":"9007199254740993"}`, int64(9007199254740993)},
		{schema.ColumnInteger, schema.Number, `{"N":"1.5"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"9.9999999999999999999999999999999999999E+125"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"1e999999999"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"1e-130"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"0x10"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"1/2"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"4/2"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"1_000"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":""}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":" 1"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":"NaN"}`, refused},
		{schema.ColumnInteger, schema.Number, `{"N":1}`, refused},
		{schema.ColumnInteger, schema.Number, `{"S":"1"}`, refused},

		{schema.ColumnDecimal, schema.Number, `{"N":"0.1"}`, 0.1},
		{schema.ColumnDecimal, schema.Number, `{"N":"-1.5E+125"}`, -1.5e125},
		{schema.ColumnDecimal, schema.Number, `{"N":"1E-130"}`, 1e-130},
		{schema.ColumnDecimal, schema.Number, `{"N":"1E309"}`, refused},
		{schema.ColumnDecimal, schema.Number, `{"N":"NaN"}`, refused},
		{schema.ColumnDecimal, schema.Number, `{"N":"Infinity"}`, refused},
		{schema.ColumnDecimal, schema.Number, `{"N":"-inf"}`, refused},
		{schema.ColumnDecimal, schema.Number, `{"N":"0x1p-2"}`, refused},

		{schema.ColumnBoolean, schema.Boolean, `{"BOOL":true}`, true},
		{schema.ColumnBoolean, schema.Boolean, `{"BOOL": false }`, false},
		{schema.ColumnBoolean, schema.Boolean, `{"BOOL":"true"}`, refused},
		{schema.ColumnBoolean, schema.Boolean, `{"BOOL":null}`, refused},
		{schema.ColumnBoolean, schema.Boolean, `{"S":"true"}`, refused},

		{schema.ColumnDate, schema.String, `{"S":"1970-01-02"}`, int32(1)},
		{schema.ColumnDate, schema.String, `{"S":"1969-12-31"}`, int32(-1)},
		{schema.ColumnDate, schema.String, `{"S":"2024-02-29"}`, int32(19782)},
		{schema.ColumnDate, schema.String, `{"S":"9999-12-31"}`, int32(2932896)},
		{schema.ColumnDate, schema.String, `{"S":"0000-01-01"}`, refused},
		{schema.ColumnDate, schema.String, `{"S":"2023-02-29"}`, refused},
		{schema.ColumnDate, schema.String, `{"S":"2023-2-9"}`, refused},
		{schema.ColumnDate, schema.String, `{"S":"2023-02-09T00:00:00Z"}`, refused},
		{schema.ColumnDate, schema.String, `{"S":"soon"}`, refused},
		{schema.ColumnDate, schema.String, `{"S":""}`, refused},

		{schema.ColumnTimestamp, schema.Number, `{"N":"1795132800"}`, int64(1795132800000)},
		{schema.ColumnTimestamp, schema.Number, `{"N":"-0.0005"}`, int64(-1)},
		{schema.ColumnTimestamp, schema.Number, `{"N":"1795132800.9999999"}`, int64(1795132800999)},
		{schema.ColumnTimestamp, schema.Number, `{"N":"253402300799"}`, int64(253402300799000)},
		{schema.ColumnTimestamp, schema.Number, `{"N":"253402300800"}`, refused},
		{schema.ColumnTimestamp, schema.Number, `{"N":"1E30"}`, refused},
		{schema.ColumnTimestamp, schema.Number, `{"N":"NaN"}`, refused},
		{schema.ColumnTimestamp, schema.Number, `{"S":"2026-11-20T00:00:00Z"}`, refused},
		{schema.ColumnTimestamp, schema.String, `{"S":"2026-11-20T00:00:00Z"}`, int64(1795132800000)},
		{schema.ColumnTimestamp, schema.String, `{"S":"2026-11-20T02:00:00.1239+02:00"}`, int64(1795132800123)},
		{schema.ColumnTimestamp, schema.String, `{"S":"2026-11-20T00:00:00"}`, int64(1795132800000)},
		{schema.ColumnTimestamp, schema.String, `{"S":"20.11.2026"}`, refused},
		{schema.ColumnTimestamp, schema.String, `{"S":"0000-11-20T00:00:00Z"}`, refused},
	} {
		c := schema.Column{Name: "c", Attribute: "a", TrimPrefix: "TASK#", Type: test.column, From: test.from}
		got, err := convertColumn(c, json.RawMessage(test.given))
		switch want := test.want.(type) {
		case nil:
			if err != nil || !got.IsNull() {
				t.Errorf("%s of %s: got %v, %v; want null", test.column, test.given, got, err)
			}
		default:
			if want == refused {
				if err == nil {
					t.Errorf("%s of %s: got %v; want it refused", test.column, test.given, got)
				}
			} else if err != nil || !parquet.Equal(got, parquet.ValueOf(want)) {
				t.Errorf("%s of %s: got %v, %v; want %v", test.column, test.given, got, err, want)
			}
		}
	}
}

// Every number that fits both DynamoDB and a 64-bit integer is read exactly, in any notation.
func TestWholeNumber(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, n := range rapid.SliceOfN(rapid.Int64(), 10, 10).Draw(t, "numbers") {
			digits := fmt.Sprint(n)
			forms := []string{digits, digits + ".000", digits + "E0", digits + "0e-1"}
			if len(digits) > 2 {
				forms = append(forms, fmt.Sprintf("%s.%sE+1", digits[:len(digits)-1], digits[len(digits)-1:]))
			}
			for _, form := range forms {
				if got, err := wholeNumber(form); err != nil || got != n {
					t.Fatalf("%s: got %d, %v", form, got, err)
				}
			}
		}
	})
}

// The failure's cause names what a record lacks.
func TestConvertRefuses(t *testing.T) {
	t.Parallel()
	d := definition(t)
	c := &converter{d, tablesOf(d)}
	good := insert("e", "1", "1", nil)
	with := func(change func(*change)) json.RawMessage {
		record := good
		change(&record)
		return record.json(t)
	}
	for name, test := range map[string]struct {
		record json.RawMessage
		cause  string
	}{
		"NoJSON":        {json.RawMessage(`{"eventID":`), "no DynamoDB stream record"},
		"Text":          {json.RawMessage(`"x"`), "no DynamoDB stream record"},
		"Null":          {json.RawMessage(`null`), "no Keys"},
		"KeysOfAnother": {with(func(r *change) { r.keys = item{"id": text("1")} }), "another table"},
		"KeysWrong": {with(func(r *change) { r.keys = item{"PK": "TASK#u", "SK": text("TASK#1")} }),
			"one member"},
		"NoID":             {with(func(r *change) { r.id = "" }), "no eventID"},
		"UnknownEvent":     {with(func(r *change) { r.name = "UNKNOWN_TO_SDK_VERSION" }), "INSERT, MODIFY and REMOVE"},
		"NoImage":          {with(func(r *change) { r.new = nil }), "no image"},
		"OldImageOnly":     {with(func(r *change) { r.new, r.old = nil, r.new }), "no image"},
		"RemoveNoSequence": {with(func(r *change) { r.name, r.sequence = "REMOVE", "" }), "sequence number"},
		"NoTime":           {with(func(r *change) { r.time = nil }), "ApproximateCreationDateTime"},
		"TextTime":         {with(func(r *change) { r.time = "yesterday" }), "ApproximateCreationDateTime"},
		"LateTime":         {with(func(r *change) { r.time = 1e18 }), "ApproximateCreationDateTime"},
		"NoSequence":       {with(func(r *change) { r.sequence = "" }), "sequence number"},
		"LongSequence":     {with(func(r *change) { r.sequence = strings.Repeat("1", 41) }), "sequence number"},
		"SequenceOfPath":   {with(func(r *change) { r.sequence = "../1" }), "sequence number"},
		"AttributeAsText":  {with(func(r *change) { r.new = item{"title": "a"} }), "column title"},
	} {
		made, _, failure := c.convert(test.record)
		if made != nil || failure == nil || !strings.Contains(failure.Cause, test.cause) {
			t.Errorf("%s: got a row: %v, %+v; want a failure for %s", name, made != nil, failure, test.cause)
			continue
		}
		if _, err := failure.Message(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if made, _, failure := c.convert(good.json(t)); made == nil || failure != nil {
		t.Errorf("the good one: got %v, %+v", made, failure)
	}
}

// A removal needs only the key: a column that cannot show the old image's attribute is
// null, and the others are as they were.
func TestConvertRemoval(t *testing.T) {
	t.Parallel()
	d := definition(t)
	c := &converter{d, tablesOf(d)}
	key := item{"PK": text("TASK#u"), "SK": text("TASK#1")}
	const all = "u 1 a pending"
	for name, test := range map[string]struct {
		old  any
		want string // user, task, title, status
	}{
		"AsItWas":   {insert("e", "1", "1", nil).new, all},
		"Nothing":   {nil, "u 1 <nil> <nil>"},
		"NoMap":     {"an item", "u 1 <nil> <nil>"},
		"List":      {[]any{key}, "u 1 <nil> <nil>"},
		"Empty":     {item{}, "u 1 <nil> <nil>"},
		"KeyAlone":  {key, "u 1 <nil> <nil>"},
		"OtherType": {insert("e", "1", "1", item{"title": numeric("5")}).new, "u 1 <nil> pending"},
		"NoType":    {insert("e", "1", "1", item{"status": "pending"}).new, "u 1 a <nil>"},
		"NoDate":    {insert("e", "1", "1", item{"due_date": text("soon")}).new, all},
		"NoNumber": {insert("e", "1", "1", item{"version": numeric("1.5"), "completed_at": text("yesterday")}).new,
			all},
		"AnotherKey": {insert("e", "1", "2", item{"PK": numeric("5")}).new, all},
		"EverythingIs": {item{"title": item{}, "status": item{"L": []any{}}, "created_at": 1, "version": nil,
			"category": numeric("1")}, "u 1 <nil> <nil>"},
	} {
		raw := must.Get(json.Marshal(map[string]any{"eventID": "e", "eventName": "REMOVE", "dynamodb": map[string]any{
			"ApproximateCreationDateTime": day, "SequenceNumber": "2", "Keys": key, "OldImage": test.old,
		}}))(t)
		made, _, failure := c.convert(raw)
		if made == nil || failure != nil {
			t.Errorf("%s: got %+v", name, failure)
			continue
		}
		content := must.Get(c.tables["task"].encode([]*row{made}))(t)
		r := decoded(t, name, content)[0]
		got := fmt.Sprintln(r["user_id"], r["task_id"], r["title"], r["status"])
		if strings.TrimSpace(got) != test.want || r["event_name"] != "REMOVE" {
			t.Errorf("%s: got %s %q; want %q", name, r["event_name"], got, test.want)
		}
	}
}

// A panic is the failure of the record in hand.
func TestConvertPanics(t *testing.T) {
	t.Parallel()
	d := definition(t)
	tables := tablesOf(d)
	tables["task"].columns = append(tables["task"].columns, make([]schema.Column, math.MaxUint16+1)...)
	c := &converter{d, tables}
	record := insert("e", "1", "1", nil).json(t)
	made, _, failure := c.convert(record)
	if made != nil || failure == nil || !strings.Contains(failure.Cause, "panicked") || failure.EventID != "e" ||
		failure.Entity != "task" {
		t.Errorf("got a row: %v, and a failure: %v", made != nil, failure != nil)
	}
}

// FuzzConvert: every record is a row, an item of no entity, or a failure that the
// queue takes.
func FuzzConvert(f *testing.F) {
	d := definition(f)
	c := &converter{d, tablesOf(d)}
	f.Add([]byte(insert("e", "1", "1", nil).json(f)))
	f.Add([]byte(
		`{"eventID":"e","dynamodb":{"Keys":{"PK":{"S":"TASK#"},"SK":{"S":"TASK#"}},"NewImage":{"version":{"N":"1e99"}}}}`))
	for _, old := range []string{`null`, `"x"`, `[]`, `{}`, `{"title":{"N":"5"},"status":{}}`,
		`{"PK":{"N":"5"},"due_date":{"S":"soon"}}`} {
		f.Add([]byte(
			`{"eventID":"e","eventName":"REMOVE","dynamodb":{"ApproximateCreationDateTime":1795132800,"SequenceNumber":"1","Keys":{"PK":{"S":"TASK#u"},"SK":{"S":"TASK#1"}},"OldImage":` +
				old + `}}`))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		made, _, failure := c.convert(raw)
		if made != nil && failure != nil {
			t.Fatal("both a row and a failure")
		}
		if made != nil {
			must.Get(c.tables[made.partition.entity].encode([]*row{made}))(t)
			if _, ok := parseKey(made.partition.key(
				writtenName(made.sequence, made.sequence, []string{made.eventID}))); !ok {
				t.Fatalf("the partition is %+v", made.partition)
			}
		}
		if failure != nil {
			message, err := failure.Message(t.Context())
			if err != nil || len(message) > trigger.MaxFailureBytes || !json.Valid([]byte(message)) {
				t.Fatalf("%v: %s", err, message)
			}
		}
	})
}
