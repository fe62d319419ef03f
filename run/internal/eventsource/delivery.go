package eventsource

// How far a mapping is.

import "time"

// waiting are the records that a reader has read and not delivered.
type waiting struct {
	records int
	since   time.Time
}

// Delivery is how far the delivery of a source's records to a function is.
type Delivery struct {
	Function string `json:"function"`
	// Table or Queue is what is read, and SourceARN its stream, or the queue.
	Table     string `json:"table,omitempty"`
	Queue     string `json:"queue,omitempty"`
	SourceARN string `json:"source_arn"`
	// Read counts the records that were read, Filtered those of them that the mapping's filter kept back.
	Read     int `json:"read"`
	Filtered int `json:"filtered"`
	// Waiting are records that were read and are neither done nor given up; those of a queue have not returned to it,
	// either.
	Waiting int `json:"waiting"`
	// Lag is for how long the oldest of them has waited since it was read; 0 when none waits.
	Lag time.Duration `json:"lag_ns"`
	// Invocations of the function, and those that failed as a whole.
	Invocations int `json:"invocations"`
	Failures    int `json:"failures"`
	// Done counts records that the function took, Returned those that it did not, each time, and GivenUp those of a
	// stream that it never did.
	Done     int `json:"done"`
	Returned int `json:"returned"`
	GivenUp  int `json:"given_up"`
	// Redelivered counts batches that were delivered again although they were done.
	Redelivered int `json:"redelivered"`
	// LastDelay is the time from reading the oldest record of the latest batch to the end of its delivery, LongestDelay
	// the longest so far.
	LastDelay    time.Duration `json:"last_delay_ns"`
	LongestDelay time.Duration `json:"longest_delay_ns"`
}

func (m *mapping) state() Delivery {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	state := m.delivery
	for _, of := range m.waiting {
		state.Waiting += of.records
		state.Lag = max(state.Lag, time.Since(of.since))
	}
	return state
}

func (m *mapping) note(change func(*Delivery)) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change(&m.delivery)
}

func (m *mapping) noteWaiting(r reader, records []record) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if len(records) == 0 {
		delete(m.waiting, r)
		return
	}
	m.waiting[r] = waiting{len(records), records[0].read}
}

// noteInvocation notes that the function took so many records of a batch.
func (m *mapping) noteInvocation(batch []record, done int, err error) {
	m.note(func(d *Delivery) {
		d.Invocations++
		d.Done += done
		d.Returned += len(batch) - done
		if err != nil {
			d.Failures++
		}
		if done > 0 {
			d.LastDelay = time.Since(batch[0].read)
			d.LongestDelay = max(d.LongestDelay, d.LastDelay)
		}
	})
}
