package engine

import (
	"container/heap"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// agenda holds the second at which to look at each item. An item is in it once, at the earliest second that was noted. So
// its memory grows with the items that expire, some 200 bytes each, and not with the writes. The zero value is empty. It is
// safe for concurrent use.
type agenda struct {
	mutex   sync.Mutex
	entries map[agendaItem]*agendaEntry
	queue   agendaQueue
}

// agendaItem is an item: the number of its table, and its key as agendaKey writes it.
type agendaItem struct {
	table int
	key   string
}

type agendaEntry struct {
	agendaItem
	at    int64 // seconds since 1970
	place int
}

// add notes that it is time to look at the item at that second, or earlier if that was noted already.
func (a *agenda) add(table int, key string, at int64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	item := agendaItem{table, key}
	switch entry := a.entries[item]; {
	case entry == nil:
		if a.entries == nil {
			a.entries = map[agendaItem]*agendaEntry{}
		}
		entry = &agendaEntry{agendaItem: item, at: at}
		a.entries[item] = entry
		heap.Push(&a.queue, entry)
	case at < entry.at:
		entry.at = at
		heap.Fix(&a.queue, entry.place)
	}
}

// all are the entries.
func (a *agenda) all() (entries []agendaEntry) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, entry := range a.queue {
		entries = append(entries, *entry)
	}
	return entries
}

// due takes up to most items out of the agenda, those that it is time to look at, the earliest first.
func (a *agenda) due(now int64, most int) (due []agendaItem) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for len(due) < most && len(a.queue) > 0 && a.queue[0].at <= now {
		entry := heap.Pop(&a.queue).(*agendaEntry)
		delete(a.entries, entry.agendaItem)
		due = append(due, entry.agendaItem)
	}
	return due
}

// agendaQueue is a heap by time.
type agendaQueue []*agendaEntry

func (q agendaQueue) Len() int           { return len(q) }
func (q agendaQueue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q agendaQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *agendaQueue) Push(entry any) {
	pushed := entry.(*agendaEntry)
	pushed.place = len(*q)
	*q = append(*q, pushed)
}

func (q *agendaQueue) Pop() any {
	last := len(*q) - 1
	popped := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return popped
}

// plain is an attribute in DynamoDB's JSON, by its type.
type plain = map[string]json.RawMessage

// write is the part of a request, or of an element of one, that says what it writes.
type write struct {
	TableName                string
	Item                     map[string]plain
	Key                      map[string]plain
	UpdateExpression         string
	ExpressionAttributeNames map[string]string
	AttributeUpdates         map[string]json.RawMessage
}

// Wrote notes the items that a request wrote, or may have written: operation is an operation of DynamoDB, such as PutItem, and
// body its input in DynamoDB's JSON. Call it after the engine has answered. A request that writes
// nothing, or that it cannot read, changes nothing.
func (s *Sweeper) Wrote(operation string, body []byte) {
	if !s.tracks() {
		return
	}
	switch operation {
	case "PutItem", "UpdateItem":
		var one write
		if json.Unmarshal(body, &one) == nil {
			s.wrote(&one)
		}
	case "BatchWriteItem":
		var batch struct {
			RequestItems map[string][]struct{ PutRequest *write }
		}
		if json.Unmarshal(body, &batch) != nil {
			return
		}
		for table, requests := range batch.RequestItems {
			for _, request := range requests {
				if request.PutRequest != nil {
					request.PutRequest.TableName = table
					s.wrote(request.PutRequest)
				}
			}
		}
	case "TransactWriteItems":
		var transaction struct {
			TransactItems []struct{ Put, Update *write }
		}
		if json.Unmarshal(body, &transaction) != nil {
			return
		}
		for _, element := range transaction.TransactItems {
			s.wrote(element.Put)
			s.wrote(element.Update)
		}
	}
}

// writtenTables are the tables that a request names, or none when it names none that are found here.
func writtenTables(body []byte) (tables []string) {
	type named struct{ TableName string }
	var request struct {
		named
		RequestItems  map[string]json.RawMessage
		TransactItems []map[string]named
	}
	if json.Unmarshal(body, &request) != nil {
		return nil
	}
	add := func(name string) {
		if name = tableName(name); name != "" && !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
	}
	add(request.TableName)
	for name := range request.RequestItems {
		add(name)
	}
	for _, element := range request.TransactItems {
		for _, one := range element {
			add(one.TableName)
		}
	}
	return tables
}

// tableName is the name of a table, which a request may name by its ARN.
func tableName(named string) string { return named[strings.LastIndexByte(named, '/')+1:] }

func (s *Sweeper) wrote(w *write) {
	if w == nil {
		return
	}
	name := tableName(w.TableName)
	index := slices.IndexFunc(s.tables, func(t sweptTable) bool { return t.name == name })
	if index < 0 {
		return
	}
	table, now := s.tables[index], s.options.Now()
	if w.Item == nil {
		// An update may compute its expiry from the former item: only the item itself has it.
		if w.mentions(table.attribute) {
			s.note(index, table.plainKeyOf(w.Key), now.Unix())
		}
		return
	}
	var number string
	if json.Unmarshal(w.Item[table.attribute]["N"], &number) != nil {
		return
	}
	if at, ok := expiry(&types.AttributeValueMemberN{Value: number}, now); ok {
		s.note(index, table.plainKeyOf(w.Item), at)
	}
}

// mentions reports whether an update can change the attribute.
func (w *write) mentions(attribute string) bool {
	if len(w.AttributeUpdates) > 0 || strings.Contains(w.UpdateExpression, attribute) {
		return true
	}
	for _, name := range w.ExpressionAttributeNames {
		if name == attribute {
			return true
		}
	}
	return false
}

// plainKeyOf is keyOf for an item in DynamoDB's JSON.
func (t sweptTable) plainKeyOf(item map[string]plain) string {
	key := map[string]map[string]any{}
	for _, name := range t.keys {
		key[name] = map[string]any{}
		for kind, raw := range item[name] {
			// An escape in the request need not be one in the key.
			var text string
			if json.Unmarshal(raw, &text) == nil {
				key[name][kind] = text
			}
		}
	}
	return agendaKey(key)
}

// agendaKey writes a key in one way. DynamoDB takes 1.0 for 1.
func agendaKey(key map[string]map[string]any) string {
	for _, value := range key {
		if number, ok := value["N"].(string); ok {
			value["N"] = canonical(number)
		}
	}
	return keyName(key)
}

func canonical(number string) string {
	parsed, err := parseNumber(number)
	if err != nil {
		return number
	}
	return parsed.Text('g', 38)
}

// keyValues is the key that agendaKey wrote.
func keyValues(key string) (map[string]types.AttributeValue, error) {
	var attributes map[string]struct {
		S, N *string
		B    []byte
	}
	if err := json.Unmarshal([]byte(key), &attributes); err != nil {
		return nil, err
	}
	values := map[string]types.AttributeValue{}
	for name, value := range attributes {
		switch {
		case value.S != nil:
			values[name] = &types.AttributeValueMemberS{Value: *value.S}
		case value.N != nil:
			values[name] = &types.AttributeValueMemberN{Value: *value.N}
		case value.B != nil:
			values[name] = &types.AttributeValueMemberB{Value: value.B}
		default:
			return nil, errors.New("a key has an attribute of no key's type")
		}
	}
	return values, nil
}

// expiry returns the second at which an item with this time to live expires, and whether it ever does.
func expiry(ttl types.AttributeValue, now time.Time) (at int64, ok bool) {
	number, ok := ttl.(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	exact, err := parseNumber(number.Value)
	if err != nil {
		return 0, false
	}
	at, accuracy := exact.Int64()
	if accuracy == big.Below {
		at++ // a part of a second has to pass as well
	}
	return at, exact.Cmp(new(big.Float).SetInt64(now.Add(-oldest).Unix())) > 0 && at < never
}

// never is a second after the end of every run. A later time to live is in milliseconds, or a mistake.
const never = 1 << 38

func parseNumber(text string) (*big.Float, error) {
	// DynamoDB's numbers have up to 38 significant digits: 127 bits.
	parsed, _, err := big.ParseFloat(text, 10, 192, big.ToNearestEven)
	return parsed, err
}
