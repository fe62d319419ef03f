package identity

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
)

// JWT says that an API in the stack of the scope takes the tokens that a user pool of the
// same region issues for those app clients.
func JWT(scope constructs.Construct, pool awscognito.IUserPool, clients ...awscognito.IUserPoolClient) httpapi.JWT {
	jwt := httpapi.JWT{Issuer: issuer(scope, pool)}
	for _, client := range clients {
		jwt.Audience = append(jwt.Audience, *client.UserPoolClientId())
	}
	return jwt
}
