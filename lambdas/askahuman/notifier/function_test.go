package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// placeholder is what the construct generates.
const placeholder = `{"type":"service_account","project_id":"unset","client_email":"unset","token_uri":"https://oauth2.googleapis.com/token","private_key":"a8s7df6"}`

// vault is a secret.
type vault struct {
	value     string
	err       error
	forgotten int
}

func (v *vault) Value(context.Context) (string, error) { return v.value, v.err }
func (v *vault) Forget()                               { v.forgotten++ }

// service is a push service that counts what it takes.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	sent  int
	allow bool
	// most is after how many messages each device is unknown; 0: none is.
	most int
}

func newService(t *testing.T) *service {
	s := &service{allow: true}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"t","expires_in":3599,"token_type":"Bearer"}`)
	})
	mux.HandleFunc("POST /v1/projects/p/messages:send", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.allow {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if s.most > 0 && s.sent == s.most {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":404,"status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}`)
			return
		}
		s.sent++
		fmt.Fprint(w, `{"name":"projects/p/messages/1"}`)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *service) keyFile(t *testing.T) string {
	t.Helper()
	key := storetest.Must(rsa.GenerateKey(rand.Reader, 2048))(t)
	der := storetest.Must(x509.MarshalPKCS8PrivateKey(key))(t)
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "client_email": "push@p.example", "token_uri": s.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

// set is a function with a question to notify three people of, and one that is
// overdue.
type set struct {
	*function
	service *service
	vault   *vault
	output  bytes.Buffer
}

func newSet(t *testing.T) *set {
	t.Helper()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	store := &inmem.Store{}
	agents, people := &askahuman.Agents{Store: store, Now: clock}, &askahuman.People{Store: store, Now: clock}
	ask := askahuman.Ask{Prompt: "Is this a good name?", Type: askahuman.TypeText, MinResponses: new(1), TimeoutSeconds: new(60)}
	storetest.Must(agents.Ask(t.Context(), "agent", ask))(t)
	now = now.Add(time.Minute)
	storetest.Must(agents.Ask(t.Context(), "agent", ask))(t)
	for i := range 3 {
		storetest.Must(people.Subscribe(t.Context(), "", askahuman.NewSubscription{Token: fmt.Sprint("device-", i)}))(t)
	}
	s := &set{service: newService(t), vault: &vault{}}
	log := storetest.Must(kit.NewLogger(&s.output, "", "notifier"))(t)
	s.function = &function{
		store: store, credentials: s.vault, endpoint: s.service.URL, questionURL: "https://example.com/q/{question_id}", log: log, now: clock,
		metrics: &kit.Metrics{Namespace: "Onesynth/askahuman", Function: "notifier", Writer: &s.output},
	}
	return s
}

// metric is a value of the last line of metrics.
func (s *set) metric(t *testing.T, name string) int {
	t.Helper()
	value := -1
	for line := range strings.Lines(s.output.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if n, ok := fields[name].(float64); ok && fields["_aws"] != nil {
			value = int(n)
		}
	}
	return value
}

func TestHandle(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	s.vault.value = s.service.keyFile(t)
	for range 2 {
		storetest.OK(t, s.handle(t.Context(), nil))
	}
	if s.service.sent != 3 {
		t.Errorf("%d notifications, want 3", s.service.sent)
	}
	if strings.Contains(s.output.String(), "PRIVATE KEY") || strings.Contains(s.output.String(), "device-") {
		t.Errorf("the log shows secrets:\n%s", s.output.String())
	}
}

func TestHandleNotConfigured(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"placeholder": placeholder, "broken key file": `{"type":"service_account"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t)
			s.vault.value = value
			for range 3 {
				storetest.OK(t, s.handle(t.Context(), nil))
				if s.function.push != nil {
					t.Error("there is a push client")
				}
			}
			if n := strings.Count(s.output.String(), "no one is notified"); n != 1 {
				t.Errorf("%d warnings in three runs, want 1:\n%s", n, s.output.String())
			}
			if !strings.Contains(s.output.String(), `"expired":1`) {
				t.Errorf("nothing has expired:\n%s", s.output.String())
			}
			// Configured while the process lives.
			s.vault.value = s.service.keyFile(t)
			if err := s.handle(t.Context(), nil); err != nil || s.metric(t, "Notified") != 3 {
				t.Errorf("when configured: %v, %d notified", err, s.metric(t, "Notified"))
			}
		})
	}
}

// A run reports what it has done, and nothing if it has done nothing: a metric that has data in each hour costs by the month.
func TestHandleReports(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	s.vault.value = s.service.keyFile(t)
	s.service.allow = false
	storetest.OK(t, s.handle(t.Context(), nil))
	s.service.mu.Lock()
	s.service.allow, s.service.most = true, 1
	s.service.mu.Unlock()
	storetest.OK(t, s.handle(t.Context(), nil))
	metricstest.Complete(t, s.output.String(), schema.MetricsOf("notifier", schema.AskAHuman().Metrics))
	s.output.Reset()
	storetest.OK(t, s.handle(t.Context(), nil))
	if got := metricstest.Sums(t, s.output.String()); len(got) > 0 || !strings.Contains(s.output.String(), "notifier run") {
		t.Errorf("with nothing to do: got %v\n%s", got, s.output.String())
	}
}

func TestHandleUnreadableCredentials(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	s.vault.err = errors.New("access denied")
	if err := s.handle(t.Context(), nil); !errors.Is(err, s.vault.err) {
		t.Errorf("handle: %v, want the reason", err)
	}
	if got := s.metric(t, "Expired"); got != 1 {
		t.Errorf("%d expired, want 1", got)
	}
}

func TestHandleRefusedCredentials(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	s.vault.value = s.service.keyFile(t)
	s.service.allow = false
	storetest.OK(t, s.handle(t.Context(), nil))
	if s.vault.forgotten != 1 || s.metric(t, "NotifierFailures") == 0 || s.metric(t, "NotificationsReleased") != 3 {
		t.Errorf("forgotten %d times, %d failures, %d released", s.vault.forgotten, s.metric(t, "NotifierFailures"), s.metric(t, "NotificationsReleased"))
	}
	s.service.mu.Lock()
	s.service.allow = true
	s.service.mu.Unlock()
	if err := s.handle(t.Context(), nil); err != nil || s.service.sent != 3 {
		t.Errorf("the next run: %v, %d notified; want 3", err, s.service.sent)
	}
}
