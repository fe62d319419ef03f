package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// placeholder is what the construct generates.
const placeholder = `{"type":"service_account","project_id":"unset","client_email":"unset","token_uri":"https://oauth2.googleapis.com/token","private_key":"a8s7df6"}`

// vault is AWS Secrets Manager, with one secret.
type vault struct {
	value string
	err   error
	reads int
}

// Do answers a request for the secret.
func (v *vault) Do(r *http.Request) (*http.Response, error) {
	v.reads++
	if v.err != nil {
		return nil, v.err
	}
	body, err := json.Marshal(map[string]string{"SecretString": v.value})
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, err
}

// secret is the secret as a function reads it, and keeps it for a time.
func (v *vault) secret(age time.Duration) *kit.Secret {
	return kit.NewSecret(aws.Config{Region: "us-east-1", HTTPClient: v,
		Credentials: credentials.NewStaticCredentialsProvider("KEY", "local", ""), RetryMaxAttempts: 1}, "arn", age)
}

// pushService is a push service that counts what it takes.
type pushService struct {
	*httptest.Server
	mu    sync.Mutex
	sent  int
	allow bool
	// most is after how many messages each device is unknown; 0: none is.
	most int
}

func newService(t *testing.T) *pushService {
	s := &pushService{allow: true}
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
			fmt.Fprint(w,
				`{"error":{"code":404,"status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}`)
			return
		}
		s.sent++
		fmt.Fprint(w, `{"name":"projects/p/messages/1"}`)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *pushService) keyFile(t *testing.T) string {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	der := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	file := must.Get(json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "client_email": "push@p.example", "token_uri": s.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	}))(t)
	return string(file)
}

// set is a function with a question to notify three people of, and one that is
// overdue.
type set struct {
	*function
	push   *pushService
	vault  *vault
	output bytes.Buffer
}

func newSet(t *testing.T) *set {
	t.Helper()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	all := &service.Service{DB: dynamotest.Open(t, askahuman.Platform().Database).DB, Clock: clock}
	ask := askahuman.Ask{Prompt: "Is this a good name?", Type: askahuman.TypeText, MinResponses: new(1),
		TimeoutSeconds: new(60)}
	must.Get(all.Ask(t.Context(), "agent", ask))(t)
	now = now.Add(time.Minute)
	must.Get(all.Ask(t.Context(), "agent", ask))(t)
	for i := range 3 {
		must.Get(all.Subscribe(t.Context(), "", askahuman.NewSubscription{Token: fmt.Sprint("device-", i)}))(t)
	}
	s := &set{push: newService(t), vault: &vault{}}
	log := must.Get(kit.NewLogger(&s.output, "", "notifier"))(t)
	s.function = &function{
		service: all, credentials: s.vault.secret(time.Nanosecond), endpoint: s.push.URL,
		questionURL: "https://example.com/q/{question_id}", log: log, clock: clock,
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
	s.vault.value = s.push.keyFile(t)
	for range 2 {
		must.OK(t, s.handle(t.Context(), nil))
	}
	if s.push.sent != 3 {
		t.Errorf("%d notifications, want 3", s.push.sent)
	}
	if strings.Contains(s.output.String(), "PRIVATE KEY") || strings.Contains(s.output.String(), "device-") {
		t.Errorf("the log shows secrets:\n%s", s.output.String())
	}
}

func TestHandleNotConfigured(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"placeholder": placeholder,
		"broken key file": `{"type":"service_account"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t)
			s.vault.value = value
			for range 3 {
				must.OK(t, s.handle(t.Context(), nil))
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
			s.vault.value = s.push.keyFile(t)
			if err := s.handle(t.Context(), nil); err != nil || s.metric(t, "Notified") != 3 {
				t.Errorf("when configured: %v, %d notified", err, s.metric(t, "Notified"))
			}
		})
	}
}

// A run reports what it has done, and nothing if it has done nothing: a metric that has data in each hour costs by the
// month.
func TestHandleReports(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	s.vault.value = s.push.keyFile(t)
	s.push.allow = false
	must.OK(t, s.handle(t.Context(), nil))
	s.push.mu.Lock()
	s.push.allow, s.push.most = true, 1
	s.push.mu.Unlock()
	must.OK(t, s.handle(t.Context(), nil))
	metricstest.Complete(t, s.output.String(), schema.MetricsOf("notifier", askahuman.Platform().Metrics))
	s.output.Reset()
	must.OK(t, s.handle(t.Context(), nil))
	if got := metricstest.Sums(t, s.output.String()); len(got) > 0 ||
		!strings.Contains(s.output.String(), "notifier run") {
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
	s.vault.value = s.push.keyFile(t)
	s.push.allow, s.credentials = false, s.vault.secret(time.Hour)
	must.OK(t, s.handle(t.Context(), nil))
	if s.metric(t, "NotifierFailures") == 0 || s.metric(t, "NotificationsReleased") != 3 {
		t.Errorf("%d failures, %d released", s.metric(t, "NotifierFailures"), s.metric(t, "NotificationsReleased"))
	}
	s.push.mu.Lock()
	s.push.allow = true
	s.push.mu.Unlock()
	if err := s.handle(t.Context(), nil); err != nil || s.push.sent != 3 || s.vault.reads != 2 {
		t.Errorf("the next run: %v, %d notified, %d reads of the credentials; want 3 and 2", err, s.push.sent,
			s.vault.reads)
	}
}
