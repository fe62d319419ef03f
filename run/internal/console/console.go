// Package console is the view of a local run: what runs where, what it has done, and the levers that tests
// and people need. It has JSON for programs, and a page for people, which is made from that JSON. It is for this
// machine only: serve it behind a guard of package loopback.
package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/site"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/cognito"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/fcm"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/services/webhooks"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// maxBody holds two items of DynamoDB, of 400 KB each, in its JSON.
const maxBody = 4 << 20

// Users are the user pools of the run.
type Users interface {
	Pools() []cognito.Status
	// SignUp confirms the sign-up of a user who gets a token of the issuer.
	SignUp(ctx context.Context, issuer string, u cognito.User) error
	// Issuer returns the iss of a pool's tokens, or "" if the run has no such pool.
	Issuer(pool string) string
	// Endpoints answers the requests of cognito.Endpoints.
	Endpoints() http.Handler
}

// API is a running HTTP API.
type API struct {
	Stack string `json:"stack"`
	Name  string `json:"name"`
	URL   string `json:"url"`
	// Issuer and Audience are those of the API's JWT authorizer, if it has one.
	Issuer   string   `json:"issuer,omitempty"`
	Audience []string `json:"audience,omitempty"`
	// Others are its further JWT authorizers.
	Others []Authorizer `json:"others,omitempty"`
	// OpenAPI is where the API serves its OpenAPI document, if it does.
	OpenAPI string `json:"openapi,omitempty"`
	// Pages are those that people open in a browser.
	Pages []Page `json:"pages,omitempty"`
}

// Page is a page of an API.
type Page struct {
	// Name is page for the one at the root; others have the group of users whom their path names, such as operators
	// for /operator, or else that path.
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Authorizer is a JWT authorizer.
type Authorizer struct {
	Issuer   string   `json:"issuer"`
	Audience []string `json:"audience"`
}

// Admit adds the authorizer of one of the API's routes. Nil is allowed.
func (a *API) Admit(authorizer *apigateway.Authorizer) {
	switch {
	case authorizer == nil || authorizer.Issuer == a.Issuer ||
		slices.ContainsFunc(a.Others, func(o Authorizer) bool { return o.Issuer == authorizer.Issuer }):
	case a.Issuer == "":
		a.Issuer, a.Audience = authorizer.Issuer, authorizer.Audience
	default:
		a.Others = append(a.Others, Authorizer{authorizer.Issuer, authorizer.Audience})
	}
}

// byAuthorizer returns the API once for each of its authorizers.
func (a API) byAuthorizer() []API {
	each := []API{a}
	for _, other := range a.Others {
		a.Issuer, a.Audience = other.Issuer, other.Audience
		each = append(each, a)
	}
	return each
}

// StackOutputs are the outputs of a stack, by logical id.
type StackOutputs struct {
	Stack string `json:"stack"`
	// Account and Region are those of the stack.
	Account string            `json:"account"`
	Region  string            `json:"region"`
	Outputs map[string]string `json:"outputs"`
}

// Database is how this machine's programs reach the run's tables, past all roles.
type Database struct {
	// Endpoint is the engine's address.
	Endpoint string `json:"endpoint"`
	// Region and AccessKey name the engine's database with the tables; in a run of several accounts and regions, with
	// those of the first stack. The secret may be any text.
	Region    string `json:"region"`
	AccessKey string `json:"access_key"`
	// Environments name the database of each account and region; the engine's region is Region for all.
	Environments []EnvironmentDatabase `json:"environments"`
}

// EnvironmentDatabase is the engine's database of the stacks of an account and region.
type EnvironmentDatabase struct {
	Account   string `json:"account"`
	Region    string `json:"region"`
	AccessKey string `json:"access_key"`
}

// Parts are the parts of a run that the console reads. A field is needed, unless its comment says otherwise.
type Parts struct {
	APIs      []API
	Assembly  *assembly.Assembly
	AWS       *services.Services
	Databases *dynamodb.Databases
	// Mappings deliver streams and queues to functions.
	Mappings  *eventsource.Mappings
	Buckets   *s3.Store
	Lakes     []catalog.Lake
	Functions *lambda.Service
	Schedules *scheduler.Scheduler
	Users     Users
	Inbox     *fcm.Inbox
	// Webhooks is an endpoint for webhooks, which the console serves below WebhooksPath.
	Webhooks *webhooks.Receiver
	Issuer   *apigateway.Issuer
	Trace    *trace.Recorder
	// Endpoint is the address of the run's AWS endpoint, Engine that of DynamoDB behind it.
	Endpoint, Engine string
	// QueryLake answers SQL on the lakes. Default: the console says that this program cannot.
	QueryLake func(ctx context.Context, question catalog.Question) (catalog.Answer, error)
	// LakeReady reports whether QueryLake would begin at once, instead of building its engine first. Default: it would.
	LakeReady func() bool
	// Ended returns why the run has ended, or nil before its end. It is for tests.
	Ended func() error
}

// Console is an http.Handler.
type Console struct {
	parts Parts
	mux   *http.ServeMux
	page  *site.Site
	// routes are the requests that the console answers, as the index lists them.
	routes []route
	// plan is what the map draws, read once.
	plan func() (*plan, error)
}

// Header is what requests need that change something, with any value: all but GET, HEAD, what comes to the endpoint
// for webhooks, and forms of people who sign in. Neither a web page of another origin nor a webhook can send it.
const Header = "Onesynth-Console"

// ServeHTTP answers requests.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// No page of another origin may have what the console answers, as an image or a script either.
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reads && !strings.HasPrefix(r.URL.Path, WebhooksPath) && !cognito.TakesForms(r.URL.Path) &&
		r.Header.Get(Header) == "" {
		writeJSON(w, http.StatusForbidden, map[string]string{
			"error": fmt.Sprintf("%s %s needs the header %s, because it may change something: send it with any "+
				"value, as by curl -H '%[3]s: 1'", r.Method, r.URL.Path, Header),
		})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	c.mux.ServeHTTP(w, r)
}

// Problem is an answer other than success.
type Problem struct {
	// Status is one of HTTP, such as http.StatusConflict.
	Status int
	// Message says to people what was got, and what to do.
	Message string
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

func (c *Console) answer(handler func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		document, err := handler(r)
		var p *Problem
		var refused *dynamodb.RequestError
		switch {
		case errors.As(err, &p):
			writeJSON(w, p.Status, map[string]string{"error": p.Message})
		case is(err, lambda.ErrNotFound, scheduler.ErrNotFound, lambda.ErrNotRunning, s3.ErrNoBucket, s3.ErrNoObject,
			dynamodb.ErrNoTable, dynamodb.ErrNoItem, sqs.ErrNoMessage):
			writeJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
		case is(err, dynamodb.ErrItemChanged, sqs.ErrMessageInUse):
			writeJSON(w, http.StatusConflict, map[string]string{"error": err.Error()})
		case errors.As(err, &refused), is(err, dynamodb.ErrItem):
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		case err != nil:
			writeJSON(w, http.StatusBadGateway, map[string]string{"error": err.Error()})
		case document == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			writeJSON(w, http.StatusOK, document)
		}
	}
}

func is(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

func writeJSON(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.Encode(document)
}

// Index is the answer to GET / for programs.
type Index struct {
	// APIs are the HTTP APIs of the run.
	APIs []API `json:"apis"`
	// Endpoint is the address of the run's AWS endpoint, DynamoDB that of the engine behind it.
	Endpoint string `json:"aws_endpoint"`
	DynamoDB string `json:"dynamodb"`
	// Links are the requests that the console answers.
	Links []string `json:"links"`
}

func (c *Console) index(*http.Request) (any, error) {
	index := Index{APIs: c.parts.APIs, Endpoint: c.parts.Endpoint, DynamoDB: c.parts.Engine}
	for _, route := range c.routes {
		index.Links = append(index.Links, route.request)
	}
	return index, nil
}

func (c *Console) outputs() []StackOutputs {
	all := []StackOutputs{}
	for _, stack := range c.parts.Assembly.Stacks {
		one := StackOutputs{Stack: stack.Name, Account: stack.Account, Region: stack.Region,
			Outputs: map[string]string{}}
		for name, output := range stack.Outputs {
			one.Outputs[name] = output.Value
		}
		all = append(all, one)
	}
	return all
}

func (c *Console) database() Database {
	keys := c.parts.Databases.AccessKeys()
	all := Database{Endpoint: c.parts.Engine, Region: engine.Region}
	for _, of := range c.parts.Assembly.Environments() {
		first := of.Stacks[0]
		all.Environments = append(all.Environments, EnvironmentDatabase{
			Account: first.Account, Region: first.Region, AccessKey: keys[first.Environment()],
		})
	}
	all.AccessKey = all.Environments[0].AccessKey
	return all
}

// Killed is the answer to POST /functions/{name}/kill.
type Killed struct {
	// Killed is the id of the process that was killed.
	Killed int `json:"killed"`
}

func (c *Console) kill(r *http.Request) (Killed, error) {
	pid, err := c.parts.Functions.Kill(r.PathValue("name"))
	return Killed{pid}, err
}

// Invocation is the answer to POST /functions/{name}/invoke.
type Invocation struct {
	// Error is "" if the function succeeded, else "Unhandled", as in AWS Lambda's answer.
	Error string `json:"function_error,omitempty"`
	// Payload is the function's answer, or AWS Lambda's description of its failure.
	Payload json.RawMessage `json:"payload"`
}

func (c *Console) invoke(r *http.Request) (Invocation, error) {
	event, err := io.ReadAll(r.Body)
	if err != nil || !json.Valid(event) {
		return Invocation{}, &Problem{http.StatusBadRequest,
			fmt.Sprintf("body: write the function's event as JSON, up to %d bytes", maxBody)}
	}
	result, err := c.parts.Functions.Invoke(r.Context(), r.PathValue("name"), event)
	if err != nil {
		return Invocation{}, err
	}
	if !json.Valid(result.Payload) {
		return Invocation{}, fmt.Errorf("function %s did not answer with JSON: %q", r.PathValue("name"),
			result.Payload)
	}
	return Invocation{Error: result.FunctionError, Payload: result.Payload}, nil
}

func (c *Console) setFaults(_ *http.Request, faults aws.Faults) (aws.Faults, error) {
	if err := c.parts.AWS.SetFaults(faults); err != nil {
		return aws.Faults{}, &Problem{http.StatusBadRequest, err.Error()}
	}
	return c.parts.AWS.Faults(), nil
}

// object answers with the bytes of an object.
func (c *Console) object(w http.ResponseWriter, r *http.Request) {
	object, content, err := c.parts.Buckets.Open(r.PathValue("name"), r.PathValue("key"))
	if err != nil {
		c.answer(func(*http.Request) (any, error) { return nil, err })(w, r)
		return
	}
	defer content.Close()
	size := object.Size
	if first, err := strconv.ParseInt(r.URL.Query().Get("first"), 10, 64); err == nil && first >= 0 && first < size {
		size = first
		w.Header().Set("X-Object-Size", strconv.FormatInt(object.Size, 10))
	}
	// Whoever stored the object must not run scripts at the console's origin.
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	w.Header().Set("ETag", `"`+object.ETag+`"`)
	w.Header().Set("Last-Modified", object.LastModified.Format(http.TimeFormat))
	_, _ = io.CopyN(w, content, size)
}

// Ran is the answer to POST /schedules/{name}/run.
type Ran struct {
	// Ran is the name of the schedule.
	Ran string `json:"ran"`
}

func (c *Console) runSchedule(r *http.Request) (Ran, error) {
	name := r.PathValue("name")
	return Ran{name}, c.parts.Schedules.Run(r.Context(), name)
}

// PushFault is the body of POST /push/faults.
type PushFault struct {
	// Token is the token of a device.
	Token string `json:"token"`
	// Error is what messages to the device fail with; "" lets them pass again.
	Error fcm.Fault `json:"error"`
}

func (c *Console) pushFault(_ *http.Request, fault PushFault) (nothing, error) {
	if fault.Token == "" {
		return nothing{}, &Problem{http.StatusBadRequest,
			`write {"token": DEVICE_TOKEN, "error": "UNREGISTERED"}; error "" lets the token pass again`}
	}
	if err := c.parts.Inbox.Fail(fault.Token, fault.Error); err != nil {
		return nothing{}, &Problem{http.StatusBadRequest, err.Error()}
	}
	return nothing{}, nil
}

// TokenRequest is the body of POST /token.
type TokenRequest struct {
	// Subject is the sub claim, and the only field that is needed.
	Subject string `json:"sub"`
	// Stack narrows the token to the APIs of one stack. Default: all with a JWT authorizer.
	Stack string `json:"stack,omitempty"`
	// Audience is the aud claim. Default: the first audience of each of the APIs.
	Audience string `json:"aud,omitempty"`
	// Issuer is the iss claim. Default: the APIs' issuer, or apigateway.RunIssuer when they have several.
	Issuer string `json:"iss,omitempty"`
	// Scope is the scope claim, words separated by spaces.
	Scope string `json:"scope,omitempty"`
	// Expires is the token's life as a Go duration, such as 1h. Default: 1h. A negative one makes an expired token.
	Expires string `json:"expires,omitempty"`
	// Claims are added as they are.
	Claims map[string]any `json:"claims,omitempty"`
}

// Token is the answer to POST /token.
type Token struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	Issuer      string `json:"issuer"`
	// Audience is the aud claim: an API takes the token if its own audience is among them.
	Audience []string `json:"audience"`
}

func (c *Console) token(r *http.Request, request TokenRequest) (Token, error) {
	return c.parts.Token(r.Context(), request)
}

// Token makes a token, and signs the user up with the user pools that issue it. The error is a Problem if no API takes
// such a token.
func (p Parts) Token(ctx context.Context, request TokenRequest) (Token, error) {
	if request.Subject == "" {
		return Token{}, &Problem{http.StatusBadRequest, "sub: a token needs a subject"}
	}
	if strings.ContainsFunc(request.Subject, unicode.IsControl) {
		return Token{}, &Problem{http.StatusBadRequest,
			fmt.Sprintf("sub: got %q: write a subject without line breaks and other control characters",
				request.Subject)}
	}
	var lifetime time.Duration
	if request.Expires != "" {
		var err error
		if lifetime, err = time.ParseDuration(request.Expires); err != nil || lifetime == 0 {
			return Token{}, &Problem{http.StatusBadRequest,
				fmt.Sprintf("expires %q: want a duration such as 30m or 1h", request.Expires)}
		}
	}
	audience, apis, err := p.fill(&request)
	if err != nil {
		return Token{}, err
	}
	if err := p.signUp(ctx, request, audience, apis); err != nil {
		return Token{}, fmt.Errorf("no token: %w: the next request tries again", err)
	}
	signed, err := p.Issuer.Mint(apigateway.Request{
		Issuer: request.Issuer, Subject: request.Subject, Audience: audience, Scope: request.Scope, Lifetime: lifetime,
		Claims: request.Claims,
	})
	if err != nil {
		return Token{}, err
	}
	return Token{AccessToken: signed, TokenType: "Bearer", Issuer: request.Issuer, Audience: audience}, nil
}

// claim returns the claim of a token that Claims may override.
func (t TokenRequest) claim(name, otherwise string) string {
	if claim, ok := t.Claims[name].(string); ok {
		return claim
	}
	return otherwise
}

// signUp signs the user up with the pools of the token's issuer, which are those of all its APIs if they have several.
func (p Parts) signUp(ctx context.Context, request TokenRequest, audience []string, apis []API) error {
	user := cognito.User{Subject: request.claim("sub", request.Subject), Email: request.claim("email", ""),
		Clients: audience}
	if id := request.claim("client_id", request.claim("aud", "")); id != "" {
		user.Clients = []string{id}
	}
	issuers := []string{request.claim("iss", request.Issuer)}
	if issuers[0] == apigateway.RunIssuer {
		issuers = nil
		for _, api := range apis {
			issuers = append(issuers, api.Issuer)
		}
	}
	for _, issuer := range issuers {
		if err := p.Users.SignUp(ctx, issuer, user); err != nil {
			return err
		}
	}
	return nil
}

// fill chooses the fields that the request leaves empty, so that every API in question takes the token, and returns the
// audience and these APIs.
func (p Parts) fill(request *TokenRequest) (audience []string, matching []API, err error) {
	audience = []string{}
	if request.Audience != "" {
		audience = append(audience, request.Audience)
	}
	var stacks []string
	var all, protected []API
	for _, api := range p.APIs {
		all = append(all, api.byAuthorizer()...)
	}
	for _, api := range all {
		if api.Issuer == "" {
			continue
		}
		stacks = append(stacks, api.Stack)
		if request.Stack != "" && api.Stack != request.Stack || request.Issuer != "" && api.Issuer != request.Issuer {
			continue
		}
		protected = append(protected, api)
		if request.Audience == "" || slices.Contains(api.Audience, request.Audience) {
			matching = append(matching, api)
		}
	}
	if request.Stack != "" && !slices.Contains(stacks, request.Stack) {
		return nil, nil, &Problem{http.StatusBadRequest,
			fmt.Sprintf("stack %q has no API with a JWT authorizer; those that have one: %s", request.Stack,
				strings.Join(stacks, ", "))}
	}
	if len(matching) == 0 {
		// Tests of refusals ask for a token of an audience that no API has.
		matching = protected
	}
	if len(matching) == 0 {
		if request.Issuer != "" {
			return audience, matching, nil
		}
		return nil, nil, &Problem{http.StatusConflict,
			"no API of this run has a JWT authorizer: requests need no token (to make one anyway, give iss)"}
	}
	request.Issuer = matching[0].Issuer
	for _, api := range matching {
		if api.Issuer != request.Issuer {
			request.Issuer = apigateway.RunIssuer
		}
		if request.Audience == "" && len(api.Audience) > 0 && !slices.Contains(audience, api.Audience[0]) {
			audience = append(audience, api.Audience[0])
		}
	}
	return audience, matching, nil
}

func (c *Console) discovery(r *http.Request) (map[string]any, error) {
	base := "http://" + r.Host
	return cognito.Discovery(base, base), nil
}

func (c *Console) discoveryOfPool(r *http.Request) (map[string]any, error) {
	issuer := c.parts.Users.Issuer(r.PathValue("id"))
	if issuer == "" {
		return nil, &Problem{http.StatusNotFound,
			fmt.Sprintf("no user pool %q: GET /user-pools lists those of the run", r.PathValue("id"))}
	}
	return cognito.Discovery(issuer, "http://"+r.Host), nil
}
