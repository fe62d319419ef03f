package clarity_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/clarity"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

// A page needs a user pool at which its people sign in.
func TestPropsValidate(t *testing.T) {
	t.Parallel()
	issuer := platform.Props{JWTIssuer: "https://a.example", JWTAudience: []string{"b"}}
	synthtest.Validate(t, map[string]synthtest.Case[clarity.Props]{
		"Zero":            {clarity.Props{}, nil},
		"Page":            {clarity.Props{Page: true}, nil},
		"ErrPageOfIssuer": {clarity.Props{Page: true, Props: issuer}, []string{"Props.Page"}},
	})
}
