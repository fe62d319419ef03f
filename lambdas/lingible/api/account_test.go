package api_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// A deleted account has no route but its deletion, whether the request is good or not, and changes nothing, also with
// an idempotency key: for any token while it is being removed, and afterwards for tokens from before. A later token
// opens a new account then.
func TestNoRouteWithoutAccount(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	initial := must.Get(lexicons.Initial())(t)
	log := slog.New(slog.DiscardHandler)
	w.Know(initial...)
	w.Language, w.VotesToApprove = w.Lexicon, 1
	handler := api.Handler(w.Service, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: w.Keys()},
		Limiter: httpapitest.Unlimited{}, Log: log, Clock: w.Read})
	ann := w.Premium(t, "ann")
	translated := must.Get(w.Translate(t.Context(), ann, lingible.TranslationInput{Text: "no cap"}))(t)
	send := func(method, path, body string, signedIn time.Time) (status int, code string) {
		r := httptest.NewRequest(method, strings.NewReplacer("{id}", translated.ID, "{submission_id}",
			uuid.NewString()).Replace(path), strings.NewReader(body))
		r.Header.Set("Idempotency-Key", method+path+body)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r.WithContext(kit.WithInvocation(r.Context(), kit.Invocation{
			// A session makes new tokens for as long as it lasts.
			Claims: map[string]string{"sub": "ann", "auth_time": fmt.Sprint(signedIn.Unix()),
				"iat": fmt.Sprint(w.Read().Unix())}, Groups: []string{"admin"},
			SourceAddress: "203.0.113.7",
		})))
		var answer lingible.ErrorResponse
		_ = json.Unmarshal(recorder.Body.Bytes(), &answer)
		return recorder.Code, answer.ErrorCode
	}
	const deletion = `{"confirmation":"DELETE"}`
	bodies := map[string]string{
		"POST /translate":    `{"text":"no cap"}`,
		"POST /slang/submit": `{"slang_term":"mid air","meaning":"Average","example_usage":"That was mid air."}`,
		"POST /quiz/answer":  `{"session_id":"s","question_id":"q","selected_option":"a"}`,
		"POST /quiz/end":     `{"session_id":"s"}`,
	}
	if status, _ := send("DELETE", "/user/account", deletion, ann.SignedIn); status != http.StatusAccepted {
		t.Fatalf("the deletion: got %d", status)
	}
	stored := func() (items []string) {
		for _, table := range lingible.Platform().Database.Tables {
			for _, item := range w.Stored(t, table.Name) {
				var read map[string]any
				must.OK(t, attributevalue.UnmarshalMap(item, &read))
				items = append(items, fmt.Sprint(table.Name, read))
			}
		}
		slices.Sort(items)
		return items
	}
	w.Advance(time.Second)
	for _, state := range []struct {
		account  string
		signedIn time.Time
	}{{"being removed", ann.SignedIn}, {"being removed", w.Read()}, {"removed", ann.SignedIn}} {
		if state.account == "removed" {
			if complete, err := w.CleanAccount(t.Context(), "ann"); err != nil || !complete {
				t.Fatal(complete, err)
			}
		}
		before := stored()
		for _, route := range lingible.Platform().Routes {
			if !route.Caller.Authenticated() {
				continue
			}
			for _, body := range []string{bodies[route.Key()], "{"} {
				wantStatus, wantCode := http.StatusForbidden, "AUTH_003"
				if route.Key() == "DELETE /user/account" {
					body, wantStatus, wantCode = deletion, http.StatusAccepted, ""
				}
				if status, code := send(route.Method, route.Path, body, state.signedIn); status != wantStatus ||
					code != wantCode {
					t.Errorf("%s with %q and a sign-in at %v, while the account is %s: got %d %s, want %d %s",
						route.Key(), body, state.signedIn, state.account, status, code, wantStatus, wantCode)
				}
			}
		}
		if after := stored(); !slices.Equal(after, before) {
			t.Errorf("while the account is %s, requests changed %v to %v", state.account, before, after)
		}
	}
	w.Advance(time.Second)
	if status, _ := send("GET", "/slang/pending", "", w.Read()); status != http.StatusOK {
		t.Errorf("a sign-in after the deletion: got %d", status)
	}
}
