package engine

// How far a mapping is.

import "time"

// waiting are the records of a shard that were read but not delivered.
type waiting struct {
	records int
	since   time.Time
}

// Delivery is how far the delivery of a stream's records to a function is.
type Delivery struct {
	Function string `json:"function"`
	Table    string `json:"table"`
	// StreamARN is the stream that is read.
	StreamARN string `json:"stream_arn"`
	// Read counts the records that were read from the stream, Filtered those of them that the mapping's filter kept back.
	Read     int `json:"read"`
	Filtered int `json:"filtered"`
	// Waiting are records that were read and are neither done nor given up.
	Waiting int `json:"waiting"`
	// Lag is for how long the oldest of them has waited since it was read; 0 when none waits.
	Lag time.Duration `json:"lag_ns"`
	// Invocations of the function, and those that failed.
	Invocations int `json:"invocations"`
	Failures    int `json:"failures"`
	// Done counts records that the function took, GivenUp those that it never did.
	Done    int `json:"done"`
	GivenUp int `json:"given_up"`
	// Redelivered counts batches that were delivered again although they were done.
	Redelivered int `json:"redelivered"`
	// LastDelay is the time from reading the oldest record of the latest batch to the end of its delivery, LongestDelay the
	// longest so far.
	LastDelay    time.Duration `json:"last_delay_ns"`
	LongestDelay time.Duration `json:"longest_delay_ns"`
}

func (m *mapping) state() Delivery {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	state := m.delivery
	for _, shard := range m.waiting {
		state.Waiting += shard.records
		if shard.records > 0 {
			state.Lag = max(state.Lag, time.Since(shard.since))
		}
	}
	return state
}

func (m *mapping) hasFlushed(asked uint64) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, done := range m.flushed {
		if done < asked {
			return false
		}
	}
	return true
}

// askedFlushes returns how many flushes were asked for, and how many of them the shard has done.
func (m *mapping) askedFlushes(shard string) (asked, done uint64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.flushes, m.flushed[shard]
}

func (m *mapping) noteFlushed(shard string, done uint64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.flushed[shard] = done
}

func (m *mapping) noteEnded(shard string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.flushed, shard)
	delete(m.waiting, shard)
}

func (m *mapping) note(change func(*Delivery)) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change(&m.delivery)
}

func (m *mapping) noteWaiting(shard string, records []record) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	entry := waiting{records: len(records)}
	if len(records) > 0 {
		entry.since = records[0].read
	}
	m.waiting[shard] = entry
}

func (m *mapping) noteInvocation(batch []record, done int) {
	m.note(func(d *Delivery) {
		d.Invocations++
		d.Done += done
		if done < len(batch) {
			d.Failures++
		}
		if done > 0 {
			d.LastDelay = time.Since(batch[0].read)
			d.LongestDelay = max(d.LongestDelay, d.LastDelay)
		}
	})
}
