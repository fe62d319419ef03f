package kit

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// No browser takes an answer for a page and no cache keeps one for another caller: an answer of a
// route, an error, and an answer after a panic.
func TestAnswersAreData(t *testing.T) {
	t.Parallel()
	routes := http.NewServeMux()
	routes.HandleFunc("GET /answer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"answer":"<script>"}`)
	})
	routes.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("lost") })
	a := &API{
		Routes: routes, Log: slog.New(slog.DiscardHandler),
		Error: func(_ context.Context, err error) (int, any) { return http.StatusTeapot, err.Error() },
	}
	for _, path := range []string{"/answer", "/nowhere", "/panic"} {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Type": "application/json"} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %s: got %q, want %q", path, header, got, want)
			}
		}
	}
}
