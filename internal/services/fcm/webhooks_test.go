package fcm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/services/fcm"
)

// The secret, the id, the time, the body and the signature are those of the specification.
func TestReceiver(t *testing.T) {
	t.Parallel()
	var r fcm.Receiver
	server := httptest.NewServer(&r)
	t.Cleanup(server.Close)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	post := func(path, body string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
		request.Header.Set("webhook-timestamp", "1614265330")
		request.Header.Set("webhook-signature", "v1,bm9uZQ== v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	const body = `{"test": 2432232314}`
	post("/a?b=c", body)
	r.Know([]string{"whsec_?", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	post("/a", body)
	post("/a", body+" ")
	statuses := map[string]int{}
	for _, behaviour := range []fcm.Behaviour{fcm.Fails, fcm.Redirects, fcm.Unwanted, fcm.Takes} {
		if err := r.Behave("/b", behaviour); err != nil {
			t.Fatal(err)
		}
		statuses[string(behaviour)] = post("/b", body)
	}
	if diff := cmp.Diff(map[string]int{"fail": 500, "redirect": 307, "gone": 410, "": 204}, statuses); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	var got []string
	for _, w := range r.Webhooks() {
		verified := "unknown"
		if w.Verified != nil {
			verified = fmt.Sprint(*w.Verified)
		}
		got = append(got, fmt.Sprint(w.Path, " ", len(w.Body), " ", w.Status, " ", verified, " ",
			w.Header["Webhook-Timestamp"]))
	}
	if diff := cmp.Diff([]string{
		"/a?b=c 20 204 unknown [1614265330]", "/a 20 204 true [1614265330]", "/a 21 204 false [1614265330]",
		"/b 20 500 true [1614265330]", "/b 20 307 true [1614265330]", "/b 20 410 true [1614265330]",
		"/b 20 204 true [1614265330]",
	}, got); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
	r.Clear()
	if left := r.Webhooks(); len(left) != 0 || len(r.Behaviours()) != 0 {
		t.Errorf("%d webhooks are left, and the behaviours %v", len(left), r.Behaviours())
	}
	for path, behaviour := range map[string]fcm.Behaviour{"/a": "explode", "a": fcm.Fails} {
		if err := r.Behave(path, behaviour); !errors.Is(err, fcm.ErrBehaviour) {
			t.Errorf("%s %s: got %v", path, behaviour, err)
		}
	}
}

// A path that hangs keeps the webhook, and ends with its client.
func TestReceiverHangs(t *testing.T) {
	t.Parallel()
	var r fcm.Receiver
	server := httptest.NewServer(&r)
	t.Cleanup(server.Close)
	if err := r.Behave("/", fcm.Hangs); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(r.Webhooks()) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
		t.Errorf("got %s", response.Status)
	}
	if got := r.Webhooks(); len(got) != 1 || got[0].Status != 0 {
		t.Errorf("got %+v", got)
	}
}
