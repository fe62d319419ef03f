package schema

import "slices"

// The environment variables of a function with [Function.SignsInAt]. Its page uses the authorization code grant of
// OAuth 2.0 with a proof key (PKCE).
const (
	// SignInURLVariable has the URL of the user pool's domain, which has the sign-in pages, without a path.
	SignInURLVariable = "SIGN_IN_URL"
	// SignInClientVariable has the id of the page's app client.
	SignInClientVariable = "SIGN_IN_CLIENT"
	// SignInPageVariable has the URL of the function's page, to which people return after they have signed in.
	SignInPageVariable = "SIGN_IN_PAGE"
)

// SignInPages returns the functions with a page on which users sign in.
func (p Platform) SignInPages() []Function {
	return slices.DeleteFunc(slices.Clone(p.Functions), func(fn Function) bool { return fn.SignsInAt == "" })
}

// validateSignIn checks the page on which users sign in.
func (p Platform) validateSignIn(f *findings, path string, fn Function) {
	if fn.SignsInAt == "" {
		return
	}
	if !slices.ContainsFunc(p.Routes, func(r Route) bool {
		return r.Function == fn.Name && r.Key() == "GET "+fn.SignsInAt && r.Caller == CallerAnyone
	}) {
		f.add(path+".SignsInAt", quoted(fn.SignsInAt),
			"name the path of a route GET of the function with CallerAnyone: people open the page before they sign in")
	}
	if !slices.ContainsFunc(p.Routes, func(r Route) bool { return r.Caller.Token == TokenOfUser }) {
		f.add(path+".SignsInAt", quoted(fn.SignsInAt), "add a route whose Caller has a TokenOfUser, such as "+
			"CallerUser: without one the platform has no user pool")
	}
}
