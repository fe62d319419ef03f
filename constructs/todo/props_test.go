package todo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	issuer := todo.Props{JWTIssuer: "https://a.example", JWTAudience: []string{"b"}}
	// with returns props with that issuer and a change.
	with := func(change func(*todo.Props)) todo.Props {
		p := issuer
		change(&p)
		return p
	}
	tests := map[string]struct {
		props todo.Props
		// paths are those of the findings, in order.
		paths []string
	}{
		"Zero":                   {todo.Props{}, nil},
		"Issuer":                 {issuer, nil},
		"IssuerOfAnotherStack":   {todo.Props{JWTIssuer: "${Token[TOKEN.7]}", JWTAudience: []string{"b"}}, nil},
		"SignInPages":            {todo.Props{CallbackURLs: []string{"https://a.example/in?x=1", "http://localhost:3000", "todo://in"}, LogoutURLs: []string{"https://a.example"}}, nil},
		"Lake":                   {todo.Props{LakeBatchWindow: 5 * time.Minute, CompactEvery: 24 * time.Hour, LakeRetentionDays: 1, QueryLimitBytes: 10_000_000}, nil},
		"ErrIssuerWithoutTLS":    {todo.Props{JWTIssuer: "http://a.example", JWTAudience: []string{"b"}}, []string{"Props.JWTIssuer"}},
		"ErrNoAudience":          {todo.Props{JWTIssuer: "https://a.example"}, []string{"Props.JWTAudience"}},
		"ErrAudienceAlone":       {todo.Props{JWTAudience: []string{"b"}}, []string{"Props.JWTAudience"}},
		"ErrInviteOnlyOfNoPool":  {with(func(p *todo.Props) { p.InviteOnly = true }), []string{"Props.InviteOnly"}},
		"ErrMFAOfNoPool":         {with(func(p *todo.Props) { p.RequireMFA = true }), []string{"Props.RequireMFA"}},
		"ErrPagesOfNoPool":       {with(func(p *todo.Props) { p.CallbackURLs = []string{"https://a.example"} }), []string{"Props.CallbackURLs"}},
		"ErrCallback":            {todo.Props{CallbackURLs: []string{"http://a.example", "https://a.example/#in", "a.example", "https://", "http://localhost.example"}}, []string{"Props.CallbackURLs[0]", "Props.CallbackURLs[1]", "Props.CallbackURLs[2]", "Props.CallbackURLs[3]", "Props.CallbackURLs[4]"}},
		"ErrLogoutAlone":         {todo.Props{LogoutURLs: []string{"https://a.example"}}, []string{"Props.LogoutURLs"}},
		"ErrPrefix":              {todo.Props{Prefix: "Todo-"}, []string{"Props.Prefix"}},
		"ErrProtectedButRemoved": {todo.Props{RemoveWithStack: true, DeletionProtection: true}, []string{"Props.DeletionProtection"}},
		"ErrArchitecture":        {todo.Props{Architecture: "riscv64"}, []string{"Props.Architecture"}},
		"ErrOrigin":              {todo.Props{AllowedOrigins: []string{"*", "https://a.example/"}}, []string{"Props.AllowedOrigins[1]"}},
		"ErrThrottle":            {todo.Props{Throttle: httpapi.Throttle{RequestsPerSecond: -1}}, []string{"Props.Throttle.RequestsPerSecond", "Props.Throttle.Burst"}},
		"ErrBatchWindow":         {todo.Props{LakeBatchWindow: time.Millisecond}, []string{"Props.LakeBatchWindow"}},
		"ErrLongBatchWindow":     {todo.Props{LakeBatchWindow: 301 * time.Second}, []string{"Props.LakeBatchWindow"}},
		"ErrCompactEvery":        {todo.Props{CompactEvery: 14 * time.Minute}, []string{"Props.CompactEvery"}},
		"ErrRetention":           {todo.Props{LakeRetentionDays: -1}, []string{"Props.LakeRetentionDays"}},
		"ErrQueryLimit":          {todo.Props{QueryLimitBytes: 9_999_999}, []string{"Props.QueryLimitBytes"}},
		"ErrLogLevel":            {todo.Props{LogLevel: "verbose"}, []string{"Props.LogLevel"}},
		"ErrLogRetention":        {todo.Props{LogRetention: 31}, []string{"Props.LogRetention"}},
		"ErrLocalPort":           {todo.Props{LocalPort: 80}, []string{"Props.LocalPort"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.paths, synthtest.Paths(t, test.props.Validate())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// All findings come in one panic, before the CDK is called: there is not even a
// scope here.
func TestNewErrProps(t *testing.T) {
	t.Parallel()
	defer func() {
		err, ok := recover().(error)
		if !ok {
			t.Fatal("New did not panic with an error")
		}
		want := []string{"Props.Prefix", "Props.Architecture", "Props.CompactEvery"}
		if diff := cmp.Diff(want, synthtest.Paths(t, err)); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	}()
	todo.New(nil, "Todo", todo.Props{Prefix: "-", Architecture: "arm", CompactEvery: -1})
}

func TestNewErrBuild(t *testing.T) {
	t.Parallel()
	build := gofunction.Start(t.Context(), gofunction.Source{Directory: "testdata/handlers", Packages: []string{"nowhere"}})
	defer func() {
		var failed *gofunction.CompileError
		if err, ok := recover().(error); !ok || !errors.As(err, &failed) {
			t.Fatalf("got %v, want a panic with a *gofunction.CompileError", err)
		}
	}()
	todo.New(nil, "Todo", todo.Props{Build: build})
}
