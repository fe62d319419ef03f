package webapp

import (
	"context"
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// SignIn has the settings of the module signin.js. [Config.Connect] has to list the URL.
type SignIn struct {
	// URL is the base URL of the sign-in pages.
	URL string `json:"url"`
	// Client is the id of the page's app client.
	Client string `json:"client"`
	// Page is the URL of the page, to which people return after they have signed in.
	Page string `json:"page"`
}

// Settings returns the [Config.Settings] of a page that needs no others: the sign-in as the member signIn.
func (s SignIn) Settings() any {
	return struct {
		SignIn SignIn `json:"signIn"`
	}{s}
}

// Start starts a function that serves the page which newPage returns. It has [schema.Function.SignsInAt].
func Start(platform string, newPage func(SignIn) (*kit.API, error)) {
	kit.StartHTTP(platform, func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		signIn, err := SignInFrom(environment)
		if err != nil {
			return nil, err
		}
		return newPage(signIn)
	})
}

// SignInFrom reads the environment variables of a function with [schema.Function.SignsInAt]. It fails if one is empty.
func SignInFrom(environment kit.Environment) (SignIn, error) {
	s := SignIn{environment.Getenv(schema.SignInURLVariable), environment.Getenv(schema.SignInClientVariable),
		environment.Getenv(schema.SignInPageVariable)}
	if s.URL == "" || s.Client == "" || s.Page == "" {
		return SignIn{}, fmt.Errorf("reading where people sign in: got %+v, none may be empty: set %s, %s and %s", s,
			schema.SignInURLVariable, schema.SignInClientVariable, schema.SignInPageVariable)
	}
	return s, nil
}
