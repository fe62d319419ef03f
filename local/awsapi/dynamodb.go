package awsapi

// Requests to DynamoDB: the actions that each needs, and its way through faults to the engine and back. Statements in PartiQL are
// refused: this package does not read them, so it could not check them against the role.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// consuming are the operations that take ReturnConsumedCapacity; true marks those that write.
var consuming = map[string]bool{
	"GetItem": false, "Query": false, "Scan": false, "BatchGetItem": false, "TransactGetItems": false,
	"PutItem": true, "UpdateItem": true, "DeleteItem": true, "BatchWriteItem": true, "TransactWriteItems": true,
}

// described are the other operations that pass.
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

func (s *Server) dynamodb(w *traced, r *http.Request, by *caller, environment, operation string, body []byte) {
	write, known := consuming[operation]
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
	w.Call.Write = write
	w.Table, w.Index = input.target()
	for _, needed := range s.needs(environment, operation, &input) {
		if err := s.authorise(by, needed.action, needed.resource); err != nil {
			writeError(w, err)
			return
		}
	}
	asked := body
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
		neverAnswer(r)
	}
	started := time.Now()
	engine := s.engine
	if own, ok := s.served.Load().engines[environment]; ok {
		engine = own
	}
	answered := func() {}
	if known && s.options.Observe != nil {
		answered = s.options.Observe(by.function, operation, asked)
	}
	s.engineUse.begin()
	s.altering.RLock()
	status, header, answer, err := engine.post(r.Context(), "DynamoDB_20120810."+operation, body)
	s.altering.RUnlock()
	s.engineUse.end()
	taken := time.Since(started)
	answered()
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
		w.ReadUnits, w.WriteUnits = s.capacity.add(by.function, operation, write, &input, answer, taken)
		if hangs {
			neverAnswer(r)
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

// WhileTablesChange calls change while no request of a function is at the engine; those that come wait until it returns. AWS serves a
// table whose indexes change, but DynamoDB Local answers some writes to it with InternalFailure.
func (s *Server) WhileTablesChange(change func() error) error {
	s.altering.Lock()
	defer s.altering.Unlock()
	return change()
}

// needs lists the actions and resources that IAM asks for, from "Actions, resources, and condition keys for Amazon DynamoDB" and "Using IAM with
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
	if arn, ok := s.served.Load().tables[place{environment, name}]; ok {
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
