package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/webhooks"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// The secret, the id, the time, the body and the signature are those of the specification.
func TestReceiver(t *testing.T) {
	t.Parallel()
	var r webhooks.Receiver
	server := httptest.NewServer(&r)
	t.Cleanup(server.Close)
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	post := func(path, body string) int {
		t.Helper()
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path,
			strings.NewReader(body)))(t)
		request.Header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
		request.Header.Set("webhook-timestamp", "1614265330")
		request.Header.Set("webhook-signature", "v1,bm9uZQ== v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
		response := must.Get(client.Do(request))(t)
		response.Body.Close()
		return response.StatusCode
	}
	const body = `{"test": 2432232314}`
	post("/a?b=c", body)
	r.Know([]string{"whsec_?", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	post("/a", body)
	post("/a", body+" ")
	statuses := map[string]int{}
	for _, behaviour := range []webhooks.Behaviour{webhooks.Fails, webhooks.Redirects, webhooks.Unwanted,
		webhooks.Takes} {
		must.OK(t, r.Behave("/b", behaviour))
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
	for path, behaviour := range map[string]webhooks.Behaviour{"/a": "explode", "a": webhooks.Fails} {
		if err := r.Behave(path, behaviour); !errors.Is(err, webhooks.ErrBehaviour) {
			t.Errorf("%s %s: got %v", path, behaviour, err)
		}
	}
}

// A path that hangs keeps the webhook, and ends with its client.
func TestReceiverHangs(t *testing.T) {
	t.Parallel()
	var r webhooks.Receiver
	server := httptest.NewServer(&r)
	t.Cleanup(server.Close)
	must.OK(t, r.Behave("/", webhooks.Hangs))
	ctx, cancel := context.WithCancel(t.Context())
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("{}")))(t)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			t.Errorf("got %s", response.Status)
		}
	}()
	wait.For(t, "the webhooks", 1, func() int { return len(r.Webhooks()) })
	cancel()
	<-answered
	if got := r.Webhooks(); len(got) != 1 || got[0].Status != 0 {
		t.Errorf("got %+v", got)
	}
}
