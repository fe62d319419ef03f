package aws

// What functions consume: capacity units by table and index, and requests by bucket.

import (
	"slices"
	"sync"
	"time"
)

// Consumed is what a call consumed of one table, index or bucket.
type Consumed struct {
	Table, Index, Bucket  string
	ReadUnits, WriteUnits float64
}

// CapacityRow is what a function's operation consumed of one table or index, or how often it went to a bucket.
type CapacityRow struct {
	Function  string `json:"function"`
	Table     string `json:"table"`            // empty for buckets
	Index     string `json:"index,omitempty"`  // empty for the table itself
	Bucket    string `json:"bucket,omitempty"` // empty for tables
	Operation string `json:"operation"`
	// Requests is how many requests consumed capacity here or, for the table or index that the request is for, ended in
	// an error.
	Requests int `json:"requests"`
	// ReadUnits and WriteUnits are capacity units as DynamoDB reports them.
	ReadUnits  float64 `json:"read_units"`
	WriteUnits float64 `json:"write_units"`
	// Time is what the engine, or for buckets the disk, took. It counts once per request: in the row of the table or
	// index that the request is for, the first one of a batch or transaction.
	Time time.Duration `json:"time_ns"`
}

type capacityKey struct{ function, table, index, bucket, operation string }

type capacity struct {
	mutex sync.Mutex
	rows  map[capacityKey]*CapacityRow
}

// add counts a call by what it consumed, which is also what its trace says.
func (c *capacity) add(call *Call) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	counted := map[*CapacityRow]bool{}
	for i, part := range call.Consumed {
		key := capacityKey{call.Function, part.Table, part.Index, part.Bucket, call.Operation}
		if c.rows == nil {
			c.rows = map[capacityKey]*CapacityRow{}
		}
		row := c.rows[key]
		if row == nil {
			row = &CapacityRow{Function: call.Function, Table: part.Table, Index: part.Index, Bucket: part.Bucket,
				Operation: call.Operation}
			c.rows[key] = row
		}
		if !counted[row] {
			counted[row] = true
			row.Requests++
		}
		if i == 0 {
			row.Time += call.Worked
		}
		row.ReadUnits, row.WriteUnits = row.ReadUnits+part.ReadUnits, row.WriteUnits+part.WriteUnits
		call.ReadUnits, call.WriteUnits = call.ReadUnits+part.ReadUnits, call.WriteUnits+part.WriteUnits
	}
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
		return slices.Compare([]string{a.Function, a.Table, a.Index, a.Bucket, a.Operation},
			[]string{b.Function, b.Table, b.Index, b.Bucket, b.Operation})
	})
	return rows
}

// ResetCapacity starts counting from nothing.
func (s *Server) ResetCapacity() {
	s.capacity.mutex.Lock()
	defer s.capacity.mutex.Unlock()
	s.capacity.rows = nil
}
