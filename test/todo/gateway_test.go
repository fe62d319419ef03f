package todo

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Whether the API answers can be asked without a token.
func TestHealth(t *testing.T) {
	t.Parallel()
	c := platform.NewClient(t, shared(t).Target)
	if r := c.MustSend(t, http.MethodGet, "/health", nil, nil); r.Status != http.StatusOK {
		t.Errorf("got %v; want 200", r)
	}
}
