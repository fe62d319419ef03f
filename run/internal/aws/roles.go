package aws

// Callers and their roles: what a role allows, and what was asked of it.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// ErrUnknownFunction reports a function that was not registered.
var ErrUnknownFunction = errors.New("function is not registered at the AWS endpoint")

// Permission is what IAM asks for: an action on a resource.
type Permission struct {
	Action, Resource string
	// Conditions are the condition keys of the request beside those of each request, such as s3:prefix.
	Conditions map[string]string
	// Object says that there may be any number of such resources, as of objects: the decision is not kept, and the
	// resource of the grant counts as used.
	Object bool
}

// caller is a function with its role.
type caller struct {
	function string
	role     *policy.Role
	// region is the request's; empty for the endpoint's.
	region string
	*decisions
}

// decisions are remembered: roles do not change.
type decisions struct {
	mutex sync.RWMutex
	made  map[regional]policy.Decision
}

type regional struct{ action, resource, region string }

// granted is a grant of a function's role.
type granted struct {
	function string
	policy.Grant
}

// maxRequests is how many different requests the endpoint remembers of each grant. Objects of S3 have no limit.
const maxRequests = 100

// Use is an action on a resource that a function asked for.
type Use struct {
	Function string `json:"function"`
	Action   string `json:"action"`
	// Resource is an ARN. For allowed uses of S3 it is the resource of the grant, which covers many objects.
	Resource string `json:"resource"`
}

// Refusal is a use that the function's role does not allow.
type Refusal struct {
	Use
	// Times is how often it was asked for.
	Times int `json:"times"`
}

// DeniedError is a request that the function's role does not allow, in AWS's wording.
type DeniedError struct {
	Use
	// Principal is the ARN of the assumed role.
	Principal string
	// Decision is why: anything but policy.Allowed.
	Decision policy.Decision
}

// Error has AWS's wording.
func (e *DeniedError) Error() string {
	// "Troubleshoot access denied error messages" (IAM User Guide) has the wording.
	reason := fmt.Sprintf("because no identity-based policy allows the %s action", e.Action)
	switch e.Decision {
	case policy.ExplicitlyDenied:
		reason = "with an explicit deny in an identity-based policy"
	case policy.OutsideBoundary:
		reason = fmt.Sprintf("because no permissions boundary allows the %s action", e.Action)
	case policy.DeniedByBoundary:
		reason = "with an explicit deny in a permissions boundary"
	}
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", e.Principal, e.Action,
		e.Resource, reason)
}

// Register lets the function call with the access key, as the role. Registering a function again replaces its role;
// with another access key, who calls with the former one keeps the former role.
func (s *Server) Register(accessKey, function string, role *policy.Role) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	registered := &caller{function: function, role: role, decisions: &decisions{made: map[regional]policy.Decision{}}}
	s.keys[accessKey], s.callers[function] = registered, registered
}

// ChangeRole gives the function another role, under all of its access keys.
func (s *Server) ChangeRole(function string, role *policy.Role) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	changed := &caller{function: function, role: role, decisions: &decisions{made: map[regional]policy.Decision{}}}
	s.callers[function] = changed
	for key, former := range s.keys {
		if former.function == function {
			s.keys[key] = changed
		}
	}
}

// Secret is the secret of every access key of a run: the key itself says who calls.
const Secret = "local"

// Caller returns the name and the role of the function, or of another that was registered, with an access key; nil if
// there is none.
func (s *Server) Caller(accessKey string) (name string, role *policy.Role) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if caller := s.keys[accessKey]; caller != nil {
		return caller.function, caller.role
	}
	return "", nil
}

// Role returns the role of a function or another that was registered, or nil.
func (s *Server) Role(function string) *policy.Role {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if caller := s.callers[function]; caller != nil {
		return caller.role
	}
	return nil
}

// Authorise checks an action of a function against its role and records it as used or refused. It serves the parts of
// the run that act for a function, such as its logs. Errors: *DeniedError, ErrUnknownFunction.
func (s *Server) Authorise(function, action, resource string) error {
	s.mutex.RLock()
	caller := s.callers[function]
	s.mutex.RUnlock()
	if caller == nil {
		return fmt.Errorf("%w: got %q", ErrUnknownFunction, function)
	}
	return s.authorise(caller, Permission{Action: action, Resource: resource})
}

// AuthoriseAs is Authorise under a role that is not in use yet. Errors: *DeniedError.
func (s *Server) AuthoriseAs(function string, role *policy.Role, action, resource string) error {
	return s.authorise(&caller{function: function, role: role,
		decisions: &decisions{made: map[regional]policy.Decision{}}}, Permission{Action: action, Resource: resource})
}

func (s *Server) authorise(by *caller, p Permission) error {
	asked := regional{p.Action, p.Resource, by.region}
	by.mutex.RLock()
	decision, known := by.made[asked]
	by.mutex.RUnlock()
	use := Use{Function: by.function, Action: p.Action, Resource: p.Resource}
	if !known {
		asks := s.asks(by, p)
		var grant policy.Grant
		decision, grant = by.role.DecideBy(asks)
		if !p.Object {
			by.mutex.Lock()
			by.made[asked] = decision
			by.mutex.Unlock()
		}
		if decision == policy.Allowed {
			if p.Object {
				use.Resource = grant.Resource
			}
			s.use(use, grant, asks)
		}
	}
	if decision == policy.Allowed {
		return nil
	}
	s.mutex.Lock()
	s.refused[use]++
	s.mutex.Unlock()
	s.options.Log.Warn("request refused by the function's role", "function", by.function, "action", use.Action,
		"resource", use.Resource)
	return by.denied(use, decision)
}

// asks returns what a role decides on for a permission. Its region is the one in the ARN of the resource. The ARN of an
// object of S3 has none, and takes the region of the call.
func (s *Server) asks(by *caller, p Permission) policy.Request {
	region := cmp.Or(by.region, s.options.Region)
	if parts := strings.SplitN(p.Resource, ":", 5); len(parts) == 5 && parts[3] != "" {
		region = parts[3]
	}
	context := map[string]string{policy.SecureTransport: "true", policy.RequestedRegion: region}
	maps.Copy(context, p.Conditions)
	return policy.Request{Action: p.Action, Resource: p.Resource, Context: context}
}

// Denied is the error of a call whose role does not allow a permission that the call does not need.
func (c *Call) Denied(p Permission) error {
	return c.caller.denied(Use{Function: c.Function, Action: p.Action, Resource: p.Resource}, 0)
}

func (c *caller) denied(use Use, decision policy.Decision) error {
	return &DeniedError{Use: use, Principal: c.principal(), Decision: decision}
}

// use records a request that a grant allowed. Most requests to S3 are known, and need no more than a look.
func (s *Server) use(use Use, by policy.Grant, asks policy.Request) {
	key := granted{use.Function, by}
	s.mutex.RLock()
	known := s.used[use] && s.remembers(key, asks)
	s.mutex.RUnlock()
	if known {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.used[use] = true
	if !s.remembers(key, asks) {
		s.allowed[key] = append(s.allowed[key], asks)
	}
}

// remembers reports whether the request is among those of the grant, or whether there are as many as can be.
func (s *Server) remembers(by granted, asks policy.Request) bool {
	return len(s.allowed[by]) >= maxRequests || slices.ContainsFunc(s.allowed[by], func(known policy.Request) bool {
		return known.Action == asks.Action && known.Resource == asks.Resource && maps.Equal(known.Context, asks.Context)
	})
}

func (c *caller) principal() string {
	name := "none"
	if c.role != nil {
		name = c.role.Name
	}
	return fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", c.account(), name, c.function)
}

// account is the account of the caller's role.
func (c *caller) account() string {
	if c.role != nil {
		return assembly.AccountOf(c.role.ARN)
	}
	return assembly.DefaultAccount
}

// Used returns every action on every resource that was asked for and allowed, sorted.
func (s *Server) Used() []Use {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	uses := make([]Use, 0, len(s.used))
	for use := range s.used {
		uses = append(uses, use)
	}
	slices.SortFunc(uses, Use.compare)
	return uses
}

// Refused returns every action on every resource that was asked for and not allowed, sorted.
func (s *Server) Refused() []Refusal {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	refusals := make([]Refusal, 0, len(s.refused))
	for use, times := range s.refused {
		refusals = append(refusals, Refusal{Use: use, Times: times})
	}
	slices.SortFunc(refusals, func(a, b Refusal) int { return a.compare(b.Use) })
	return refusals
}

func (u Use) compare(other Use) int {
	return strings.Compare(u.Function+"\x00"+u.Action+"\x00"+u.Resource,
		other.Function+"\x00"+other.Action+"\x00"+other.Resource)
}

// Callers returns the names of the functions and others that were registered, sorted.
func (s *Server) Callers() []string {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return slices.Sorted(maps.Keys(s.callers))
}

// UnusedGrants returns the Allow grants of the function's role that no request so far has used.
func (s *Server) UnusedGrants(function string) []policy.Grant {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	caller := s.callers[function]
	if caller == nil || caller.role == nil {
		return nil
	}
	var unused []policy.Grant
	for _, grant := range caller.role.Grants() {
		if grant.Effect != "Allow" {
			continue
		}
		matched := false
		for use := range s.used {
			matched = matched || use.Function == function && grant.Matches(use.Action, use.Resource)
		}
		if !matched {
			unused = append(unused, grant)
		}
	}
	return unused
}

// Allowed returns the requests of the function that its roles allowed, each with the condition keys that were decided
// on. There are at most 100 different ones for each grant.
func (s *Server) Allowed(function string) []policy.Request {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	var requests []policy.Request
	for by, allowed := range s.allowed {
		if by.function == function {
			requests = append(requests, allowed...)
		}
	}
	return requests
}

// UnneededGrants returns the grants of the function's role without which the role still allows every request of
// [Server.Allowed]. A grant is among them if nothing used it, or if others allow the same.
func (s *Server) UnneededGrants(function string) []policy.Grant {
	s.mutex.RLock()
	caller := s.callers[function]
	s.mutex.RUnlock()
	if caller == nil || caller.role == nil {
		return nil
	}
	requests := slices.DeleteFunc(s.Allowed(function), func(r policy.Request) bool {
		return caller.role.Decide(r) != policy.Allowed
	})
	return slices.DeleteFunc(caller.role.Grants(), func(grant policy.Grant) bool {
		without := caller.role.Without(grant)
		return slices.ContainsFunc(requests, func(r policy.Request) bool { return without.Decide(r) != policy.Allowed })
	})
}
