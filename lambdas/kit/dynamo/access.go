package dynamo

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/schema"
)

// access is an access pattern with what all of its requests have in common. Requests share it, so no
// one changes it.
type access struct {
	schema.AccessPattern
	table      schema.Table
	condition  *string // of the key; nil: none
	projection *string // nil: all attributes
	names      map[string]string
	// named says in the User-Agent which pattern a request is for.
	named func(*dynamodb.Options)
	// prepares says that the client is the SDK's own, and operations has operations of it that no call uses.
	prepares   bool
	operations sync.Pool
}

// comparisons are the key conditions, of a name and its values.
var comparisons = map[schema.Comparison]string{
	schema.Equal: "%s = %s", schema.Less: "%s < %s", schema.LessOrEqual: "%s <= %s", schema.Greater: "%s > %s",
	schema.GreaterOrEqual: "%s >= %s",
	schema.BeginsWith:     "begins_with (%s, %s)", schema.Between: "%s BETWEEN %s AND %s",
}

// accessOf prepares a pattern. Its placeholders, such as #k0, differ from those of package expression,
// which makes those of filters.
func accessOf(p schema.AccessPattern, table schema.Table) (*access, error) {
	a := &access{AccessPattern: p, table: table}
	named := awsmiddleware.AddUserAgentKeyValue("access-pattern", p.Name)
	a.named = func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, named) }
	placeholders := map[string]string{}
	name := func(attribute string) string {
		if placeholders[attribute] == "" {
			placeholders[attribute] = "#k" + strconv.Itoa(len(placeholders))
		}
		return placeholders[attribute]
	}
	var terms []string
	values := 0
	for _, c := range p.KeyConditions {
		form, ok := comparisons[c.Comparison]
		if !ok {
			return nil, fmt.Errorf("%s: unknown comparison %q on %s", p.Name, c.Comparison, c.Attribute)
		}
		operands := []any{name(c.Attribute)}
		for range operandsOf(c) {
			operands = append(operands, placeholder(values))
			values++
		}
		terms = append(terms, fmt.Sprintf(form, operands...))
	}
	if len(terms) > 0 {
		condition := strings.Join(terms, " AND ")
		a.condition = &condition
	}
	attributes := p.Attributes
	if len(attributes) > 0 && p.Action == schema.BatchGetItem {
		// The answers are in no order, so their keys tell them apart.
		own := slices.DeleteFunc(table.Key.Attributes(), func(name string) bool {
			return slices.Contains(attributes, name)
		})
		attributes = slices.Concat(attributes, own)
	}
	for _, a := range table.Extra {
		index, ok := table.Index(p.Index)
		if len(attributes) > 0 && a.Shown && (!ok || table.Projects(index, a.Name)) &&
			!slices.Contains(attributes, a.Name) {
			attributes = append(slices.Clone(attributes), a.Name)
		}
	}
	if len(attributes) > 0 {
		var projected []string
		for _, attribute := range attributes {
			projected = append(projected, name(attribute))
		}
		projection := strings.Join(projected, ", ")
		a.projection = &projection
	}
	for attribute, placeholder := range placeholders {
		if a.names == nil {
			a.names = map[string]string{}
		}
		a.names[placeholder] = attribute
	}
	return a, nil
}

// operandsOf is how many values a key condition takes.
func operandsOf(c schema.KeyCondition) int {
	if c.Comparison == schema.Between {
		return 2
	}
	return 1
}

func placeholder(value int) string { return ":k" + strconv.Itoa(value) }

// values are the values of the key conditions by their placeholders.
func (a *access) values(given []any) (Item, error) {
	wanted := 0
	for _, c := range a.KeyConditions {
		if c.Comparison == schema.BeginsWith && wanted < len(given) {
			if _, ok := given[wanted].(string); !ok {
				return nil, fmt.Errorf("begins_with on %s takes a string: got %T", c.Attribute, given[wanted])
			}
		}
		wanted += operandsOf(c)
	}
	if len(given) != wanted {
		return nil, fmt.Errorf("the pattern's key conditions take %d values: got %d", wanted, len(given))
	}
	values := make(Item, wanted)
	for i, value := range given {
		marshalled, err := attributeOf(value)
		if err != nil {
			return nil, err
		}
		values[placeholder(i)] = marshalled
	}
	equal, next := Item{}, 0
	for _, c := range a.KeyConditions {
		if c.Comparison == schema.Equal {
			equal[c.Attribute] = values[placeholder(next)]
		}
		next += operandsOf(c)
	}
	return values, keyFits(a.table, equal)
}

// filtered adds a filter to the names and values of a query. The zero filter adds nothing.
func (a *access) filtered(filter expression.ConditionBuilder, values Item) (text *string, names map[string]string,
	err error) {
	if !filter.IsSet() {
		return nil, a.names, nil
	}
	e, err := expression.NewBuilder().WithFilter(filter).Build()
	if err != nil {
		return nil, nil, err
	}
	names = e.Names()
	maps.Copy(names, a.names)
	maps.Copy(values, e.Values())
	return e.Filter(), names, nil
}

// attributeOf is a key's value as DynamoDB has it; one that was read stays as it is.
func attributeOf(value any) (types.AttributeValue, error) {
	switch value := value.(type) {
	case string:
		return &types.AttributeValueMemberS{Value: value}, nil
	case types.AttributeValue:
		return value, nil
	default:
		return attributevalue.Marshal(value)
	}
}
