package platform

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"

	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// UserProps are the props of a platform that people sign in to. Its own Props embed them
// beside [Props].
type UserProps struct {
	// UserPool is an existing Amazon Cognito user pool, and UserPoolClients are the 1 to 50 of its app clients whose
	// tokens the API takes. If the pool is in another region, import it by its ARN. Default: JWTIssuer says who issues
	// the tokens.
	UserPool        awscognito.IUserPool         `json:"-"`
	UserPoolClients []awscognito.IUserPoolClient `json:"-"`
	// UserPoolTriggers are functions that the construct's own user pool calls, at sign-up
	// for example: see [identity.UsersProps.Triggers]. Default: none.
	UserPoolTriggers awscognito.UserPoolTriggers `json:"-"`
	// InviteOnly lets only administrators create users in the construct's own user
	// pool. Default: people sign up by themselves.
	InviteOnly bool
	// RequireMFA makes the construct's own user pool ask every user for a one-time
	// password of an authenticator app. Default: each user may choose to have one.
	RequireMFA bool
	// CallbackURLs and LogoutURLs are where the sign-in pages of the construct's own user pool may send people: see
	// [identity.UsersProps]. Default: there are no such pages, and apps sign people in themselves.
	CallbackURLs, LogoutURLs []string
	// Email lets the construct's own user pool send its emails through Amazon SES: see [identity.Email]. Default:
	// Amazon Cognito sends them, at most 50 a day in the account and region, too few for a platform on which people
	// sign up.
	Email identity.Email
}

// Check adds a finding for each of the props that is invalid for the platform, or has no effect with the JWTIssuer of
// its [Props], which may be "". The findings' paths begin with path, as an importer writes it: "Props" for a platform
// that embeds them.
func (p UserProps) Check(f *finding.List, path, jwtIssuer string, described schema.Platform) {
	p.checkUserPool(f, path, jwtIssuer)
	refuseOthers := func(allowed, remedy string) {
		switch {
		case jwtIssuer != "":
			f.Add(path+".JWTIssuer", jwtIssuer, allowed, remedy)
		case p.UserPool != nil:
			f.Add(path+".UserPool", "a user pool", allowed, remedy)
		}
	}
	if greeter, ok := described.SignUpHandler(); ok {
		allowed := "none with " + greeter.Name + ", which handles sign-ups"
		refuseOthers(allowed, "leave it out, or remove the trigger from the schema: only the construct's own user "+
			"pool invokes the function")
		if p.UserPoolTriggers.PostConfirmation != nil {
			f.Add(path+".UserPoolTriggers.PostConfirmation", "a function", allowed, "leave one of the two out")
		}
	}
	for _, page := range described.SignInPages() {
		refuseOthers("none with the page of "+page.Name, "leave it out, or remove SignsInAt from the schema: the page "+
			"signs people in at the construct's own user pool")
	}
	if jwtIssuer != "" || p.UserPool != nil {
		const remedy = "users are then not in a user pool here: leave it empty"
		if p.InviteOnly {
			f.Add(path+".InviteOnly", true, "false with a JWTIssuer or a UserPool", remedy)
		}
		if p.RequireMFA {
			f.Add(path+".RequireMFA", true, "false with a JWTIssuer or a UserPool", remedy)
		}
		if len(p.CallbackURLs) > 0 {
			f.Add(path+".CallbackURLs", p.CallbackURLs, "empty with a JWTIssuer or a UserPool", remedy)
		}
		if p.UserPoolTriggers != (awscognito.UserPoolTriggers{}) {
			f.Add(path+".UserPoolTriggers", "triggers", "none with a JWTIssuer or a UserPool", remedy)
		}
		if p.Email != (identity.Email{}) {
			f.Add(path+".Email", p.Email.From, "empty with a JWTIssuer or a UserPool", remedy)
		}
	}
	p.Email.Check(f, path+".Email")
	identity.CheckRedirects(f, path+".CallbackURLs", path+".LogoutURLs", p.CallbackURLs, p.LogoutURLs)
}

// HasOwnPool reports whether people sign in at a user pool of the construct's own. jwtIssuer is that of [Props].
func (p UserProps) HasOwnPool(jwtIssuer string) bool { return jwtIssuer == "" && p.UserPool == nil }

// CheckPage adds a finding for a prop Page that is set where people sign in elsewhere.
func (p UserProps) CheckPage(f *finding.List, page bool, jwtIssuer string) {
	if page && !p.HasOwnPool(jwtIssuer) {
		f.Add("Props.Page", true, "false with a JWTIssuer or a UserPool",
			"leave one of the two out: the page signs people in at the construct's own user pool")
	}
}

// checkUserPool adds a finding for each of the props of an existing user pool that is
// wrong.
func (p UserProps) checkUserPool(f *finding.List, path, jwtIssuer string) {
	if p.UserPool == nil {
		if len(p.UserPoolClients) > 0 {
			f.Add(path+".UserPoolClients", fmt.Sprintf("%d clients", len(p.UserPoolClients)), "none without a UserPool",
				"set the pool, or leave both out")
		}
		return
	}
	if jwtIssuer != "" {
		f.Add(path+".UserPool", "a user pool", "none with a JWTIssuer", "choose: the pool is an issuer itself")
	}
	props.CheckResource(f, path+".UserPool", p.UserPool, "")
	if n := len(p.UserPoolClients); n == 0 || n > httpapi.MaximumAudiences {
		f.Add(path+".UserPoolClients", fmt.Sprintf("%d clients", n), "1 to 50 with a UserPool",
			"name the app clients whose tokens the API takes")
	}
	for i, client := range p.UserPoolClients {
		if props.IsNil(client) {
			f.Add(fmt.Sprintf("%s.UserPoolClients[%d]", path, i), client, "an app client", "leave it out")
		}
	}
}
