package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
)

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
		votes := service.Votes{Option: fmt.Sprint(option)}
		if err := decoder.Decode(&votes.Count); err != nil {
			return fmt.Errorf("read the votes of a summary: %w", err)
		}
		*s = append(*s, votes)
	}
	return nil
}
