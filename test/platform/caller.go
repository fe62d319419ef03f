package platform

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Caller is a user with a token.
type Caller struct {
	*onesynthtest.Client
	// ID is the token's subject, and Email is the user's address.
	ID, Email string
}

// NewCaller returns a new user in those groups: of the run's issuer, or of the stack's user pool.
func NewCaller(t testing.TB, on *Target, groups ...string) Caller {
	t.Helper()
	id := onesynthtest.Unique("user")
	c, token := Caller{NewClient(t, on), id, id + "@example.com"}, ""
	if on.Run != nil {
		claims := map[string]any{}
		if len(groups) > 0 {
			claims["cognito:groups"] = groups
		}
		token = on.Token(t, map[string]any{"sub": c.ID, "claims": claims})
	} else {
		c.ID, token = on.SignIn(t, c.Email, groups...)
	}
	c.Header = http.Header{"Authorization": {"Bearer " + token}}
	return c
}
