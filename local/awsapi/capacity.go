package awsapi

// What functions consume: capacity units by table and index, requests by bucket, and the time of the engine.

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// CapacityRow is what a function's operation consumed of one table or index, or how often it went to a bucket.
type CapacityRow struct {
	Function  string `json:"function"`
	Table     string `json:"table"`            // empty for buckets
	Index     string `json:"index,omitempty"`  // empty for the table itself
	Bucket    string `json:"bucket,omitempty"` // empty for tables
	Operation string `json:"operation"`
	// Requests is how many requests consumed capacity here or, for the table or index that the request is for, ended in an
	// error.
	Requests int `json:"requests"`
	// ReadUnits and WriteUnits are capacity units as DynamoDB reports them.
	ReadUnits  float64 `json:"read_units"`
	WriteUnits float64 `json:"write_units"`
	// Time is what the engine, or for buckets the disk, took. It counts once per request: in the row of the table or index that the
	// request is for, the first one of a batch or transaction.
	Time time.Duration `json:"time_ns"`
}

type capacityKey struct{ function, table, index, bucket, operation string }

type capacity struct {
	mutex sync.Mutex
	rows  map[capacityKey]*CapacityRow
}

type consumed struct {
	TableName              string
	CapacityUnits          float64
	Table                  *struct{ CapacityUnits float64 }
	GlobalSecondaryIndexes map[string]struct{ CapacityUnits float64 }
	LocalSecondaryIndexes  map[string]struct{ CapacityUnits float64 }
}

// row returns the row of the key, which is new if there was none. The caller holds the mutex.
func (c *capacity) row(key capacityKey) *CapacityRow {
	if c.rows == nil {
		c.rows = map[capacityKey]*CapacityRow{}
	}
	if c.rows[key] == nil {
		c.rows[key] = &CapacityRow{Function: key.function, Table: key.table, Index: key.index, Bucket: key.bucket, Operation: key.operation}
	}
	return c.rows[key]
}

// add counts a request, and returns the units that it consumed.
func (c *capacity) add(function, operation string, write bool, input *dynamodbInput, answer []byte, taken time.Duration) (reads, writes float64) {
	table, index := input.target()
	reported := consumedBy(answer)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	touched := map[*CapacityRow]bool{}
	row := func(table, index string) *CapacityRow {
		row := c.row(capacityKey{function: function, table: table, index: index, operation: operation})
		if !touched[row] {
			touched[row] = true
			row.Requests++
		}
		return row
	}
	consume := func(table, index string, units float64) {
		if units == 0 {
			return
		}
		if into := row(table, index); write {
			into.WriteUnits += units
			writes += units
		} else {
			into.ReadUnits += units
			reads += units
		}
	}
	row(table, index).Time += taken
	for _, entry := range reported {
		units := entry.CapacityUnits
		if entry.Table != nil {
			units = entry.Table.CapacityUnits
		}
		consume(entry.TableName, "", units)
		for name, part := range entry.GlobalSecondaryIndexes {
			consume(entry.TableName, name, part.CapacityUnits)
		}
		for name, part := range entry.LocalSecondaryIndexes {
			consume(entry.TableName, name, part.CapacityUnits)
		}
	}
	return reads, writes
}

// consumedBy reads an answer's capacity. An answer that is no JSON, or has none, such as an error, consumed nothing.
func consumedBy(answer []byte) (list []consumed) {
	var reported struct{ ConsumedCapacity json.RawMessage }
	if json.Unmarshal(answer, &reported) != nil || len(reported.ConsumedCapacity) == 0 {
		return nil
	}
	if reported.ConsumedCapacity[0] == '[' {
		_ = json.Unmarshal(reported.ConsumedCapacity, &list)
		return list
	}
	list = make([]consumed, 1)
	_ = json.Unmarshal(reported.ConsumedCapacity, &list[0])
	return list
}

// addS3 counts a request to a bucket. S3 has no capacity units; it charges for each request.
func (c *capacity) addS3(function, bucket, operation string, taken time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	row := c.row(capacityKey{function: function, bucket: bucket, operation: operation})
	row.Requests++
	row.Time += taken
}

// target is the table and index that the request is for, the first ones of a batch or transaction.
func (i *dynamodbInput) target() (table, index string) {
	if i.TableName != "" {
		return i.TableName, i.IndexName
	}
	if len(i.RequestItems) > 0 {
		return slices.Min(slices.Collect(maps.Keys(i.RequestItems))), ""
	}
	for _, item := range i.TransactItems {
		for _, part := range []*struct{ TableName string }{item.Get, item.Put, item.Update, item.Delete, item.ConditionCheck} {
			if part != nil {
				return part.TableName, ""
			}
		}
	}
	return "", ""
}

// Capacity returns what was consumed since the start or the last ResetCapacity, sorted.
func (s *Server) Capacity() []CapacityRow {
	s.capacity.mutex.Lock()
	defer s.capacity.mutex.Unlock()
	rows := make([]CapacityRow, 0, len(s.capacity.rows))
	for _, row := range s.capacity.rows {
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(a, b CapacityRow) int {
		return slices.Compare([]string{a.Function, a.Table, a.Index, a.Bucket, a.Operation}, []string{b.Function, b.Table, b.Index, b.Bucket, b.Operation})
	})
	return rows
}

// ResetCapacity starts counting from nothing.
func (s *Server) ResetCapacity() {
	s.capacity.mutex.Lock()
	defer s.capacity.mutex.Unlock()
	s.capacity.rows = nil
}

// EngineUse is how much functions used the engine.
type EngineUse struct {
	// Requests is how many it answered.
	Requests int64 `json:"requests"`
	// Busy is how long it had at least one request: time in which several overlap counts once.
	Busy time.Duration `json:"busy_ns"`
}

// engineUse keeps an EngineUse while requests come and go.
type engineUse struct {
	mutex    sync.Mutex
	use      EngineUse
	underWay int
	since    time.Time
}

func (e *engineUse) begin() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.underWay++; e.underWay == 1 {
		e.since = time.Now()
	}
}

func (e *engineUse) end() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.use.Requests++
	if e.underWay--; e.underWay == 0 {
		e.use.Busy += time.Since(e.since)
	}
}

// EngineUse returns the functions' use of the engine since the server was made.
func (s *Server) EngineUse() EngineUse {
	s.engineUse.mutex.Lock()
	defer s.engineUse.mutex.Unlock()
	return s.engineUse.use
}
