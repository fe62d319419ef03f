package dynamo

// What a team has added to records: kept by writes that replace an item, read for the wire, and written by the
// functions alone that may.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Extra returns what a team has added to the platform's records.
func (db *DB) Extra() []schema.Extra { return db.extra }

// replaces reports whether a PutItem may meet an item with attributes that a team has added. It does not if its
// condition is that there is no item.
func replaces(table schema.Table, w Write) bool {
	if len(table.Extra) == 0 {
		return false
	}
	if !w.condition.IsSet() {
		return true
	}
	built, err := expression.NewBuilder().WithCondition(w.condition).Build()
	return err != nil || *built.Condition() != "attribute_not_exists (#0)" ||
		!slices.Contains(table.Key.Attributes(), built.Names()["#0"])
}

// putAsUpdate returns a PutItem as the update that leaves the item as the put would, but for what a team has added:
// that stays.
func putAsUpdate(table schema.Table, w Write, item Item) Write {
	key := table.Key.Attributes()
	var update expression.UpdateBuilder
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if !slices.Contains(key, name) {
			update = update.Set(Name(name), expression.Value(item[name]))
		}
	}
	for _, a := range table.Attributes {
		_, stays := extraOf(table, a.Name)
		if _, written := item[a.Name]; !written && !stays && !slices.Contains(key, a.Name) {
			update = update.Remove(Name(a.Name))
		}
	}
	w.operation, w.update, w.key = schema.UpdateItem, update, nil
	for _, name := range key {
		w.key = append(w.key, item[name])
	}
	return w
}

// extends reports whether an update changes what a team has added.
func extends(table schema.Table, e expression.Expression) bool {
	if len(table.Extra) == 0 {
		return false
	}
	for name := range updated(e) {
		if _, ok := extraOf(table, name); ok {
			return true
		}
	}
	return false
}

func extraOf(table schema.Table, name string) (schema.ExtraAttribute, bool) {
	i := slices.IndexFunc(table.Extra, func(a schema.ExtraAttribute) bool { return a.Name == name })
	if i < 0 {
		return schema.ExtraAttribute{}, false
	}
	return table.Extra[i], true
}

// writable returns an error for an attribute that the table does not declare, for one that a team has added if the
// function may not write it, or the value is beyond its limits, and for a key attribute that is empty or too long.
// Nothing else would find a name that is misspelt: DynamoDB stores it.
func (db *DB) writable(table schema.Table, values Item) error {
	for name, value := range values {
		if extra, ok := extraOf(table, name); ok {
			if db.function != "" && !slices.Contains(extra.Writers, db.function) {
				return fmt.Errorf("the function %s may not write the attribute %q of %s: name the function in its "+
					"Writers", db.function, name, table.Name)
			}
			if problem := beyond(extra, value); problem != "" {
				return fmt.Errorf("the attribute %q of %s %s", name, table.Name, problem)
			}
			continue
		}
		if _, ok := table.Attribute(name); !ok {
			return fmt.Errorf("the table %s has no attribute %q: spell it as in the schema, or add it to "+
				"Attributes there", table.Name, name)
		}
		if name == table.TimeToLive {
			if err := expires(value); err != nil {
				return fmt.Errorf("the time to live %q of %s %w", name, table.Name, err)
			}
		}
	}
	return keyFits(table, values)
}

// lastExpiry is about the beginning of the year 5000 in Unix seconds. Milliseconds have passed it since 1973.
const lastExpiry = 95_617_584_000

// expires returns an error for a value at which DynamoDB would never delete the item.
func expires(value types.AttributeValue) error {
	number, ok := value.(*types.AttributeValueMemberN)
	if !ok {
		return nil
	}
	if at, err := strconv.ParseFloat(number.Value, 64); err == nil && at >= lastExpiry {
		return fmt.Errorf("is %s, which is beyond the year 5000: write Unix seconds, as ExpiryAt does", number.Value)
	}
	return nil
}

// beyond says what is wrong with a value; "" if nothing is, and where the value is not known.
func beyond(a schema.ExtraAttribute, value types.AttributeValue) string {
	kind, length := schema.Type(""), 0
	switch value := value.(type) {
	case nil:
		return ""
	case *types.AttributeValueMemberS:
		kind, length = schema.String, utf8.RuneCountInString(value.Value)
	case *types.AttributeValueMemberN:
		kind = schema.Number
		number, err := strconv.ParseFloat(value.Value, 64)
		if err == nil && a.Type == kind &&
			(a.Minimum != nil && number < *a.Minimum || a.Maximum != nil && number > *a.Maximum) {
			return "is " + value.Value + ": write a number within its Minimum and Maximum"
		}
	case *types.AttributeValueMemberB:
		kind, length = schema.Binary, len(value.Value)
	case *types.AttributeValueMemberBOOL:
		kind = schema.Boolean
	case *types.AttributeValueMemberL:
		kind, length = schema.List, len(value.Value)
	case *types.AttributeValueMemberM:
		kind, length = schema.Map, len(value.Value)
	case *types.AttributeValueMemberSS:
		kind, length = schema.StringSet, len(value.Value)
	case *types.AttributeValueMemberNS:
		kind, length = schema.NumberSet, len(value.Value)
	}
	if kind != a.Type {
		return fmt.Sprintf("is a %T: write a %s, or remove it", value, a.Type)
	}
	if length > a.MaxLength {
		return fmt.Sprintf("has a length of %d: write %d at most", length, a.MaxLength)
	}
	return ""
}

// addExtra adds what a team has added to an item, and lets the API show, as [wire.Extended] reads it.
func addExtra(table schema.Table, item Item) {
	if len(table.Extra) == 0 {
		return
	}
	var object bytes.Buffer
	encoder := json.NewEncoder(&object)
	encoder.SetEscapeHTML(false) // as answers are written
	write := func(value any) {
		_ = encoder.Encode(value) // texts and numbers of a table can be written
		object.Truncate(object.Len() - 1)
	}
	for _, a := range table.Extra {
		var value any
		switch stored := item[a.Name].(type) {
		case *types.AttributeValueMemberS:
			value = stored.Value
		case *types.AttributeValueMemberN:
			value = json.Number(stored.Value)
		case *types.AttributeValueMemberBOOL:
			value = stored.Value
		case *types.AttributeValueMemberSS:
			value = stored.Value
		case *types.AttributeValueMemberNS:
			numbers := make([]json.Number, len(stored.Value))
			for i, number := range stored.Value {
				numbers[i] = json.Number(number)
			}
			value = numbers
		}
		if !a.Shown || value == nil {
			continue
		}
		object.WriteByte(map[bool]byte{true: '{', false: ','}[object.Len() == 0])
		write(a.Name)
		object.WriteByte(':')
		write(value)
	}
	if object.Len() > 0 {
		object.WriteByte('}')
		item[wire.ExtraName] = &types.AttributeValueMemberS{Value: object.String()}
	}
}
