package kit

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const secretARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:key-AbCdEf"

// manager is a server that speaks Secrets Manager's protocol.
type manager struct {
	calls  atomic.Int64
	answer atomic.Pointer[string]
}

func (m *manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.calls.Add(1)
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" || !strings.Contains(string(body), secretARN) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"ResourceNotFoundException","message":"no such secret"}`)
		return
	}
	fmt.Fprint(w, *m.answer.Load())
}

func (m *manager) set(answer string) { m.answer.Store(&answer) }

func newSecret(t *testing.T, arn string, maxAge time.Duration) (*Secret, *manager) {
	t.Helper()
	m := &manager{}
	m.set(`{"SecretString":"first"}`)
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return NewSecret(aws.Config{
		Region:       "us-east-1",
		BaseEndpoint: &server.URL,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
		RetryMaxAttempts: 1,
	}, arn, maxAge), m
}

func TestSecret(t *testing.T) {
	t.Parallel()
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		s, m := newSecret(t, secretARN, 0)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if value, err := s.Value(context.Background()); err != nil || value != "first" {
					t.Errorf("got %q, %v", value, err)
				}
			})
		}
		group.Wait()
		if calls := m.calls.Load(); calls != 1 {
			t.Errorf("read %d times; want once", calls)
		}
		m.set(`{"SecretString":"second"}`)
		s.Forget()
		if value, err := s.Value(t.Context()); err != nil || value != "second" {
			t.Errorf("after Forget: got %q, %v", value, err)
		}
	})
	t.Run("MaxAge", func(t *testing.T) {
		t.Parallel()
		s, m := newSecret(t, secretARN, time.Minute)
		now := time.Unix(0, 0)
		s.clock = func() time.Time { return now }
		for _, step := range []struct {
			after time.Duration
			want  string
		}{{0, "first"}, {59 * time.Second, "first"}, {time.Second, "second"}} {
			now = now.Add(step.after)
			if value, err := s.Value(t.Context()); err != nil || value != step.want {
				t.Errorf("after %v: got %q, %v; want %q", step.after, value, err, step.want)
			}
			m.set(`{"SecretString":"second"}`)
		}
	})
	t.Run("ErrNoValue", func(t *testing.T) {
		t.Parallel()
		s, m := newSecret(t, secretARN, 0)
		m.set(`{"SecretBinary":"AAAA"}`)
		if value, err := s.Value(t.Context()); err == nil {
			t.Errorf("got %q without an error", value)
		}
		m.set(`{"SecretString":"first"}`)
		if value, err := s.Value(t.Context()); err != nil || value != "first" {
			t.Errorf("an error was kept: got %q, %v", value, err)
		}
	})
	t.Run("ErrNotFound", func(t *testing.T) {
		t.Parallel()
		s, _ := newSecret(t, "arn:other", 0)
		if _, err := s.Value(t.Context()); err == nil || !strings.Contains(err.Error(), "arn:other") {
			t.Errorf("got %v", err)
		}
	})
}
