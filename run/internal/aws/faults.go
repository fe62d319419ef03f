package aws

// Faults of AWS, by chance: throttling, conflicts, lost answers and positions.

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
)

// Faults are probabilities, from 0 to 1, of faults that happen in AWS. The zero value does nothing.
type Faults struct {
	// Throttle refuses the request before it is done. DynamoDB answers ProvisionedThroughputExceededException or
	// ThrottlingException, to transactions also a cancellation with the reason ThrottlingError; S3 answers SlowDown
	// (503).
	Throttle float64 `json:"throttle"`
	// TransactionConflict refuses writes and transactions before they are done: TransactionConflictException, for
	// transactions a cancellation with the reason TransactionConflict at one of its items.
	TransactionConflict float64 `json:"transaction_conflict"`
	// DropResponse does the request, to DynamoDB or S3, and then drops the connection without an answer.
	DropResponse float64 `json:"drop_response"`
	// Hang takes a request to DynamoDB, carries out half of these requests, and answers none.
	Hang float64 `json:"hang"`
	// Redeliver loses the position of an event source mapping after a batch that is done. The batch is delivered again,
	// cut at another item. An event of a bus is delivered once more.
	Redeliver float64 `json:"redeliver"`
	// Seed makes the sequence of faults repeatable, for requests that come one after the other.
	Seed uint64 `json:"seed"`
}

// Failures are the ways in which AWS may fail a call. Faults leave the zero value alone.
type Failures struct {
	// Throttled and Conflict make the error of a call that comes too fast, or that meets a transaction. They draw one
	// of the forms that it may have. Nil: the call has no such error. A call that cannot be throttled keeps its answer.
	Throttled, Conflict func(draw func(n int) int) error
	// Hangs says that the call may stay without an answer.
	Hangs bool
}

type injector struct {
	Faults
	mutex     sync.Mutex
	random    *rand.Rand
	throttled int
}

// SetFaults replaces the faults of functions' requests. An error names a probability out of range.
func (s *Server) SetFaults(faults Faults) error {
	for name, probability := range map[string]float64{
		"Throttle": faults.Throttle, "TransactionConflict": faults.TransactionConflict,
		"DropResponse": faults.DropResponse,
		"Hang":         faults.Hang, "Redeliver": faults.Redeliver,
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

// Throttled returns how many requests the faults that SetFaults set have throttled.
func (s *Server) Throttled() int {
	faults := s.faults.Load()
	if faults == nil {
		return 0
	}
	faults.mutex.Lock()
	defer faults.mutex.Unlock()
	return faults.throttled
}

// Redeliver draws whether a finished batch of a stream is delivered again, with the probability of SetFaults.
func (s *Server) Redeliver() bool {
	faults := s.faults.Load()
	if faults == nil {
		return false
	}
	faults.mutex.Lock()
	defer faults.mutex.Unlock()
	return faults.happens(faults.Faults.Redeliver)
}

// happens draws with a probability. The caller holds the mutex.
func (f *injector) happens(probability float64) bool {
	return probability > 0 && f.random.Float64() < probability
}

// fault is what happens to one call.
type fault struct {
	// lost says that the answer is dropped, hangs that there never is one, and undone that the call is not carried out.
	lost, hangs, undone bool
}

// draw decides what happens to a call. An error refuses it.
func (f *injector) draw(failures Failures) (fault, error) {
	if f == nil || failures.Throttled == nil {
		return fault{}, nil
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.happens(f.Throttle) {
		f.throttled++
		return fault{}, failures.Throttled(f.random.IntN)
	}
	if failures.Conflict != nil && f.happens(f.TransactionConflict) {
		return fault{}, failures.Conflict(f.random.IntN)
	}
	hangs := failures.Hangs && f.happens(f.Hang)
	return fault{hangs: hangs, undone: hangs && f.happens(0.5), lost: !hangs && f.happens(f.DropResponse)}, nil
}

// during carries out a call, with what happens to it. It panics with http.ErrAbortHandler where there is no answer.
func (f fault) during(w http.ResponseWriter, call *Call, serve func(http.ResponseWriter) error) error {
	if !f.hangs && !f.lost {
		return serve(w)
	}
	if !f.undone {
		_ = serve(discard{http.Header{}})
	}
	if f.hangs {
		<-call.Request.Context().Done() // the caller has given up
	}
	panic(http.ErrAbortHandler)
}

// discard is a response writer that drops the answer.
type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d discard) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (discard) Write(text []byte) (int, error) { return len(text), nil }

// WriteHeader implements http.ResponseWriter.
func (discard) WriteHeader(int) {}
