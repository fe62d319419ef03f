package schema

import "slices"

// Own is what a team adds to a platform of somebody else's: functions on its tables, with access patterns, routes and
// rate limits. The construct takes it as Props.Own, and a function opens the tables of [Platform.Join].
type Own struct {
	// Module is the path of the Go module with the main packages of the functions, lambdas/PLATFORM/FUNCTION.
	Module string
	// AccessPatterns are further requests to the platform's tables.
	AccessPatterns []AccessPattern
	// RateLimits, Functions and Routes are as a platform's own. Names must differ from the platform's.
	RateLimits []RateLimit
	Functions  []Function
	Routes     []Route
}

// Join returns the platform with what a team has added to it.
func (p Platform) Join(own Own) Platform {
	p.Database.AccessPatterns = slices.Concat(p.Database.AccessPatterns, own.AccessPatterns)
	p.RateLimits = slices.Concat(p.RateLimits, own.RateLimits)
	p.Functions = slices.Concat(p.Functions, own.Functions)
	p.Routes = slices.Concat(p.Routes, own.Routes)
	return p
}
