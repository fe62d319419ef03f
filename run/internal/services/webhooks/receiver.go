// Package webhooks is a receiver of webhooks in a local run: it keeps each attempt for people and tests to read,
// verifies its signature ("Standard Webhooks"), and fails, hangs or redirects on request.
package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// keptWebhooks bounds the memory of a long run; older webhooks are dropped.
	keptWebhooks = 1_000
	// maxWebhook is how much of a body is kept, in bytes.
	maxWebhook = 64 << 10
	// longestHang ends an answer that is to hang.
	longestHang = time.Minute
)

// Behaviour is how the receiver of webhooks answers.
type Behaviour string

// The behaviours of a receiver.
const (
	// Takes: it answers with 204.
	Takes Behaviour = ""
	// Fails: it answers with 500.
	Fails Behaviour = "fail"
	// Hangs: it does not answer for a minute.
	Hangs Behaviour = "hang"
	// Redirects: it answers with a redirect to the address of metadata services, 169.254.169.254.
	Redirects Behaviour = "redirect"
	// Unwanted: it answers with 410, which ends the attempts.
	Unwanted Behaviour = "gone"
)

// Behaviours are all of them.
func Behaviours() []Behaviour { return []Behaviour{Takes, Fails, Hangs, Redirects, Unwanted} }

// ErrBehaviour says that there is no such behaviour.
var ErrBehaviour = errors.New("no such behaviour of a receiver of webhooks")

// Webhook is one attempt that the receiver got.
type Webhook struct {
	// Key numbers attempts.
	Key      string    `json:"key"`
	Received time.Time `json:"received"`
	// Path is where it was sent, below the receiver's address.
	Path   string              `json:"path"`
	Header map[string][]string `json:"headers"`
	Body   string              `json:"body"`
	// Status is what the receiver answered; 0: nothing yet.
	Status int `json:"status"`
	// Verified says whether a signature is by one of the secrets that the receiver knows. It is absent if the receiver
	// knows none.
	Verified *bool `json:"verified,omitempty"`
}

// Receiver is an endpoint for webhooks, as agents have one. The zero value takes everything, and is safe for concurrent
// use.
type Receiver struct {
	mutex      sync.Mutex
	webhooks   []Webhook
	behaviours map[string]Behaviour // by path
	secrets    []string
}

// ServeHTTP takes a webhook on any path. A path behaves as [Receiver.Behave] says.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(io.LimitReader(request.Body, maxWebhook))
	if err != nil {
		http.Error(w, "the body did not come", http.StatusBadRequest)
		return
	}
	got := Webhook{Key: rand.Text()[:12], Received: time.Now(), Path: request.URL.RequestURI(), Header: request.Header,
		Body: string(body)}
	r.mutex.Lock()
	behaviour, secrets := r.behaviours[request.URL.Path], slices.Clone(r.secrets)
	r.mutex.Unlock()
	got.Status = map[Behaviour]int{Takes: http.StatusNoContent, Fails: http.StatusInternalServerError,
		Redirects: http.StatusTemporaryRedirect, Unwanted: http.StatusGone}[behaviour]
	if len(secrets) > 0 {
		got.Verified = new(signed(request.Header, body, secrets))
	}
	r.keep(got)
	if behaviour == Hangs {
		timer := time.NewTimer(longestHang)
		defer timer.Stop()
		select {
		case <-request.Context().Done():
		case <-timer.C:
		}
		return
	}
	if behaviour == Redirects {
		w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
	}
	w.WriteHeader(got.Status)
}

// signed reports whether a webhook has a signature by one of the secrets ("Verifying signatures", Standard Webhooks).
func signed(header http.Header, body []byte, secrets []string) bool {
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			continue
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), body)
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if slices.Contains(strings.Fields(header.Get("Webhook-Signature")), want) {
			return true
		}
	}
	return false
}

func (r *Receiver) keep(got Webhook) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.webhooks = append(r.webhooks, got)
	if over := len(r.webhooks) - keptWebhooks; over > 0 {
		r.webhooks = slices.Delete(r.webhooks, 0, over)
	}
}

// Webhooks are the attempts that came, oldest first.
func (r *Receiver) Webhooks() []Webhook {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]Webhook{}, r.webhooks...)
}

// Clear forgets all attempts.
func (r *Receiver) Clear() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.webhooks = nil
}

// Behave makes a path answer that way from now on. Errors: ErrBehaviour.
func (r *Receiver) Behave(path string, behaviour Behaviour) error {
	if !slices.Contains(Behaviours(), behaviour) {
		return fmt.Errorf("%w: got %q, allowed are fail, hang, redirect, gone, and an empty text to take webhooks",
			ErrBehaviour, behaviour)
	}
	if !strings.HasPrefix(path, "/") {
		return fmt.Errorf("%w: got the path %q: begin it with /", ErrBehaviour, path)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.behaviours == nil {
		r.behaviours = map[string]Behaviour{}
	}
	if r.behaviours[path] = behaviour; behaviour == Takes {
		delete(r.behaviours, path)
	}
	return nil
}

// Behaviours are those of all paths that do not take webhooks.
func (r *Receiver) Behaviours() map[string]Behaviour {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return maps.Clone(r.behaviours)
}

// Know makes the receiver check signatures by these secrets from now on.
func (r *Receiver) Know(secrets []string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.secrets = slices.Clone(secrets)
}
