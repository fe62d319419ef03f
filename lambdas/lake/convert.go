package lake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/schema"
)

// record is a stream record as Lambda gives it ("Using Lambda to process records from Amazon
// DynamoDB Streams": example event). It is read in two steps, because records of other items than
// entities' need only the first.
type record struct {
	EventID   string `json:"eventID"`
	EventName string `json:"eventName"`
	Change    struct {
		Time           json.RawMessage            `json:"ApproximateCreationDateTime"`
		SequenceNumber string                     `json:"SequenceNumber"`
		Keys           map[string]json.RawMessage `json:"Keys"`
		NewImage       json.RawMessage            `json:"NewImage"`
		OldImage       json.RawMessage            `json:"OldImage"`
	} `json:"dynamodb"`
}

// row is a converted record.
type row struct {
	partition partition
	eventID   string
	sequence  string // of sequenceDigits digits
	time      time.Time
	values    parquet.Row // in the order of the entity's table
}

// converter makes rows of records.
type converter struct {
	definition schema.LakeDefinition
	tables     map[string]*table // by entity
}

// convert makes a row of a record. It returns nothing for a record of an item that is no entity's.
// If it cannot convert the record, it returns a failure, whose cause is for people. It does not
// panic, for any record.
func (c *converter) convert(raw json.RawMessage) (made *row, parsed record, failure *trigger.Failure) {
	entity := ""
	failed := func(cause string) *trigger.Failure {
		return &trigger.Failure{
			Cause: cause, EventID: parsed.EventID, EventName: parsed.EventName,
			Entity: entity, SequenceNumber: parsed.Change.SequenceNumber, Record: raw,
		}
	}
	defer func() {
		if cause := recover(); cause != nil {
			made, failure = nil, failed(fmt.Sprintf("converting the record panicked: %v", cause))
		}
	}()
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return nil, parsed, failed("the record is no DynamoDB stream record: " + err.Error())
	}
	table, err := c.tableOf(parsed)
	if err != nil {
		return nil, parsed, failed(err.Error())
	}
	if table == nil {
		return nil, parsed, nil
	}
	entity = table.entity.Name
	made, err = table.row(parsed)
	if err != nil {
		return nil, parsed, failed(err.Error())
	}
	return made, parsed, nil
}

// tableOf is the table of the record's entity, or nil.
func (c *converter) tableOf(r record) (*table, error) {
	if len(r.Change.Keys) == 0 {
		return nil, errors.New("the record has no Keys: a stream record has the keys of its item")
	}
	var keys [2]string
	for i, name := range c.definition.Key.Attributes() {
		raw, ok := r.Change.Keys[name]
		if !ok {
			return nil, fmt.Errorf("the record's Keys have no %s: the definition is of another table", name)
		}
		v, err := attributeValue(name, raw)
		if err != nil {
			return nil, err
		}
		if v.kind != kinds[schema.String] {
			continue
		}
		if keys[i], err = v.text(); err != nil {
			return nil, err
		}
	}
	for _, e := range c.definition.Entities {
		if e.Matches(keys[0], keys[1]) {
			return c.tables[e.Name], nil
		}
	}
	return nil, nil
}

// row converts a record of the table's entity. A removal becomes a row for any attributes of the
// item. Otherwise an item that cannot be converted would stay in the lake for ever, as it was
// before. A column that cannot show its attribute is null then, except the columns of the key.
func (t *table) row(r record) (*row, error) {
	if r.EventID == "" {
		return nil, errors.New("the record has no eventID: without one, the lake cannot tell whether it has the " +
			"change already")
	}
	attributes, err := r.image()
	if err != nil {
		return nil, err
	}
	var before map[string]json.RawMessage
	if slices.ContainsFunc(t.columns, func(c schema.Column) bool { return c.Before }) {
		// Without a readable image the columns are null, as of a new item.
		_ = json.Unmarshal(r.Change.OldImage, &before)
	}
	at, err := unixTime(string(r.Change.Time))
	if err != nil {
		return nil, fmt.Errorf("ApproximateCreationDateTime is %s: %w",
			cmp.Or(shortened(string(r.Change.Time), 100), "absent"), err)
	}
	sequence, err := paddedSequence(r.Change.SequenceNumber)
	if err != nil {
		return nil, err
	}
	values := make(parquet.Row, 0, len(t.columns))
	for i, c := range t.columns {
		var value parquet.Value
		switch i {
		case t.eventID:
			value = parquet.ByteArrayValue([]byte(r.EventID))
		case t.eventName:
			value = parquet.ByteArrayValue([]byte(r.EventName))
		case t.eventTime:
			value = parquet.Int64Value(at.UnixMilli())
		case t.sequence:
			value = parquet.ByteArrayValue([]byte(sequence))
		default:
			raw := attributes[c.Source()]
			if c.Before {
				raw = before[c.Source()]
			}
			value, err = convertColumn(c, raw)
			if _, key := r.Change.Keys[c.Source()]; err != nil && r.EventName == "REMOVE" && !key {
				value, err = parquet.NullValue(), nil
			}
			if err != nil {
				return nil, fmt.Errorf("the column %s cannot show the attribute %s, which is %s: %w", c.Name,
					c.Source(), shortened(string(raw), 100), err)
			}
		}
		values = append(values, t.placed(value, i))
	}
	return &row{
		partition: partition{entity: t.entity.Name, date: at.Format(time.DateOnly)},
		eventID:   r.EventID, sequence: sequence, time: at, values: values,
	}, nil
}

// image is the item after the change or, when it was removed, what is known of it
// before: at least its key.
func (r record) image() (map[string]json.RawMessage, error) {
	var attributes map[string]json.RawMessage
	switch r.EventName {
	case "INSERT", "MODIFY":
	case "REMOVE":
		if json.Unmarshal(r.Change.OldImage, &attributes) != nil || attributes == nil {
			attributes = map[string]json.RawMessage{}
		}
		maps.Copy(attributes, r.Change.Keys)
		return attributes, nil
	default:
		return nil, fmt.Errorf("the event's name is %q: INSERT, MODIFY and REMOVE are known",
			shortened(r.EventName, 100))
	}
	if image := r.Change.NewImage; len(image) > 0 {
		if err := json.Unmarshal(image, &attributes); err != nil {
			return nil, fmt.Errorf("the image is no map of attributes: %w", err)
		}
	}
	if len(attributes) == 0 {
		return nil, fmt.Errorf("the record of event %s has no image of the item: the stream must carry new and old "+
			"images", r.EventName)
	}
	return attributes, nil
}

func paddedSequence(text string) (string, error) {
	if text == "" || len(text) > sequenceDigits || strings.Trim(text, "0123456789") != "" {
		return "", fmt.Errorf("the sequence number is %q: it has 1 to %d digits", shortened(text, 100), sequenceDigits)
	}
	return strings.Repeat("0", sequenceDigits-len(text)) + text, nil
}

// value is an attribute's value as the stream writes it: one member, named after
// its type.
type value struct {
	kind string // S, N, BOOL …
	raw  json.RawMessage
}

func attributeValue(attribute string, raw json.RawMessage) (value, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || len(members) != 1 {
		return value{}, fmt.Errorf("the attribute %s is %s: an attribute has one member, named after its type, such "+
			"as {\"S\":\"text\"}", attribute, shortened(string(raw), 100))
	}
	for kind, raw := range members {
		return value{kind, raw}, nil
	}
	panic("a map of one member has none")
}

// text is the value of a String or of a Number.
func (v value) text() (string, error) {
	var text *string
	if err := json.Unmarshal(v.raw, &text); err != nil || text == nil {
		return "", fmt.Errorf("write the value of type %s as text", v.kind)
	}
	return *text, nil
}

// kinds are the stream's names of the types.
var kinds = map[schema.Type]string{schema.String: "S", schema.Number: "N", schema.Boolean: "BOOL"}

// convertColumn makes the value of a column from an attribute. An attribute that is
// absent or NULL is null. The error says what is allowed.
func convertColumn(c schema.Column, raw json.RawMessage) (parquet.Value, error) {
	null := parquet.NullValue()
	if len(raw) == 0 {
		return null, nil
	}
	v, err := attributeValue(c.Source(), raw)
	if err != nil || v.kind == "NULL" {
		return null, err
	}
	if v.kind != kinds[c.From] {
		return null, fmt.Errorf("it is declared a %s", c.From)
	}
	if c.Type == schema.ColumnBoolean {
		var flag *bool
		if err := json.Unmarshal(v.raw, &flag); err != nil || flag == nil {
			return null, errors.New("write true or false")
		}
		return parquet.BooleanValue(*flag), nil
	}
	text, err := v.text()
	if err != nil {
		return null, err
	}
	if c.From == schema.String {
		text = strings.TrimPrefix(text, c.TrimPrefix)
	}
	switch c.Type {
	case schema.ColumnText:
		return parquet.ByteArrayValue([]byte(text)), nil
	case schema.ColumnInteger:
		n, err := wholeNumber(text)
		if err != nil {
			return null, err
		}
		return parquet.Int64Value(n), nil
	case schema.ColumnDecimal:
		n, err := decimal(text)
		if err != nil {
			return null, err
		}
		return parquet.DoubleValue(n), nil
	case schema.ColumnDate:
		day, err := time.Parse(time.DateOnly, text)
		if err != nil || day.Before(firstTime) {
			return null, errors.New("write a day as YYYY-MM-DD, in the years 1 to 9999")
		}
		return parquet.Int32Value(int32(day.Unix() / (24 * 60 * 60))), nil
	case schema.ColumnTimestamp:
		read := isoTime
		if c.From == schema.Number {
			read = unixTime
		}
		at, err := read(text)
		if err != nil {
			return null, err
		}
		return parquet.Int64Value(at.UnixMilli()), nil
	}
	return null, fmt.Errorf("a column of type %q is not known", c.Type)
}

// number matches how DynamoDB writes numbers, of 38 digits and exponents to ±130 ("Supported data
// types and naming rules in Amazon DynamoDB"), with some to spare. An exact calculation with a longer
// one would take longer than it is worth.
var number = regexp.MustCompile(`^[+-]?(\d{1,200}(\.\d{0,200})?|\.\d{1,200})([eE][+-]?\d{1,3})?$`)

// rational reads a number exactly.
func rational(text string) (*big.Rat, bool) {
	if !number.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func wholeNumber(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	n, ok := rational(text)
	if !ok || !n.IsInt() || !n.Num().IsInt64() {
		return 0, errors.New("write a whole number of 64 bits")
	}
	return n.Num().Int64(), nil
}

func decimal(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !number.MatchString(text) {
		return 0, errors.New("write a number that 64 bits of floating point can hold")
	}
	return n, nil
}

// The years that SQL's timestamps support.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	endOfTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// unixTime reads seconds since the Unix epoch, with fractions cut to the
// millisecond.
func unixTime(text string) (time.Time, error) {
	// The fast path for most numbers: the exact calculation takes longer than the rest of the row.
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && seconds >= firstTime.Unix() &&
		seconds < endOfTime.Unix() {
		return time.Unix(seconds, 0).UTC(), nil
	}
	if n, ok := rational(text); ok {
		n.Mul(n, big.NewRat(1000, 1))
		// Rounds down, as a denominator is positive.
		if ms := new(big.Int).Div(n.Num(), n.Denom()); ms.IsInt64() {
			if at := time.UnixMilli(ms.Int64()).UTC(); !at.Before(firstTime) && at.Before(endOfTime) {
				return at, nil
			}
		}
	}
	return time.Time{}, errors.New("write seconds since the Unix epoch, in the years 1 to 9999")
}

// isoTime reads a moment in ISO 8601, in UTC where it names no offset.
func isoTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		at, err := time.Parse(layout, text)
		if at = at.UTC(); err == nil && !at.Before(firstTime) && at.Before(endOfTime) {
			return at, nil
		}
	}
	return time.Time{}, errors.New("write a moment in ISO 8601, such as 2026-11-20T08:30:00Z")
}

// shortened is text of at most length bytes.
func shortened(text string, length int) string {
	if len(text) <= length {
		return text
	}
	for length > 0 && !utf8.RuneStart(text[length]) {
		length--
	}
	return text[:length] + "…"
}
