package webapp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// Scripts come from the page's own origin alone, and no page of another origin reaches this one.
func TestHeader(t *testing.T) {
	t.Parallel()
	want := http.Header{
		"Content-Security-Policy": {"default-src 'none'; script-src 'self'; " +
			"style-src 'self' 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='; img-src 'self'; " +
			"connect-src 'self' https://a.example; manifest-src 'self'; worker-src 'self'; base-uri 'none'; " +
			"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
			"trusted-types service-worker"},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Permissions-Policy": {"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), " +
			"usb=()"},
		"Referrer-Policy": {"no-referrer"},
		"X-Frame-Options": {"DENY"},
	}
	if diff := cmp.Diff(want, Config{Connect: []string{"https://a.example"}}.header("a{}")); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}
