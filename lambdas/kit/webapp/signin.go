package webapp

import (
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// SignIn is what the module signin.js needs to know. The page's Connect has to have the URL.
type SignIn struct {
	// URL is where the sign-in pages are.
	URL string `json:"url"`
	// Client is the id of the page's app client.
	Client string `json:"client"`
	// Page is the whole address of the page, where people come back to.
	Page string `json:"page"`
}

// Settings are the settings of a page that has the sign-in alone.
func (s SignIn) Settings() any {
	return struct {
		SignIn SignIn `json:"signIn"`
	}{s}
}

// SignInFrom reads the variables of a function with [schema.Function.SignsInAt].
func SignInFrom(environment kit.Environment) (SignIn, error) {
	s := SignIn{environment.Getenv(schema.SignInURLVariable), environment.Getenv(schema.SignInClientVariable),
		environment.Getenv(schema.SignInPageVariable)}
	if s.URL == "" || s.Client == "" || s.Page == "" {
		return SignIn{}, fmt.Errorf("reading where people sign in: got %+v, none may be empty: set %s, %s and %s", s,
			schema.SignInURLVariable, schema.SignInClientVariable, schema.SignInPageVariable)
	}
	return s, nil
}
