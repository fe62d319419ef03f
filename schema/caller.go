package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Caller is a kind of caller of a platform's routes, such as users, administrators, programs or anonymous people. Each
// platform declares its own; two are the same kind if all of their fields are equal.
type Caller struct {
	// Name identifies the kind in documents, findings and [RateLimit.Per], such as "user": small letters, digits and -.
	Name string
	// Token is the kind of token that Amazon API Gateway requires on the route. It answers a
	// request without a valid one with 401. Functions read the caller from the token's subject.
	// Default: none.
	Token Token
	// Scope is the scope that a program's token must have, such as "links/import": the platform's
	// name and what the program may do. API Gateway answers other tokens with 403. Default: any
	// token is accepted.
	Scope string
	// Group is the group of the user pool that a user must be in, such as "admin". The function
	// answers others with 403 (lambdas/kit/httpapi), because API Gateway does not read groups. The
	// platform's own user pool has the group. Default: any user is accepted.
	Group string
	// Authorizer is the name of a function that Amazon API Gateway asks whether to let a request in: its Trigger is
	// [OnAuthorize]. Default: none.
	Authorizer string
	// IAM requires callers to sign their requests with credentials of AWS (Signature Version 4), and IAM to allow them
	// execute-api:Invoke on the route. API Gateway answers others with 403. Default: no signature is required.
	IAM bool
	// Header is the request header by which functions identify callers without a token, such as
	// "X-Fingerprint". Default: they are not identified.
	Header string
}

// Token says what kind of caller a token is issued to.
type Token string

// The tokens. The zero value is none.
const (
	NoToken Token = ""
	// TokenOfUser is issued to a person who has signed in.
	TokenOfUser Token = "user"
	// TokenOfProgram is issued to a program with its own credentials.
	TokenOfProgram Token = "program"
)

var (
	// CallerAnyone is a caller without a token and without a header.
	CallerAnyone = Caller{Name: "anyone"}
	// CallerUser is a signed-in user, identified by the subject of a JWT.
	CallerUser = Caller{Name: "user", Token: TokenOfUser}
)

// String returns the name.
func (c Caller) String() string { return c.Name }

// Authenticated reports whether such a caller has to show a token.
func (c Caller) Authenticated() bool { return c.Token != NoToken }

// Verified reports whether Amazon API Gateway authenticates the caller: by a token, an authorizer or a signature.
func (c Caller) Verified() bool { return c.Authenticated() || c.Authorizer != "" || c.IAM }

var (
	callerName = expression(`^[a-z][a-z0-9-]*$`)
	scopeName  = expression(`^[a-z][a-z0-9]*/[a-z0-9._-]+$`)
	groupName  = expression(`^[A-Za-z0-9._-]{1,128}$`)
	headerName = expression(`^[A-Za-z0-9-]+$`)
)

// Callers returns the kinds of callers that the routes have, each once, in the order of
// Routes.
func (p Platform) Callers() []Caller { return callersOf(p.Routes) }

func callersOf(routes []Route) []Caller {
	var callers []Caller
	for _, r := range routes {
		if !slices.Contains(callers, r.Caller) {
			callers = append(callers, r.Caller)
		}
	}
	return callers
}

// Groups returns the groups of users that the routes require, each once.
func (p Platform) Groups() []string {
	return eachOnce(p.Callers(), func(c Caller) string { return c.Group })
}

// Scopes returns the scopes that the routes require of programs' tokens, each once, without the
// platform's name.
func (p Platform) Scopes() []string {
	return eachOnce(p.Callers(), func(c Caller) string { return strings.TrimPrefix(c.Scope, p.Name+"/") })
}

// eachOnce returns the texts of the callers that have one, each once.
func eachOnce(callers []Caller, textOf func(Caller) string) []string {
	var texts []string
	for _, c := range callers {
		if text := textOf(c); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

func (c Caller) validate(f *findings, path string) {
	if !matches(callerName, c.Name) {
		f.add(path, quoted(c.Name), "write CallerAnyone, CallerUser or a Caller of your own, whose Name is of small "+
			"letters, digits and -")
	}
	switch c.Token {
	case NoToken, TokenOfUser, TokenOfProgram:
	default:
		f.add(path+".Token", quoted(string(c.Token)),
			"write TokenOfUser, TokenOfProgram, or nothing for callers without a token")
	}
	if c.Scope != "" && (c.Token != TokenOfProgram || !matches(scopeName, c.Scope)) {
		f.add(path+".Scope", quoted(c.Scope),
			`write the platform's name, / and what the program may do, such as "links/import", with TokenOfProgram; else leave it out`)
	}
	if c.Group != "" && (c.Token != TokenOfUser || !matches(groupName, c.Group)) {
		f.add(path+".Group", quoted(c.Group),
			`write the name of a group, such as "admin", with TokenOfUser; else leave it out`)
	}
	if c.Authorizer != "" && (!matches(functionName, c.Authorizer) || c.Authenticated()) {
		f.add(path+".Authorizer", quoted(c.Authorizer),
			"write the name of a function whose Trigger is OnAuthorize, without a Token; else leave it out")
	}
	if c.IAM && (c.Authenticated() || c.Authorizer != "") {
		f.add(path+".IAM", "true", "leave it out with a Token or an Authorizer: API Gateway asks for one of them")
	}
	if c.Header != "" && !matches(headerName, c.Header) {
		f.add(path+".Header", quoted(c.Header), `write the name of a header, such as "X-Fingerprint", or leave it out`)
	}
}

// validateCallers checks that all callers of one name are equal.
func validateCallers(f *findings, routes []Route) {
	callers := callersOf(routes)
	for _, r := range routes {
		i := slices.IndexFunc(callers, func(c Caller) bool { return c.Name == r.Caller.Name })
		if other := callers[i]; other != r.Caller {
			remedy := "name each kind of callers once: another route's Caller of that name differs"
			if other.Group != r.Caller.Group {
				remedy += fmt.Sprintf(", it has the group %q and this one %q", other.Group, r.Caller.Group)
			}
			f.add(r.path()+".Caller", quoted(r.Caller.Name), "%s", remedy)
		}
	}
}

// validateLimits checks the rate limits, and returns their names.
func (p Platform) validateLimits(f *findings) map[string]bool {
	callers := p.Callers()
	limits := unique(f, "RateLimits", p.RateLimits, func(l RateLimit) string { return l.Name })
	for _, l := range p.RateLimits {
		path := "RateLimits[" + l.Name + "]"
		if l.Requests < 1 {
			f.add(path+".Requests", fmt.Sprint(l.Requests), "write how many calls a window allows, at least 1")
		}
		if l.Window <= 0 {
			f.add(path+".Window", l.Window.String(), "write the length of a window, such as time.Hour")
		}
		i := slices.IndexFunc(callers, func(c Caller) bool { return c.Name == string(l.Per) })
		if l.AddressRequests != 0 && (i < 0 || callers[i].Authenticated() || l.AddressRequests < l.Requests) {
			f.add(path+".AddressRequests", fmt.Sprint(l.AddressRequests),
				"write Requests or more where Per is a kind of callers without a token, else leave it out")
		}
		if i < 0 && l.Per != PerAddress {
			f.add(path+".Per", quoted(string(l.Per)),
				"write PerAddress, or the name of a kind of callers that a route has, such as PerUser")
		}
	}
	return limits
}
