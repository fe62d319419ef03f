package console

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/internal/services/fcm"
)

// WebhooksPath begins the addresses that the console takes webhooks at.
const WebhooksPath = "/webhooks/in/"

// Webhooks are what came to the console's endpoint for webhooks.
type Webhooks struct {
	// Webhooks are the attempts, oldest first.
	Webhooks []fcm.Webhook `json:"webhooks"`
	// Behaviours are those of the paths that do not take webhooks.
	Behaviours map[string]fcm.Behaviour `json:"behaviours"`
	// Path begins the addresses of the endpoint, on the console's own.
	Path string `json:"path"`
}

func (c *Console) webhooks(r *http.Request) (any, error) {
	most, err := number(r, "limit", 0, limitListed)
	if err != nil {
		return nil, err
	}
	all := Webhooks{Webhooks: c.rooms.Webhooks.Webhooks(), Behaviours: c.rooms.Webhooks.Behaviours(),
		Path: WebhooksPath}
	if most > 0 && len(all.Webhooks) > most {
		all.Webhooks = all.Webhooks[len(all.Webhooks)-most:]
	}
	if all.Behaviours == nil {
		all.Behaviours = map[string]fcm.Behaviour{}
	}
	return all, nil
}

func (c *Console) behave(r *http.Request) (any, error) {
	var request struct {
		Path      string
		Behaviour fcm.Behaviour
	}
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	if err := c.rooms.Webhooks.Behave(request.Path, request.Behaviour); err != nil {
		return nil, &Problem{http.StatusBadRequest, err.Error()}
	}
	return nil, nil
}

func (c *Console) knowSecrets(r *http.Request) (any, error) {
	var request struct{ Secrets []string }
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	c.rooms.Webhooks.Know(request.Secrets)
	return nil, nil
}
