// Package aws is the AWS endpoint that functions get in a local run (AWS_ENDPOINT_URL).
//
// A call goes one way, which [Server.ServeHTTP] shows: the access key that signed it says whose it is, the service that
// it names says what IAM asks for it, the function's role as synthesised allows that or not, faults may refuse it, and
// the service answers. All of this happens here, once for all services; the services are packages of their own, which
// import this one. The endpoint stands in for AWS's TLS endpoints: conditions on aws:SecureTransport are met.
package aws

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Options of the endpoint. The zero value traces and logs nothing.
type Options struct {
	// Region is that of requests that name none. Default: us-east-1.
	Region string
	// Trace keeps the requests of functions. Default: nothing is kept.
	Trace *trace.Recorder
	// Log gets a line per refused request. Default: none.
	Log *slog.Logger
	// Failed is called after a request that failed with a status of 500 or above. Default: none.
	Failed func()
}

// Service is one of AWS's services behind the endpoint.
type Service interface {
	// Needs reads the call, and returns what IAM asks for it. An error is of a call that cannot be carried out, and
	// [Unknown] of one that is not served.
	Needs(*Call) ([]Permission, error)
	// Serve carries out a call that the caller's role allows, and writes the answer. With an error it has written
	// nothing.
	Serve(http.ResponseWriter, *Call) error
	// Refuse writes an error, in the form of the service's protocol.
	Refuse(http.ResponseWriter, *Call, error)
}

// Server is the endpoint: an http.Handler. Make one with New. It is safe for concurrent use.
type Server struct {
	options  Options
	services map[string]Service

	mutex sync.RWMutex
	// keys are the callers by access key: code that newer code replaces keeps its role until it ends.
	keys    map[string]*caller
	callers map[string]*caller
	used    map[Use]bool
	refused map[Use]int
	// allowed are the requests that roles allowed, by the grant that decided.
	allowed map[granted][]policy.Request

	capacity capacity
	faults   atomic.Pointer[injector]
}

// New makes the endpoint of services, by their names in signatures, such as dynamodb.
func New(options Options, services map[string]Service) *Server {
	options.Region = cmp.Or(options.Region, assembly.DefaultRegion)
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{
		options: options, services: services,
		keys: map[string]*caller{}, callers: map[string]*caller{},
		used: map[Use]bool{}, refused: map[Use]int{}, allowed: map[granted][]policy.Request{},
	}
}

// ServeHTTP serves one request of an AWS SDK.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := s.identify(r)
	if call == nil {
		WriteError(w, err)
		return
	}
	answer := &answer{ResponseWriter: w, call: call}
	defer func() {
		reason := recover()
		s.record(answer, reason)
		if reason != nil {
			panic(reason)
		}
	}()
	service := s.services[call.Service]
	if service == nil {
		service = Operations(nil)
	}
	var needed []Permission
	if err == nil {
		needed, err = service.Needs(call)
	}
	call.Targets = targets(needed)
	for _, permission := range needed {
		if err == nil {
			err = s.authorise(call.caller, permission)
		}
	}
	var fault fault
	if err == nil {
		fault, err = s.faults.Load().draw(call.Failures)
	}
	if err == nil {
		err = fault.during(answer, call, func(w http.ResponseWriter) error {
			defer s.capacity.add(call)
			return service.Serve(w, call)
		})
	}
	if err != nil {
		service.Refuse(answer, call, err)
	}
}

// Call is a request of a function.
type Call struct {
	trace.Call
	// Request is the request as it came.
	Request *http.Request
	// Function is the name of the caller, and Account that of its role. Region is the request's; empty for the
	// endpoint's.
	Function, Account, Region string
	// Input is what Needs has read, for Serve.
	Input any
	// Failures are the ways in which AWS may fail the call. Needs sets them.
	Failures Failures
	// Consumed is what the call consumed, of the table, index or bucket that it is for first. Serve sets it, and
	// Worked, which is how long the engine or the disk took.
	Consumed []Consumed
	Worked   time.Duration

	caller   *caller
	endpoint *Server
}

// targets are the ARNs of what the permissions are for: tables instead of their indexes, buckets instead of objects.
func targets(needed []Permission) (arns []string) {
	for _, permission := range needed {
		arn, _, _ := strings.Cut(permission.Resource, "/index/")
		if strings.HasPrefix(arn, "arn:aws:s3:::") {
			arn, _, _ = strings.Cut(arn, "/")
		}
		if !slices.Contains(arns, arn) {
			arns = append(arns, arn)
		}
	}
	return arns
}

// Environment is the account and region of what the call is for.
func (c *Call) Environment() string { return assembly.Environment(c.Account, c.Region) }

// Allows reports whether the caller's role allows a permission that the call does not need, without a trace of the
// question.
func (c *Call) Allows(p Permission) bool {
	return c.caller.role.Decide(c.endpoint.asks(c.caller, p)) == policy.Allowed
}

// largest is the longest request, in bytes: more than any operation takes (DynamoDB's batches: 16 MB, before encoding).
const largest = 32 << 20

// ReadBody reads the body of the request into Body. Errors are in the form of AWS's JSON protocols.
func (c *Call) ReadBody() (err error) {
	length := c.Request.ContentLength
	switch {
	case length > largest:
		err = fmt.Errorf("got %d bytes, at most %d are taken", length, largest)
	case length > 0:
		c.Body = make([]byte, length)
		_, err = io.ReadFull(c.Request.Body, c.Body)
	default:
		c.Body, err = io.ReadAll(http.MaxBytesReader(nil, c.Request.Body, largest))
	}
	if err != nil {
		return &Failure{Type: Serialization, Message: "request body: " + err.Error()}
	}
	return nil
}

// accessPattern is how lambdas/kit/dynamo says in the User-Agent which access pattern a request is for.
var accessPattern = regexp.MustCompile(`\baccess-pattern/(\S+)`)

// identify finds the caller by the access key that signed the request, and the operation that it is for. With a call
// and an error, the caller is known, and the service refuses the call.
func (s *Server) identify(r *http.Request) (*Call, error) {
	key, scope := credential(r.Header.Get("Authorization"))
	presigned := Presigned(r)
	if presigned {
		key, scope = credential("Credential=" + r.URL.Query().Get("X-Amz-Credential"))
	}
	if key == "" || presigned && (len(scope) != 4 || scope[2] != "s3") {
		return nil, &Failure{Type: "com.amazon.coral.service#MissingAuthenticationTokenException",
			Message: "Request is missing Authentication Token"}
	}
	s.mutex.RLock()
	registered := s.keys[key]
	s.mutex.RUnlock()
	if registered == nil {
		return nil, &Failure{Type: "com.amazon.coral.service#UnrecognizedClientException",
			Message: "The security token included in the request is invalid."}
	}
	call := &Call{Request: r, Call: trace.Call{Began: time.Now()}, Function: registered.function,
		Account: registered.account(), endpoint: s}
	if len(scope) == 4 {
		call.Region, call.Service = scope[1], scope[2]
	}
	_, call.Operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if agent := r.Header.Get("User-Agent"); strings.Contains(agent, "access-pattern/") {
		if found := accessPattern.FindStringSubmatch(agent); found != nil {
			call.Pattern = found[1]
		}
	}
	call.caller = &caller{function: registered.function, role: registered.role, region: call.Region,
		decisions: registered.decisions}
	if presigned {
		return call, checkPresigned(r, key, scope, call.Began)
	}
	return call, nil
}

// credential reads the access key and the credential scope (date, region, service, aws4_request) of a signature version
// 4 header.
func credential(authorization string) (key string, scope []string) {
	_, rest, ok := strings.Cut(authorization, "Credential=")
	if !ok {
		return "", nil
	}
	rest, _, _ = strings.Cut(rest, ",")
	parts := strings.Split(strings.TrimSpace(rest), "/")
	return parts[0], parts[1:]
}

// answer is an answer on its way to the trace.
type answer struct {
	http.ResponseWriter
	call    *Call
	failure []byte
	// broken says why the caller did not get all of it; nil if nothing speaks against it.
	broken error
}

// maxFailure is how much of an error's answer is read.
const maxFailure = 4 << 10

// errGone is the error of an answer to a caller who no longer waits for it.
var errGone = errors.New("the caller gave up before the answer")

// begin notes the status of the answer, which is the first that is not informational.
func (a *answer) begin(status int) {
	if a.call.Status != 0 || status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return
	}
	a.call.Status = status
	if a.call.Request.Context().Err() != nil {
		a.broken = errGone
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.begin(status)
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(text []byte) (int, error) {
	a.begin(http.StatusOK)
	if a.call.Status >= http.StatusBadRequest && len(a.failure) < maxFailure {
		a.failure = append(a.failure, text[:min(len(text), maxFailure-len(a.failure))]...)
	}
	n, err := a.ResponseWriter.Write(text)
	// A body for a status that has none is left out of the answer, which arrives.
	if err != nil && !errors.Is(err, http.ErrBodyNotAllowed) && a.broken == nil {
		a.broken = fmt.Errorf("the caller did not get all of the answer: %w", err)
	}
	return n, err
}

// Flush implements http.Flusher.
func (a *answer) Flush() {
	a.begin(http.StatusOK)
	if flusher, ok := a.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// record keeps the call. reason is what its operation panicked with, or nil: then an answer without a status has status
// 200, as that of any http.Handler that returns.
func (s *Server) record(a *answer, reason any) {
	a.call.Took = time.Since(a.call.Began)
	if reason == nil {
		a.begin(http.StatusOK)
	}
	switch {
	case reason != nil && a.call.Status == 0:
		a.call.Error = "no answer: the connection was broken off"
	case reason != nil:
		a.call.Error = "half an answer: the connection was broken off"
	case a.call.Status >= http.StatusBadRequest:
		a.call.Error = cmp.Or(failureOf(a.failure), http.StatusText(a.call.Status))
	case a.broken != nil:
		a.call.Error = a.broken.Error()
	}
	if a.call.Status >= http.StatusInternalServerError && s.options.Failed != nil {
		s.options.Failed()
	}
	s.options.Trace.Call(a.call.Request.Header.Get("X-Amzn-Trace-Id"), a.call.Call)
}
