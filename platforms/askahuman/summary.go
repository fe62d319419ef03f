package askahuman

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Votes are how many people chose an option.
type Votes struct {
	Option string
	Count  int
}

// Summary is an object with the number of votes by the option's text, in the order of the options: a map would sort it.
type Summary []Votes

// Example returns what the JSON of a summary is.
func (Summary) Example() any { return map[string]int{"Send": 0, "Submit": 2} }

// MarshalJSON writes the object.
func (s Summary) MarshalJSON() ([]byte, error) {
	var object bytes.Buffer
	encoder := json.NewEncoder(&object)
	encoder.SetEscapeHTML(false) // the writer of the whole document escapes, or not
	object.WriteByte('{')
	for i, votes := range s {
		if i > 0 {
			object.WriteByte(',')
		}
		if err := encoder.Encode(votes.Option); err != nil {
			return nil, fmt.Errorf("write the summary: %w", err)
		}
		fmt.Fprintf(&object, ":%d", votes.Count)
	}
	object.WriteByte('}')
	return object.Bytes(), nil
}

// UnmarshalJSON reads the object, and keeps the order of the options.
func (s *Summary) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return fmt.Errorf("read a summary: got %v, want an object (%w)", begin, err)
	}
	*s = Summary{}
	for decoder.More() {
		option, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("read a summary: %w", err)
		}
		votes := Votes{Option: fmt.Sprint(option)}
		if err := decoder.Decode(&votes.Count); err != nil {
			return fmt.Errorf("read the votes of a summary: %w", err)
		}
		*s = append(*s, votes)
	}
	return nil
}
