// Package awsapi is the AWS endpoint that functions get in a local run (AWS_ENDPOINT_URL).
//
// It knows the calling function by the access key that signed the request, checks every request against the function's
// role as synthesised, and then serves it: DynamoDB with an engine behind it, S3 with gofakes3, and Secrets Manager, SQS and the
// parameters of Systems Manager by itself. It forwards requests to the models of Amazon Bedrock. It refuses every other request by name. It stands in for AWS's TLS endpoints: conditions
// on aws:SecureTransport are met.
package awsapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/policy"
	"github.com/onesynth-cdk/onesynth/local/trace"
)

// ErrUnknownFunction reports a function that was not registered.
var ErrUnknownFunction = errors.New("function is not registered at the AWS endpoint")

// Options say what the endpoint serves.
type Options struct {
	// Assembly holds the tables, secrets and queues. It must not be nil.
	Assembly *assembly.Assembly
	// EngineURL is the base URL of the DynamoDB behind the endpoint, such as http://127.0.0.1:8000.
	EngineURL string
	// AccessKey and Region name the engine's database that holds the tables. Defaults: onesynth, us-east-1.
	AccessKey, Region string
	// AccessKeys name the databases of the accounts and regions that have their own, by [assembly.Environment]. Default: AccessKey
	// for all.
	AccessKeys map[string]string
	// SSMParameters are values of parameters of AWS Systems Manager that the assembly does not declare, by name.
	SSMParameters map[string]string
	// ModelsURL is where requests to the models of Amazon Bedrock are forwarded, as http://HOST:PORT. Default: they fail, with what to do.
	ModelsURL string
	// Dir is a folder that keeps generated secrets between runs (secrets.json, mode 0600). Default: each run makes new ones.
	Dir string
	// Buckets hold the objects of the assembly's buckets. Default: there are no buckets.
	Buckets *buckets.Store
	// ServiceAccount makes a Google service account key, as downloaded from Google, out of a secret's template whose type is
	// service_account. Default: such a secret is generated like any other.
	ServiceAccount func(template string) (string, error)
	// Wrote is called for each request that wrote to DynamoDB, or may have, before the function gets its answer. It gets the
	// operation, such as PutItem, and its input in DynamoDB's JSON, which it must not keep. Environment is the account and region
	// of the tables, by [assembly.Environment]. Default: none.
	Wrote func(environment, operation string, body []byte)
	// Observe is called with each request of a function before the engine carries it out: the function, the operation and its input in
	// DynamoDB's JSON, which it must not keep. What it returns is called before the function gets its answer. Both may wait. Default: none.
	Observe func(function, operation string, body []byte) (answered func())
	// Trace keeps the requests of functions. Default: nothing is kept.
	Trace *trace.Recorder
	// Log gets a line per refused request. Default: none.
	Log *slog.Logger
}

// Server is the endpoint: an http.Handler. Make one with New. It is safe for concurrent use.
type Server struct {
	options Options
	engine  *connections
	// served is what the assembly declares. Apply replaces it.
	served  atomic.Pointer[served]
	kept    *keptSecrets
	started time.Time
	s3      http.Handler
	// models forwards to options.ModelsURL; nil without one.
	models http.Handler

	// altering is held by requests to the engine, and alone while its tables change.
	altering sync.RWMutex

	mutex sync.RWMutex
	// keys are the callers by access key: code that newer code replaces keeps its role until it ends.
	keys    map[string]*caller
	callers map[string]*caller
	used    map[Use]bool
	refused map[Use]int
	// allowed are the requests that roles allowed, by the grant that decided.
	allowed map[granted][]policy.Request

	capacity  capacity
	engineUse engineUse
	faults    atomic.Pointer[injector]
}

// served is what an assembly declares of what the endpoint serves.
type served struct {
	assembly *assembly.Assembly
	// engines are the connections to the databases that accounts and regions have.
	engines map[string]*connections
	tables  map[place]string
	secrets []*secret
	queues  map[string]*Queue
	// parameters are those of AWS Systems Manager.
	parameters map[place]parameter
}

// place is a name of AWS with the account and region in which it is unique.
type place struct{ environment, name string }

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

type regional struct {
	request
	region string
}

type request struct{ action, resource string }

// granted is a grant of a function's role.
type granted struct {
	function string
	policy.Grant
}

// mostRequests is how many different requests the endpoint remembers of each grant. Objects of S3 have no limit.
const mostRequests = 100

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
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", e.Principal, e.Action, e.Resource, reason)
}

// New makes the endpoint. Errors name a queue or secret of the assembly that cannot be served.
func New(options Options) (*Server, error) {
	if options.AccessKey == "" {
		options.AccessKey = "onesynth"
	}
	if options.Region == "" {
		options.Region = assembly.DefaultRegion
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	engine, err := url.Parse(options.EngineURL)
	if err != nil || engine.Scheme != "http" || engine.Port() == "" {
		return nil, fmt.Errorf("engine URL: got %q: write http://HOST:PORT", options.EngineURL)
	}
	server := &Server{
		options: options,
		kept:    &keptSecrets{values: map[string]string{}},
		started: time.Now(),
		keys:    map[string]*caller{},
		callers: map[string]*caller{},
		used:    map[Use]bool{},
		refused: map[Use]int{},
		allowed: map[granted][]policy.Request{},
	}
	server.engine = server.connect(engine, options.AccessKey)
	if options.Dir != "" {
		server.kept.path = filepath.Join(options.Dir, "secrets.json")
		if err := server.kept.read(); err != nil {
			return nil, err
		}
	}
	if options.Buckets != nil {
		server.s3 = newS3(options.Buckets)
	}
	apply, err := server.Prepare(options.Assembly, options.AccessKeys)
	if err != nil {
		return nil, err
	}
	apply()
	if err := server.readModels(); err != nil {
		return nil, err
	}
	return server, nil
}

// connect makes connections to the database of an access key.
func (s *Server) connect(engine *url.URL, accessKey string) *connections {
	return newConnections(engine.Host, "/"+strings.TrimPrefix(engine.EscapedPath(), "/"), accessKey, s.options.Region)
}

// Prepare reads another assembly, and its databases as of [Options].AccessKeys. What it returns makes the endpoint serve it: queues,
// secrets and figures of the same names stay, and so do the tables of the former one, for code that is still at work. Errors as of New.
func (s *Server) Prepare(source *assembly.Assembly, accessKeys map[string]string) (apply func(), err error) {
	next := &served{assembly: source, engines: map[string]*connections{}, tables: map[place]string{}, queues: map[string]*Queue{}}
	former := s.served.Load()
	if former == nil {
		former = &served{}
	}
	engine, err := url.Parse(s.options.EngineURL)
	if err != nil {
		return nil, fmt.Errorf("engine URL: %w", err)
	}
	for environment, accessKey := range accessKeys {
		if next.engines[environment] = former.engines[environment]; next.engines[environment] == nil {
			next.engines[environment] = s.connect(engine, accessKey)
		}
	}
	maps.Copy(next.tables, former.tables)
	for _, table := range source.Tables() {
		next.tables[place{table.Stack.Environment(), table.Name}] = table.ARN
	}
	applyQueues, err := next.readQueues(former)
	if err != nil {
		return nil, err
	}
	if err := s.readSecrets(next, former); err != nil {
		return nil, err
	}
	if err := next.readParameters(s.options.SSMParameters); err != nil {
		return nil, err
	}
	return func() {
		applyQueues()
		s.served.Store(next)
	}, nil
}

// Register lets the function call with the access key, as the role. Registering a function again replaces its role; with another
// access key, who calls with the former one keeps the former role.
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

// Authorise checks an action of a function against its role and records it as used or refused. It serves the parts of the
// run that act for a function, such as its logs. Errors: *DeniedError, ErrUnknownFunction.
func (s *Server) Authorise(function, action, resource string) error {
	s.mutex.RLock()
	caller := s.callers[function]
	s.mutex.RUnlock()
	if caller == nil {
		return fmt.Errorf("%w: got %q", ErrUnknownFunction, function)
	}
	return s.authorise(caller, action, resource)
}

// AuthoriseAs is Authorise under a role that is not in use yet. Errors: *DeniedError.
func (s *Server) AuthoriseAs(function string, role *policy.Role, action, resource string) error {
	return s.authorise(&caller{function: function, role: role, decisions: &decisions{made: map[regional]policy.Decision{}}}, action, resource)
}

func (s *Server) authorise(by *caller, action, resource string) error {
	asked := regional{request{action, resource}, by.region}
	by.mutex.RLock()
	decision, known := by.made[asked]
	by.mutex.RUnlock()
	use := Use{Function: by.function, Action: action, Resource: resource}
	if !known {
		asks := policy.Request{Action: action, Resource: resource, Context: s.context(by, resource)}
		var grant policy.Grant
		decision, grant = by.role.DecideBy(asks)
		by.mutex.Lock()
		by.made[asked] = decision
		by.mutex.Unlock()
		if decision == policy.Allowed {
			s.use(use, grant, asks)
		}
	}
	if decision == policy.Allowed {
		return nil
	}
	return s.refuse(by, use, decision)
}

// context returns the condition keys of a request for the resource. The region is the resource's. A resource without one, such as
// an object of S3, has that of the request.
func (s *Server) context(by *caller, resource string) map[string]string {
	region := cmp.Or(by.region, s.options.Region)
	if parts := strings.SplitN(resource, ":", 5); len(parts) == 5 && parts[3] != "" {
		region = parts[3]
	}
	return map[string]string{policy.SecureTransport: "true", policy.RequestedRegion: region}
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
	return len(s.allowed[by]) >= mostRequests || slices.ContainsFunc(s.allowed[by], func(known policy.Request) bool {
		return known.Action == asks.Action && known.Resource == asks.Resource && maps.Equal(known.Context, asks.Context)
	})
}

func (s *Server) refuse(by *caller, use Use, decision policy.Decision) error {
	s.mutex.Lock()
	s.refused[use]++
	s.mutex.Unlock()
	s.options.Log.Warn("request refused by the function's role", "function", by.function, "action", use.Action, "resource", use.Resource)
	return &DeniedError{Use: use, Principal: by.principal(), Decision: decision}
}

func (c *caller) principal() string {
	name := "none"
	if c.role != nil {
		name = c.role.Name
	}
	return fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", c.account(), name, c.function)
}

// account is that of the caller's role.
func (c *caller) account() string {
	if c.role != nil {
		if parts := strings.Split(c.role.ARN, ":"); len(parts) > 4 {
			return parts[4]
		}
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
	return strings.Compare(u.Function+"\x00"+u.Action+"\x00"+u.Resource, other.Function+"\x00"+other.Action+"\x00"+other.Resource)
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

// largest is the longest request, in bytes: more than any operation takes (DynamoDB's batches: 16 MB, before encoding).
const largest = 32 << 20

// ServeHTTP serves one request of an AWS SDK.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service, operation := "", ""
	key, scope := credential(r.Header.Get("Authorization"))
	region := ""
	if len(scope) == 4 {
		region, service = scope[1], scope[2]
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, operation, _ = strings.Cut(target, ".")
	}
	s.mutex.RLock()
	registered := s.keys[key]
	s.mutex.RUnlock()
	if key == "" {
		writeError(w, &apiError{Type: "com.amazon.coral.service#MissingAuthenticationTokenException", Message: "Request is missing Authentication Token"})
		return
	}
	if registered == nil {
		writeError(w, &apiError{Type: "com.amazon.coral.service#UnrecognizedClientException", Message: "The security token included in the request is invalid."})
		return
	}
	call := s.begin(w, r, service, operation)
	defer s.end(call, r)
	w = call
	caller := &caller{function: registered.function, role: registered.role, region: region, decisions: registered.decisions}
	if service == "s3" && s.s3 != nil {
		s.serveS3(call, r, caller)
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		writeError(w, &apiError{Type: "com.amazon.coral.service#SerializationException", Message: "request body: " + err.Error()})
		return
	}
	call.Body = body
	switch {
	case service == "dynamodb" && strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810."):
		s.dynamodb(call, r, caller, assembly.Environment(caller.account(), region), operation, body)
	case service == "secretsmanager":
		respond(w, operation, s.secretsManager(caller, operation), r.Context(), body)
	case service == "ssm":
		respond(w, operation, s.systemsManager(caller, caller.account(), region, operation), r.Context(), body)
	case service == "bedrock":
		s.converse(w, r, caller, body)
	case service == "sqs":
		respond(w, operation, s.sqs(caller, operation), r.Context(), body)
	default:
		if operation == "" {
			operation = r.Method + " " + r.URL.Path
		}
		writeError(w, unknown(service, operation))
	}
}

// respond runs an operation that is served here. A nil operation is unknown.
func respond(w http.ResponseWriter, name string, operation func(context.Context, []byte) (any, error), ctx context.Context, body []byte) {
	answer, err := operation(ctx, body)
	if err != nil {
		writeError(w, err)
		return
	}
	text, err := json.Marshal(answer)
	if err != nil {
		writeError(w, fmt.Errorf("%s: %w", name, err))
		return
	}
	write(w, http.StatusOK, text)
}

func unknown(service, operation string) error {
	if service == "" {
		service = "an unnamed service"
	}
	return &apiError{Type: "UnknownOperationException", Message: fmt.Sprintf("onesynth local does not serve %s of %s", operation, service)}
}

// credential reads the access key and the credential scope (date, region, service, aws4_request) of a signature version 4
// header.
func credential(authorization string) (key string, scope []string) {
	_, rest, ok := strings.Cut(authorization, "Credential=")
	if !ok {
		return "", nil
	}
	rest, _, _ = strings.Cut(rest, ",")
	parts := strings.Split(strings.TrimSpace(rest), "/")
	return parts[0], parts[1:]
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > largest {
		return nil, fmt.Errorf("got %d bytes, at most %d are taken", r.ContentLength, largest)
	}
	if r.ContentLength > 0 {
		body := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
}

// apiError is an error in the shape of AWS's JSON protocols.
type apiError struct {
	Type    string
	Message string
	// Reasons are those of a cancelled transaction.
	Reasons []cancellation
	// Status is the HTTP status; 0 means 400.
	Status int
	// QueryError is the error's code in SQS's older protocol, which SDKs report.
	QueryError string
}

type cancellation struct {
	Code    string `json:"Code"`
	Message string `json:"Message,omitempty"`
}

func (e *apiError) Error() string { return e.Type + ": " + e.Message }

func writeError(w http.ResponseWriter, err error) {
	var failure *apiError
	var denied *DeniedError
	switch {
	case errors.As(err, &failure):
	case errors.As(err, &denied):
		failure = &apiError{Type: "com.amazon.coral.service#AccessDeniedException", Message: denied.Error()}
	default:
		failure = &apiError{Type: "com.amazon.coral.service#InternalFailure", Message: err.Error(), Status: http.StatusInternalServerError}
	}
	members := map[string]any{"__type": failure.Type}
	// AWS begins the member with a capital in these two, and SDKs read no other form.
	if failure.Reasons != nil || denied != nil {
		members["Message"] = failure.Message
	} else {
		members["message"] = failure.Message
	}
	if failure.Reasons != nil {
		members["CancellationReasons"] = failure.Reasons
	}
	text, err := json.Marshal(members)
	if err != nil {
		text = []byte("{}")
	}
	if failure.QueryError != "" {
		w.Header().Set("X-Amzn-Query-Error", failure.QueryError+";Sender")
	}
	status := failure.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	write(w, status, text)
}

func write(w http.ResponseWriter, status int, text []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/x-amz-json-1.0")
	header.Set("X-Amzn-Requestid", rand.Text())
	header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 10))
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// typed makes an operation out of a function of its input. The function checks the role itself, once it knows the resource.
func typed[In any](run func(context.Context, In) (any, error)) func(context.Context, []byte) (any, error) {
	return func(ctx context.Context, body []byte) (any, error) {
		var input In
		if err := json.Unmarshal(body, &input); err != nil {
			return nil, &apiError{Type: "com.amazon.coral.service#SerializationException", Message: err.Error()}
		}
		return run(ctx, input)
	}
}

// epoch is a time in AWS's JSON: seconds since 1970 with a fraction.
func epoch(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }
