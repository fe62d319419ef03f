package awsapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// measured are the operations that take ReturnConsumedCapacity; true marks those that write.
var measured = map[string]bool{
	"GetItem": false, "Query": false, "Scan": false, "BatchGetItem": false, "TransactGetItems": false,
	"PutItem": true, "UpdateItem": true, "DeleteItem": true, "BatchWriteItem": true, "TransactWriteItems": true,
}

// described are the other operations that pass. PartiQL is not among them: its statements are not read, so they cannot be
// authorised.
var described = []string{"DescribeTable", "ListTables", "DescribeLimits", "DescribeEndpoints"}

// dynamodbInput is the part of a request that says what it touches.
type dynamodbInput struct {
	TableName              string
	IndexName              string
	ReturnConsumedCapacity string
	RequestItems           map[string]json.RawMessage
	TransactItems          []struct {
		Get, Put, Update, Delete, ConditionCheck *struct{ TableName string }
	}
}

func (s *Server) dynamodb(w http.ResponseWriter, r *http.Request, by *caller, environment, operation string, body []byte) {
	write, known := measured[operation]
	if !known && !slices.Contains(described, operation) {
		writeError(w, unknown("dynamodb", operation))
		return
	}
	var input dynamodbInput
	err := json.Unmarshal(body, &input)
	if err == nil && bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
		err = errors.New("the request is not a JSON object")
	}
	if err != nil {
		writeError(w, &apiError{Type: "com.amazon.coral.service#SerializationException", Message: err.Error()})
		return
	}
	for _, needed := range s.needs(environment, operation, &input) {
		if err := s.authorise(by, needed.action, needed.resource); err != nil {
			writeError(w, err)
			return
		}
	}
	faults := s.faults.Load()
	if known {
		if fault := faults.before(operation, len(input.TransactItems)); fault != nil {
			writeError(w, fault)
			return
		}
		body = askForCapacity(body, input.ReturnConsumedCapacity)
	}
	hangs := known && faults.hang()
	if hangs && faults.draw(0.5) {
		never(r)
	}
	started := time.Now()
	engine := s.engine
	if own, ok := s.engines[environment]; ok {
		engine = own
	}
	s.engineUse.begin()
	status, header, answer, err := engine.post(r.Context(), "DynamoDB_20120810."+operation, body)
	s.engineUse.end()
	taken := time.Since(started)
	// The engine may have carried the request out before an error; a refused request changes nothing.
	if write && (err != nil || status < 400 || status >= 500) && s.options.Wrote != nil {
		s.options.Wrote(environment, operation, body)
	}
	if err != nil {
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the function is gone
		}
		writeError(w, fmt.Errorf("DynamoDB engine at %s: %w", s.engine.address, err))
		return
	}
	if known {
		s.capacity.add(by.function, operation, write, &input, answer, taken)
		if hangs {
			never(r)
		}
		if faults.dropResponse() {
			panic(http.ErrAbortHandler)
		}
	}
	for _, name := range []string{"Content-Type", "X-Amzn-Requestid"} {
		if value := header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	// The engine leaves the checksum out of some answers; AWS sends it with every one.
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(answer)), 10))
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// needs lists what IAM asks for, from "Actions, resources, and condition keys for Amazon DynamoDB" and "Using IAM with
// DynamoDB transactions" (AWS): transactions and batches need the actions of their elements.
func (s *Server) needs(environment, operation string, input *dynamodbInput) []request {
	switch operation {
	case "BatchGetItem", "BatchWriteItem":
		var needed []request
		for _, table := range slices.Sorted(maps.Keys(input.RequestItems)) {
			needed = append(needed, request{"dynamodb:" + operation, s.tableARN(environment, table)})
		}
		return needed
	case "TransactGetItems", "TransactWriteItems":
		var needed []request
		need := func(action string, target *struct{ TableName string }) {
			if target == nil {
				return
			}
			if asked := (request{"dynamodb:" + action, s.tableARN(environment, target.TableName)}); !slices.Contains(needed, asked) {
				needed = append(needed, asked)
			}
		}
		for _, item := range input.TransactItems {
			need("GetItem", item.Get)
			need("PutItem", item.Put)
			need("UpdateItem", item.Update)
			need("DeleteItem", item.Delete)
			need("ConditionCheckItem", item.ConditionCheck)
		}
		return needed
	case "ListTables", "DescribeLimits", "DescribeEndpoints":
		return []request{{"dynamodb:" + operation, "*"}}
	}
	resource := s.tableARN(environment, input.TableName)
	if input.IndexName != "" {
		resource += "/index/" + input.IndexName
	}
	return []request{{"dynamodb:" + operation, resource}}
}

// tableARN is the ARN of a table that a request in the environment names.
func (s *Server) tableARN(environment, name string) string {
	if arn, ok := s.tables[place{environment, name}]; ok {
		return arn
	}
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	account, region, _ := strings.Cut(strings.TrimPrefix(environment, "aws://"), "/")
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", region, account, name)
}

// askForCapacity makes the request ask for the capacity of every index. A quotation mark inside an item's text is escaped, so
// the member cannot be mistaken for data.
func askForCapacity(body []byte, asked string) []byte {
	const member = `"ReturnConsumedCapacity":"INDEXES"`
	switch asked {
	case "INDEXES":
		return body
	case "":
		start := bytes.IndexByte(body, '{')
		rest := bytes.TrimLeft(body[start+1:], " \t\r\n")
		grown := make([]byte, 0, len(body)+len(member)+2)
		grown = append(append(grown, '{'), member...)
		if len(rest) > 0 && rest[0] != '}' {
			grown = append(grown, ',')
		}
		return append(grown, rest...)
	}
	return bytes.Replace(body, []byte(`"ReturnConsumedCapacity":"`+asked+`"`), []byte(member), 1)
}

// CapacityRow is what a function's operation consumed of one table or index, or how often it was asked of a bucket.
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
	// Time is what the engine, or for buckets the disk, took. It counts once per request: in the row of the table or index that the request is for, the
	// first one of a batch or transaction.
	Time time.Duration `json:"time_ns"`
}

// EngineUse is how much functions made of the engine.
type EngineUse struct {
	// Requests is how many it answered.
	Requests int64 `json:"requests"`
	// Busy is for how long it had at least one: those that overlap count once.
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

func (c *capacity) add(function, operation string, write bool, input *dynamodbInput, answer []byte, taken time.Duration) {
	var reported struct{ ConsumedCapacity json.RawMessage }
	var list []consumed
	// An answer that is no JSON, or has no capacity, such as an error, still counts as a request.
	if json.Unmarshal(answer, &reported) == nil && len(reported.ConsumedCapacity) > 0 {
		if reported.ConsumedCapacity[0] == '[' {
			_ = json.Unmarshal(reported.ConsumedCapacity, &list)
		} else {
			list = make([]consumed, 1)
			_ = json.Unmarshal(reported.ConsumedCapacity, &list[0])
		}
	}
	table, index := input.target()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.rows == nil {
		c.rows = map[capacityKey]*CapacityRow{}
	}
	touched := map[*CapacityRow]bool{}
	row := func(table, index string) *CapacityRow {
		key := capacityKey{function: function, table: table, index: index, operation: operation}
		if c.rows[key] == nil {
			c.rows[key] = &CapacityRow{Function: function, Table: table, Index: index, Operation: operation}
		}
		if !touched[c.rows[key]] {
			touched[c.rows[key]] = true
			c.rows[key].Requests++
		}
		return c.rows[key]
	}
	consume := func(table, index string, units float64) {
		if units == 0 {
			return
		}
		if into := row(table, index); write {
			into.WriteUnits += units
		} else {
			into.ReadUnits += units
		}
	}
	row(table, index).Time += taken
	for _, entry := range list {
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
}

// addS3 counts a request to a bucket. S3 has no capacity units: it charges by the request.
func (c *capacity) addS3(function, bucket, operation string, taken time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.rows == nil {
		c.rows = map[capacityKey]*CapacityRow{}
	}
	key := capacityKey{function: function, bucket: bucket, operation: operation}
	if c.rows[key] == nil {
		c.rows[key] = &CapacityRow{Function: function, Bucket: bucket, Operation: operation}
	}
	c.rows[key].Requests++
	c.rows[key].Time += taken
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

// Faults are faults that happen in AWS, each with a probability from 0 to 1. The zero value does nothing.
type Faults struct {
	// Throttle refuses the request before it is done. DynamoDB answers ProvisionedThroughputExceededException or
	// ThrottlingException, to transactions also a cancellation with the reason ThrottlingError; S3 answers SlowDown (503).
	Throttle float64 `json:"throttle"`
	// TransactionConflict refuses writes and transactions before they are done: TransactionConflictException, for
	// transactions a cancellation with the reason TransactionConflict at one of its items.
	TransactionConflict float64 `json:"transaction_conflict"`
	// DropResponse does the request, to DynamoDB or S3, and then drops the connection without an answer.
	DropResponse float64 `json:"drop_response"`
	// Hang takes a request to DynamoDB, does it or, half of the times, does not, and never answers.
	Hang float64 `json:"hang"`
	// Redeliver loses the place that an event source mapping has reached, after a batch that is done: the batch is delivered
	// again, cut at another place.
	Redeliver float64 `json:"redeliver"`
	// Seed makes the sequence of faults repeatable, for requests that come one after the other.
	Seed uint64 `json:"seed"`
}

type injector struct {
	Faults
	mutex     sync.Mutex
	random    *rand.Rand
	throttled int // requests to DynamoDB
}

// SetFaults replaces the faults that requests of functions meet. Errors name a probability out of range.
func (s *Server) SetFaults(faults Faults) error {
	for name, probability := range map[string]float64{
		"Throttle": faults.Throttle, "TransactionConflict": faults.TransactionConflict, "DropResponse": faults.DropResponse,
		"Hang": faults.Hang, "Redeliver": faults.Redeliver,
	} {
		if !(probability >= 0 && probability <= 1) {
			return fmt.Errorf("%s: got %v: write a probability from 0 to 1", name, probability)
		}
	}
	if faults.Throttle == 0 && faults.TransactionConflict == 0 && faults.DropResponse == 0 && faults.Hang == 0 && faults.Redeliver == 0 {
		s.faults.Store(nil)
		return nil
	}
	s.faults.Store(&injector{Faults: faults, random: rand.New(rand.NewPCG(faults.Seed, faults.Seed))})
	return nil
}

// Faults returns what SetFaults set.
func (s *Server) Faults() Faults {
	if faults := s.faults.Load(); faults != nil {
		return faults.Faults
	}
	return Faults{}
}

// Throttled returns how many requests to DynamoDB the faults that SetFaults set have throttled.
func (s *Server) Throttled() int {
	faults := s.faults.Load()
	if faults == nil {
		return 0
	}
	faults.mutex.Lock()
	defer faults.mutex.Unlock()
	return faults.throttled
}

func (f *injector) before(operation string, items int) error {
	if f == nil {
		return nil
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	const namespace = "com.amazonaws.dynamodb.v20120810#"
	transaction := strings.HasPrefix(operation, "Transact") && items > 0
	cancelled := func(code, message string) error {
		reasons, codes := make([]cancellation, items), make([]string, items)
		at := f.random.IntN(items)
		for i := range reasons {
			reasons[i].Code = "None"
			if i == at {
				reasons[i] = cancellation{Code: code, Message: message}
			}
			codes[i] = reasons[i].Code
		}
		return &apiError{
			Type:    namespace + "TransactionCanceledException",
			Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]",
			Reasons: reasons,
		}
	}
	if f.random.Float64() < f.Throttle {
		f.throttled++
		kind := f.random.IntN(3)
		switch {
		case kind == 0 && transaction:
			return cancelled("ThrottlingError", "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically scaling your index so please try again shortly.")
		case kind == 1:
			return &apiError{Type: "com.amazon.coral.availability#ThrottlingException", Message: "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"}
		}
		return &apiError{Type: namespace + "ProvisionedThroughputExceededException", Message: "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."}
	}
	write := operation == "PutItem" || operation == "UpdateItem" || operation == "DeleteItem"
	if (write || transaction) && f.random.Float64() < f.TransactionConflict {
		if transaction {
			return cancelled("TransactionConflict", "Transaction is ongoing for the item")
		}
		return &apiError{Type: namespace + "TransactionConflictException", Message: "Transaction is ongoing for the item"}
	}
	return nil
}

func (f *injector) dropResponse() bool { return f != nil && f.draw(f.DropResponse) }

func (f *injector) hang() bool { return f != nil && f.draw(f.Hang) }

// never waits until the caller has given up, and answers nothing.
func never(r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

func (f *injector) draw(probability float64) bool {
	if probability == 0 {
		return false
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.random.Float64() < probability
}

// Redeliver draws whether a finished batch of a stream is delivered again, with the probability of SetFaults.
func (s *Server) Redeliver() bool {
	faults := s.faults.Load()
	return faults != nil && faults.draw(faults.Faults.Redeliver)
}
