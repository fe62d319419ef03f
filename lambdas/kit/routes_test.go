package kit

import (
	"net/http"
	"strings"
	"testing"
)

// A function serves the routes of its API. The names of their parameters may differ.
func TestCheckRoutes(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /{$}", "GET /notes", "GET /notes/{id}", "PUT /notes/{id}",
		"GET /files/{path...}"} {
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
	}
	for list, want := range map[string]string{
		"": "", "GET /": "", "GET /notes\nGET /notes/{note_id}\nPUT /notes/{id}": "", "ANY /notes/{id}/x": "",
		"GET /files/{path+}": "", "$default": "", "DELETE /notes": "",
		"PUT /notes": "got PUT /notes,", "GET /notes/new": "got GET /notes/new,", "GET /notes/": "got GET /notes/,",
		"GET /notes\nPOST /notes\nGET /other/{id}": "got POST /notes, GET /other/{id},",
	} {
		err := (&API{Routes: mux, NotAllowed: []string{"DELETE /notes"}}).checkRoutes(list)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v; want %q", list, err, want)
		}
	}
}
