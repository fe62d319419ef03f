package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// List is a list that callers read page by page.
type List struct {
	// Pattern is the query that reads it, with Values.
	Pattern string
	Values  []any
	// Parameter names the parameter with the cursor, for the error. Empty: cursor.
	Parameter string
	// Key signs the cursors. A cursor is valid for this Pattern, these Values and this Scope alone. Scope has what else
	// identifies the list: its owner, unless Values name the owner, and all filters.
	Key   CursorKey
	Scope []string
}

// ReadPage reads up to most items of a list, from one of its cursors on, or from the beginning for "". next is the
// cursor of the next page, or "" at the end. For the cursor of another list it returns a [*validate.Error] of the
// parameter.
func ReadPage[T any](ctx context.Context, db *DB, list List, from string, most int) (items []T, next string,
	err error) {
	if err := list.Key.Check(); err != nil {
		return nil, "", err
	}
	scope := slices.Clone(list.Scope)
	for _, value := range list.Values {
		scope = append(scope, fmt.Sprint(value))
	}
	position, ok := list.Key.Position(from, list.Pattern, scope...)
	query := Query{Values: list.Values, PageSize: most}
	if ok && position != "" {
		query.StartAfter, err = attributevalue.UnmarshalMapJSON([]byte(position))
	}
	if !ok || err != nil {
		return nil, "", validate.Errorf(cmp.Or(list.Parameter, "cursor"), validate.RuleFormat,
			"is none that this list has handed out: send one unchanged, or none for the first page")
	}
	page, err := db.Page(ctx, list.Pattern, query)
	if err != nil {
		return nil, "", err
	}
	if page.Next != nil {
		after, err := attributevalue.MarshalMapJSON(page.Next)
		if err != nil {
			return nil, "", fmt.Errorf("%s: write the cursor: %w", list.Pattern, err)
		}
		next = list.Key.Sign(string(after), list.Pattern, scope...)
	}
	items = []T{}
	if err := attributevalue.UnmarshalListOfMaps(page.Items, &items); err != nil {
		return nil, "", fmt.Errorf("%s: read items: %w", list.Pattern, err)
	}
	return items, next, nil
}
