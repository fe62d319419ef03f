package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The function does not start when its operations and its routes differ, nor when it may not do what its operations need.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, mistake := range map[string]struct {
		plant func(*schema.Platform)
		says  []string
	}{
		"none": {func(*schema.Platform) {}, nil},
		"a route without an operation": {func(p *schema.Platform) {
			p.Routes = append(p.Routes, schema.Route{ID: "rate", Method: http.MethodPost, Path: "/ratings",
				Function: hotel.GuestAPI, Caller: schema.CallerUser, Summary: "Rate a stay"})
		}, []string{"no operation serves POST /ratings", "Routes of the schema"}},
		"keys that the function may not claim": {func(p *schema.Platform) {
			for i, pattern := range p.Database.AccessPatterns {
				if pattern.Name == schema.ClaimIdempotencyKey {
					p.Database.AccessPatterns[i].Functions = []string{hotel.StaffAPI}
				}
			}
		}, []string{"POST /bookings", "may not claim idempotency keys", "IdempotencyPatterns"}},
		"an operation without a route": {func(p *schema.Platform) {
			p.Routes = slices.DeleteFunc(p.Routes, func(r schema.Route) bool { return r.ID == "wait" })
		}, []string{`no route of booking has the ID "wait"`, "Routes of the schema"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform := hotel.Platform()
			mistake.plant(&platform)
			said := start(platform)
			if (said == "") != (len(mistake.says) == 0) {
				t.Errorf("got %q", said)
			}
			for _, part := range mistake.says {
				if !strings.Contains(said, part) {
					t.Errorf("got %q; want a text that names %q", said, part)
				}
			}
		})
	}
}

// start starts the function of a platform, and returns why it does not.
func start(platform schema.Platform) (said string) {
	defer func() {
		if reason := recover(); reason != nil {
			said = fmt.Sprint(reason)
		}
	}()
	e := kit.Environment{AWS: aws.Config{Region: "eu-central-1"}, Log: slog.New(slog.DiscardHandler),
		Getenv: func(variable string) string { return variable }}
	if _, err := serve(e, platform, dynamo.CursorKey("0123456789abcdef")); err != nil {
		return err.Error()
	}
	return ""
}
