package awsapi

// Faults of AWS, by chance: throttling, conflicts, lost answers and places.

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// Faults are probabilities, from 0 to 1, of faults that happen in AWS. The zero value does nothing.
type Faults struct {
	// Throttle refuses the request before it is done. DynamoDB answers ProvisionedThroughputExceededException or
	// ThrottlingException, to transactions also a cancellation with the reason ThrottlingError; S3 answers SlowDown (503).
	Throttle float64 `json:"throttle"`
	// TransactionConflict refuses writes and transactions before they are done: TransactionConflictException, for
	// transactions a cancellation with the reason TransactionConflict at one of its items.
	TransactionConflict float64 `json:"transaction_conflict"`
	// DropResponse does the request, to DynamoDB or S3, and then drops the connection without an answer.
	DropResponse float64 `json:"drop_response"`
	// Hang takes a request to DynamoDB, carries out half of these requests, and answers none.
	Hang float64 `json:"hang"`
	// Redeliver loses the place of an event source mapping after a batch that is done. The batch is delivered again, cut at another
	// place.
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

// SetFaults replaces the faults of functions' requests. An error names a probability out of range.
func (s *Server) SetFaults(faults Faults) error {
	for name, probability := range map[string]float64{
		"Throttle": faults.Throttle, "TransactionConflict": faults.TransactionConflict, "DropResponse": faults.DropResponse,
		"Hang": faults.Hang, "Redeliver": faults.Redeliver,
	} {
		if !(probability >= 0 && probability <= 1) {
			return fmt.Errorf("%s: got %v: write a probability from 0 to 1", name, probability)
		}
	}
	if faults == (Faults{Seed: faults.Seed}) {
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

// neverAnswer waits until the caller has given up.
func neverAnswer(r *http.Request) {
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
