// Package console is the JSON view of a local run: what runs where, what it has done, and the few levers
// that tests and people need. It serves this machine only: requests that a web page of another site could
// cause are refused.
package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/gateway"
	"github.com/onesynth-cdk/onesynth/local/inbox"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/schedule"
	"github.com/onesynth-cdk/onesynth/local/userpool"
)

const maxBody = 1 << 20

// Functions is what the console shows and does with functions.
type Functions interface {
	Functions() []lambda.Status
	Lines(function string) ([]string, error)
	Kill(function string) (pid int, err error)
	Invoke(ctx context.Context, function string, payload []byte) (lambda.Result, error)
}

// Schedules is what the console shows and does with schedules.
type Schedules interface {
	Schedules() []schedule.Status
	Run(ctx context.Context, name string) error
}

// Users is what the console shows and does with user pools.
type Users interface {
	Pools() []userpool.Status
	// SignUp confirms the sign-up of a user who gets a token of the issuer.
	SignUp(ctx context.Context, issuer string, u userpool.User) error
}

// Cloud is what the console shows and does with the run's AWS services. Answers are encoded as JSON.
type Cloud interface {
	// Capacity is the consumed capacity per function, table, index and operation; ResetCapacity zeroes it.
	Capacity() any
	ResetCapacity()
	// EngineUse is how many requests the engine answered, and how long it had at least one.
	EngineUse() any
	// UsedPermissions and RefusedPermissions are the permissions that functions needed, by what their roles said.
	UsedPermissions() any
	RefusedPermissions() any
	// Faults are the faults that are injected now; SetFaults replaces them from JSON.
	Faults() any
	SetFaults(document []byte) error
	// Queues are all queues with their number of messages; Queue is one with its messages, if it exists.
	Queues() any
	Queue(name string) (any, bool)
	// Streams tell how far the delivery of stream records to functions is.
	Streams() any
	// FlushStreams delivers what was written before the call and returns when functions have taken it.
	FlushStreams(ctx context.Context) error
	// Buckets are all buckets with their number of objects and bytes; Objects are those of a bucket below a prefix, and OpenObject
	// opens one.
	// Errors: buckets.ErrNoBucket, buckets.ErrNoObject.
	Buckets() any
	Objects(bucket, prefix string) (any, error)
	OpenObject(bucket, key string) (buckets.Object, io.ReadCloser, error)
	// Lakes are the catalogs: []catalog.Lake.
	Lakes() any
	// Outputs are those of the stacks.
	Outputs() []StackOutputs
	// Tables are as the engine describes them.
	Tables(ctx context.Context) (any, error)
	// Sweep deletes expired items now and returns how many.
	Sweep(ctx context.Context) (int, error)
}

// API is a running HTTP API.
type API struct {
	Stack string `json:"stack"`
	Name  string `json:"name"`
	URL   string `json:"url"`
	// Issuer and Audience are those of the API's JWT authorizer, if it has one.
	Issuer   string   `json:"issuer,omitempty"`
	Audience []string `json:"audience,omitempty"`
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
	// Region and AccessKey name the engine's database with the tables; in a run of several accounts and regions, with those of the
	// first stack. The secret may be any text.
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

// Options of a console. All fields are needed.
type Options struct {
	APIs      []API
	Functions Functions
	Schedules Schedules
	Users     Users
	Cloud     Cloud
	Inbox     *inbox.Inbox
	Issuer    *gateway.Issuer
	// Endpoint is the AWS endpoint of the run, DynamoDB the engine behind it.
	Endpoint string
	DynamoDB Database
}

// Console is an http.Handler.
type Console struct {
	options Options
	mux     *http.ServeMux
}

// New returns the console of a run.
func New(options Options) *Console {
	c := &Console{options: options, mux: http.NewServeMux()}
	get := func(path string, answer func(*http.Request) (any, error)) {
		c.mux.HandleFunc("GET "+path, c.answer(answer))
	}
	post := func(path string, answer func(*http.Request) (any, error)) {
		c.mux.HandleFunc("POST "+path, c.answer(answer))
	}
	get("/{$}", c.index)
	get("/functions", func(*http.Request) (any, error) { return options.Functions.Functions(), nil })
	post("/functions/{name}/kill", c.kill)
	post("/functions/{name}/invoke", c.invoke)
	get("/logs", c.logs)
	get("/capacity", func(*http.Request) (any, error) { return options.Cloud.Capacity(), nil })
	get("/engine", func(*http.Request) (any, error) { return options.Cloud.EngineUse(), nil })
	c.mux.HandleFunc("DELETE /capacity", c.answer(func(*http.Request) (any, error) { options.Cloud.ResetCapacity(); return nil, nil }))
	get("/used-permissions", func(*http.Request) (any, error) { return options.Cloud.UsedPermissions(), nil })
	get("/refused", func(*http.Request) (any, error) { return options.Cloud.RefusedPermissions(), nil })
	get("/faults", func(*http.Request) (any, error) { return options.Cloud.Faults(), nil })
	post("/faults", c.faults)
	get("/outputs", func(*http.Request) (any, error) { return options.Cloud.Outputs(), nil })
	get("/dynamodb", func(*http.Request) (any, error) { return options.DynamoDB, nil })
	get("/tables", func(r *http.Request) (any, error) { return options.Cloud.Tables(r.Context()) })
	post("/sweep", func(r *http.Request) (any, error) {
		n, err := options.Cloud.Sweep(r.Context())
		return map[string]int{"deleted": n}, err
	})
	get("/queues", func(*http.Request) (any, error) { return options.Cloud.Queues(), nil })
	get("/queues/{name}", c.queue)
	get("/streams", func(*http.Request) (any, error) { return options.Cloud.Streams(), nil })
	post("/streams/flush", func(r *http.Request) (any, error) {
		if err := options.Cloud.FlushStreams(r.Context()); err != nil {
			return nil, err
		}
		return options.Cloud.Streams(), nil
	})
	get("/buckets", func(*http.Request) (any, error) { return options.Cloud.Buckets(), nil })
	get("/buckets/{name}", func(r *http.Request) (any, error) {
		return options.Cloud.Objects(r.PathValue("name"), r.URL.Query().Get("prefix"))
	})
	c.mux.HandleFunc("GET /buckets/{name}/objects/{key...}", c.object)
	get("/lakes", func(*http.Request) (any, error) { return options.Cloud.Lakes(), nil })
	get("/schedules", func(*http.Request) (any, error) { return options.Schedules.Schedules(), nil })
	post("/schedules/{name}/run", c.runSchedule)
	get("/user-pools", func(*http.Request) (any, error) { return options.Users.Pools(), nil })
	get("/push", func(*http.Request) (any, error) { return options.Inbox.Messages(), nil })
	c.mux.HandleFunc("DELETE /push", c.answer(func(*http.Request) (any, error) { options.Inbox.Clear(); return nil, nil }))
	post("/push/faults", c.pushFault)
	post("/token", c.token)
	get("/.well-known/openid-configuration", c.discovery)
	get("/.well-known/jwks.json", func(*http.Request) (any, error) { return options.Issuer.JWKS() })
	c.mux.HandleFunc("/", c.answer(func(r *http.Request) (any, error) {
		return nil, &problem{http.StatusNotFound, fmt.Sprintf("no %s %s here: GET / lists what there is", r.Method, r.URL.Path)}
	}))
	return c
}

// ServeHTTP answers requests of this machine's own programs.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := guard(r); err != nil {
		writeJSON(w, http.StatusForbidden, map[string]string{"error": err.Error()})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	c.mux.ServeHTTP(w, r)
}

// guard refuses names that a foreign DNS answer may have pointed here, and requests from other sites' pages.
func guard(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !loopback(host) {
		return fmt.Errorf("host %q: the console answers only to localhost and 127.0.0.1", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		parsed, err := url.Parse(origin)
		if err != nil || parsed.Host != r.Host {
			return fmt.Errorf("origin %q: web pages of other sites may not use the console", origin)
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" && r.Method != http.MethodGet {
		return errors.New("web pages of other sites may not use the console")
	}
	return nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

type problem struct {
	status  int
	message string
}

func (p *problem) Error() string { return p.message }

func (c *Console) answer(handler func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		document, err := handler(r)
		var p *problem
		switch {
		case errors.As(err, &p):
			writeJSON(w, p.status, map[string]string{"error": p.message})
		case errors.Is(err, lambda.ErrNotFound), errors.Is(err, schedule.ErrNotFound), errors.Is(err, lambda.ErrNotRunning),
			errors.Is(err, buckets.ErrNoBucket), errors.Is(err, buckets.ErrNoObject):
			writeJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
		case err != nil:
			writeJSON(w, http.StatusBadGateway, map[string]string{"error": err.Error()})
		case document == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			writeJSON(w, http.StatusOK, document)
		}
	}
}

func writeJSON(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.Encode(document)
}

func (c *Console) index(*http.Request) (any, error) {
	return map[string]any{
		"apis": c.options.APIs, "aws_endpoint": c.options.Endpoint, "dynamodb": c.options.DynamoDB.Endpoint,
		"links": []string{
			"GET /functions", "POST /functions/{name}/kill", "POST /functions/{name}/invoke", "GET /logs?function=NAME", "GET /engine", "GET /capacity", "DELETE /capacity",
			"GET /outputs", "GET /dynamodb", "GET /tables", "POST /sweep", "GET /schedules", "POST /schedules/{name}/run", "GET /user-pools", "GET /push", "DELETE /push", "POST /push/faults",
			"GET /queues", "GET /queues/{name}", "GET /streams", "POST /streams/flush", "GET /buckets", "GET /buckets/{name}?prefix=PREFIX",
			"GET /buckets/{name}/objects/{key}", "GET /lakes", "GET /faults", "POST /faults", "GET /used-permissions", "GET /refused", "POST /token",
			"GET /.well-known/openid-configuration", "GET /.well-known/jwks.json",
		},
	}, nil
}

func (c *Console) kill(r *http.Request) (any, error) {
	pid, err := c.options.Functions.Kill(r.PathValue("name"))
	return map[string]int{"killed": pid}, err
}

// Invocation is the answer to POST /functions/{name}/invoke.
type Invocation struct {
	// Error is "" if the function succeeded, else "Unhandled", as in AWS Lambda's answer.
	Error string `json:"function_error,omitempty"`
	// Payload is the function's answer, or AWS Lambda's description of its failure.
	Payload json.RawMessage `json:"payload"`
}

func (c *Console) invoke(r *http.Request) (any, error) {
	event, err := io.ReadAll(r.Body)
	if err != nil || !json.Valid(event) {
		return nil, &problem{http.StatusBadRequest, fmt.Sprintf("body: write the function's event as JSON, up to %d bytes", maxBody)}
	}
	result, err := c.options.Functions.Invoke(r.Context(), r.PathValue("name"), event)
	if err != nil {
		return nil, err
	}
	if !json.Valid(result.Payload) {
		return nil, fmt.Errorf("function %s answered with what is no JSON: %q", r.PathValue("name"), result.Payload)
	}
	return Invocation{Error: result.FunctionError, Payload: result.Payload}, nil
}

func (c *Console) logs(r *http.Request) (any, error) {
	name := r.URL.Query().Get("function")
	if name == "" {
		return nil, &problem{http.StatusBadRequest, "give the function: /logs?function=NAME (GET /functions lists them)"}
	}
	return c.options.Functions.Lines(name)
}

func (c *Console) faults(r *http.Request) (any, error) {
	document, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, &problem{http.StatusBadRequest, err.Error()}
	}
	if err := c.options.Cloud.SetFaults(document); err != nil {
		return nil, &problem{http.StatusBadRequest, err.Error()}
	}
	return c.options.Cloud.Faults(), nil
}

func (c *Console) queue(r *http.Request) (any, error) {
	queue, ok := c.options.Cloud.Queue(r.PathValue("name"))
	if !ok {
		return nil, &problem{http.StatusNotFound, fmt.Sprintf("no queue %q: GET /queues lists them", r.PathValue("name"))}
	}
	return queue, nil
}

// object answers with the bytes of an object.
func (c *Console) object(w http.ResponseWriter, r *http.Request) {
	object, content, err := c.options.Cloud.OpenObject(r.PathValue("name"), r.PathValue("key"))
	if err != nil {
		c.answer(func(*http.Request) (any, error) { return nil, err })(w, r)
		return
	}
	defer content.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.FormatInt(object.Size, 10))
	w.Header().Set("ETag", `"`+object.ETag+`"`)
	w.Header().Set("Last-Modified", object.LastModified.Format(http.TimeFormat))
	io.Copy(w, content)
}

func (c *Console) runSchedule(r *http.Request) (any, error) {
	name := r.PathValue("name")
	if err := c.options.Schedules.Run(r.Context(), name); err != nil {
		return nil, err
	}
	return map[string]string{"ran": name}, nil
}

func (c *Console) pushFault(r *http.Request) (any, error) {
	var request struct {
		Token string
		Error inbox.Fault
	}
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	if request.Token == "" {
		return nil, &problem{http.StatusBadRequest, `write {"token": DEVICE_TOKEN, "error": "UNREGISTERED"}; error "" lets the token pass again`}
	}
	if err := c.options.Inbox.Fail(request.Token, request.Error); err != nil {
		return nil, &problem{http.StatusBadRequest, err.Error()}
	}
	return nil, nil
}

// TokenRequest is the body of POST /token.
type TokenRequest struct {
	// Subject is the sub claim, and the only field that is needed.
	Subject string `json:"sub"`
	// Stack narrows the token to the APIs of one stack. Default: all with a JWT authorizer.
	Stack string `json:"stack,omitempty"`
	// Audience is the aud claim. Default: the first audience of each of the APIs.
	Audience string `json:"aud,omitempty"`
	// Issuer is the iss claim. Default: the APIs' issuer, or gateway.RunIssuer when they have several.
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

func (c *Console) token(r *http.Request) (any, error) {
	var request TokenRequest
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	if request.Subject == "" {
		return nil, &problem{http.StatusBadRequest, "sub: a token needs a subject"}
	}
	var lifetime time.Duration
	if request.Expires != "" {
		var err error
		if lifetime, err = time.ParseDuration(request.Expires); err != nil || lifetime == 0 {
			return nil, &problem{http.StatusBadRequest, fmt.Sprintf("expires %q: want a duration such as 30m or 1h", request.Expires)}
		}
	}
	audience, apis, err := c.fill(&request)
	if err != nil {
		return nil, err
	}
	if err := c.signUp(r.Context(), request, audience, apis); err != nil {
		return nil, fmt.Errorf("no token: %w: the next request tries again", err)
	}
	signed, err := c.options.Issuer.Mint(gateway.Request{
		Issuer: request.Issuer, Subject: request.Subject, Audience: audience, Scope: request.Scope, Lifetime: lifetime, Claims: request.Claims,
	})
	if err != nil {
		return nil, err
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
func (c *Console) signUp(ctx context.Context, request TokenRequest, audience []string, apis []API) error {
	user := userpool.User{Subject: request.claim("sub", request.Subject), Email: request.claim("email", ""), Clients: audience}
	if id := request.claim("client_id", request.claim("aud", "")); id != "" {
		user.Clients = []string{id}
	}
	issuers := []string{request.claim("iss", request.Issuer)}
	if issuers[0] == gateway.RunIssuer {
		issuers = nil
		for _, api := range apis {
			issuers = append(issuers, api.Issuer)
		}
	}
	for _, issuer := range issuers {
		if err := c.options.Users.SignUp(ctx, issuer, user); err != nil {
			return err
		}
	}
	return nil
}

// fill chooses the fields that the request leaves empty, so that every API in question takes the token, and returns the audience and
// these APIs.
func (c *Console) fill(request *TokenRequest) (audience []string, matching []API, err error) {
	audience = []string{}
	if request.Audience != "" {
		audience = append(audience, request.Audience)
	}
	var stacks []string
	var protected []API
	for _, api := range c.options.APIs {
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
		return nil, nil, &problem{http.StatusBadRequest, fmt.Sprintf("stack %q has no API with a JWT authorizer; those that have one: %s", request.Stack, strings.Join(stacks, ", "))}
	}
	if len(matching) == 0 {
		// Tests of refusals ask for a token of an audience that no API has.
		matching = protected
	}
	if len(matching) == 0 {
		if request.Issuer != "" {
			return audience, matching, nil
		}
		return nil, nil, &problem{http.StatusConflict, "no API of this run has a JWT authorizer: requests need no token (to make one anyway, give iss)"}
	}
	request.Issuer = matching[0].Issuer
	for _, api := range matching {
		if api.Issuer != request.Issuer {
			request.Issuer = gateway.RunIssuer
		}
		if request.Audience == "" && len(api.Audience) > 0 && !slices.Contains(audience, api.Audience[0]) {
			audience = append(audience, api.Audience[0])
		}
	}
	return audience, matching, nil
}

func decode(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return &problem{http.StatusBadRequest, "body: " + err.Error()}
	}
	return nil
}

func (c *Console) discovery(r *http.Request) (any, error) {
	base := "http://" + r.Host
	return map[string]any{
		"issuer": base, "jwks_uri": base + "/.well-known/jwks.json", "token_endpoint": base + "/token",
		"response_types_supported": []string{"token"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
	}, nil
}
