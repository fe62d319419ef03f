package identity

import (
	"fmt"
	"net/url"
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

// UsersProps describe an issuer for people. The zero value is valid. CallbackURLs and Pages require a Name.
type UsersProps struct {
	// Name is the first part of the domain of the sign-in pages. Required with CallbackURLs or Pages, and without
	// effect otherwise. Allowed: as in [MachinesProps.Name].
	Name string
	// InviteOnly lets only administrators create users. Default: people sign up by
	// themselves, and confirm their email address.
	InviteOnly bool
	// RequireMFA asks every user for a one-time password of an authenticator
	// app. Default: each user may choose to have one.
	RequireMFA bool
	// CallbackURLs are where the pool's own sign-in pages may send people back to with a code (OAuth 2.0 authorization
	// code grant, with PKCE): https URLs, http URLs of localhost, or an app's own scheme. Default: there are no such
	// pages, and apps sign people in with the Secure Remote Password protocol.
	CallbackURLs []string
	// LogoutURLs are where the pages may send people after signing out. Default:
	// none.
	LogoutURLs []string
	// Pages adds an app client for pages of one's own API, on which people sign in: see [Users.AddPage]. It requires a
	// Name. Default: there is none.
	Pages bool
	// Triggers are functions that Amazon Cognito calls, such as PreSignUp before it takes a
	// new user, and PostConfirmation after. A local run calls PostConfirmation alone, before
	// a user's first token. Default: none.
	Triggers awscognito.UserPoolTriggers
	// Groups names groups of users, such as "admin". Tokens name a user's groups in "cognito:groups". Default: none.
	Groups []string
	// Email is how the pool sends its emails: invitations, and codes to confirm an address
	// or to set a new password. Default: Amazon Cognito sends them, at most 50 a day in the
	// account and region.
	Email Email
	// RemoveWithStack deletes the pool, and with it all users, with the stack.
	// Default: the pool outlives the stack.
	RemoveWithStack bool
	// DeletionProtection makes Amazon Cognito refuse to delete the pool. Default:
	// off.
	DeletionProtection bool
}

var groupName = regexp.MustCompile(`^[\w.-]{1,128}$`)

// Validate returns a [finding.List] with all invalid props, or nil.
func (p UsersProps) Validate() error {
	var f finding.List
	if len(p.CallbackURLs) > 0 || p.Pages {
		checkName(&f, "Props.Name", p.Name)
	}
	CheckRedirects(&f, "Props.CallbackURLs", "Props.LogoutURLs", p.CallbackURLs, p.LogoutURLs)
	for i, g := range p.Groups {
		if path := fmt.Sprintf("Props.Groups[%d]", i); !groupName.MatchString(g) || slices.Index(p.Groups, g) < i {
			f.Add(path, g, "1 to 128 letters, digits, dots, hyphens and underscores, each name once",
				"respell it, or leave it out")
		}
	}
	p.Email.Check(&f, "Props.Email")
	return f.Err()
}

// Limits of Amazon Cognito ("CreateUserPoolClient", API reference).
const (
	maxRedirects    = 100
	longestRedirect = 1024 // bytes
)

// CheckRedirects adds a finding for each URL to which Amazon Cognito does not send people.
func CheckRedirects(f *finding.List, callbackPath, logoutPath string, callback, logout []string) {
	if len(logout) > 0 && len(callback) == 0 {
		f.Add(logoutPath, logout, "empty without CallbackURLs",
			"add the callback URLs: without them there are no sign-in pages")
	}
	check := func(path string, urls []string) {
		if len(urls) > maxRedirects {
			f.Add(path, fmt.Sprintf("%d URLs", len(urls)), "at most 100", "send people to one page that sends them on")
		}
		for i, u := range urls {
			f.Once(path, urls, i, "URL")
			if !props.IsToken(u) && !redirects(u) {
				f.Add(fmt.Sprintf("%s[%d]", path, i), u,
					`an https URL of up to 1,024 bytes without a fragment, one of http://localhost, or one of an app's own scheme`,
					`write it in full, such as "https://example.com/signed-in"`)
			}
		}
	}
	check(callbackPath, callback)
	check(logoutPath, logout)
}

// redirects reports whether Amazon Cognito accepts the URL as a place to send people to
// ("CreateUserPoolClient", API reference: CallbackURLs).
func redirects(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || strings.Contains(address, "#") || len(address) > longestRedirect {
		return false
	}
	switch u.Scheme {
	case "javascript", "data":
		return false
	case "https":
		return u.Host != ""
	case "http":
		return u.Hostname() == "localhost"
	}
	return true
}

const (
	// tokenAge is how long access and identity tokens are valid.
	tokenAge = 1 // hour
	// refreshAge is how long people stay signed in without coming back.
	refreshAge = 30 // days

	// A page keeps tokens where its scripts can read them, so they are valid for a shorter time. A refresh token is for
	// one use; within the grace, one whose answer was lost can be used again.
	pageTokenAge   = 15 // minutes
	pageRefreshAge = 12 // hours
	pageGrace      = 30 // seconds
)

// Users issues tokens to people who sign in with their email address. It is an
// Amazon Cognito user pool with one public app client: one without a secret, for
// browsers and apps. The subject of a token is the user's id in the pool.
//
// Amazon Cognito sends the emails itself, at most 50 a day, unless [UsersProps.Email] says
// otherwise.
type Users struct {
	constructs.Construct
	// Resource is the user pool.
	Resource awscognito.UserPool
	// Client is the app client.
	Client awscognito.UserPoolClient
	// PageClient is the app client of pages. It is nil without Pages.
	PageClient awscognito.UserPoolClient
	// Domain serves the sign-in pages. It is nil without CallbackURLs and Pages.
	Domain awscognito.UserPoolDomain
	// Issuer is the tokens' "iss".
	Issuer string

	// pages are the addresses of AddPage.
	pages []string
}

// NewUsers declares an issuer. It ends the program, by [props.Fatal], with the
// error of [UsersProps.Validate] before it declares anything.
func NewUsers(scope constructs.Construct, id string, p UsersProps) *Users {
	props.Accept("identity", scope, id, p.Validate())
	u := &Users{}
	constructs.NewConstruct_Override(u, scope, &id)
	mfa := awscognito.Mfa_OPTIONAL
	if p.RequireMFA {
		mfa = awscognito.Mfa_REQUIRED
	}
	u.Resource = awscognito.NewUserPool(u, jsii.String("Resource"), &awscognito.UserPoolProps{
		SelfSignUpEnabled:   jsii.Bool(!p.InviteOnly),
		SignInAliases:       &awscognito.SignInAliases{Email: jsii.Bool(true)},
		SignInCaseSensitive: jsii.Bool(false),
		AutoVerify:          &awscognito.AutoVerifiedAttrs{Email: jsii.Bool(true)},
		// A new address counts only once it is confirmed.
		KeepOriginal: &awscognito.KeepOriginalAttrs{Email: jsii.Bool(true)},
		StandardAttributes: &awscognito.StandardAttributes{
			Email: &awscognito.StandardAttribute{Required: jsii.Bool(true), Mutable: jsii.Bool(true)},
		},
		PasswordPolicy:     passwordPolicy(),
		Mfa:                mfa,
		MfaSecondFactor:    &awscognito.MfaSecondFactor{Otp: jsii.Bool(true), Sms: jsii.Bool(false)},
		EnableSmsRole:      jsii.Bool(false),
		AccountRecovery:    awscognito.AccountRecovery_EMAIL_ONLY,
		RemovalPolicy:      props.RemovalPolicy(p.RemoveWithStack),
		DeletionProtection: &p.DeletionProtection,
		LambdaTriggers:     &p.Triggers,
	})
	p.Email.configure(u, u.Resource)
	client := u.client(awscdk.Duration_Hours(jsii.Number(tokenAge)), awscdk.Duration_Days(jsii.Number(refreshAge)))
	client.DisableOAuth = jsii.Bool(len(p.CallbackURLs) == 0)
	if len(p.CallbackURLs) > 0 {
		signIn(client, awscognito.OAuthScope_PROFILE())
		client.OAuth.CallbackUrls = jsii.Strings(p.CallbackURLs...)
		if len(p.LogoutURLs) > 0 {
			client.OAuth.LogoutUrls = jsii.Strings(p.LogoutURLs...)
		}
	}
	if len(p.CallbackURLs) > 0 || p.Pages {
		u.Domain = newDomain(u, p.Name, u.Resource)
	}
	if p.Pages {
		page := u.client(awscdk.Duration_Minutes(jsii.Number(pageTokenAge)),
			awscdk.Duration_Hours(jsii.Number(pageRefreshAge)))
		page.RefreshTokenRotationGracePeriod = awscdk.Duration_Seconds(jsii.Number(pageGrace))
		signIn(page)
		u.PageClient = awscognito.NewUserPoolClient(u, jsii.String("PageClient"), page)
	}
	u.Client = awscognito.NewUserPoolClient(u, jsii.String("Client"), client)
	for _, name := range p.Groups {
		awscognito.NewCfnUserPoolGroup(u, jsii.String("Group-"+name),
			&awscognito.CfnUserPoolGroupProps{GroupName: jsii.String(name), UserPoolId: u.Resource.UserPoolId()})
	}
	u.Issuer = Issuer(u, u.Resource)
	return u
}

// client describes a public app client, whose access and identity tokens are valid for as long as each other.
func (u *Users) client(tokens, refresh awscdk.Duration) *awscognito.UserPoolClientProps {
	return &awscognito.UserPoolClientProps{
		UserPool:                   u.Resource,
		GenerateSecret:             jsii.Bool(false),
		AuthFlows:                  &awscognito.AuthFlow{UserSrp: jsii.Bool(true)},
		PreventUserExistenceErrors: jsii.Bool(true),
		EnableTokenRevocation:      jsii.Bool(true),
		AccessTokenValidity:        tokens,
		IdTokenValidity:            tokens,
		RefreshTokenValidity:       refresh,
	}
}

// signIn lets people sign in at the client on the pool's own pages.
func signIn(client *awscognito.UserPoolClientProps, further ...awscognito.OAuthScope) {
	scopes := append([]awscognito.OAuthScope{awscognito.OAuthScope_OPENID(), awscognito.OAuthScope_EMAIL()}, further...)
	client.OAuth = &awscognito.OAuthSettings{
		Flows: &awscognito.OAuthFlows{AuthorizationCodeGrant: jsii.Bool(true)}, Scopes: &scopes}
	client.SupportedIdentityProviders = &[]awscognito.UserPoolClientIdentityProvider{
		awscognito.UserPoolClientIdentityProvider_COGNITO()}
}

// AddPage lets the page at an address sign people in and out, by the authorization code grant of OAuth 2.0 with PKCE:
// the address becomes a callback and a sign-out URL of the PageClient. It may become known only at the deployment, such
// as the URL of an API whose authorizer takes the client's tokens.
func (u *Users) AddPage(address string) {
	u.pages = append(u.pages, address)
	client := u.PageClient.Node().DefaultChild().(awscognito.CfnUserPoolClient)
	client.SetCallbackUrLs(jsii.Strings(u.pages...))
	client.SetLogoutUrLs(jsii.Strings(u.pages...))
}

// PageClientID returns the id of the PageClient, or "" without Pages.
func (u *Users) PageClientID() string {
	if u.PageClient == nil {
		return ""
	}
	return *u.PageClient.UserPoolClientId()
}

// ClientID returns the id of the app client. It is the audience of an authorizer; Amazon Cognito's access tokens name
// it in "client_id", and its identity tokens in "aud".
func (u *Users) ClientID() string { return *u.Client.UserPoolClientId() }

// SignInURL returns the address of the sign-in pages, without a path, or "" without CallbackURLs and Pages.
func (u *Users) SignInURL() string {
	if u.Domain == nil {
		return ""
	}
	return domainURL(u.Domain)
}
