package command

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A queue is listed, and gets a message with its attributes.
func TestQueue(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /queues", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `[{"name":"work","messages":2}]`)
	})
	mux.HandleFunc("POST /queues/{name}/messages", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if want := `{"body":"do it","attributes":{"kind":"test"}}`; string(body) != want || r.PathValue("name") != "work" {
			t.Errorf("sent %s to %s, want %s", body, r.PathValue("name"), want)
		}
		fmt.Fprint(w, `{"id":"1"}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"List": {[]string{"list", "--format", "csv"}, "name,messages\nwork,2\n"},
		"Send": {[]string{"send", "work", "do it", "--attribute", "kind=test"}, "1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := invoke(t, append(append([]string{"queue"}, test.arguments...),
				"--console", server.URL)...)
			if status != 0 || stdout != test.want {
				t.Errorf("got %d %q %s, want %q", status, stdout, stderr, test.want)
			}
		})
	}
}
