package trace

// Which request wrote each record of a table's stream. DynamoDB's answer to a write names no record, and a record
// names no request: what both have is the key. The records of a key are in the order of its writes.

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// StreamRecord is a record of a table's stream.
type StreamRecord struct {
	// Sequence is its sequence number, and Event INSERT, MODIFY or REMOVE.
	Sequence, Event string
	Table           string
	// Created is when it was written, to the minute.
	Created time.Time
	// Keys, Old and New are the key and the images in DynamoDB's JSON, which must not change. A table's stream may have
	// no images.
	Keys, Old, New map[string]json.RawMessage
}

// RecordDetails are a record of a stream's batch.
type RecordDetails struct {
	Sequence string `json:"sequence"`
	// Event is INSERT, MODIFY or REMOVE.
	Event string `json:"event"`
	// Key is the item's key, as people write it.
	Key string `json:"key"`
	// Writer is the request that wrote it; absent if the run does not know one, as of writes past all functions.
	Writer *Summary `json:"writer,omitempty"`
}

// Bounds of what a Recorder keeps to find who wrote a record: so many calls that wrote and so many records, as many
// bytes of each, and no more bytes of one.
const (
	maxWrites     = 10_000
	maxWriteBytes = maxBytes / 4
	maxWrite      = 64 << 10
	// maxRecords is how many records of a batch are shown.
	maxRecords = 200
)

// written is a call that wrote.
type written struct {
	by   *request
	call Call // with the whole input
	// elements reads the input once.
	elements func() []write
}

func (w *written) size() int { return 300 + len(w.call.Body) }

// write is a change of one item by a call.
type write struct {
	by    *request
	place string
	// began and ended are when the call was under way.
	began, ended time.Time
	// action is Put, Update or Delete.
	action string
	// sets are the values of attributes after a Put or Update, as far as it says them itself. all says that it sets
	// nothing else.
	sets map[string]string
	all  bool
}

// read is a record that was read.
type read struct {
	StreamRecord
	bytes int
	// place names the item. before and after have the attributes of the images that have one plain value.
	place         func() string
	before, after func() map[string]string
}

// placeOf names an item: two requests for the same item have the same place.
func placeOf(table string, key map[string]json.RawMessage) string {
	place := tableOf(table)
	for _, name := range slices.Sorted(maps.Keys(key)) {
		value, _ := scalar(key[name])
		place += "\x00" + name + "\x00" + value
	}
	return place
}

// scalar returns the value of an attribute that is a text, a number, a Boolean or binary, in one form.
func scalar(value json.RawMessage) (string, bool) {
	var typed struct {
		S, N, B *string
		BOOL    *bool
	}
	if json.Unmarshal(value, &typed) != nil {
		return "", false
	}
	switch {
	case typed.S != nil:
		return "S" + *typed.S, true
	case typed.N != nil:
		if number, err := strconv.ParseFloat(*typed.N, 64); err == nil {
			return "N" + strconv.FormatFloat(number, 'g', -1, 64), true
		}
	case typed.B != nil:
		return "B" + *typed.B, true
	case typed.BOOL != nil:
		return strconv.FormatBool(*typed.BOOL), true
	}
	return "", false
}

func scalars(item map[string]json.RawMessage) map[string]string {
	found := map[string]string{}
	for name, value := range item {
		if text, ok := scalar(value); ok && len(text) <= maxInput/16 {
			found[name] = text
		}
	}
	return found
}

// element is a write of one item, in the form of an operation of its own or in that of a batch or transaction.
type element struct {
	TableName                 string
	Key, Item                 map[string]json.RawMessage
	UpdateExpression          string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]json.RawMessage
}

// assignment is an attribute and its value in the clause SET.
var assignment = regexp.MustCompile(`^\s*(#?\w+)\s*=\s*(:\w+)\s*$`)

// newWritten returns a call of DynamoDB that wrote to a table with a stream that is read, or nil.
func (r *Recorder) newWritten(call Call) *written {
	if call.Service != "dynamodb" || !call.Write || call.Status >= 400 || len(call.Body) > maxWrite ||
		!slices.ContainsFunc(call.Targets, func(arn string) bool { return r.options.Streams(tableOf(arn)) }) {
		return nil
	}
	call.Body = bytes.Clone(call.Body)
	return &written{call: call, elements: sync.OnceValue(func() []write { return writesOf(&call, r.options.Keys) })}
}

// tableOf is the name of a table, which may be named by its ARN.
func tableOf(named string) string { return named[strings.LastIndexByte(named, '/')+1:] }

// writesOf reads what a call of DynamoDB wrote.
func writesOf(call *Call, keys func(table string) []string) (all []write) {
	add := func(action string, of element) {
		made := write{began: call.Began, ended: call.Began.Add(call.Took), action: action}
		key := of.Key
		if action == "Put" {
			key = map[string]json.RawMessage{}
			for _, name := range keys(tableOf(of.TableName)) {
				if value, ok := of.Item[name]; ok {
					key[name] = value
				}
			}
			made.sets = scalars(of.Item)
			made.all = len(made.sets) == len(of.Item)
		}
		if action == "Update" {
			made.sets, made.all = of.assigned()
		}
		if made.place = placeOf(of.TableName, key); len(key) > 0 {
			all = append(all, made)
		}
	}
	var input struct {
		element
		RequestItems map[string][]struct {
			PutRequest    *struct{ Item map[string]json.RawMessage }
			DeleteRequest *struct{ Key map[string]json.RawMessage }
		}
		TransactItems []map[string]element
	}
	if json.Unmarshal(call.Body, &input) != nil {
		return nil
	}
	switch call.Operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		add(strings.TrimSuffix(call.Operation, "Item"), input.element)
	case "TransactWriteItems":
		for _, item := range input.TransactItems {
			for action, of := range item {
				if action != "ConditionCheck" {
					add(action, of)
				}
			}
		}
	case "BatchWriteItem":
		for _, table := range slices.Sorted(maps.Keys(input.RequestItems)) {
			for _, item := range input.RequestItems[table] {
				if item.PutRequest != nil {
					add("Put", element{TableName: table, Item: item.PutRequest.Item})
				}
				if item.DeleteRequest != nil {
					add("Delete", element{TableName: table, Key: item.DeleteRequest.Key})
				}
			}
		}
	}
	return all
}

// assigned returns the attributes that an update sets to plain values, and whether it does nothing else.
func (e element) assigned() (sets map[string]string, all bool) {
	sets = map[string]string{}
	clause, ok := strings.CutPrefix(strings.TrimSpace(e.UpdateExpression), "SET ")
	all = ok
	for part := range strings.SplitSeq(clause, ",") {
		found := assignment.FindStringSubmatch(part)
		if !ok || found == nil {
			all = false
			continue
		}
		name := found[1]
		if named, known := e.ExpressionAttributeNames[name]; known {
			name = named
		}
		if value, plain := scalar(e.ExpressionAttributeValues[found[2]]); plain {
			sets[name] = value
		} else {
			all = false
		}
	}
	return sets, all
}

// keepWriteLocked keeps a call that wrote.
func (r *Recorder) keepWriteLocked(by *request, one *written) {
	one.by, by.wrote = by, true
	r.writes = append(r.writes, one)
	r.writeBytes += one.size()
	drop := 0
	for len(r.writes)-drop > maxWrites || r.writeBytes > maxWriteBytes {
		r.writeBytes -= r.writes[drop].size()
		r.writes[drop] = nil
		drop++
	}
	r.writes = r.writes[drop:]
}

// Read keeps records that were read from a stream, in its order. A record that is known is left out.
func (r *Recorder) Read(records []StreamRecord) {
	if r == nil {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, record := range records {
		name := recordName(record.Table, record.Sequence)
		if r.known[name] != nil {
			continue
		}
		one := &read{StreamRecord: record, bytes: 300}
		for _, image := range []map[string]json.RawMessage{record.Keys, record.Old, record.New} {
			for attribute, value := range image {
				one.bytes += 50 + len(attribute) + len(value)
			}
		}
		one.place = sync.OnceValue(func() string { return placeOf(record.Table, record.Keys) })
		one.before = sync.OnceValue(func() map[string]string { return scalars(record.Old) })
		one.after = sync.OnceValue(func() map[string]string { return scalars(record.New) })
		r.known[name] = one
		r.reads = append(r.reads, one)
		r.readBytes += one.bytes
	}
	drop := 0
	for len(r.reads)-drop > maxWrites || r.readBytes > maxWriteBytes {
		oldest := r.reads[drop]
		r.readBytes -= oldest.bytes
		delete(r.known, recordName(oldest.Table, oldest.Sequence))
		r.reads[drop] = nil
		drop++
	}
	r.reads = r.reads[drop:]
}

// recordName tells records apart.
func recordName(table, sequence string) string { return table + "/" + sequence }

// of reports whether the record can be of the write.
func (r *read) of(w write) bool {
	// The engine says the minute alone.
	if !r.Created.IsZero() && (r.Created.Before(w.began.Truncate(time.Minute)) || r.Created.After(w.ended)) {
		return false
	}
	if (r.Event == "REMOVE") != (w.action == "Delete") {
		return false
	}
	if w.action == "Delete" || r.New == nil {
		return true
	}
	changes := !w.all
	for name, value := range w.sets {
		if after, ok := r.after()[name]; ok && after != value {
			return false
		}
		changes = changes || r.before()[name] != value
	}
	// A write that changes nothing has no record. A Put removes the attributes that it leaves out.
	return changes || r.Event == "INSERT" || r.Old == nil || w.action == "Put" && len(r.Old) != len(r.New)
}

// writers finds the requests that wrote the records that are kept, by the names of the records.
func (r *Recorder) writers() map[string]*request {
	r.mutex.Lock()
	calls, records := slices.Clone(r.writes), slices.Clone(r.reads)
	r.mutex.Unlock()
	writes := map[string][]write{}
	for _, call := range calls {
		for _, one := range call.elements() {
			one.by = call.by
			writes[one.place] = append(writes[one.place], one)
		}
	}
	found := map[string]*request{}
	for _, record := range records {
		rest := writes[record.place()]
		if i := slices.IndexFunc(rest, record.of); i >= 0 {
			found[recordName(record.Table, record.Sequence)], writes[record.place()] = rest[i].by, rest[i+1:]
		}
	}
	return found
}

// addRecordsLocked adds to a request the records of the batch that it is about, and the batches with records that it
// wrote.
func (r *Recorder) addRecordsLocked(details *Details, kept *request, writers map[string]*request) {
	for _, name := range kept.records {
		one := r.known[name]
		if one == nil || len(details.Records) == maxRecords {
			details.RecordsOmitted++
			continue
		}
		shown := RecordDetails{Sequence: one.Sequence, Event: one.Event, Key: keyText(one.Keys)}
		if by := writers[name]; by != nil {
			summary := by.summary()
			shown.Writer = &summary
		}
		details.Records = append(details.Records, shown)
	}
	for _, other := range r.requests {
		if other.From == kept.id ||
			slices.ContainsFunc(other.records, func(name string) bool { return writers[name] == kept }) {
			details.Led = append(details.Led, other.summary())
		}
	}
}
