// Command gate lets partners in whose key is their name and "'s key".
package main

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartResponder("todo", func(context.Context, kit.Environment) (
		func(context.Context, events.APIGatewayV2CustomAuthorizerV2Request) (
			events.APIGatewayV2CustomAuthorizerSimpleResponse, error), error) {
		return authorize, nil
	})
}

func authorize(_ context.Context, request events.APIGatewayV2CustomAuthorizerV2Request) (
	answer events.APIGatewayV2CustomAuthorizerSimpleResponse, err error) {
	key := request.IdentitySource[0]
	if key == "broken" {
		return answer, errors.New("the list of partners cannot be read")
	}
	name, ok := strings.CutSuffix(key, "'s key")
	answer.IsAuthorized, answer.Context = ok, map[string]any{"sub": name, "tier": "gold"}
	return answer, nil
}
