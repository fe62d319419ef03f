package dynamodb

// Requests of functions: what IAM asks for each, and its way to the engine and back. Statements in PartiQL are refused:
// this package does not read them, so it could not check them against the role.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// ServiceOptions say which engine serves the requests of functions.
type ServiceOptions struct {
	// EngineURL is the base URL of the engine, such as http://127.0.0.1:8000.
	EngineURL string
	// AccessKey and Region name the engine's database that holds the tables. Defaults: onesynth, us-east-1.
	AccessKey, Region string
	// Wrote is called for each request that wrote, or may have, before the function gets its answer. It gets the
	// request's input in DynamoDB's JSON, which it must not keep. Environment is the account and region of the tables,
	// by [assembly.Environment]. Default: none.
	Wrote func(environment string, body []byte)
	// Observe is called with each request before the engine carries it out: the function, the operation and its input
	// in DynamoDB's JSON, which it must not keep. What it returns is called before the function gets its answer. Both
	// may wait. Default: none.
	Observe func(function, operation string, body []byte) (answered func())
}

// Service is DynamoDB at the endpoint of functions, with an engine behind it. Make one with NewService.
type Service struct {
	options ServiceOptions
	host    string
	path    string
	engine  *connections
	// declared is what the assembly declares. Apply replaces it.
	declared atomic.Pointer[declared]
	// altering is locked for reading by requests to the engine, and for writing by WithoutRequests.
	altering sync.RWMutex
	use      engineUse
}

// declared are the tables, and the connections to the databases that accounts and regions have of their own.
type declared struct {
	engines map[string]*connections
	// arns are those of tables, by environment and name.
	arns map[[2]string]string
}

// NewService makes the service. An error says that the engine's URL is none.
func NewService(options ServiceOptions) (*Service, error) {
	options.AccessKey, options.Region = cmp.Or(options.AccessKey, "onesynth"), cmp.Or(options.Region, engine.Region)
	address, err := url.Parse(options.EngineURL)
	if err != nil || address.Scheme != "http" || address.Port() == "" {
		return nil, fmt.Errorf("engine URL: got %q: write http://HOST:PORT", options.EngineURL)
	}
	s := &Service{options: options, host: address.Host, path: "/" + strings.TrimPrefix(address.EscapedPath(), "/")}
	s.engine = newConnections(s.host, s.path, options.AccessKey, options.Region)
	s.declared.Store(&declared{})
	return s, nil
}

// Prepare reads the tables of an assembly. The access keys name the databases of the accounts and regions that have
// their own, by [assembly.Environment]. What Prepare returns makes the service serve them; it goes on with the tables
// of former assemblies, for code that is still at work.
func (s *Service) Prepare(source *assembly.Assembly, accessKeys map[string]string) (apply func()) {
	former := s.declared.Load()
	next := &declared{engines: map[string]*connections{}, arns: map[[2]string]string{}}
	for environment, accessKey := range accessKeys {
		if next.engines[environment] = former.engines[environment]; next.engines[environment] == nil {
			next.engines[environment] = newConnections(s.host, s.path, accessKey, s.options.Region)
		}
	}
	maps.Copy(next.arns, former.arns)
	for _, table := range source.Tables() {
		next.arns[[2]string{table.Stack.Environment(), table.Name}] = table.ARN
	}
	return func() { s.declared.Store(next) }
}

// consuming are the operations that take ReturnConsumedCapacity; true marks those that write.
var consuming = map[string]bool{
	"GetItem": false, "Query": false, "Scan": false, "BatchGetItem": false, "TransactGetItems": false,
	"PutItem": true, "UpdateItem": true, "DeleteItem": true, "BatchWriteItem": true, "TransactWriteItems": true,
}

// described are the other operations that pass.
var described = []string{"DescribeTable", "ListTables", "DescribeLimits", "DescribeEndpoints"}

// target begins the header X-Amz-Target.
const target = "DynamoDB_20120810."

// input is the part of a request that says what it touches.
type input struct {
	TableName              string
	IndexName              string
	ReturnConsumedCapacity string
	RequestItems           map[string]json.RawMessage
	TransactItems          []struct {
		Get, Put, Update, Delete, ConditionCheck *struct{ TableName string }
	}
}

// Needs implements [aws.Service]. "Actions, resources, and condition keys for Amazon DynamoDB" and "Using IAM with
// DynamoDB transactions" (AWS) have the rules: transactions and batches need the actions of their elements.
func (s *Service) Needs(call *aws.Call) (needed []aws.Permission, err error) {
	write, consumes := consuming[call.Operation]
	if !consumes && !slices.Contains(described, call.Operation) ||
		!strings.HasPrefix(call.Request.Header.Get("X-Amz-Target"), target) {
		return nil, call.Unknown()
	}
	in, err := aws.Decode[input](call)
	if err == nil && bytes.TrimLeft(call.Body, " \t\r\n")[0] != '{' {
		err = &aws.Failure{Type: aws.Serialization, Message: "the request is not a JSON object"}
	}
	if err != nil {
		return nil, err
	}
	call.Input, call.Write = in, write
	call.Table, call.Index = in.target()
	if consumes {
		call.Failures = failures(call.Operation, len(in.TransactItems))
	}
	need := func(action, resource string) {
		asked := aws.Permission{Action: "dynamodb:" + action, Resource: resource}
		if !slices.ContainsFunc(needed, func(known aws.Permission) bool {
			return known.Action == asked.Action && known.Resource == asked.Resource
		}) {
			needed = append(needed, asked)
		}
	}
	environment := call.Environment()
	switch call.Operation {
	case "BatchGetItem", "BatchWriteItem":
		for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
			need(call.Operation, s.tableARN(environment, table))
		}
	case "TransactGetItems", "TransactWriteItems":
		for _, item := range in.TransactItems {
			for _, part := range []struct {
				action string
				of     *struct{ TableName string }
			}{{"GetItem", item.Get}, {"PutItem", item.Put}, {"UpdateItem", item.Update}, {"DeleteItem", item.Delete},
				{"ConditionCheckItem", item.ConditionCheck}} {
				if part.of != nil {
					need(part.action, s.tableARN(environment, part.of.TableName))
				}
			}
		}
	case "ListTables", "DescribeLimits", "DescribeEndpoints":
		need(call.Operation, "*")
	default:
		resource := s.tableARN(environment, in.TableName)
		if in.IndexName != "" {
			resource += "/index/" + in.IndexName
		}
		need(call.Operation, resource)
	}
	return needed, nil
}

// tableARN is the ARN of a table that a request in the environment names.
func (s *Service) tableARN(environment, name string) string {
	if arn, ok := s.declared.Load().arns[[2]string{environment, name}]; ok {
		return arn
	}
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	account, region, _ := strings.Cut(strings.TrimPrefix(environment, "aws://"), "/")
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", region, account, name)
}

// Serve implements [aws.Service].
func (s *Service) Serve(w http.ResponseWriter, call *aws.Call) error {
	in, body := call.Input.(input), call.Body
	_, consumes := consuming[call.Operation]
	engine := s.engine
	if own, ok := s.declared.Load().engines[call.Environment()]; ok {
		engine = own
	}
	answered := func() {}
	if consumes {
		body = askForCapacity(body, in.ReturnConsumedCapacity)
		if s.options.Observe != nil {
			answered = s.options.Observe(call.Function, call.Operation, call.Body)
		}
	}
	s.altering.RLock()
	s.use.begin()
	began := time.Now()
	status, header, answer, err := engine.post(call.Request.Context(), target+call.Operation, body)
	call.Worked = time.Since(began)
	s.use.end()
	s.altering.RUnlock()
	answered()
	// The engine may have carried the request out before an error; a refused request changes nothing.
	if call.Write && (err != nil || status < 400 || status >= 500) && s.options.Wrote != nil {
		s.options.Wrote(call.Environment(), body)
	}
	if err != nil {
		if call.Request.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the function is gone
		}
		return fmt.Errorf("DynamoDB engine at %s: %w", s.engine.address, err)
	}
	if consumes {
		call.Consumed = consumed(call, answer)
	}
	for _, name := range []string{"Content-Type", "X-Amzn-Requestid"} {
		if value := header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	// The engine leaves the checksum out of some answers; AWS sends it with every one.
	aws.Write(w, status, answer)
	return nil
}

// Refuse implements [aws.Service].
func (*Service) Refuse(w http.ResponseWriter, _ *aws.Call, err error) { aws.WriteError(w, err) }

// WithoutRequests calls change while no request of a function is at the engine; those that come wait until it returns.
// DynamoDB Local answers some writes to a table whose indexes change with InternalFailure, where AWS serves them.
func (s *Service) WithoutRequests(change func() error) error {
	s.altering.Lock()
	defer s.altering.Unlock()
	return change()
}

// askForCapacity makes the request ask for the capacity of every index. A quotation mark inside an item's text is
// escaped, so the member cannot be mistaken for data.
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

// target is the table and index that the request is for, the first ones of a batch or transaction.
func (i input) target() (table, index string) {
	if i.TableName != "" {
		return i.TableName, i.IndexName
	}
	if len(i.RequestItems) > 0 {
		return slices.Min(slices.Collect(maps.Keys(i.RequestItems))), ""
	}
	for _, item := range i.TransactItems {
		for _, part := range []*struct{ TableName string }{item.Get, item.Put, item.Update, item.Delete,
			item.ConditionCheck} {
			if part != nil {
				return part.TableName, ""
			}
		}
	}
	return "", ""
}

// capacityUnits are what DynamoDB says in ConsumedCapacity.
type capacityUnits struct {
	TableName              string
	CapacityUnits          float64
	Table                  *struct{ CapacityUnits float64 }
	GlobalSecondaryIndexes map[string]struct{ CapacityUnits float64 }
	LocalSecondaryIndexes  map[string]struct{ CapacityUnits float64 }
}

// consumed is what the answer to a call says that it consumed, after the table or index that the call is for. An answer
// that is no JSON, or says nothing, such as an error, consumed nothing.
func consumed(call *aws.Call, answer []byte) []aws.Consumed {
	all := []aws.Consumed{{Table: call.Table, Index: call.Index}}
	add := func(table, index string, units float64) {
		part := aws.Consumed{Table: table, Index: index}
		if call.Write {
			part.WriteUnits = units
		} else {
			part.ReadUnits = units
		}
		if units != 0 {
			all = append(all, part)
		}
	}
	for _, of := range reported(answer) {
		units := of.CapacityUnits
		if of.Table != nil {
			units = of.Table.CapacityUnits
		}
		add(of.TableName, "", units)
		for name, index := range of.GlobalSecondaryIndexes {
			add(of.TableName, name, index.CapacityUnits)
		}
		for name, index := range of.LocalSecondaryIndexes {
			add(of.TableName, name, index.CapacityUnits)
		}
	}
	return all
}

func reported(answer []byte) (list []capacityUnits) {
	var in struct{ ConsumedCapacity json.RawMessage }
	if json.Unmarshal(answer, &in) != nil || len(in.ConsumedCapacity) == 0 {
		return nil
	}
	if in.ConsumedCapacity[0] == '[' {
		_ = json.Unmarshal(in.ConsumedCapacity, &list)
		return list
	}
	list = make([]capacityUnits, 1)
	_ = json.Unmarshal(in.ConsumedCapacity, &list[0])
	return list
}

// failures are the ways in which DynamoDB fails an operation, of a transaction with so many items.
func failures(operation string, items int) aws.Failures {
	const namespace = "com.amazonaws.dynamodb.v20120810#"
	transaction := strings.HasPrefix(operation, "Transact") && items > 0
	cancelled := func(draw func(int) int, code, message string) error {
		reasons, codes := make([]aws.Reason, items), make([]string, items)
		at := draw(items)
		for i := range reasons {
			reasons[i].Code = "None"
			if i == at {
				reasons[i] = aws.Reason{Code: code, Message: message}
			}
			codes[i] = reasons[i].Code
		}
		return &aws.Failure{
			Type: namespace + "TransactionCanceledException",
			Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
				strings.Join(codes, ", ") + "]",
			Reasons: reasons,
		}
	}
	f := aws.Failures{Hangs: true, Throttled: func(draw func(int) int) error {
		switch kind := draw(3); {
		case kind == 0 && transaction:
			return cancelled(draw, "ThrottlingError", "Throughput exceeds the current capacity for one or more "+
				"global secondary indexes. DynamoDB is automatically scaling your index so please try again shortly.")
		case kind == 1:
			return &aws.Failure{Type: "com.amazon.coral.availability#ThrottlingException",
				Message: "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically " +
					"scaling your table or index so please try again shortly. If exceptions persist, check if you " +
					"have a hot key: " +
					"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"}
		}
		return &aws.Failure{Type: namespace + "ProvisionedThroughputExceededException",
			Message: "The level of configured provisioned throughput for the table was exceeded. Consider increasing " +
				"your provisioning level with the UpdateTable API."}
	}}
	switch {
	case transaction:
		f.Conflict = func(draw func(int) int) error {
			return cancelled(draw, "TransactionConflict", "Transaction is ongoing for the item")
		}
	case operation == "PutItem" || operation == "UpdateItem" || operation == "DeleteItem":
		f.Conflict = func(func(int) int) error {
			return &aws.Failure{Type: namespace + "TransactionConflictException",
				Message: "Transaction is ongoing for the item"}
		}
	}
	return f
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

// EngineUse returns the functions' use of the engine since the service was made.
func (s *Service) EngineUse() EngineUse {
	s.use.mutex.Lock()
	defer s.use.mutex.Unlock()
	return s.use.use
}
