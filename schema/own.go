package schema

import (
	"maps"
	"slices"
)

// Own has the functions, access patterns, routes and rate limits that a team adds to a platform that it imports. The
// construct takes it as Props.Own. A function opens the tables of the platform that [Platform.Join] returns.
type Own struct {
	// Module is the path of the Go module with the main packages of the functions, lambdas/PLATFORM/FUNCTION.
	Module string
	// AccessPatterns are further requests to the platform's tables, and the platform's own patterns that Functions use
	// ([Existing]).
	AccessPatterns []AccessPattern
	// RateLimits, Functions and Routes are declared as a platform declares its own. Their names must differ from the
	// platform's.
	RateLimits []RateLimit
	Functions  []Function
	Routes     []Route
	// Callers replace the callers of the platform's own routes, by method and path such as "GET /api/v1/tasks". Each
	// has an Authorizer, one of Functions, or IAM. The platform's handlers use the caller's ID in place of the subject
	// of a token. Default: the platform's callers stay.
	Callers map[string]Caller
	// Credentials say how further callers identify themselves, as in [API.Credentials]. Default: they do not.
	Credentials map[Caller]Credential
}

// Without returns the platform without a function. Its access patterns no longer name the function.
func (p Platform) Without(function string) Platform {
	p.Functions = slices.DeleteFunc(slices.Clone(p.Functions), func(f Function) bool { return f.Name == function })
	p.Database.AccessPatterns = slices.Clone(p.Database.AccessPatterns)
	for i, pattern := range p.Database.AccessPatterns {
		p.Database.AccessPatterns[i].Functions = slices.DeleteFunc(slices.Clone(pattern.Functions),
			func(name string) bool { return name == function })
	}
	return p
}

// Join returns the platform with a team's functions, access patterns, routes, rate limits and callers.
func (p Platform) Join(own Own) Platform {
	p.Database.AccessPatterns = slices.Clone(p.Database.AccessPatterns)
	for _, pattern := range own.AccessPatterns {
		is := func(other AccessPattern) bool { return other.Name == pattern.Name && pattern.Action == "" }
		if i := slices.IndexFunc(p.Database.AccessPatterns, is); i >= 0 {
			existing := &p.Database.AccessPatterns[i]
			existing.Functions = slices.Concat(existing.Functions, pattern.Functions)
		} else {
			p.Database.AccessPatterns = append(p.Database.AccessPatterns, pattern)
		}
	}
	p.RateLimits = slices.Concat(p.RateLimits, own.RateLimits)
	p.Functions = slices.Concat(p.Functions, own.Functions)
	p.joined = slices.Clone(p.joined)
	for _, f := range own.Functions {
		p.joined = append(p.joined, f.Name)
	}
	p.Routes = slices.Concat(p.Routes, own.Routes)
	credentials := map[Caller]Credential{}
	maps.Copy(credentials, p.API.Credentials)
	maps.Copy(credentials, own.Credentials)
	p.API.Credentials = credentials
	for i, r := range p.Routes {
		if caller, ok := own.Callers[r.Key()]; ok {
			p.Routes[i].Caller = caller
		}
	}
	return p
}
