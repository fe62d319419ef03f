package console

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/run/internal/services/webhooks"
)

// WebhooksPath begins the addresses that the console takes webhooks at.
const WebhooksPath = "/webhooks/in/"

// Webhooks are what came to the console's endpoint for webhooks.
type Webhooks struct {
	// Webhooks are the attempts, oldest first.
	Webhooks []webhooks.Webhook `json:"webhooks"`
	// Behaviours are those of the paths that do not take webhooks.
	Behaviours map[string]webhooks.Behaviour `json:"behaviours"`
	// Path begins the addresses of the endpoint, on the console's own.
	Path string `json:"path"`
}

func (c *Console) webhooks(r *http.Request) (Webhooks, error) {
	most, err := number(r, "limit", 0, limitListed)
	if err != nil {
		return Webhooks{}, err
	}
	all := Webhooks{Webhooks: c.parts.Webhooks.Webhooks(), Behaviours: c.parts.Webhooks.Behaviours(),
		Path: WebhooksPath}
	if most > 0 && len(all.Webhooks) > most {
		all.Webhooks = all.Webhooks[len(all.Webhooks)-most:]
	}
	if all.Behaviours == nil {
		all.Behaviours = map[string]webhooks.Behaviour{}
	}
	return all, nil
}

// PathBehaviour is the body of POST /webhooks/behaviours.
type PathBehaviour struct {
	// Path is a path of the endpoint, without what all of them begin with.
	Path string `json:"path"`
	// Behaviour is what the path does with webhooks from now on.
	Behaviour webhooks.Behaviour `json:"behaviour"`
}

func (c *Console) behave(_ *http.Request, wanted PathBehaviour) (nothing, error) {
	if err := c.parts.Webhooks.Behave(wanted.Path, wanted.Behaviour); err != nil {
		return nothing{}, &Problem{http.StatusBadRequest, err.Error()}
	}
	return nothing{}, nil
}

// Secrets is the body of POST /webhooks/secrets.
type Secrets struct {
	// Secrets are those that sign webhooks.
	Secrets []string `json:"secrets"`
}

func (c *Console) knowSecrets(_ *http.Request, known Secrets) (nothing, error) {
	c.parts.Webhooks.Know(known.Secrets)
	return nothing{}, nil
}
