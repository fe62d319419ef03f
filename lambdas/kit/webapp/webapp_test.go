package webapp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// An error that no one foresaw says nothing of itself.
func TestFailure(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		io.ErrUnexpectedEOF: 500,
		validate.Refused(http.StatusMethodNotAllowed, "method", validate.Constraint{}, "x"): 405,
		validate.Refused(http.StatusBadRequest, "request", validate.Constraint{}, "x"):      400,
	} {
		status, body := Failure(context.Background(), err)
		text, failed := json.Marshal(body)
		if status != want || failed != nil || strings.Contains(string(text), io.ErrUnexpectedEOF.Error()) {
			t.Errorf("%v: got %d %s", err, status, text)
		}
	}
}

// A text of the page replaces the one of the kit, and the worker knows the views.
func TestOwn(t *testing.T) {
	t.Parallel()
	got, err := merged([]byte(`{"a":"1","b":"<2>"}`), []byte(`{"b":"<3>"}`))
	if want := `{"a":"1","b":"<3>"}` + "\n"; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, want := pattern([]string{"/app", "/q/{question_id}"}), "^(/app|/q/[^/]+)$"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
