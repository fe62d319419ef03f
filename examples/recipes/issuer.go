package recipes

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// Issuer lets users in who show a token of your OpenID Connect issuer, such as Auth0, Keycloak or Microsoft Entra. The
// stack then has no user pool of Amazon Cognito. A user is the subject of the token.
//
// Change both values: the issuer is the "issuer" of its /.well-known/openid-configuration, to the last slash, and the
// audience is what its tokens for this API have as "aud".
func Issuer(stack awscdk.Stack, build *gofunction.Build) {
	todo.New(stack, "Todo", todo.Props{Props: platform.Props{
		JWTIssuer: "https://login.example.com/", JWTAudience: []string{"https://todo.example.com"}, Build: build,
	}})
}
