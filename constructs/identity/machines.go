package identity

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// MachinesProps describe an issuer for programs.
type MachinesProps struct {
	// Name is the first part of the domain of the token endpoint and of the scope. Required: a lower-case letter, then
	// up to 15 lower-case letters, digits and hyphens; Amazon Cognito takes no "aws", "amazon" or "cognito" in it.
	Name string
	// Clients names the programs that may have tokens. Each is its own subject. Required: at least one.
	Clients []string
	// Scopes are the scopes beside "call", which every client may request. Default: none.
	Scopes []string
	// ClientScopes are the Scopes that a client may request, by the client's name. Default: each
	// client may request all.
	ClientScopes map[string][]string
	// RemoveWithStack deletes the pool, and with it all clients, with the stack.
	// Default: the pool outlives the stack.
	RemoveWithStack bool
	// DeletionProtection makes Amazon Cognito refuse to delete the pool. Default:
	// off.
	DeletionProtection bool
}

var (
	clientName = regexp.MustCompile(`^[\w-]{1,64}$`)
	scopeName  = regexp.MustCompile(`^[\w.-]{1,64}$`)
)

// call is the scope that every client may request.
const call = "call"

// Validate returns a [finding.List] with all invalid props, or nil.
func (p MachinesProps) Validate() error {
	var f finding.List
	checkName(&f, "Props.Name", p.Name)
	if len(p.Clients) == 0 {
		f.Add("Props.Clients", p.Clients, "at least one name", "name each program that may have tokens")
	}
	CheckClients(&f, "Props.Clients", p.Clients)
	for i, s := range p.Scopes {
		if path := fmt.Sprintf("Props.Scopes[%d]", i); !scopeName.MatchString(s) || s == call {
			f.Add(path, s, `1 to 64 letters, digits, dots, hyphens and underscores, and not "call"`, "respell it")
		}
	}
	for _, client := range slices.Sorted(maps.Keys(p.ClientScopes)) {
		if path := fmt.Sprintf("Props.ClientScopes[%q]", client); !slices.Contains(p.Clients, client) {
			f.Add(path, client, "one of "+strings.Join(p.Clients, ", "), "name one of the clients, or leave it out")
		} else {
			for i, s := range p.ClientScopes[client] {
				if !slices.Contains(p.Scopes, s) {
					f.Add(fmt.Sprintf("%s[%d]", path, i), s, "one of "+strings.Join(p.Scopes, ", "),
						"name one of the scopes, or leave it out")
				}
			}
		}
	}
	return f.Err()
}

// CheckClients adds a finding for each name that a client cannot have.
func CheckClients(f *finding.List, path string, clients []string) {
	for i, c := range clients {
		if !clientName.MatchString(c) {
			f.Add(fmt.Sprintf("%s[%d]", path, i), c, "1 to 64 letters, digits, hyphens and underscores", "respell it")
		}
		f.Once(path, clients, i, "client")
	}
}

// Machines issues tokens to programs with the OAuth 2.0 client credentials grant
// (RFC 6749, section 4.4). It is an Amazon Cognito user pool without users. The
// subject of a token is its client's id.
type Machines struct {
	constructs.Construct
	// Resource is the user pool.
	Resource awscognito.UserPool
	// Domain serves the token endpoint.
	Domain awscognito.UserPoolDomain
	// Clients are the app clients, in the order of the props. Their secrets are in
	// the Amazon Cognito console, never in the template.
	Clients []awscognito.UserPoolClient
	// Issuer is the tokens' "iss".
	Issuer string
	// TokenEndpoint is the URL that a client posts its credentials to.
	TokenEndpoint string
	// Scope is the scope that a client requests. Further scopes begin like it, with the name and a
	// slash.
	Scope string
}

// NewMachines declares an issuer. It ends the program, by [props.Fatal], with
// the error of [MachinesProps.Validate] before it declares anything.
func NewMachines(scope constructs.Construct, id string, p MachinesProps) *Machines {
	props.Accept("identity", scope, id, p.Validate())
	m := &Machines{}
	constructs.NewConstruct_Override(m, scope, &id)
	m.Resource = awscognito.NewUserPool(m, jsii.String("Resource"), &awscognito.UserPoolProps{
		SelfSignUpEnabled: jsii.Bool(false),
		AccountRecovery:   awscognito.AccountRecovery_NONE,
		// The pool has no users. If an administrator makes one, its password is strong.
		PasswordPolicy:     passwordPolicy(),
		RemovalPolicy:      props.RemovalPolicy(p.RemoveWithStack),
		DeletionProtection: &p.DeletionProtection,
	})
	grants := map[string]awscognito.ResourceServerScope{}
	var all []awscognito.ResourceServerScope
	for _, name := range append([]string{call}, p.Scopes...) {
		description := "Call the API"
		if name != call {
			description += " for: " + name
		}
		grants[name] = awscognito.NewResourceServerScope(
			&awscognito.ResourceServerScopeProps{ScopeName: &name, ScopeDescription: &description})
		all = append(all, grants[name])
	}
	server := awscognito.NewUserPoolResourceServer(m, jsii.String("ResourceServer"),
		&awscognito.UserPoolResourceServerProps{
			UserPool:   m.Resource,
			Identifier: &p.Name,
			Scopes:     &all,
		})
	for _, name := range p.Clients {
		chosen, ok := p.ClientScopes[name]
		if !ok {
			chosen = p.Scopes
		}
		var scopes []awscognito.OAuthScope
		for _, scope := range append([]string{call}, chosen...) {
			scopes = append(scopes, awscognito.OAuthScope_ResourceServer(server, grants[scope]))
		}
		client := awscognito.NewUserPoolClient(m, jsii.String("Client-"+name), &awscognito.UserPoolClientProps{
			UserPool:              m.Resource,
			UserPoolClientName:    jsii.String(name),
			GenerateSecret:        jsii.Bool(true),
			EnableTokenRevocation: jsii.Bool(true),
			AccessTokenValidity:   awscdk.Duration_Hours(jsii.Number(1)),
			OAuth: &awscognito.OAuthSettings{
				Flows:  &awscognito.OAuthFlows{ClientCredentials: jsii.Bool(true)},
				Scopes: &scopes,
			},
		})
		// Without any, Amazon Cognito lets people sign in at the client too
		// ("CreateUserPoolClient", API reference: ExplicitAuthFlows).
		client.Node().DefaultChild().(awscognito.CfnUserPoolClient).SetExplicitAuthFlows(
			jsii.Strings("ALLOW_REFRESH_TOKEN_AUTH"))
		m.Clients = append(m.Clients, client)
	}
	m.Domain = newDomain(m, p.Name, m.Resource)
	m.Issuer = Issuer(m, m.Resource)
	m.TokenEndpoint = domainURL(m.Domain) + "/oauth2/token"
	m.Scope = p.Name + "/" + call
	return m
}

// ClientIDs returns the ids of the clients, in the order of the props. They are the audience of an authorizer; Amazon
// Cognito's access tokens name them in "client_id".
func (m *Machines) ClientIDs() []string {
	return props.Map(m.Clients, func(c awscognito.UserPoolClient) string { return *c.UserPoolClientId() })
}
