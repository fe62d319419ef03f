package dynamo

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Name returns an attribute in an expression. A dot in it is part of the name.
func Name(attribute string) expression.NameBuilder { return expression.NameNoDotSplit(attribute) }

// Absent returns a condition that is true if the item lacks the attribute, or if there is no item.
func Absent(attribute string) expression.ConditionBuilder {
	return expression.AttributeNotExists(Name(attribute))
}

// Equal returns a condition that is true if the item's attribute has the value.
func Equal(attribute string, value any) expression.ConditionBuilder {
	return Name(attribute).Equal(expression.Value(value))
}

// And returns a condition that is true if both are. One that is not set counts as true.
func And(condition, other expression.ConditionBuilder) expression.ConditionBuilder {
	switch {
	case !condition.IsSet():
		return other
	case !other.IsSet():
		return condition
	}
	return condition.And(other)
}

// ExpiryAt returns the value of the time-to-live attribute of an item that expires at t: Unix seconds, rounded up, so
// that nothing expires early.
func ExpiryAt(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// FormatTime writes a moment in UTC with milliseconds. The texts have one width, so they sort by time.
func FormatTime(t time.Time) string { return wire.Time(t).String() }

// Changes returns the update that gives an item these attributes as [Marshal] writes them, and removes the attributes
// that Marshal leaves out.
func Changes(item any, attributes ...string) (update expression.UpdateBuilder, err error) {
	marshalled, err := Marshal(item)
	if err != nil {
		return update, err
	}
	for _, name := range attributes {
		if value, ok := marshalled[name]; ok {
			update = update.Set(Name(name), expression.Value(value))
		} else {
			update = update.Remove(Name(name))
		}
	}
	return update, nil
}

// Marshal makes an item of a struct with tags of package attributevalue. Times are written by
// [FormatTime]; a zero one with omitempty is left out.
func Marshal(item any) (Item, error) {
	return attributevalue.MarshalMapWithOptions(item, func(options *attributevalue.EncoderOptions) {
		options.OmitEmptyTime = true
		options.EncodeTime = func(t time.Time) (types.AttributeValue, error) {
			return &types.AttributeValueMemberS{Value: FormatTime(t)}, nil
		}
	})
}
