package conversetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
)

// CheckAsked returns an error unless the last request is the question: with its system prompt, its data alone as the
// message, on one line without tags, its limit of the reply, and the lowest temperature.
func (s *Server) CheckAsked(q converse.Question) error {
	requests := s.Requests()
	if len(requests) == 0 {
		return errors.New("there is no request")
	}
	got := requests[len(requests)-1]
	if got.System != q.System {
		return fmt.Errorf("the system prompt is %q", got.System)
	}
	if strings.ContainsAny(got.User, "<>&\n\u2028\u2029") {
		return fmt.Errorf("the message is not one line without tags: %q", got.User)
	}
	data := reflect.New(reflect.TypeOf(q.Data))
	decoder := json.NewDecoder(strings.NewReader(got.User))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(data.Interface()); err != nil || decoder.More() {
		return fmt.Errorf("the message is not one document: %q: %w", got.User, err)
	}
	if !reflect.DeepEqual(data.Elem().Interface(), q.Data) {
		return fmt.Errorf("the document is %+v, want %+v", data.Elem(), q.Data)
	}
	delete(got.Body, "messages")
	delete(got.Body, "system")
	want := map[string]any{"inferenceConfig": map[string]any{"maxTokens": float64(q.MaxTokens), "temperature": 0.0}}
	if !reflect.DeepEqual(got.Body, want) {
		return fmt.Errorf("the rest of the request is %v, want %v", got.Body, want)
	}
	return nil
}
