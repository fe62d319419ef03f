package dynamo

import "github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

// Name is an attribute in an expression. A dot in it is part of the name.
func Name(attribute string) expression.NameBuilder { return expression.NameNoDotSplit(attribute) }

// Absent holds for items without the attribute, and where there is no item.
func Absent(attribute string) expression.ConditionBuilder {
	return expression.AttributeNotExists(Name(attribute))
}

// Equal holds for items whose attribute has the value.
func Equal(attribute string, value any) expression.ConditionBuilder {
	return Name(attribute).Equal(expression.Value(value))
}
