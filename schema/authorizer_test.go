package schema_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Callers whom API Gateway finds out by other ways than a token.
var (
	partner = schema.Caller{Name: "partner", Authorizer: "gate"}
	service = schema.Caller{Name: "service", IAM: true}
)

// guarded has a route of partners, whom the function gate lets in, and one of services.
func guarded(change func(gate *schema.Function, trigger *schema.OnAuthorize)) schema.Platform {
	p := calling(partner, service)
	gate := schema.Function{Name: "gate"}
	trigger := schema.OnAuthorize{Identity: []string{"$request.header.X-Partner-Key", "$context.routeKey"},
		CacheFor: time.Minute}
	change(&gate, &trigger)
	gate.Trigger = trigger
	p.Functions = append(p.Functions, gate)
	return p
}

func TestAuthorizers(t *testing.T) {
	t.Parallel()
	p := guarded(func(*schema.Function, *schema.OnAuthorize) {})
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	got := map[string]any{"authorizers": p.Authorizers(), "partner": partner.Verified(), "service": service.Verified(),
		"user": schema.CallerUser.Verified(), "player": player.Verified(),
		"token of a service": service.Authenticated()}
	want := map[string]any{
		"authorizers": map[string]schema.OnAuthorize{"gate": {CacheFor: time.Minute,
			Identity: []string{"$request.header.X-Partner-Key", "$context.routeKey"}}},
		"partner": true, "service": true, "user": true, "player": false, "token of a service": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Wrong authorizers are refused, with where they are and what to write instead.
func TestValidateAuthorizers(t *testing.T) {
	t.Parallel()
	const path = "Functions[gate].Trigger"
	for name, test := range map[string]struct {
		platform        schema.Platform
		path, got, text string
	}{
		"ErrIdentity": {guarded(func(_ *schema.Function, o *schema.OnAuthorize) { o.Identity[0] = "X-Partner-Key" }),
			path + ".Identity[0]", `"X-Partner-Key"`, "$request.header.NAME"},
		"ErrIdentityTwice": {guarded(func(_ *schema.Function, o *schema.OnAuthorize) { o.Identity[1] = o.Identity[0] }),
			path + ".Identity[1]", `"$request.header.X-Partner-Key"`, "once"},
		"ErrLongCache": {guarded(func(_ *schema.Function, o *schema.OnAuthorize) { o.CacheFor = 2 * time.Hour }),
			path + ".CacheFor", "2h0m0s", "1h0m0s"},
		"ErrCacheWithoutIdentity": {guarded(func(_ *schema.Function, o *schema.OnAuthorize) { o.Identity = nil }),
			path + ".CacheFor", "1m0s", "name the Identity"},
		"ErrTimeout": {guarded(func(gate *schema.Function, _ *schema.OnAuthorize) { gate.Timeout = 11 * time.Second }),
			"Functions[gate].Timeout", "11s", "10s"},
		"ErrNoCaller": {func() schema.Platform {
			p := guarded(func(*schema.Function, *schema.OnAuthorize) {})
			p.Routes[1].Caller = schema.CallerAnyone
			return p
		}(), path, "OnAuthorize", "name it as its Authorizer"},
		"ErrServes": {func() schema.Platform {
			p := guarded(func(*schema.Function, *schema.OnAuthorize) {})
			p.Routes[2].Function = "gate"
			return p
		}(), path, "OnAuthorize", "another function"},
		"ErrNoAuthorizer": {calling(partner), "Routes[GET /partner].Caller.Authorizer", `"gate"`, "OnAuthorize"},
		"ErrAuthorizerName": {calling(schema.Caller{Name: "partner", Authorizer: "The Gate"}),
			"Routes[GET /partner].Caller.Authorizer", `"The Gate"`, "OnAuthorize"},
		"ErrTokenToo": {calling(schema.Caller{Name: "partner", IAM: true, Token: schema.TokenOfUser}),
			"Routes[GET /partner].Caller.IAM", "true", "one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, _ := errors.AsType[finding.List](test.platform.Validate())
			wants(t, found, test.path, test.got, test.text)
		})
	}
}
