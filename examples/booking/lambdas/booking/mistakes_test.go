package booking

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"example.com/booking/hotel"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/schema"
)

// What no synth can see, since only the text of a function says it, is refused before a request is sent.
func TestMistakes(t *testing.T) {
	t.Parallel()
	read := func(s *Service) error { _, err := s.Get(t.Context(), "alice", "id"); return err }
	write := func(s *Service) error {
		return s.PutEndpoint(t.Context(), hotel.Endpoint{URL: "https://hotel.example.com/"}, webhook.Addresses{})
	}
	for name, mistake := range map[string]struct {
		plant    func(*schema.Platform)
		function string
		request  func(*Service) error
		says     []string
	}{
		"a pattern that is misspelt": {func(p *schema.Platform) { pattern(p, "GetBooking").Name = "GetBoking" },
			hotel.GuestAPI, read, []string{`"GetBooking"`}},
		"a pattern of another function": {
			func(p *schema.Platform) { pattern(p, "GetBooking").Functions = []string{hotel.StaffAPI} },
			hotel.GuestAPI, read, []string{`"GetBooking"`, `let the pattern say UsedBy("guestapi")`}},
		"an attribute that no table declares": {func(p *schema.Platform) {
			settings := slices.IndexFunc(p.Database.Tables, func(t schema.Table) bool { return t.Name == "Settings" })
			attributes := &p.Database.Tables[settings].Attributes
			*attributes = slices.DeleteFunc(*attributes, func(a schema.Attribute) bool { return a.Name == "url" })
		}, hotel.StaffAPI, write, []string{"url", "Settings"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform := hotel.Platform()
			mistake.plant(&platform)
			db, err := dynamo.Open(kit.Environment{AWS: aws.Config{Region: "eu-central-1"},
				Getenv: func(variable string) string { return variable }}, platform, mistake.function)
			if err != nil {
				t.Fatal(err)
			}
			err = mistake.request(&Service{DB: db})
			if err == nil {
				t.Fatal("the request was sent")
			}
			for _, part := range mistake.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %v; want a text that names %q", err, part)
				}
			}
		})
	}
}

func pattern(p *schema.Platform, name string) *schema.AccessPattern {
	return &p.Database.AccessPatterns[slices.IndexFunc(p.Database.AccessPatterns,
		func(a schema.AccessPattern) bool { return a.Name == name })]
}
