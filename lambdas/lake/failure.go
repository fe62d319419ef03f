package lake

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxFailureBytes is how long a message of the failure queue may be. Amazon SQS now
// takes longer ones, but not every reader of a queue does.
const MaxFailureBytes = 256 << 10

// Failure is the message about a record that could not be converted, as JSON.
type Failure struct {
	// Cause says what was found, and what is allowed.
	Cause string `json:"cause"`
	// EventID and the following fields are the record's own, as far as they can be read.
	EventID        string `json:"event_id"`
	EventName      string `json:"event_name"`
	Entity         string `json:"entity"`
	SequenceNumber string `json:"sequence_number"`
	// Omitted names the parts of the record that are left out, because the message would
	// be too long. Absent: nothing.
	Omitted string `json:"omitted,omitempty"`
	// Record is the record as the stream gave it.
	Record json.RawMessage `json:"record,omitempty"`
}

// message returns the failure as text that fits into a queue's message. If it would be too long, it
// leaves out the record's images, which alone can be 800 KB, and if that does not help, the record.
func (f Failure) message() (string, error) {
	record := f.Record
	if !json.Valid(record) {
		f.Record, f.Omitted = nil, fmt.Sprintf("the record, which is no JSON: %d bytes", len(record))
	}
	text, err := f.encode()
	if err != nil || len(text) <= MaxFailureBytes {
		return text, err
	}
	if short, ok := withoutImages(record); ok {
		f.Record, f.Omitted = short, fmt.Sprintf("NewImage and OldImage: the record has %d bytes, and a message %d at most", len(record), MaxFailureBytes)
		if text, err = f.encode(); err != nil || len(text) <= MaxFailureBytes {
			return text, err
		}
	}
	f.Record, f.Omitted = nil, fmt.Sprintf("the record: it has %d bytes without images, and a message %d at most", len(record), MaxFailureBytes)
	for _, field := range []*string{&f.Cause, &f.EventID, &f.EventName, &f.Entity, &f.SequenceNumber} {
		*field = shortened(*field, 1000)
	}
	return f.encode()
}

// encode writes no character that Amazon SQS refuses: among those that JSON leaves unescaped,
// U+FFFE and U+FFFF ("SendMessage", Amazon SQS API reference).
func (f Failure) encode() (string, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("encoding a failure: %w", err)
	}
	return strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(strings.ToValidUTF8(string(text), `\ufffd`)), nil
}

// withoutImages is the record with its keys alone.
func withoutImages(record json.RawMessage) (json.RawMessage, bool) {
	var fields, change map[string]json.RawMessage
	if json.Unmarshal(record, &fields) != nil || json.Unmarshal(fields["dynamodb"], &change) != nil {
		return nil, false
	}
	delete(change, "NewImage")
	delete(change, "OldImage")
	short, err := json.Marshal(change)
	if err != nil {
		return nil, false
	}
	fields["dynamodb"] = short
	short, err = json.Marshal(fields)
	return short, err == nil
}

// shortened is text of at most length bytes.
func shortened(text string, length int) string {
	if len(text) <= length {
		return text
	}
	for length > 0 && !utf8.RuneStart(text[length]) {
		length--
	}
	return text[:length] + "…"
}
