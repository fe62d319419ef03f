package cognito_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/cognito"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
)

const permission = `"Action": "lambda:InvokeFunction", "FunctionName": {"Fn::GetAtt": ["Greeter", "Arn"]}, "Principal": "cognito-idp.amazonaws.com", "SourceArn": {"Fn::GetAtt": ["Users", "Arn"]}`

// load loads a pool with a client of users, App, and one of programs, Job. Its function is greeter.
func load(t testing.TB, permission string) *assembly.Assembly {
	t.Helper()
	return assemblytest.LoadFile(t, "testdata/pool.json", `"PERMISSION": 0`, permission)
}

func refOf(a *assembly.Assembly, id string) string { return a.Stacks[0].ByLogicalID(id).Ref }

func issuerOf(a *assembly.Assembly, id string) string {
	return "https://cognito-idp.us-east-1.amazonaws.com/" + refOf(a, id)
}

// function answers as its test says, and remembers what it got.
type function struct {
	mu     sync.Mutex
	got    []string
	answer func(ctx context.Context, payload []byte) (lambda.Result, error)
}

func (f *function) InvokeWithin(ctx context.Context, limit time.Duration, name string, payload []byte) (lambda.Result,
	error) {
	if limit > 0 {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	f.mu.Lock()
	f.got = append(f.got, name+" "+string(payload))
	f.mu.Unlock()
	return f.answer(ctx, payload)
}

// takes answers with the event, as a function of Amazon Cognito does.
func takes(_ context.Context, payload []byte) (lambda.Result, error) {
	return lambda.Result{Payload: payload}, nil
}

// hangsUp fails.
func hangsUp(context.Context, []byte) (lambda.Result, error) {
	return lambda.Result{FunctionError: "Unhandled", Payload: []byte(`{"errorMessage":"no"}`)}, nil
}

// hangs never answers.
func hangs(ctx context.Context, _ []byte) (lambda.Result, error) {
	<-ctx.Done()
	return lambda.Result{}, fmt.Errorf("function greeter: %w", ctx.Err())
}

func pools(t testing.TB, a *assembly.Assembly, f *function) (read *cognito.Pools, printed *[]string) {
	t.Helper()
	printed = new([]string)
	read = must.Get(cognito.New(a, cognito.Options{Functions: f, Log: func(line string) {
		*printed = append(*printed, line)
	}}))(t)
	return read, printed
}

// The function gets the event of Amazon Cognito, for tokens of users of its own pool alone.
func TestSignUp(t *testing.T) {
	t.Parallel()
	a := load(t, permission)
	app, job := refOf(a, "App"), refOf(a, "Job")
	for name, test := range map[string]struct {
		issuer        string
		user          cognito.User
		email, client string // none: no sign-up
	}{
		"OK": {issuerOf(a, "Users"), cognito.User{Subject: "alice", Clients: []string{app}},
			"alice@example.com", app},
		"OKEmail": {issuerOf(a, "Users"),
			cognito.User{Subject: "alice", Email: "a@corp.example", Clients: []string{"other", app}}, "a@corp.example",
			app},
		"OKAddress": {issuerOf(a, "Users"), cognito.User{Subject: "alice@corp.example"}, "alice@corp.example",
			app},
		"OKOtherClient": {issuerOf(a, "Users"), cognito.User{Subject: "alice", Clients: []string{"other"}},
			"alice@example.com", app},
		"Program": {issuer: issuerOf(a, "Users"),
			user: cognito.User{Subject: "nightly", Clients: []string{job}}},
		"ProgramItself": {issuer: issuerOf(a, "Users"), user: cognito.User{Subject: app, Clients: []string{app}}},
		"ProgramOther": {issuer: issuerOf(a, "Users"),
			user: cognito.User{Subject: "other", Clients: []string{"other"}}},
		"OtherPool": {issuer: issuerOf(a, "Plain"), user: cognito.User{Subject: "alice"}},
		"NoSuchPool": {issuer: "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_none",
			user: cognito.User{Subject: "alice"}},
		"ForeignIssuer":  {issuer: "https://issuer.example/" + refOf(a, "Users"), user: cognito.User{Subject: "alice"}},
		"FunctionBeside": {issuer: issuerOf(a, "Others"), user: cognito.User{Subject: "alice"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &function{answer: takes}
			read, printed := pools(t, a, f)
			if err := read.SignUp(t.Context(), test.issuer, test.user); err != nil || len(*printed) > 0 {
				t.Fatalf("got %v, printed %q", err, *printed)
			}
			if test.email == "" {
				if len(f.got) > 0 {
					t.Errorf("got %q, want no invocation", f.got)
				}
				return
			}
			var event events.CognitoEventUserPoolsPostConfirmation
			if len(f.got) != 1 || json.Unmarshal([]byte(strings.TrimPrefix(f.got[0], "greeter ")), &event) != nil ||
				!strings.Contains(f.got[0], `"response":{}`) {
				t.Fatalf("got %q, want one event for greeter", f.got)
			}
			want := events.CognitoEventUserPoolsPostConfirmation{
				CognitoEventUserPoolsHeader: events.CognitoEventUserPoolsHeader{
					Version: "1", TriggerSource: "PostConfirmation_ConfirmSignUp", Region: "us-east-1",
					UserPoolID: refOf(a, "Users"), UserName: test.user.Subject,
					CallerContext: events.CognitoEventUserPoolsCallerContext{
						AWSSDKVersion: event.CallerContext.AWSSDKVersion, ClientID: test.client},
				},
				Request: events.CognitoEventUserPoolsPostConfirmationRequest{UserAttributes: map[string]string{
					"sub": test.user.Subject, "email": test.email, "email_verified": "true",
					"cognito:user_status": "CONFIRMED",
				}},
			}
			if diff := cmp.Diff(want, event); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

// A sign-up that fails is not confirmed, and the next request tries again.
func TestSignUpErr(t *testing.T) {
	t.Parallel()
	answers := func(result lambda.Result, err error) func(context.Context, []byte) (lambda.Result, error) {
		return func(context.Context, []byte) (lambda.Result, error) { return result, err }
	}
	for name, test := range map[string]struct {
		permission string
		answer     func(context.Context, []byte) (lambda.Result, error)
		attempts   int
		takes      time.Duration
		says       string
	}{
		"Failure": {permission, answers(lambda.Result{FunctionError: "Unhandled",
			Payload: []byte(`{"errorMessage":"no table"}`)}, nil), 1, 0, `greeter failed: {"errorMessage":"no table"}`},
		"NoAnswer": {permission, hangs, 3, 15 * time.Second,
			"3 attempts failed: greeter has not answered within 5s"},
		"Throttled": {permission, answers(lambda.Result{}, lambda.ErrThrottled), 3, 0,
			"3 attempts failed: too many requests"},
		"Closed": {permission, answers(lambda.Result{}, lambda.ErrClosed), 1, 0, "shut down"},
		"Null": {permission, answers(lambda.Result{Payload: []byte("null")}, nil), 1, 0,
			"greeter answered null: return the event"},
		"NotTheEvent": {permission, answers(lambda.Result{Payload: []byte(`{"statusCode":200}`)}, nil), 1, 0,
			"return the event"},
		"NoJSON": {permission, answers(lambda.Result{Payload: []byte(`ok`)}, nil), 1, 0, "return the event"},
		"NotPermitted": {strings.ReplaceAll(permission, "cognito-idp", "events"), takes, 0, 0,
			"no AWS::Lambda::Permission lets cognito-idp.amazonaws.com invoke greeter from " +
				"arn:aws:cognito-idp:us-east-1:000000000000:userpool/us-east-1_"},
		"OfAnotherPool": {strings.ReplaceAll(permission, `["Users"`, `["Plain"`), takes, 0, 0,
			"no AWS::Lambda::Permission"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := load(t, test.permission)
			synctest.Test(t, func(t *testing.T) {
				f := &function{answer: test.answer}
				read, printed := pools(t, a, f)
				for i := 1; i <= 2; i++ {
					began := time.Now()
					err := read.SignUp(t.Context(), issuerOf(a, "Users"), cognito.User{Subject: "alice"})
					if !errors.Is(err, cognito.ErrNotConfirmed) || !strings.Contains(err.Error(), test.says) ||
						!strings.Contains(err.Error(), "alice at user pool us-east-1_") {
						t.Errorf("got %v, want %q", err, test.says)
					}
					if got := time.Since(began); got != test.takes {
						t.Errorf("it took %v, want %v", got, test.takes)
					}
					if len(f.got) != i*test.attempts || len(*printed) != i*max(1, test.attempts) {
						t.Errorf(
							"got %d invocations and the lines %q, want %d invocations, and a line for each attempt",
							len(f.got), *printed, i*test.attempts)
					}
				}
				if got := read.Pools()[2]; got.SignUps != 0 || got.Failures != 2 {
					t.Errorf("got %+v, want 2 failures", got)
				}
				if test.attempts == 0 {
					return
				}
				f.answer = takes
				if err := read.SignUp(t.Context(), issuerOf(a, "Users"), cognito.User{Subject: "alice"}); err != nil {
					t.Errorf("the function is mended: %v", err)
				}
			})
		})
	}
}

// An attempt that gets no answer in time is followed by one that does.
func TestSignUpTriesAgain(t *testing.T) {
	t.Parallel()
	a := load(t, permission)
	synctest.Test(t, func(t *testing.T) {
		f := &function{}
		f.answer = func(ctx context.Context, payload []byte) (lambda.Result, error) {
			if len(f.got) < 3 {
				return hangs(ctx, payload)
			}
			return takes(ctx, payload)
		}
		read, printed := pools(t, a, f)
		if err := read.SignUp(t.Context(), issuerOf(a, "Users"), cognito.User{Subject: "alice"}); err != nil {
			t.Error(err)
		}
		if len(f.got) != 3 || f.got[0] != f.got[2] || len(*printed) != 2 ||
			!strings.Contains((*printed)[1], "sign-up of alice, attempt 2: greeter has not answered") {
			t.Errorf("got %q, printed %q; want the event 3 times, and 2 lines", f.got, *printed)
		}
	})
}

// Requests for one user at the same time share one invocation, also when the first of them goes away. Later ones need
// none.
func TestSignUpOnce(t *testing.T) {
	t.Parallel()
	a := load(t, permission)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := &function{answer: func(ctx context.Context, payload []byte) (lambda.Result, error) {
			<-release
			return takes(ctx, payload)
		}}
		read, _ := pools(t, a, f)
		signUp := func(ctx context.Context, subject string) error {
			return read.SignUp(ctx, issuerOf(a, "Users"), cognito.User{Subject: subject})
		}
		gone, goAway := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- signUp(gone, "alice") }()
		synctest.Wait()
		others := make(chan error, 21)
		for range 20 {
			go func() { others <- signUp(t.Context(), "alice") }()
		}
		go func() { others <- signUp(t.Context(), "bob") }()
		synctest.Wait()
		goAway()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the first request has gone: got %v", err)
		}
		close(release)
		for range cap(others) {
			if err := <-others; err != nil {
				t.Error(err)
			}
		}
		if err := signUp(t.Context(), "alice"); err != nil || len(f.got) != 2 {
			t.Errorf("got %v and %d invocations, want one each for alice and bob", err, len(f.got))
		}
		want := []cognito.Status{
			{ID: refOf(a, "Others"), Stack: "Stack"}, {ID: refOf(a, "Plain"), Stack: "Stack"},
			{ID: refOf(a, "Users"), Stack: "Stack", PostConfirmation: "greeter", SignUps: 2},
		}
		// The rest is as declared.
		declared := cmpopts.IgnoreFields(cognito.Status{}, "Name", "Issuer", "Groups", "Clients")
		if diff := cmp.Diff(want, read.Pools(), declared); diff != "" {
			t.Errorf("pools (-want +got):\n%s", diff)
		}
	})
}

// People hear of triggers that the run does not serve.
func TestWithoutEffect(t *testing.T) {
	t.Parallel()
	read, _ := pools(t, load(t, permission), &function{})
	want := []string{"PostConfirmation of AWS::Cognito::UserPool Others (Others)",
		"PreSignUp of AWS::Cognito::UserPool Others (Others)"}
	if diff := cmp.Diff(want, read.WithoutEffect()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
