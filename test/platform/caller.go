package platform

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
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

// Call makes a request of an operation without a body, which has to succeed, and returns the answer.
func Call[P, A any](t testing.TB, by client.Sender, op schema.Operation[P, schema.None, A], params P) A {
	t.Helper()
	return onesynthtest.Call(t, by, op, params, schema.None{}).Value
}

// Post makes a request of an operation without parameters, which has to succeed, and returns the answer.
func Post[B, A any](t testing.TB, by client.Sender, op schema.Operation[schema.None, B, A], body B) A {
	t.Helper()
	return onesynthtest.Call(t, by, op, schema.None{}, body).Value
}
