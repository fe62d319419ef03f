// Package policy decides what an IAM role of a cloud assembly allows, as IAM does for identity-based policies.
//
// It refuses to read policies that it cannot decide: a condition, an element or a managed policy that it does not know
// is an error, never ignored, because ignoring one would allow here what AWS denies, or the reverse.
package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// Services that assume roles in a local run.
const (
	Lambda    = "lambda.amazonaws.com"
	Scheduler = "scheduler.amazonaws.com"
)

// Condition keys whose value a caller may give.
const (
	SourceARN       = "aws:SourceArn"
	SourceAccount   = "aws:SourceAccount"
	SecureTransport = "aws:SecureTransport"
	RequestedRegion = "aws:RequestedRegion"
	// S3Prefix is the prefix that a listing of a bucket asks for.
	S3Prefix = "s3:prefix"
	// KMSViaService is the service that uses a key for its caller. No function calls AWS KMS here, so no request has
	// it.
	KMSViaService = "kms:ViaService"
	// SourceFunctionARN is the function whose code calls. No function calls a service whose policies ask for it here,
	// so no request has it.
	SourceFunctionARN = "lambda:SourceFunctionArn"
)

// ErrNoRole reports an ARN that no role of the assembly has.
var ErrNoRole = errors.New("no such role in the assembly")

// UnsupportedError is a part of a policy that a local run cannot decide on.
type UnsupportedError struct {
	// Source is the policy: a role's inline policy, or the logical id of a policy resource.
	Source string
	// Element is the part, such as `condition ForAllValues:StringEquals`.
	Element string
}

// Error names the policy and the part, and says what to do.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("policy %s: %s is not supported by a local run: write the statement without it", e.Source,
		e.Element)
}

// Grant is one action on one resource of one statement: the smallest part of a role that can be taken away.
type Grant struct {
	// Source names the policy the statement stands in.
	Source string
	// Statement is the statement's place in its policy, from 0.
	Statement int
	// Effect is Allow or Deny.
	Effect string
	// Action and Resource are patterns: * is any text, ? is any one character.
	Action, Resource string
}

// String is the grant for people.
func (g Grant) String() string {
	return fmt.Sprintf("%s %s on %s (%s, statement %d)", g.Effect, g.Action, g.Resource, g.Source, g.Statement)
}

// Matches tells whether the grant covers the action on the resource. Actions match in any case, resources exactly.
func (g Grant) Matches(action, resource string) bool {
	return matches(strings.ToLower(g.Action), strings.ToLower(action)) && matches(g.Resource, resource)
}

// Decision is the outcome of a request.
type Decision int

// Decisions. The zero value denies.
const (
	// NotAllowed means that no statement allows the action.
	NotAllowed Decision = iota
	// ExplicitlyDenied means that a Deny statement of the role's policies covers it.
	ExplicitlyDenied
	// OutsideBoundary means that the role's policies allow it, and its permissions boundary does not.
	OutsideBoundary
	// DeniedByBoundary means that a Deny statement of the role's permissions boundary covers it.
	DeniedByBoundary
	// Allowed means that a statement allows it and none denies it, in the policies and in the boundary if there is one.
	Allowed
)

// Request is what IAM is asked.
type Request struct {
	Action, Resource string
	// Context holds the values of condition keys. A key that is not here is absent from the request.
	Context map[string]string
}

// Role is an IAM role. The zero value allows nothing. A Role does not change: Without makes another one.
type Role struct {
	// Name and ARN identify the role.
	Name, ARN string
	// UnknownBoundary is the ARN of a permissions boundary that the assembly does not declare: decisions are made
	// without it.
	UnknownBoundary string

	rules []rule
	// bounded says that boundary, which may allow nothing, limits the rules.
	bounded  bool
	boundary []rule
	trust    []trusted
}

// Everything returns a role that allows all, such as that of a person who administers the account.
func Everything(name, account string) *Role {
	return &Role{Name: name, ARN: "arn:aws:iam::" + account + ":role/" + name,
		rules: []rule{{grant: Grant{Source: name, Effect: "Allow", Action: "*", Resource: "*"}}}}
}

// rule is a grant, or all that is not excepted from one.
type rule struct {
	grant                              Grant
	exceptedActions, exceptedResources []string
	conditions                         []condition
}

func (r *rule) covers(request Request) bool {
	return r.grant.Matches(request.Action, request.Resource) && allMet(r.conditions, request.Context) &&
		!slices.ContainsFunc(r.exceptedActions, func(action string) bool {
			return Grant{Action: action, Resource: "*"}.Matches(request.Action, "")
		}) &&
		!slices.ContainsFunc(r.exceptedResources, func(resource string) bool {
			return matches(resource, request.Resource)
		})
}

type trusted struct {
	deny       bool
	services   []string
	conditions []condition
}

// ForRole reads the role with the ARN and every policy attached to it. Errors: ErrNoRole, *UnsupportedError.
func ForRole(source *assembly.Assembly, arn string) (*Role, error) {
	resource := source.ByARN(arn)
	if resource == nil || resource.Type != "AWS::IAM::Role" {
		return nil, fmt.Errorf("%w: got ARN %q", ErrNoRole, arn)
	}
	var declared struct {
		AssumeRolePolicyDocument document
		Policies                 []struct {
			PolicyName     string
			PolicyDocument document
		}
		ManagedPolicyArns   []string
		PermissionsBoundary string
	}
	if err := resource.Decode(&declared); err != nil {
		return nil, err
	}
	role := &Role{Name: resource.Name, ARN: resource.ARN}
	var problems []error
	if err := role.limit(source, declared.PermissionsBoundary); err != nil {
		problems = append(problems, err)
	}
	for _, statement := range declared.AssumeRolePolicyDocument.Statement {
		trust, err := statement.trust(resource.LogicalID + " (trust)")
		if err != nil {
			problems = append(problems, err)
		}
		role.trust = append(role.trust, trust...)
	}
	attach := func(name string, policy document) {
		rules, err := policy.rules(name)
		if err != nil {
			problems = append(problems, err)
		}
		role.rules = append(role.rules, rules...)
	}
	for _, inline := range declared.Policies {
		attach(resource.LogicalID+"/"+inline.PolicyName, inline.PolicyDocument)
	}
	for _, policy := range source.Resources("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy") {
		var attached struct {
			PolicyDocument document
			Roles          []string
		}
		if err := policy.Decode(&attached); err != nil {
			return nil, err
		}
		// Names of roles are unique in their account.
		named := policy.Stack.Account == resource.Stack.Account && slices.Contains(attached.Roles, role.Name)
		if named || policy.ARN != "" && slices.Contains(declared.ManagedPolicyArns, policy.ARN) {
			attach(policy.LogicalID, attached.PolicyDocument)
		}
	}
	for _, managed := range declared.ManagedPolicyArns {
		if source.ByARN(managed) != nil {
			continue
		}
		actions, ok := awsManaged[managed]
		if !ok {
			problems = append(problems, &UnsupportedError{Source: resource.LogicalID,
				Element: "managed policy " + managed})
			continue
		}
		attach(managed, document{Statement: oneOrMany[statement]{
			{Effect: "Allow", Action: actions, Resource: oneOrMany[string]{"*"}}}})
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("role %s: %w", resource, errors.Join(problems...))
	}
	return role, nil
}

// Document returns a role that has a policy alone, a JSON document. Its source is what errors call it. Errors:
// *UnsupportedError, or one that says what is no policy.
func Document(source string, text []byte) (*Role, error) {
	var read document
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("policy %s: %w", source, err)
	}
	rules, err := read.rules(source)
	if err != nil {
		return nil, err
	}
	return &Role{Name: source, rules: rules}, nil
}

// limit reads the role's permissions boundary, which any stack of the assembly may declare.
func (r *Role) limit(source *assembly.Assembly, boundary string) error {
	if boundary == "" {
		return nil
	}
	policy, err := source.Declared("AWS::IAM::ManagedPolicy", boundary)
	if err != nil {
		return err
	}
	if policy == nil {
		r.UnknownBoundary = boundary
		return nil
	}
	var declared struct{ PolicyDocument document }
	if err := policy.Decode(&declared); err != nil {
		return err
	}
	r.bounded = true
	r.boundary, err = declared.PolicyDocument.rules(policy.LogicalID)
	return err
}

// awsManaged are the AWS managed policies that functions commonly have, from the AWS Managed Policy Reference.
var awsManaged = map[string]oneOrMany[string]{
	"arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole": {
		"logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents",
	},
	"arn:aws:iam::aws:policy/AWSXRayDaemonWriteAccess": {
		"xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets",
		"xray:GetSamplingStatisticSummaries",
	},
}

// Allows tells whether the role allows the action on the resource, in a request without condition keys.
func (r *Role) Allows(action, resource string) bool {
	return r.Decide(Request{Action: action, Resource: resource}) == Allowed
}

// Decide evaluates the role's policies and its boundary, as in "Policy evaluation logic" (IAM User Guide): a Deny that
// applies wins, then the policies must allow the request, and so must the boundary.
func (r *Role) Decide(request Request) Decision {
	decision, _ := r.DecideBy(request)
	return decision
}

// DecideBy is Decide with the grant that decides: the Deny, or the first Allow of the policies; none when nothing is
// allowed.
func (r *Role) DecideBy(request Request) (Decision, Grant) {
	if r == nil {
		return NotAllowed, Grant{}
	}
	decision, by := decide(r.rules, request)
	if !r.bounded || decision == ExplicitlyDenied {
		return decision, by
	}
	switch limit, within := decide(r.boundary, request); {
	case limit == ExplicitlyDenied:
		return DeniedByBoundary, within
	case decision == Allowed && limit != Allowed:
		return OutsideBoundary, Grant{}
	}
	return decision, by
}

func decide(rules []rule, request Request) (Decision, Grant) {
	decision, by := NotAllowed, Grant{}
	for i := range rules {
		rule := &rules[i]
		if !rule.covers(request) {
			continue
		}
		if rule.grant.Effect == "Deny" {
			return ExplicitlyDenied, rule.grant
		}
		if decision != Allowed {
			decision, by = Allowed, rule.grant
		}
	}
	return decision, by
}

// Trusts tells whether the service, such as lambda.amazonaws.com, may assume the role in the given context.
func (r *Role) Trusts(service string, context map[string]string) bool {
	trusts := false
	for _, statement := range r.trust {
		if !slices.Contains(statement.services, service) || !allMet(statement.conditions, context) {
			continue
		}
		if statement.deny {
			return false
		}
		trusts = true
	}
	return trusts
}

// Grants lists every statement's actions on every one of its resources, in the policies' order. A statement with
// NotAction or NotResource is a grant of *. Those of the boundary are not among them: it allows nothing by itself.
func (r *Role) Grants() []Grant {
	grants := make([]Grant, len(r.rules))
	for i, rule := range r.rules {
		grants[i] = rule.grant
	}
	return grants
}

// Without returns the role with one grant taken away.
func (r *Role) Without(grant Grant) *Role {
	reduced := *r
	reduced.rules = slices.DeleteFunc(slices.Clone(r.rules), func(rule rule) bool { return rule.grant == grant })
	return &reduced
}

// oneOrMany is a JSON value that may stand without its list, as IAM allows.
type oneOrMany[T any] []T

func (o *oneOrMany[T]) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]T)(o))
	}
	var one T
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	*o = oneOrMany[T]{one}
	return nil
}

type document struct {
	Statement oneOrMany[statement]
}

type statement struct {
	Effect       string
	Action       oneOrMany[string]
	NotAction    oneOrMany[string]
	Resource     oneOrMany[string]
	NotResource  oneOrMany[string]
	Principal    json.RawMessage
	NotPrincipal json.RawMessage
	Condition    map[string]map[string]oneOrMany[json.RawMessage]
}

func (d document) rules(source string) (rules []rule, err error) {
	for i, statement := range d.Statement {
		if len(statement.Principal) > 0 || len(statement.NotPrincipal) > 0 {
			return nil, &UnsupportedError{Source: source, Element: "Principal"}
		}
		read, err := statement.rules(source, i)
		if _, unsupported := errors.AsType[*UnsupportedError](err); unsupported && statement.elsewhere() {
			continue
		}
		if err != nil {
			return nil, err
		}
		rules = append(rules, read...)
	}
	return rules, nil
}

// rules are the grants of the statement at a place of its policy, to whomever it is for.
func (s statement) rules(source string, place int) (rules []rule, err error) {
	conditions, err := s.check(source)
	for _, resource := range slices.Concat(s.Resource, s.NotResource) {
		if err == nil && strings.Contains(resource, "${") {
			err = &UnsupportedError{Source: source, Element: "policy variable in resource " + resource}
		}
	}
	if err != nil {
		return nil, err
	}
	read := rule{conditions: conditions, exceptedActions: s.NotAction, exceptedResources: s.NotResource}
	actions, resources := s.Action, s.Resource
	if s.NotAction != nil {
		actions = oneOrMany[string]{"*"}
	}
	if s.NotResource != nil {
		resources = oneOrMany[string]{"*"}
	}
	for _, action := range actions {
		for _, resource := range resources {
			read.grant = Grant{Source: source, Statement: place, Effect: s.Effect, Action: action, Resource: resource}
			rules = append(rules, read)
		}
	}
	return rules, nil
}

// asked are the services whose actions a local run asks roles for.
var asked = []string{"dynamodb", "events", "execute-api", "kms", "lambda", "logs", "s3", "secretsmanager", "sqs",
	"ssm", "xray"}

// elsewhere reports whether all actions of the statement are those of services that a local run has no requests to,
// such as iam in the permissions boundaries of companies. Such a statement need not be decided.
func (s statement) elsewhere() bool {
	return len(s.Action) > 0 && !slices.ContainsFunc(s.Action, func(action string) bool {
		pattern, _, _ := strings.Cut(strings.ToLower(action), ":")
		return slices.ContainsFunc(asked, func(service string) bool { return matches(pattern, service) })
	})
}

func (s statement) check(source string) ([]condition, error) {
	if s.Effect != "Allow" && s.Effect != "Deny" {
		return nil, fmt.Errorf("policy %s: got effect %q: write Allow or Deny", source, s.Effect)
	}
	if s.Action != nil && s.NotAction != nil || s.Resource != nil && s.NotResource != nil {
		return nil, fmt.Errorf("policy %s: got an element and its Not… in one statement: write one of them, as IAM "+
			"would refuse both", source)
	}
	return readConditions(source, s.Condition)
}

func (s statement) trust(source string) ([]trusted, error) {
	conditions, err := s.check(source)
	if err == nil && (s.NotAction != nil || len(s.NotPrincipal) > 0) {
		err = &UnsupportedError{Source: source, Element: "NotAction or NotPrincipal"}
	}
	if err != nil {
		return nil, err
	}
	assumes := slices.ContainsFunc(s.Action, func(action string) bool {
		return matches(strings.ToLower(action), "sts:assumerole")
	})
	if !assumes || len(s.Principal) == 0 {
		return nil, nil
	}
	var services struct{ Service oneOrMany[string] }
	// A principal that is a text, "*", names no service.
	if s.Principal[0] == '{' {
		if err := json.Unmarshal(s.Principal, &services); err != nil {
			return nil, fmt.Errorf("policy %s: principal: %w", source, err)
		}
	}
	return []trusted{{deny: s.Effect == "Deny", services: services.Service, conditions: conditions}}, nil
}

type condition struct {
	key      string
	values   []string
	compare  func(pattern, value string) bool
	negated  bool
	ifExists bool
}

var operators = map[string]func(pattern, value string) bool{
	"StringEquals":           func(pattern, value string) bool { return pattern == value },
	"StringEqualsIgnoreCase": strings.EqualFold,
	"StringLike":             matches,
	"ArnEquals":              matchesARN,
	"ArnLike":                matchesARN,
	"Bool":                   strings.EqualFold,
}

var contextKeys = []string{SourceARN, SourceAccount, SecureTransport, RequestedRegion, S3Prefix, KMSViaService,
	SourceFunctionARN}

func readConditions(source string, blocks map[string]map[string]oneOrMany[json.RawMessage]) (conditions []condition,
	err error) {
	for _, operator := range slices.Sorted(maps.Keys(blocks)) {
		name, ifExists := strings.CutSuffix(operator, "IfExists")
		negated := strings.HasPrefix(name, "StringNot") || strings.HasPrefix(name, "ArnNot")
		compare, ok := operators[strings.Replace(name, "Not", "", 1)]
		if !ok {
			return nil, &UnsupportedError{Source: source, Element: "condition " + operator}
		}
		for _, key := range slices.Sorted(maps.Keys(blocks[operator])) {
			known := slices.IndexFunc(contextKeys, func(known string) bool { return strings.EqualFold(known, key) })
			if known < 0 {
				return nil, &UnsupportedError{Source: source, Element: "condition " + operator + " on " + key}
			}
			entry := condition{key: contextKeys[known], compare: compare, negated: negated, ifExists: ifExists}
			for _, raw := range blocks[operator][key] {
				var value any
				if err := json.Unmarshal(raw, &value); err != nil {
					return nil, fmt.Errorf("policy %s: condition %s on %s: %w", source, operator, key, err)
				}
				text := fmt.Sprint(value)
				if strings.Contains(text, "${") {
					return nil, &UnsupportedError{Source: source, Element: "policy variable in condition " + text}
				}
				entry.values = append(entry.values, text)
			}
			conditions = append(conditions, entry)
		}
	}
	return conditions, nil
}

// allMet reports whether the context meets all conditions. An absent key fails a positive operator and meets a negated
// one, as in "IAM JSON policy elements: Condition operators".
func allMet(conditions []condition, context map[string]string) bool {
	for _, condition := range conditions {
		value, present := context[condition.key]
		if !present {
			if condition.negated || condition.ifExists {
				continue
			}
			return false
		}
		any := slices.ContainsFunc(condition.values, func(pattern string) bool {
			return condition.compare(pattern, value)
		})
		if any == condition.negated {
			return false
		}
	}
	return true
}

// matchesARN compares the six parts of ARNs one by one: a wildcard does not reach over a colon of the first five.
func matchesARN(pattern, value string) bool {
	patterns, values := strings.SplitN(pattern, ":", 6), strings.SplitN(value, ":", 6)
	if len(patterns) != 6 || len(values) != 6 {
		return pattern == "*" || pattern == value
	}
	for i := range patterns {
		if !matches(patterns[i], values[i]) {
			return false
		}
	}
	return true
}

// matches compares with IAM's wildcards in time linear in practice: it remembers only the last star.
func matches(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
