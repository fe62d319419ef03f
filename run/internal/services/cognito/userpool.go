// Package cognito is, of Amazon Cognito's user pools, the sign-up and the sign-in on this machine: a pool's
// PostConfirmation function hears of each user who gets a first token, and pages sign people in at the endpoints of a
// pool's domain. There are no passwords, and other triggers of a pool have no effect.
package cognito

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/singleflight"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

const (
	// service is the name that resource-based policies know Amazon Cognito's user pools by.
	service = "cognito-idp.amazonaws.com"
	// trigger is the one trigger that runs here.
	trigger = "PostConfirmation"

	// Limits of Amazon Cognito ("Customizing user pool workflows with Lambda triggers", Amazon Cognito developer
	// guide): a function has 5 seconds to answer, and a call that can be retried is made 3 times. The answer of a
	// function that failed is final.
	answerTime  = 5 * time.Second
	maxAttempts = 3
)

// ErrNotConfirmed says that a user's sign-up is not confirmed: the pool's function failed, or Amazon Cognito may not
// invoke it.
var ErrNotConfirmed = errors.New("sign-up not confirmed")

// Functions invokes functions (lambda.Service).
type Functions interface {
	InvokeWithin(ctx context.Context, limit time.Duration, name string, payload []byte) (lambda.Result, error)
}

// Options of Pools. Functions and Tokens are needed.
type Options struct {
	Functions Functions
	// Tokens signs the tokens of people who sign in on pages.
	Tokens Tokens
	// Debugged reports whether a function runs under a debugger: it may take any time. Default: none does.
	Debugged func(function string) bool
	// Log receives a line for each invocation that fails; nil drops it.
	Log func(line string)
}

// Pools are the user pools of an assembly. Make them with New.
type Pools struct {
	options Options
	pools   []*pool
	// idle are triggers without effect, for people.
	idle      []string
	grants    *grants
	endpoints http.Handler
}

type pool struct {
	resource *assembly.Resource
	// domain is the address of its pages on AWS, or "". groups are its groups, by name.
	domain string
	groups []string
	// function is the name of the function that hears of sign-ups; "" if no function of the run does.
	function string
	// refused says why Amazon Cognito may not invoke the function; "" if it may.
	refused string
	clients []client

	confirming singleflight.Group
	mu         sync.Mutex
	confirmed  map[string]bool
	failures   int
}

// New reads the user pools of the assembly. Its error names one whose properties are wrong.
func New(a *assembly.Assembly, options Options) (*Pools, error) {
	if options.Log == nil {
		options.Log = func(string) {}
	}
	p := &Pools{options: options, grants: newGrants()}
	p.endpoints = p.routes()
	for _, resource := range a.Resources("AWS::Cognito::UserPool") {
		var declared struct{ LambdaConfig map[string]any }
		if err := resource.Decode(&declared); err != nil {
			return nil, err
		}
		read := &pool{resource: resource, confirmed: map[string]bool{}}
		invoked, _ := declared.LambdaConfig[trigger].(string)
		if function := a.Function(invoked); function != nil {
			delete(declared.LambdaConfig, trigger)
			read.function = function.Name
			if !policy.MayInvoke(a, service, invoked, resource.ARN) {
				read.refused = fmt.Sprintf("no AWS::Lambda::Permission lets %s invoke %s from %s", service,
					function.Name, resource.ARN)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(declared.LambdaConfig)) {
			p.idle = append(p.idle, fmt.Sprintf("%s of %s", name, resource))
		}
		p.pools = append(p.pools, read)
	}
	return p, errors.Join(p.readClients(a), p.readDomains(a), p.readGroups(a))
}

// domain is where a pool has its pages on AWS.
type domain struct{ pool, address string }

func domains(a *assembly.Assembly) ([]domain, error) {
	var all []domain
	for _, resource := range a.Resources("AWS::Cognito::UserPoolDomain") {
		var declared struct{ Domain, UserPoolId string }
		if err := resource.Decode(&declared); err != nil {
			return nil, err
		}
		name := declared.Domain
		// A domain of one's own is a whole name.
		if !strings.Contains(name, ".") {
			name += ".auth." + resource.Stack.Region + ".amazoncognito.com"
		}
		all = append(all, domain{declared.UserPoolId, "https://" + name})
	}
	return all, nil
}

// Addresses returns the addresses at which the pools of the assembly have their pages on AWS.
func Addresses(a *assembly.Assembly) ([]string, error) {
	all, err := domains(a)
	var addresses []string
	for _, one := range all {
		addresses = append(addresses, one.address)
	}
	return addresses, err
}

func (p *Pools) readDomains(a *assembly.Assembly) error {
	all, err := domains(a)
	for _, one := range all {
		if of := p.pool(one.pool); of != nil {
			of.domain = one.address
		}
	}
	return err
}

func (p *Pools) readGroups(a *assembly.Assembly) error {
	for _, resource := range a.Resources("AWS::Cognito::UserPoolGroup") {
		var declared struct{ UserPoolId string }
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		if of := p.pool(declared.UserPoolId); of != nil {
			of.groups = append(of.groups, resource.Name)
		}
	}
	for _, of := range p.pools {
		slices.Sort(of.groups)
	}
	return nil
}

func (p *Pools) pool(id string) *pool {
	if i := slices.IndexFunc(p.pools, func(one *pool) bool { return one.resource.Ref == id }); i >= 0 {
		return p.pools[i]
	}
	return nil
}

// Keep takes over whose sign-ups other pools of the same ids have confirmed, their figures, and who is signed in.
func (p *Pools) Keep(former *Pools) {
	p.grants = former.grants
	for _, one := range p.pools {
		other := former.pool(one.resource.Ref)
		if other == nil || other == one {
			continue
		}
		other.mu.Lock()
		one.mu.Lock()
		maps.Copy(one.confirmed, other.confirmed)
		one.failures += other.failures
		one.mu.Unlock()
		other.mu.Unlock()
	}
}

// WithoutEffect names the triggers of pools that the run does not serve, such as "PreSignUp of AWS::Cognito::UserPool
// Users (App/Users)".
func (p *Pools) WithoutEffect() []string { return p.idle }

// Status is a pool, with what has become of its sign-ups since the start of the run.
type Status struct {
	ID    string `json:"id"`
	Stack string `json:"stack"`
	// Name is that of the template, and Issuer the iss of its tokens.
	Name   string `json:"name"`
	Issuer string `json:"issuer"`
	// Domain is where its pages are on AWS, if it has any.
	Domain string `json:"domain,omitempty"`
	// Groups are its groups, and Clients its app clients.
	Groups  []string `json:"groups"`
	Clients []Client `json:"clients"`
	// PostConfirmation is the name of the function that hears of sign-ups, if there is one.
	PostConfirmation string `json:"post_confirmation,omitempty"`
	// SignUps are the users that the function has taken, Failures the sign-ups that it has not.
	SignUps  int `json:"sign_ups"`
	Failures int `json:"failures"`
}

// Client is an app client. What it has as a secret is not told.
type Client struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Flows are how it gets tokens: code for people who sign in on its pages, client_credentials for programs.
	Flows []string `json:"flows"`
	// Scopes are those that its tokens may have.
	Scopes []string `json:"scopes"`
	// Callbacks are the addresses to which people come back.
	Callbacks []string `json:"callbacks"`
	// HasSecret says that it shows a secret for its tokens.
	HasSecret bool `json:"has_secret"`
}

func (c client) status() Client {
	status := Client{ID: c.id, Name: c.name, Flows: []string{}, Scopes: append([]string{}, c.scopes...),
		Callbacks: append([]string{}, c.callbacks...), HasSecret: c.secret}
	if c.code {
		status.Flows = append(status.Flows, "code")
	}
	if c.program {
		status.Flows = append(status.Flows, "client_credentials")
	}
	return status
}

// Pools returns the status of every pool.
func (p *Pools) Pools() []Status {
	all := []Status{}
	for _, one := range p.pools {
		clients := []Client{}
		for _, client := range one.clients {
			clients = append(clients, client.status())
		}
		one.mu.Lock()
		all = append(all, Status{
			ID: one.resource.Ref, Stack: one.resource.Stack.Name, Name: one.resource.Name, Issuer: one.issuer(),
			Domain: one.domain, Groups: append([]string{}, one.groups...), Clients: clients,
			PostConfirmation: one.function, SignUps: len(one.confirmed), Failures: one.failures,
		})
		one.mu.Unlock()
	}
	return all
}

// User is whom a token is for.
type User struct {
	// Subject is the token's sub: the user's name in the pool, too.
	Subject string
	// Email is the user's address. Default: the subject if it is an address, else SUBJECT@example.com.
	Email string
	// Clients are the ids of app clients that the token is for, its client_id or aud.
	Clients []string
}

// SignUp confirms the sign-up of a user who gets a token of the issuer, if this run has not done so yet: it invokes the
// PostConfirmation function of the issuer's pool, and returns when the function has taken the event. Requests for one
// user at the same time share an invocation. An issuer that is no pool of the run, a pool without such a function, and
// programs need none. Errors: ErrNotConfirmed, and the next call tries again; that of ctx.
func (p *Pools) SignUp(ctx context.Context, issuer string, u User) error {
	of := p.pool(path.Base(issuer))
	if of == nil || of.function == "" || !strings.HasPrefix(issuer, "https://cognito-idp.") {
		return nil
	}
	through := of.client(u)
	if through.program || through.id == u.Subject {
		return nil
	}
	shared := of.confirming.DoChan(u.Subject, func() (any, error) {
		// The invocation goes on when this request has gone: others may wait for it.
		return nil, p.confirm(context.WithoutCancel(ctx), of, u, through)
	})
	select {
	case result := <-shared:
		return result.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// client returns the pool's app client that the token is for. A token that names none of them counts as one of the
// pool's first.
func (p *pool) client(u User) client {
	for _, one := range p.clients {
		if slices.Contains(u.Clients, one.id) {
			return one
		}
	}
	// The subject of a program's token is its client.
	if slices.Contains(u.Clients, u.Subject) {
		return client{id: u.Subject, program: true}
	}
	if len(p.clients) > 0 {
		return p.clients[0]
	}
	return client{}
}

func (p *Pools) confirm(ctx context.Context, of *pool, u User, through client) error {
	of.mu.Lock()
	known := of.confirmed[u.Subject]
	of.mu.Unlock()
	if known {
		return nil
	}
	err := p.invoke(ctx, of, u, through)
	of.mu.Lock()
	defer of.mu.Unlock()
	if err != nil {
		of.failures++
		return fmt.Errorf("%w: %s at user pool %s (%s): %w", ErrNotConfirmed, u.Subject, of.resource.Ref,
			of.resource.Path, err)
	}
	of.confirmed[u.Subject] = true
	return nil
}

// invoke calls the function until it answers, at most as often as Amazon Cognito does.
func (p *Pools) invoke(ctx context.Context, of *pool, u User, through client) error {
	payload, err := json.Marshal(of.event(u, through))
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := p.call(ctx, of, payload)
		if err == nil {
			return nil
		}
		p.options.Log(fmt.Sprintf("user pool %s: sign-up of %s, attempt %d: %v", of.resource.Ref, u.Subject, attempt,
			err))
		if retried := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lambda.ErrThrottled); !retried {
			return err
		}
		if attempt == maxAttempts {
			return fmt.Errorf("%d attempts failed: %w", attempt, err)
		}
	}
}

func (p *Pools) call(ctx context.Context, of *pool, payload []byte) error {
	if of.refused != "" {
		return errors.New(of.refused)
	}
	ctx = trace.About(ctx, trace.Origin{Kind: trace.SignUp, Path: of.resource.Ref})
	limit := answerTime
	if p.options.Debugged != nil && p.options.Debugged(of.function) {
		limit = 0
	}
	result, err := p.options.Functions.InvokeWithin(ctx, limit, of.function, payload)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s has not answered within %v: %w", of.function, answerTime, err)
	case err != nil:
		return err
	case result.FunctionError != "":
		return fmt.Errorf("%s failed: %s", of.function, bytes.TrimSpace(result.Payload))
	}
	var answer struct{ Response map[string]any }
	if err := json.Unmarshal(result.Payload, &answer); err != nil || answer.Response == nil {
		return fmt.Errorf(`%s answered %.100s: return the event, whose "response" is an object`, of.function,
			result.Payload)
	}
	return nil
}

// event is what the function gets ("Post confirmation Lambda trigger", Amazon Cognito developer guide).
func (p *pool) event(u User, through client) events.CognitoEventUserPoolsPostConfirmation {
	email := u.Email
	if email == "" {
		email = u.Subject
		if !strings.Contains(email, "@") {
			email += "@example.com"
		}
	}
	return events.CognitoEventUserPoolsPostConfirmation{
		CognitoEventUserPoolsHeader: events.CognitoEventUserPoolsHeader{
			Version: "1", TriggerSource: "PostConfirmation_ConfirmSignUp", Region: p.resource.Stack.Region,
			UserPoolID: p.resource.Ref, UserName: u.Subject,
			CallerContext: events.CognitoEventUserPoolsCallerContext{AWSSDKVersion: "aws-sdk-unknown-unknown",
				ClientID: through.id},
		},
		Request: events.CognitoEventUserPoolsPostConfirmationRequest{UserAttributes: map[string]string{
			"sub": u.Subject, "email": email, "email_verified": "true", "cognito:user_status": "CONFIRMED",
		}},
	}
}
