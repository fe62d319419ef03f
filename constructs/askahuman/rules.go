package askahuman

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// RateLimit limits the requests of one caller. A zero field has its default from [askahuman.DefaultRules].
type RateLimit struct {
	// Requests is how many calls a window allows, 1 to 1,000,000.
	Requests int
	// Window is the length of a window, 1 minute to 24 hours in whole seconds.
	Window time.Duration
	// AddressRequests limits the calls of all known persons of one address together in a window: Requests to
	// 100,000,000. It is for "answer", "read" and "subscribe". Default: 20 times Requests, and no limit for "answer".
	AddressRequests int
}

// rules returns the platform's rules with the changes that the props make.
func (p Props) rules() askahuman.Rules {
	rules := askahuman.DefaultRules()
	for i, limit := range rules.RateLimits {
		own := p.RateLimits[limit.Name]
		limit.Window = cmp.Or(own.Window, limit.Window)
		if own.Requests != 0 {
			if limit.AddressRequests != 0 {
				limit.AddressRequests = own.Requests * askahuman.AddressesPerPerson
			}
			limit.Requests = own.Requests
		}
		limit.AddressRequests = cmp.Or(own.AddressRequests, limit.AddressRequests)
		rules.RateLimits[i] = limit
	}
	for name := range rules.Points {
		if points, ok := p.Points[name]; ok {
			rules.Points[name] = points
		}
	}
	rules.DailyPoints = cmp.Or(p.DailyPoints, rules.DailyPoints)
	rules.OpenQuestions = cmp.Or(p.OpenQuestions, rules.OpenQuestions)
	return rules
}

// checkRules adds what is wrong with the rules.
func (p Props) checkRules(f *finding.List) {
	byDefault := askahuman.DefaultRules()
	limits := make([]string, len(byDefault.RateLimits))
	for i, l := range byDefault.RateLimits {
		limits[i] = l.Name
	}
	checkNames(f, "Props.RateLimits", p.RateLimits, limits)
	checkNames(f, "Props.Points", p.Points, slices.Sorted(maps.Keys(byDefault.Points)))
	f.AddAll(p.rules().OutOfRange(), "", "Props.")
}

// checkNames adds a finding for each key of the map that is not among the names.
func checkNames[V any](f *finding.List, path string, values map[string]V, names []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			f.Add(fmt.Sprintf("%s[%q]", path, name), name, "one of "+strings.Join(names, ", "),
				"correct or remove the name")
		}
	}
}
