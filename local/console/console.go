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

	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/gateway"
	"github.com/onesynth-cdk/onesynth/local/inbox"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/schedule"
	"github.com/onesynth-cdk/onesynth/local/trace"
	"github.com/onesynth-cdk/onesynth/local/userpool"
)

// maxBody holds two items of DynamoDB, of 400 KB each, in its JSON.
const maxBody = 4 << 20

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
	// Permissions are those of each function and schedule: used, granted without use, and refused.
	Permissions() any
	// Queues are all queues with their number of messages; Queue is one with its oldest messages, up to most of them, or all if it is 0.
	// The bodies of messages are cut if most is not 0. Message is one of them. The last result is false if there is none.
	Queues() any
	Queue(name string, most int) (any, bool)
	Message(queue, id string) (any, bool)
	// Again does what failed, according to a message, and then removes the message. DropMessage removes it at once.
	// Errors: *Problem, awsapi.ErrNoMessage, awsapi.ErrMessageInUse, and why it failed again.
	Again(ctx context.Context, queue, message string) (Again, error)
	DropMessage(queue, message string) error
	// DueMessages makes the messages of a queue due that wait for the end of a delay or of a visibility time-out, and returns how many
	// there are. The last result is false if there is no such queue.
	DueMessages(queue string) (int, bool)
	// Streams tell how far the delivery of stream records to functions is.
	Streams() any
	// FlushStreams delivers what was written before the call and returns when functions have taken it.
	FlushStreams(ctx context.Context) error
	// Buckets are all buckets with their number of objects and bytes; Objects are those of a bucket below a prefix, and OpenObject
	// opens one.
	// Errors: buckets.ErrNoBucket, buckets.ErrNoObject.
	Buckets() any
	Objects(bucket, prefix string) (any, error)
	Browse(bucket, prefix, after string, most int) (buckets.Page, error)
	OpenObject(bucket, key string) (buckets.Object, io.ReadCloser, error)
	// Lakes are the catalogs: []catalog.Lake.
	Lakes() any
	// Outputs are those of the stacks.
	Outputs() []StackOutputs
	// Tables are as the engine describes them.
	Tables(ctx context.Context) (any, error)
	// Items reads a page of a table; ReplaceItem changes, adds or deletes an item. Errors as those of [engine.Databases].
	Items(ctx context.Context, query engine.ItemsQuery) (engine.Items, error)
	ReplaceItem(ctx context.Context, table, stack string, was, item map[string]json.RawMessage) error
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
	// Others are its further JWT authorizers.
	Others []Authorizer `json:"others,omitempty"`
	// OpenAPI is where the API serves its OpenAPI document, if it does.
	OpenAPI string `json:"openapi,omitempty"`
}

// Authorizer is a JWT authorizer.
type Authorizer struct {
	Issuer   string   `json:"issuer"`
	Audience []string `json:"audience"`
}

// Admit adds the authorizer of one of the API's routes. Nil is allowed.
func (a *API) Admit(authorizer *gateway.Authorizer) {
	switch {
	case authorizer == nil || authorizer.Issuer == a.Issuer || slices.ContainsFunc(a.Others, func(o Authorizer) bool { return o.Issuer == authorizer.Issuer }):
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

// Again is what was done with a failed message.
type Again struct {
	// Did says it to people.
	Did string `json:"did"`
	// Function took Records events or records of a stream; it is empty if the message went to another queue.
	Function string `json:"function,omitempty"`
	Records  int    `json:"records"`
	// Payload is the function's answer, if it was invoked with an event.
	Payload json.RawMessage `json:"payload,omitempty"`
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

// Options of a console. All fields but QueryLake are needed.
type Options struct {
	APIs      []API
	Functions Functions
	Schedules Schedules
	Users     Users
	Cloud     Cloud
	Inbox     *inbox.Inbox
	// Webhooks is an endpoint for webhooks, which the console serves below WebhooksPath.
	Webhooks *inbox.Receiver
	Issuer   *gateway.Issuer
	Trace    *trace.Recorder
	// Endpoint is the AWS endpoint of the run, DynamoDB the engine behind it.
	Endpoint string
	DynamoDB Database
	// QueryLake answers SQL on the lakes. Default: the console says that this program cannot.
	QueryLake func(ctx context.Context, question catalog.Question) (catalog.Answer, error)
}

// Console is an http.Handler.
type Console struct {
	options Options
	mux     *http.ServeMux
	pages   assets
}

// New returns the console of a run.
func New(options Options) *Console {
	c := &Console{options: options, mux: http.NewServeMux(), pages: readAssets()}
	get := func(path string, answer func(*http.Request) (any, error)) {
		c.mux.HandleFunc("GET "+path, c.answer(answer))
	}
	post := func(path string, answer func(*http.Request) (any, error)) {
		c.mux.HandleFunc("POST "+path, c.answer(answer))
	}
	c.mux.HandleFunc("GET /{$}", c.home)
	c.mux.Handle("GET /page/", c.pages)
	get("/functions", func(*http.Request) (any, error) { return options.Functions.Functions(), nil })
	post("/functions/{name}/kill", c.kill)
	post("/functions/{name}/invoke", c.invoke)
	get("/logs", c.logs)
	get("/lines", c.lines)
	get("/requests", c.requests)
	get("/requests/{id}", c.request)
	c.mux.HandleFunc("GET /events", c.events)
	get("/capacity", func(*http.Request) (any, error) { return options.Cloud.Capacity(), nil })
	get("/engine", func(*http.Request) (any, error) { return options.Cloud.EngineUse(), nil })
	c.mux.HandleFunc("DELETE /capacity", c.answer(func(*http.Request) (any, error) { options.Cloud.ResetCapacity(); return nil, nil }))
	get("/used-permissions", func(*http.Request) (any, error) { return options.Cloud.UsedPermissions(), nil })
	get("/refused", func(*http.Request) (any, error) { return options.Cloud.RefusedPermissions(), nil })
	get("/permissions", func(*http.Request) (any, error) { return options.Cloud.Permissions(), nil })
	get("/faults", func(*http.Request) (any, error) { return options.Cloud.Faults(), nil })
	post("/faults", c.faults)
	get("/outputs", func(*http.Request) (any, error) { return options.Cloud.Outputs(), nil })
	get("/dynamodb", func(*http.Request) (any, error) { return options.DynamoDB, nil })
	get("/tables", func(r *http.Request) (any, error) { return options.Cloud.Tables(r.Context()) })
	get("/tables/{name}/items", c.items)
	post("/tables/{name}/items", c.replaceItem)
	post("/sweep", func(r *http.Request) (any, error) {
		n, err := options.Cloud.Sweep(r.Context())
		return map[string]int{"deleted": n}, err
	})
	get("/queues", func(*http.Request) (any, error) { return options.Cloud.Queues(), nil })
	get("/queues/{name}", c.queue)
	get("/queues/{name}/messages/{id}", c.message)
	post("/queues/{name}/messages/{id}/again", c.again)
	post("/queues/{name}/due", c.dueMessages)
	c.mux.HandleFunc("DELETE /queues/{name}/messages/{id}", c.answer(c.dropMessage))
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
	get("/buckets/{name}/browse", c.browse)
	c.mux.HandleFunc("GET /buckets/{name}/objects/{key...}", c.object)
	post("/lakes/query", c.queryLake)
	get("/lakes", func(*http.Request) (any, error) { return options.Cloud.Lakes(), nil })
	get("/schedules", func(*http.Request) (any, error) { return options.Schedules.Schedules(), nil })
	post("/schedules/{name}/run", c.runSchedule)
	get("/user-pools", func(*http.Request) (any, error) { return options.Users.Pools(), nil })
	get("/push", c.push)
	c.mux.HandleFunc("DELETE /push", c.answer(func(*http.Request) (any, error) { options.Inbox.Clear(); return nil, nil }))
	post("/push/faults", c.pushFault)
	c.mux.Handle("POST "+WebhooksPath, http.StripPrefix(strings.TrimSuffix(WebhooksPath, "/"), options.Webhooks))
	get("/webhooks", c.webhooks)
	c.mux.HandleFunc("DELETE /webhooks", c.answer(func(*http.Request) (any, error) { options.Webhooks.Clear(); return nil, nil }))
	post("/webhooks/behaviours", c.behave)
	post("/webhooks/secrets", c.knowSecrets)
	post("/token", c.token)
	get("/.well-known/openid-configuration", c.discovery)
	get("/.well-known/jwks.json", func(*http.Request) (any, error) { return options.Issuer.JWKS() })
	c.mux.HandleFunc("/", c.answer(func(r *http.Request) (any, error) {
		return nil, &Problem{http.StatusNotFound, fmt.Sprintf("no %s %s here: GET / lists what there is", r.Method, r.URL.Path)}
	}))
	return c
}

// Header is what requests need that change something, with any value: all but GET, HEAD and what comes to the endpoint for
// webhooks. Neither a web page of another origin nor a webhook can send it.
const Header = "Onesynth-Console"

// ServeHTTP answers requests.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// No page of another origin may have what the console answers, as an image or a script either.
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reads && !strings.HasPrefix(r.URL.Path, WebhooksPath) && r.Header.Get(Header) == "" {
		writeJSON(w, http.StatusForbidden, map[string]string{
			"error": fmt.Sprintf("%s %s needs the header %s, because it may change something: send it with any value, as by curl -H '%[3]s: 1'", r.Method, r.URL.Path, Header),
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
		var refused *engine.RequestError
		switch {
		case errors.As(err, &p):
			writeJSON(w, p.Status, map[string]string{"error": p.Message})
		case is(err, lambda.ErrNotFound, schedule.ErrNotFound, lambda.ErrNotRunning, buckets.ErrNoBucket, buckets.ErrNoObject, engine.ErrNoTable, awsapi.ErrNoMessage):
			writeJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
		case is(err, engine.ErrItemChanged, engine.ErrRecordsGone, engine.ErrNoMapping, awsapi.ErrMessageInUse):
			writeJSON(w, http.StatusConflict, map[string]string{"error": err.Error()})
		case errors.As(err, &refused), is(err, engine.ErrItem):
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

func (c *Console) index(*http.Request) (any, error) {
	return map[string]any{
		"apis": c.options.APIs, "aws_endpoint": c.options.Endpoint, "dynamodb": c.options.DynamoDB.Endpoint,
		"links": []string{
			"GET /functions", "POST /functions/{name}/kill", "POST /functions/{name}/invoke", "GET /logs?function=NAME", "GET /lines?function=NAME&request=ID&after=SEQ", "GET /requests?search=TEXT&limit=N&before=SEQ", "GET /requests/{id}", "GET /events", "GET /engine", "GET /capacity", "DELETE /capacity",
			"GET /outputs", "GET /dynamodb", "GET /tables", "GET /tables/{name}/items?index=&partition=&sort=&text=&limit=&after=", "POST /tables/{name}/items", "POST /sweep", "GET /schedules", "POST /schedules/{name}/run", "GET /user-pools", "GET /push?limit=", "DELETE /push", "POST /push/faults", "GET /webhooks?limit=", "DELETE /webhooks", "POST /webhooks/behaviours", "POST /webhooks/secrets",
			"GET /queues", "GET /queues/{name}?limit=", "GET /queues/{name}/messages/{id}", "POST /queues/{name}/messages/{id}/again", "POST /queues/{name}/due", "DELETE /queues/{name}/messages/{id}", "GET /streams", "POST /streams/flush", "GET /buckets", "GET /buckets/{name}?prefix=PREFIX", "GET /buckets/{name}/browse?prefix=&after=&limit=",
			"GET /buckets/{name}/objects/{key}?first=BYTES", "GET /lakes", "POST /lakes/query", "GET /faults", "POST /faults", "GET /used-permissions", "GET /refused", "GET /permissions", "POST /token",
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
		return nil, &Problem{http.StatusBadRequest, fmt.Sprintf("body: write the function's event as JSON, up to %d bytes", maxBody)}
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
		return nil, &Problem{http.StatusBadRequest, "give the function: /logs?function=NAME (GET /functions lists them)"}
	}
	return c.options.Functions.Lines(name)
}

func (c *Console) faults(r *http.Request) (any, error) {
	document, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, &Problem{http.StatusBadRequest, err.Error()}
	}
	if err := c.options.Cloud.SetFaults(document); err != nil {
		return nil, &Problem{http.StatusBadRequest, err.Error()}
	}
	return c.options.Cloud.Faults(), nil
}

// object answers with the bytes of an object.
func (c *Console) object(w http.ResponseWriter, r *http.Request) {
	object, content, err := c.options.Cloud.OpenObject(r.PathValue("name"), r.PathValue("key"))
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
		return nil, &Problem{http.StatusBadRequest, `write {"token": DEVICE_TOKEN, "error": "UNREGISTERED"}; error "" lets the token pass again`}
	}
	if err := c.options.Inbox.Fail(request.Token, request.Error); err != nil {
		return nil, &Problem{http.StatusBadRequest, err.Error()}
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
		return nil, &Problem{http.StatusBadRequest, "sub: a token needs a subject"}
	}
	var lifetime time.Duration
	if request.Expires != "" {
		var err error
		if lifetime, err = time.ParseDuration(request.Expires); err != nil || lifetime == 0 {
			return nil, &Problem{http.StatusBadRequest, fmt.Sprintf("expires %q: want a duration such as 30m or 1h", request.Expires)}
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
	var all, protected []API
	for _, api := range c.options.APIs {
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
		return nil, nil, &Problem{http.StatusBadRequest, fmt.Sprintf("stack %q has no API with a JWT authorizer; those that have one: %s", request.Stack, strings.Join(stacks, ", "))}
	}
	if len(matching) == 0 {
		// Tests of refusals ask for a token of an audience that no API has.
		matching = protected
	}
	if len(matching) == 0 {
		if request.Issuer != "" {
			return audience, matching, nil
		}
		return nil, nil, &Problem{http.StatusConflict, "no API of this run has a JWT authorizer: requests need no token (to make one anyway, give iss)"}
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
		return &Problem{http.StatusBadRequest, "body: " + err.Error()}
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
