package runtest

import (
	"encoding/json"
	"net/http"

	"github.com/onesynth-cdk/onesynth/run/internal/services/webhooks"
)

// What left the run: webhooks, and pushes to devices.

// Webhook is an attempt at a webhook that reached the run's endpoint.
type Webhook struct {
	// Path is the path below the endpoint's URL; it begins with /.
	Path string
	// Header and Body are the request's.
	Header http.Header
	Body   string
	// Status is the status of the endpoint's answer; 0: there is none yet.
	Status int
}

// Webhooks returns the attempts so far, the newest first.
func (r Run) Webhooks() (all []Webhook) {
	for _, w := range r.parts().Webhooks.Webhooks() {
		all = append(all, Webhook{w.Path, w.Header, w.Body, w.Status})
	}
	return all
}

// ClearWebhooks removes the attempts so far.
func (r Run) ClearWebhooks() { r.parts().Webhooks.Clear() }

// FailWebhooks makes the run's endpoint answer webhooks below a path, such as /down, with 500, or, without fail, take
// them again.
func (r Run) FailWebhooks(path string, fail bool) error {
	behaviour := webhooks.Takes
	if fail {
		behaviour = webhooks.Fails
	}
	return r.parts().Webhooks.Behave(path, behaviour)
}

// KnowSecrets makes the run's endpoint verify the signatures of webhooks by these secrets.
func (r Run) KnowSecrets(secrets ...string) { r.parts().Webhooks.Know(secrets) }

// Push is a message to a device.
type Push struct {
	// Token is the token of the device.
	Token string
	// Message is the message as it was sent.
	Message json.RawMessage
}

// Pushes returns the messages to devices that the run's inbox has taken.
func (r Run) Pushes() (all []Push) {
	for _, message := range r.parts().Inbox.Messages() {
		all = append(all, Push{message.Token, message.Message})
	}
	return all
}

// PushURL returns the URL of the run's inbox, which stands in for Firebase Cloud Messaging.
func (r Run) PushURL() string { return r.parts().Inbox.URL() }

// ServiceAccount returns a service account that the run's inbox accepts, as Google's JSON.
func (r Run) ServiceAccount() (string, error) { return r.parts().Inbox.ServiceAccount("") }
