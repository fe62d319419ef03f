package platform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// IsError reads a reply that is an error: JSON of exactly one of the forms of the platform's errors, which says what is
// wrong.
func (s *Suite) IsError(r onesynthtest.Reply) (*client.Refusal, error) {
	told := client.RefusalOf(r)
	says := told.Message != "" || len(told.Problems) > 0
	for _, p := range told.Problems {
		says = says && p.Message != ""
	}
	var got, again any
	for _, form := range s.Errors {
		read := reflect.New(reflect.TypeOf(form)).Interface()
		if json.Unmarshal(r.Body, read) != nil {
			continue
		}
		written, err := json.Marshal(read)
		if err == nil && json.Unmarshal(written, &again) == nil && json.Unmarshal(r.Body, &got) == nil &&
			reflect.DeepEqual(got, again) && says && r.Status >= http.StatusBadRequest &&
			strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			return told, nil
		}
		got, again = nil, nil
	}
	return told, fmt.Errorf("got %v of content type %q, which has not the form of an error", r,
		r.Header.Get("Content-Type"))
}

// Refused checks that a reply is an error of the platform of that status, and of that code where its errors have codes.
func (s *Suite) Refused(t testing.TB, r onesynthtest.Reply, status int, code ...string) *client.Refusal {
	t.Helper()
	told, err := s.IsError(r)
	if err != nil || r.Status != status || code != nil && told.Code != code[0] {
		t.Fatalf("got %v, %v; want %d %v", r, err, status, code)
	}
	return told
}

// Invalid checks that a reply is an error of that status about exactly these fields.
func (s *Suite) Invalid(t testing.TB, r onesynthtest.Reply, status int, fields ...string) {
	t.Helper()
	var named []string
	for _, p := range s.Refused(t, r, status).Problems {
		named = append(named, p.Field)
	}
	slices.Sort(named)
	if slices.Sort(fields); !slices.Equal(slices.Compact(named), fields) {
		t.Errorf("got %v; want what is wrong with %v alone", r, fields)
	}
}
