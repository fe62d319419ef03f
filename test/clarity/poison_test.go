package clarity

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// Attempts that cannot be read, and a user whose profiles cannot be, hold up nobody's profile. The queue of failures
// has each with its cause and its record; once the cause is mended, the console does it again.
func TestPoisonedAttempts(t *testing.T) {
	t.Parallel()
	on := shared(t)
	on.LocalOnly(t, "it writes into the tables, and reads the queue")
	sick := newUser(t, on)
	some := sick.scenarios(t, on)[2]
	spoiled := onesynthtest.Unique("spoiled")
	latest := map[string]any{"userId": sick.ID, "timestamp": "2026-01-01T00:00:00.000Z#x", "latest": true,
		"attemptCount": "many"}
	on.Put(t, "Profiles", latest)
	var healthy []caller
	for range 5 {
		on.Put(t, "Attempts", map[string]any{
			"attemptId": onesynthtest.Unique(spoiled), "userId": spoiled, "status": "completed",
			"evaluationStatus": "done", "evaluation": "a private text",
		})
		sick.begin(t, completed(some, "I assume that the figures are right"))
		one := newUser(t, on)
		one.begin(t, completed(some, "I assume that the figures are right"))
		healthy = append(healthy, one)
	}
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	for _, one := range healthy {
		if got := one.profiles(t); len(got) != 1 {
			t.Errorf("got %d profiles of a user beside the poison, want 1", len(got))
		}
	}
	// The messages, by their paths on the console.
	poisoned, sicks := map[string]string{}, map[string]string{}
	for queue, messages := range runtest.Of(on.Run).AllMessages() {
		for _, m := range messages {
			path := on.Run.ConsoleURL() + "/queues/" + queue + "/messages/" + m.ID
			var failure struct{ Cause string }
			if err := json.Unmarshal([]byte(m.Body), &failure); err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.Contains(m.Body, spoiled):
				poisoned[path] = failure.Cause
			case strings.Contains(m.Body, sick.ID):
				sicks[path] = failure.Cause
			}
		}
	}
	if len(poisoned) != 5 || len(sicks) != 5 {
		t.Fatalf("the queue of failures has %d spoiled attempts and %d of the sick user, want 5 and 5", len(poisoned),
			len(sicks))
	}
	again := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path+"/again", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(run.ConsoleHeader, "test")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		var text strings.Builder
		if err := response.Write(&text); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, text.String()
	}
	for path, cause := range poisoned {
		if status, body := again(path); status != http.StatusBadGateway ||
			!strings.Contains(cause, "read the attempt") || !strings.Contains(body, "read the attempt") ||
			!strings.Contains(body, "the message stays in the queue") {
			t.Errorf("again: got %d %s; the cause is %q", status, body, cause)
		}
	}
	on.Delete(t, "Profiles", "userId", sick.ID, "timestamp", "2026-01-01T00:00:00.000Z#x")
	for path, cause := range sicks {
		if status, body := again(path); status != http.StatusOK || cause == "" {
			t.Errorf("again: got %d %s; the cause is %q", status, body, cause)
		}
	}
	if got := sick.profiles(t); len(got) != 5 {
		t.Errorf("got %d profiles of the user who is well again, want 5", len(got))
	}
}
