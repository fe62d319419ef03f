package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/pushtest"
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

// refuse has Google refuse all credentials, or none.
func (s *set) refuse(all bool) {
	s.push.Instead(func(w http.ResponseWriter, r *http.Request) bool {
		refused := all && r.URL.Path != "/token"
		if refused {
			w.WriteHeader(http.StatusUnauthorized)
		}
		return refused
	})
}

// set is a function with a question to notify three people of, and one that is
// overdue.
type set struct {
	*function
	push   *pushtest.Server
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
	s := &set{push: pushtest.Start(t), vault: &vault{}}
	log := must.Get(kit.NewLogger(&s.output, "", "notifier"))(t)
	s.function = &function{
		service: all, credentials: s.vault.secret(time.Nanosecond), endpoint: s.push.URL(),
		questionURL: "https://example.com/q/{question_id}", log: log, clock: clock,
		metrics: &kit.Metrics{Namespace: "Onesynth/askahuman", Function: "notifier", Writer: &s.output},
	}
	return s
}

// metric is the sum of a metric so far.
func (s *set) metric(t *testing.T, name string) int {
	t.Helper()
	return int(metricstest.Sums(t, s.output.String())[name])
}

func TestHandle(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	s.vault.value = string(s.push.Account(t, nil))
	for range 2 {
		must.OK(t, s.handle(t.Context(), nil))
	}
	if sent := len(s.push.Messages()); sent != 3 {
		t.Errorf("%d notifications, want 3", sent)
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
			s.vault.value = string(s.push.Account(t, nil))
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
	s.vault.value = string(s.push.Account(t, nil))
	s.refuse(true)
	must.OK(t, s.handle(t.Context(), nil))
	s.refuse(false)
	must.OK(t, errors.Join(s.push.Fail("device-1", "UNREGISTERED"), s.push.Fail("device-2", "UNREGISTERED")))
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
	s.vault.value = string(s.push.Account(t, nil))
	s.refuse(true)
	s.credentials = s.vault.secret(time.Hour)
	must.OK(t, s.handle(t.Context(), nil))
	if s.metric(t, "NotifierFailures") == 0 || s.metric(t, "NotificationsReleased") != 3 {
		t.Errorf("%d failures, %d released", s.metric(t, "NotifierFailures"), s.metric(t, "NotificationsReleased"))
	}
	s.refuse(false)
	refused := len(s.push.Messages())
	if err := s.handle(t.Context(), nil); err != nil || len(s.push.Messages()) != refused+3 || s.vault.reads != 2 {
		t.Errorf("the next run: %v, %d notified, %d reads of the credentials; want 3 and 2", err,
			len(s.push.Messages())-refused, s.vault.reads)
	}
}
