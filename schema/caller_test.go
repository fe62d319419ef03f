package schema_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Callers of a platform outside this module.
var (
	admin    = schema.Caller{Name: "admin", Token: schema.TokenOfUser, Group: "admin"}
	importer = schema.Caller{Name: "importer", Token: schema.TokenOfProgram, Scope: "notes/import"}
	player   = schema.Caller{Name: "player", Header: "X-Player"}
)

// calling is a platform with routes of those callers, after one of users.
func calling(callers ...schema.Caller) schema.Platform {
	p := minimal()
	for _, c := range callers {
		p.Routes = append(p.Routes, schema.Route{Method: "GET", Path: "/" + c.Name + c.Group, Function: "api",
			Caller: c})
	}
	return p
}

// A platform has the callers, groups and scopes that its routes name.
func TestCallers(t *testing.T) {
	t.Parallel()
	p := calling(admin, importer, player, importer, schema.CallerAnyone)
	p.Routes[4].Path = "/again"
	p.RateLimits = append(p.RateLimits, schema.RateLimit{Name: "play", Requests: 1, Window: time.Hour, Per: "player",
		AddressRequests: 20})
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	got := map[string]any{"callers": p.Callers(), "groups": p.Groups(), "scopes": p.Scopes(),
		"of players": p.RoutesOf(player)}
	want := map[string]any{
		"callers": []schema.Caller{schema.CallerUser, admin, importer, player, schema.CallerAnyone},
		"groups":  []string{"admin"}, "scopes": []string{"import"},
		"of players": []string{"GET /player"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Wrong callers are refused, with where they are and what to write instead.
func TestValidateCallers(t *testing.T) {
	t.Parallel()
	changed := func(c schema.Caller, change func(*schema.Caller)) schema.Platform {
		change(&c)
		return calling(c)
	}
	limited := func(per schema.Identity) schema.Platform {
		p := calling(player)
		p.RateLimits = append(p.RateLimits, schema.RateLimit{Name: "play", Requests: 1, Window: time.Hour, Per: per,
			AddressRequests: 20})
		return p
	}
	for name, test := range map[string]struct {
		platform        schema.Platform
		path, got, text string
	}{
		"ErrName": {changed(player, func(c *schema.Caller) { c.Name = "A Player" }),
			"Routes[GET /A Player].Caller", `"A Player"`, "small letters"},
		"ErrToken": {changed(player, func(c *schema.Caller) { c.Token = "cookie" }),
			"Routes[GET /player].Caller.Token", `"cookie"`, "TokenOfUser"},
		"ErrScopeOfUser": {changed(importer, func(c *schema.Caller) { c.Token = schema.TokenOfUser }),
			"Routes[GET /importer].Caller.Scope", `"notes/import"`, "TokenOfProgram"},
		"ErrScope": {changed(importer, func(c *schema.Caller) { c.Scope = "import" }),
			"Routes[GET /importer].Caller.Scope", `"import"`, "links/import"},
		"ErrScopeOfOther": {changed(importer, func(c *schema.Caller) { c.Scope = "other/import" }),
			"Routes[GET /importer].Caller.Scope", `"other/import"`, "notes/"},
		"ErrGroupOfNone": {changed(admin, func(c *schema.Caller) { c.Token = schema.NoToken }),
			"Routes[GET /adminadmin].Caller.Group", `"admin"`, "TokenOfUser"},
		"ErrGroup": {changed(admin, func(c *schema.Caller) { c.Group = "a b" }),
			"Routes[GET /admina b].Caller.Group", `"a b"`, "name of a group"},
		"ErrHeader": {changed(player, func(c *schema.Caller) { c.Header = "X Player" }),
			"Routes[GET /player].Caller.Header", `"X Player"`, "header"},
		"ErrTwoOfOneName": {calling(admin, schema.Caller{Name: "admin", Token: schema.TokenOfUser}),
			"Routes[GET /admin].Caller", `"admin"`, "once"},
		"ErrLimitPerNone": {limited("agent"), "RateLimits[play].Per", `"agent"`, "PerAddress"},
		"ErrLimitPerUser": {limited(schema.PerUser), "RateLimits[play].AddressRequests", "20", "without a token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, _ := errors.AsType[finding.List](test.platform.Validate())
			wants(t, found, test.path, test.got, test.text)
		})
	}
}
