package schema

import "github.com/onesynth-cdk/onesynth/schema/problem"

// Headers of requests and answers that operations have in common.
const (
	// KeyHeader is the request header with the idempotency key.
	KeyHeader = "Idempotency-Key"
	// IfMatchHeader is the request header with the version that a change is for.
	IfMatchHeader = "If-Match"
	// ReplayedHeader is the response header that is "true" on a repeated answer.
	ReplayedHeader = "Idempotency-Replayed"
	// MaxKeyLength is how many characters an idempotency key has at most.
	MaxKeyLength = 255
)

// API is how a platform speaks HTTP: what its servers do, and its OpenAPI document says, beside the operations. The
// zero value serves operations for everyone.
type API struct {
	// Description says in the OpenAPI document what the platform is for.
	Description string
	// Strict refuses undeclared input: unknown and repeated fields, and unknown, empty and repeated query parameters.
	// Default: the server ignores them.
	Strict bool
	// MaxBodyBytes is the largest body. Zero: [problem.DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// Credentials say how callers identify themselves, by the kind that the routes name. Default: they do not.
	Credentials map[Caller]Credential
	// Groups are the groups of operations in the document, in its order. Default: none.
	Groups []Group
	// Forms are the names of forms in the document, by the names of their types. Default: the name of the type.
	Forms map[string]string
	// Errors say how errors are answered.
	Errors problem.Answers
	// Key says in the document what an idempotency key does.
	Key string
	// Passing are known errors that a later attempt may not meet: an idempotency key does not keep their answers, nor
	// those with 500 and above.
	Passing []error
}

// NeedsToken reports whether callers of a kind have to show a token that Amazon API Gateway verifies: their kind has
// one, and their credential is neither a key nor a header.
func (a API) NeedsToken(c Caller) bool {
	credential := a.Credentials[c]
	return c.Authenticated() && credential.Header == nil && credential.Key == ""
}

// Credential says how the callers of a kind identify themselves. The zero value is for callers who need not do so.
type Credential struct {
	// Token names the security scheme of a bearer token, such as "userToken". Its subject is the caller.
	Token string
	// Key names the security scheme of a secret key, which comes in KeyHeader or, before that, as a bearer token.
	Key, KeyHeader string
	// Description describes the scheme.
	Description string
	// Header is the request header that names the caller, without proof. Nil: there is none.
	Header *HeaderParameter
	// Group is that of such callers' operations, by name.
	Group string
	// Errors are examples of errors that all their operations may return.
	Errors []error
}

// BearerToken is the credential of callers with a JWT that Amazon API Gateway verifies.
func BearerToken(scheme, description string) Credential {
	return Credential{Token: scheme, Description: description}
}

// HeaderParameter describes a request header of 1 to MaxLength characters, without control characters. If MaxLength is
// 0, there is no limit.
type HeaderParameter struct {
	Name                 string
	Required             bool
	MaxLength            int
	Description, Example string
}

// Group is a group of operations in the document.
type Group struct{ Name, Description string }
