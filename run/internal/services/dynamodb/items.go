package dynamodb

// Items for people: a page of a table or index at a time, and changes of one item that has not changed meanwhile.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

var (
	// ErrNoTable says that the run has no such table or index, or several tables of the name.
	ErrNoTable = errors.New("no such table in the run")
	// ErrNoItem says that a table has no item with a key.
	ErrNoItem = errors.New("no such item")
	// ErrItemChanged says that an item is no longer as it was read.
	ErrItemChanged = errors.New("the item has changed since it was read: read it again")
	// ErrItem says that a text is no item, or not one of the table.
	ErrItem = errors.New("not an item of the table")
)

// RequestError is a request that DynamoDB refused.
type RequestError struct {
	// Code is DynamoDB's, such as ValidationException.
	Code string
	// Message is DynamoDB's text.
	Message string
}

// Error has DynamoDB's words.
func (e *RequestError) Error() string { return e.Code + ": " + e.Message }

const (
	// DefaultItems and MaxItems are how many items a page has, by default and at the most.
	DefaultItems, MaxItems = 50, 200
	// maxExamined bounds what one page reads to find a text.
	maxExamined = 1000
	// examinedAtOnce is the limit of each request: a long page keeps DynamoDB Local from writing.
	examinedAtOnce = 200
)

// ItemsQuery says which items of a table are read. Only Table is needed.
type ItemsQuery struct {
	// Table is the name of the table. Stack declares it, where several accounts or regions have a table of the name.
	Table, Stack string
	// Index is a secondary index. Default: the table itself.
	Index string
	// Partition is the value of the partition key: a text, a number, or base64 of bytes. Default: items of all keys.
	Partition string
	// Sort is what the sort key begins with, or is, if it is a number. It needs Partition. Default: any.
	Sort string
	// Text is in one of the item's values or names of attributes, in upper or lower case. Default: any.
	Text string
	// Most is how many items a page has: DefaultItems if it is 0, MaxItems at the most.
	Most int
	// After is the Next of the page before.
	After string
}

// Items is a page of items.
type Items struct {
	// Items are in DynamoDB's JSON, by attribute.
	Items []map[string]json.RawMessage `json:"items"`
	// Next reads the next page; it is empty after the last one. A page can have no item, and a next page.
	Next string `json:"next,omitempty"`
	// Examined is how many items were read to find these.
	Examined int `json:"examined"`
}

// Items reads a page of a table or index. It never reads many more than a thousand items. Errors: ErrNoTable, ErrItem,
// *RequestError, or the network's.
func (d *Databases) Items(ctx context.Context, query ItemsQuery) (Items, error) {
	in, table, err := d.table(query.Table, query.Stack)
	if err != nil {
		return Items{}, err
	}
	properties, err := readProperties(table)
	if err != nil {
		return Items{}, err
	}
	keys, global, err := properties.keysOf(query.Index)
	if err != nil {
		return Items{}, err
	}
	operation, input, err := query.input(properties, keys, global)
	if err != nil {
		return Items{}, err
	}
	// The place after an item is its key in the table and in the index.
	placed := append(attributeNames(properties.KeySchema), attributeNames(keys)...)
	most := query.Most
	if most <= 0 {
		most = DefaultItems
	}
	most = min(most, MaxItems)
	wanted := strings.ToLower(query.Text)
	input["Limit"] = most
	if wanted != "" {
		input["Limit"] = examinedAtOnce
	}
	page := Items{Items: []map[string]json.RawMessage{}}
	for {
		var answer struct {
			Items            []map[string]json.RawMessage
			LastEvaluatedKey json.RawMessage
		}
		if err := d.engine.Call(ctx, in.accessKey, "DynamoDB_20120810."+operation, input, &answer); err != nil {
			return Items{}, requestError(err)
		}
		for i, item := range answer.Items {
			page.Examined++
			if wanted != "" && !contains(item, wanted) {
				continue
			}
			page.Items = append(page.Items, item)
			if len(page.Items) == most && (i+1 < len(answer.Items) || len(answer.LastEvaluatedKey) > 0) {
				page.Next, err = startKey(item, placed)
				return page, err
			}
		}
		if len(answer.LastEvaluatedKey) == 0 {
			return page, nil
		}
		if page.Examined >= maxExamined || len(page.Items) >= most {
			page.Next = string(answer.LastEvaluatedKey)
			return page, nil
		}
		input["ExclusiveStartKey"] = answer.LastEvaluatedKey
	}
}

// Item reads the item with the key, which is in DynamoDB's JSON. Stack is needed as for Items. Errors: ErrNoItem,
// ErrItem, ErrNoTable, *RequestError, or the network's.
func (d *Databases) Item(ctx context.Context, name, stack string, key map[string]json.RawMessage) (
	map[string]json.RawMessage, error) {
	in, table, err := d.table(name, stack)
	if err != nil {
		return nil, err
	}
	properties, err := readProperties(table)
	if err != nil {
		return nil, err
	}
	for _, attribute := range slices.Sorted(maps.Keys(key)) {
		if err := checkValue(attribute, key[attribute]); err != nil {
			return nil, err
		}
	}
	if key, err = keyOf(properties, key, nil); err != nil {
		return nil, err
	}
	item, err := d.item(ctx, in, name, key)
	if err == nil && item == nil {
		return nil, fmt.Errorf("%w: the table %s has none with this key, or no more", ErrNoItem, name)
	}
	return item, err
}

// item returns the item with the key, or nil.
func (d *Databases) item(ctx context.Context, in *database, name string, key map[string]json.RawMessage) (
	map[string]json.RawMessage, error) {
	var now struct{ Item map[string]json.RawMessage }
	err := d.engine.Call(ctx, in.accessKey, "DynamoDB_20120810.GetItem",
		map[string]any{"TableName": name, "Key": key, "ConsistentRead": true}, &now)
	return now.Item, requestError(err)
}

// table returns the table of the name, and its database.
func (d *Databases) table(name, stack string) (*database, *assembly.Resource, error) {
	var in *database
	var found *assembly.Resource
	known := []string{}
	for _, one := range d.all {
		for _, table := range one.source.Tables() {
			known = append(known, table.Name)
			if table.Name != name || stack != "" && table.Stack.Name != stack {
				continue
			}
			if found != nil && in != one {
				return nil, nil, fmt.Errorf("%w: several accounts or regions have a table %s: name its stack",
					ErrNoTable, name)
			}
			in, found = one, table
		}
	}
	if found == nil {
		return nil, nil, fmt.Errorf("%w: got %q: it has %s", ErrNoTable, name, strings.Join(known, ", "))
	}
	return in, found, nil
}

// keysOf returns the keys of an index, or of the table, and whether the index is a global one.
func (p *tableProperties) keysOf(index string) (keys []types.KeySchemaElement, global bool, err error) {
	if index == "" {
		return p.KeySchema, false, nil
	}
	var known []string
	for _, one := range p.GlobalSecondaryIndexes {
		if known = append(known, aws.ToString(one.IndexName)); aws.ToString(one.IndexName) == index {
			return one.KeySchema, true, nil
		}
	}
	for _, one := range p.LocalSecondaryIndexes {
		if known = append(known, aws.ToString(one.IndexName)); aws.ToString(one.IndexName) == index {
			return one.KeySchema, false, nil
		}
	}
	return nil, false, fmt.Errorf("%w: got index %q: the table has %s", ErrNoTable, index,
		cmp.Or(strings.Join(known, ", "), "none"))
}

func (q ItemsQuery) input(properties *tableProperties, keys []types.KeySchemaElement, global bool) (operation string,
	input map[string]any, err error) {
	input = map[string]any{"TableName": q.Table, "ConsistentRead": !global}
	if q.Index != "" {
		input["IndexName"] = q.Index
	}
	if q.After != "" {
		if !json.Valid([]byte(q.After)) {
			return "", nil, fmt.Errorf("%w: got the place %q: take it from the page before", ErrItem, q.After)
		}
		input["ExclusiveStartKey"] = json.RawMessage(q.After)
	}
	if q.Partition == "" {
		if q.Sort != "" {
			return "", nil, fmt.Errorf("%w: got a sort key alone: give the partition key, too", ErrItem)
		}
		return "Scan", input, nil
	}
	kinds := kinds(properties.AttributeDefinitions)
	var condition []string
	names, values := map[string]string{}, map[string]any{}
	for _, key := range keys {
		attribute := aws.ToString(key.AttributeName)
		kind := kinds[attribute]
		switch {
		case key.KeyType == types.KeyTypeHash:
			names["#p"], values[":p"] = attribute, map[string]string{string(kind): q.Partition}
			condition = append(condition, "#p = :p")
		case q.Sort == "":
		case kind == types.ScalarAttributeTypeN:
			names["#s"], values[":s"] = attribute, map[string]string{string(kind): q.Sort}
			condition = append(condition, "#s = :s")
		default:
			names["#s"], values[":s"] = attribute, map[string]string{string(kind): q.Sort}
			condition = append(condition, "begins_with(#s, :s)")
		}
	}
	if q.Sort != "" && len(keys) < 2 {
		return "", nil, fmt.Errorf("%w: got a sort key, which the table or index does not have", ErrItem)
	}
	input["KeyConditionExpression"], input["ExpressionAttributeNames"],
		input["ExpressionAttributeValues"] = strings.Join(condition, " AND "), names, values
	return "Query", input, nil
}

func attributeNames(keys []types.KeySchemaElement) (names []string) {
	for _, key := range keys {
		names = append(names, aws.ToString(key.AttributeName))
	}
	return names
}

// startKey writes the key after an item.
func startKey(item map[string]json.RawMessage, names []string) (string, error) {
	key := map[string]json.RawMessage{}
	for _, name := range names {
		key[name] = item[name]
	}
	text, err := json.Marshal(key)
	return string(text), err
}

// contains reports whether an item has the text, which is in lower case, in a name or in a value.
func contains(item map[string]json.RawMessage, text string) bool {
	for name, value := range item {
		var decoded any
		if strings.Contains(strings.ToLower(name), text) ||
			json.Unmarshal(value, &decoded) == nil && within(decoded, text) {
			return true
		}
	}
	return false
}

// within looks into an attribute value of DynamoDB's JSON, whose first level has the type.
func within(value any, text string) bool {
	typed, _ := value.(map[string]any)
	for _, inner := range typed {
		switch inner := inner.(type) {
		case string:
			return strings.Contains(strings.ToLower(inner), text)
		case []any:
			return slices.ContainsFunc(inner, func(element any) bool {
				member, ok := element.(string)
				return ok && strings.Contains(strings.ToLower(member), text) || within(element, text)
			})
		case map[string]any:
			for name, element := range inner {
				if strings.Contains(strings.ToLower(name), text) || within(element, text) {
					return true
				}
			}
		}
	}
	return false
}

// ReplaceItem changes an item from what was read of it to another with the same key. Without the former it adds an
// item, and without the latter it deletes one. Both are in DynamoDB's JSON. Stack is needed as for Items. The item is
// read once more and compared before the write: call it within [Service.WithoutRequests], so that no function writes
// between these two. Errors: ErrItemChanged, ErrItem, ErrNoTable, *RequestError, or the network's.
func (d *Databases) ReplaceItem(ctx context.Context, name, stack string, was, item map[string]json.RawMessage) error {
	in, table, err := d.table(name, stack)
	if err != nil {
		return err
	}
	properties, err := readProperties(table)
	if err != nil {
		return err
	}
	if was == nil && item == nil {
		return fmt.Errorf("%w: write what was read, what replaces it, or both", ErrItem)
	}
	for _, attribute := range slices.Sorted(maps.Keys(item)) {
		if err := checkValue(attribute, item[attribute]); err != nil {
			return err
		}
	}
	key, err := keyOf(properties, was, item)
	if err != nil {
		return err
	}
	present := "attribute_not_exists(#k)"
	if was != nil {
		if err := d.unchanged(ctx, in, name, key, was); err != nil {
			return err
		}
		present = "attribute_exists(#k)"
	}
	input := map[string]any{
		"TableName": name, "ConditionExpression": present,
		"ExpressionAttributeNames": map[string]string{"#k": attributeNames(properties.KeySchema)[0]},
	}
	operation := "PutItem"
	if item == nil {
		operation, input["Key"] = "DeleteItem", key
	} else {
		input["Item"] = item
	}
	err = requestError(d.engine.Call(ctx, in.accessKey, "DynamoDB_20120810."+operation, input, &struct{}{}))
	d.engine.Wrote(in.accessKey, name)
	var refused *RequestError
	if errors.As(err, &refused) && refused.Code == "ConditionalCheckFailedException" {
		if was == nil {
			return fmt.Errorf("%w: an item has this key already", ErrItemChanged)
		}
		return ErrItemChanged
	}
	return err
}

// checkValue finds what is no attribute value. DynamoDB Local fails without a word on it.
func checkValue(path string, value json.RawMessage) error {
	var typed map[string]json.RawMessage
	wrong := func(problem string) error {
		return fmt.Errorf(
			`%w: %s: %s: write a value with its type, such as {"S": "text"}, {"N": "12"}, {"BOOL": true}, {"NULL": true}, {"L": […]} or {"M": {…}}`,
			ErrItem, path, problem)
	}
	if json.Unmarshal(value, &typed) != nil || len(typed) != 1 {
		return wrong(fmt.Sprintf("got %.60s", value))
	}
	for kind, inner := range typed {
		var ok bool
		switch kind {
		case "S", "N", "B":
			ok = json.Unmarshal(inner, new(string)) == nil && inner[0] == '"'
		case "BOOL", "NULL":
			ok = json.Unmarshal(inner, new(bool)) == nil && inner[0] != 'n'
		case "SS", "NS", "BS":
			var members []string
			ok = json.Unmarshal(inner, &members) == nil && len(members) > 0
		case "L":
			var elements []json.RawMessage
			ok = json.Unmarshal(inner, &elements) == nil
			for i, element := range elements {
				if err := checkValue(fmt.Sprintf("%s[%d]", path, i), element); err != nil {
					return err
				}
			}
		case "M":
			var members map[string]json.RawMessage
			ok = json.Unmarshal(inner, &members) == nil
			for name, member := range members {
				if err := checkValue(path+"."+name, member); err != nil {
					return err
				}
			}
		default:
			return wrong("got the type " + kind)
		}
		if !ok {
			return wrong(fmt.Sprintf("got %.60s as %s", inner, kind))
		}
	}
	return nil
}

// keyOf returns the key that both items have, as far as they are given.
func keyOf(properties *tableProperties, was, item map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	key := map[string]json.RawMessage{}
	for _, name := range attributeNames(properties.KeySchema) {
		for _, given := range []map[string]json.RawMessage{was, item} {
			value, ok := given[name]
			switch {
			case given == nil:
			case !ok:
				return nil, fmt.Errorf("%w: it lacks %s, which is of the table's key", ErrItem, name)
			case key[name] != nil && !sameJSON(key[name], value):
				return nil, fmt.Errorf("%w: %s is of the key, which cannot change: add an item with the new key, and "+
					"delete this one", ErrItem, name)
			default:
				key[name] = value
			}
		}
	}
	return key, nil
}

func (d *Databases) unchanged(ctx context.Context, in *database, name string, key,
	was map[string]json.RawMessage) error {
	now, err := d.item(ctx, in, name, key)
	switch {
	case err != nil:
		return err
	case now == nil:
		return fmt.Errorf("%w: it is gone", ErrItemChanged)
	case len(now) != len(was):
		return ErrItemChanged
	}
	for attribute, value := range was {
		if !sameJSON(now[attribute], value) {
			return fmt.Errorf("%w: %s has another value", ErrItemChanged, attribute)
		}
	}
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	var one, other any
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &other) == nil && reflect.DeepEqual(one, other)
}

// requestError reads what DynamoDB says of a request that it refuses.
func requestError(err error) error {
	var refused *engine.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	var document struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(refused.Answer), &document) != nil || document.Type == "" {
		return err
	}
	return &RequestError{Code: document.Type[strings.LastIndexByte(document.Type, '#')+1:], Message: document.Message}
}
