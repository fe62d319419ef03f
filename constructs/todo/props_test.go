package todo_test

import (
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"

	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

type (
	userPool       struct{ awscognito.IUserPool }
	userPoolClient struct{ awscognito.IUserPoolClient }
)

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	issuer := todo.Props{Props: platform.Props{JWTIssuer: "https://a.example", JWTAudience: []string{"b"}}}
	// with returns props with that issuer and a change.
	with := func(change func(*todo.Props)) todo.Props {
		p := issuer
		change(&p)
		return p
	}
	synthtest.Validate(t, map[string]synthtest.Case[todo.Props]{
		"Zero":   {todo.Props{}, nil},
		"Issuer": {issuer, nil},
		"SignInPages": {todo.Props{UserProps: platform.UserProps{
			CallbackURLs: []string{"https://a.example/in?x=1", "http://localhost:3000", "todo://in"},
			LogoutURLs:   []string{"https://a.example"}}}, nil},
		"PagesOfAnotherStack": {todo.Props{UserProps: platform.UserProps{
			CallbackURLs: []string{"https://${Token[TOKEN.1]}/in", "${Token[TOKEN.2]}"},
			LogoutURLs:   []string{"${Token[TOKEN.3]}"}}}, nil},
		"Lake": {todo.Props{LakeProps: platform.LakeProps{LakeBatchWindow: 5 * time.Minute,
			CompactEvery: 24 * time.Hour, LakeRetentionDays: 1, QueryLimitBytes: 10_000_000}}, nil},
		"Page": {todo.Props{Page: true}, nil},
		"ErrPageBelowBasePath": {todo.Props{Page: true, Props: platform.Props{DomainName: "api.example.com",
			CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/1", BasePath: "tasks"}},
			[]string{"Props.BasePath"}},
		"ErrStandby": {todo.Props{Props: platform.Props{Standby: true}}, []string{
			`Props.Tables.Existing["AppData"]`, `Props.Secrets["CursorSecret"]`, "Props.UserPool"}},
		"StandbyOfFirst": {todo.Props{Props: platform.Props{Standby: true,
			SecretReplicas: map[string]string{"eu-west-1": ""}, Tables: table.DatabaseOptions{All: table.Options{
				Replicas: []table.Replica{{Region: "eu-west-1"}}}}}}, nil},
		"ErrSecrets": {todo.Props{Props: platform.Props{
			SecretReplicas: map[string]string{"eu-west-1": "key", "moon": ""},
			Secrets:        map[string]awssecretsmanager.ISecret{"Cursor": nil, "CursorSecret": nil}}}, []string{
			`Props.Secrets["Cursor"]`, `Props.Secrets["CursorSecret"]`, `Props.SecretReplicas["eu-west-1"]`,
			`Props.SecretReplicas["moon"]`}},
		"ErrPageBelowPublicPath": {todo.Props{Page: true, Props: platform.Props{
			PublicURL: "https://api.example.com/tasks"}}, []string{"Props.PublicURL"}},
		"PublicURL": {todo.Props{Page: true, Props: platform.Props{PublicURL: "https://tasks.example.com"}}, nil},
		"ErrPublicURL": {todo.Props{Props: platform.Props{PublicURL: "https://tasks.example.com/"}},
			[]string{"Props.PublicURL"}},
		"BasePath": {todo.Props{Props: platform.Props{DomainName: "api.example.com",
			CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/1", BasePath: "tasks"}}, nil},
		"ErrPageOfIssuer": {with(func(p *todo.Props) { p.Page = true }), []string{"Props.Page"}},
		"ErrPageOfOtherPool": {todo.Props{Page: true, UserProps: platform.UserProps{UserPool: userPool{},
			UserPoolClients: []awscognito.IUserPoolClient{userPoolClient{}}}}, []string{"Props.Page"}},
		"ErrInviteOnlyOfNoPool": {with(func(p *todo.Props) { p.InviteOnly = true }), []string{"Props.InviteOnly"}},
		"ErrMFAOfNoPool":        {with(func(p *todo.Props) { p.RequireMFA = true }), []string{"Props.RequireMFA"}},
		"ErrPagesOfNoPool": {with(func(p *todo.Props) { p.CallbackURLs = []string{"https://a.example"} }),
			[]string{"Props.CallbackURLs"}},
		"UserPool": {todo.Props{UserProps: platform.UserProps{UserPool: userPool{},
			UserPoolClients: []awscognito.IUserPoolClient{userPoolClient{}}}}, nil},
		"ErrUserPool": {with(func(p *todo.Props) { p.UserPool, p.InviteOnly = userPool{}, true }),
			[]string{"Props.UserPool", "Props.UserPoolClients", "Props.InviteOnly"}},
		"ErrNilUserPool": {todo.Props{UserProps: platform.UserProps{UserPool: (*userPool)(nil),
			UserPoolClients: []awscognito.IUserPoolClient{nil}}},
			[]string{"Props.UserPool", "Props.UserPoolClients[0]"}},
		"ErrClientsOfNoPool": {todo.Props{UserProps: platform.UserProps{
			UserPoolClients: []awscognito.IUserPoolClient{userPoolClient{}}}}, []string{"Props.UserPoolClients"}},
		"ErrTriggersOfNoPool": {with(func(p *todo.Props) {
			p.UserPoolTriggers.PreSignUp = struct{ awslambda.IFunction }{}
		}), []string{"Props.UserPoolTriggers"}},
		"ErrEmailOfNoPool": {with(func(p *todo.Props) { p.Email.From = "hello@example.com" }),
			[]string{"Props.Email"}},
		"ErrEmailOfOtherPool": {todo.Props{UserProps: platform.UserProps{UserPool: userPool{},
			UserPoolClients: []awscognito.IUserPoolClient{userPoolClient{}},
			Email:           identity.Email{From: "hello@example.com"}}}, []string{"Props.Email"}},
		"ErrEmail": {todo.Props{UserProps: platform.UserProps{Email: identity.Email{From: "hello"}}},
			[]string{"Props.Email.From"}},
		"ErrLogoutAlone": {todo.Props{UserProps: platform.UserProps{LogoutURLs: []string{"https://a.example"}}},
			[]string{"Props.LogoutURLs"}},
		"ErrRetention": {todo.Props{LakeProps: platform.LakeProps{LakeRetentionDays: -1}},
			[]string{"Props.LakeRetentionDays"}},
		"ErrLakeName": {todo.Props{Props: platform.Props{Prefix: "primary"}}, []string{"Props.Prefix"}},
	})
}

func TestNewErrProps(t *testing.T) {
	t.Parallel()
	synthtest.PanicsWithFindings(t, func() {
		todo.New(nil, "Todo", todo.Props{Props: platform.Props{Prefix: "-", Architecture: "arm"},
			LakeProps: platform.LakeProps{CompactEvery: -1}})
	}, "Props.Prefix", "Props.Architecture", "Props.CompactEvery")
}
