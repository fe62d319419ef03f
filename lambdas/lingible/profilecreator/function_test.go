package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// event is one of Amazon Cognito ("Post confirmation Lambda trigger", Amazon Cognito developer
// guide).
func event(source, attributes string) string {
	return fmt.Sprintf(
		`{"version":"1","triggerSource":%q,"region":"eu-central-1","userPoolId":"eu-central-1_x","callerContext":{"awsSdkVersion":"1","clientId":"c"},"userName":"ann","request":{"userAttributes":%s},"response":{}}`,
		source, attributes)
}

// Only a confirmed sign-up creates a profile, once, with the access patterns that the function has;
// each event is returned as it came.
func TestSignUp(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	var output bytes.Buffer
	log := must.Get(kit.NewLogger(&output, "", "profilecreator"))(t)
	f := &function{service: &service.Service{DB: w.As(t, "profilecreator"), Calendar: w.Calendar}, log: log}
	handler := kit.NewResponder(log, f.handle)
	invoke := func(event string) {
		t.Helper()
		answer, err := handler.Invoke(t.Context(), []byte(event))
		var want, got events.CognitoEventUserPoolsPostConfirmation
		must.OK(t, errors.Join(err, json.Unmarshal([]byte(event), &want), json.Unmarshal(answer, &got)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-event +answer:\n%s", diff)
		}
	}
	const ann = `{"sub":"ann-1","email":"ann@example.com","email_verified":"true"}`
	invoke(event("PostConfirmation_ConfirmForgotPassword", ann))
	invoke(event(confirmed, `{"email":"ann@example.com"}`))
	if items := w.Stored(t, "Users"); len(items) != 0 {
		t.Errorf("got %v", items)
	}
	w.Tables.Recorder.Faults(func(schema.Action) error { return errors.New("no table") }, nil)
	invoke(event(confirmed, ann))
	w.Tables.Recorder.Faults(nil, nil)
	if logged := output.String(); !strings.Contains(logged, "a confirmed user has no profile yet") ||
		!strings.Contains(logged, "no table") || strings.Contains(logged, "example.com") {
		t.Errorf("logged %s", logged)
	}
	invoke(event(confirmed, ann))
	invoke(event(confirmed, strings.ReplaceAll(ann, "ann@", "another@")))
	want := lingible.User{
		ID: "ann-1", Email: "ann@example.com", Tier: lingible.Free, Status: lingible.Active,
		CreatedAt: lingibletest.Began(), UpdatedAt: lingibletest.Began(),
	}
	got, err := w.Profile(t.Context(), service.Caller{ID: "ann-1"})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
	if items := w.Stored(t, "Users"); len(items) != 2 {
		t.Errorf("got %v", items)
	}
}
