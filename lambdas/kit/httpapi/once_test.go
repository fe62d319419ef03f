package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// cancelling is an API that cancels an order by work, which has the version that the order
// should have.
func cancelling(keys idempotency.Claims, log *bytes.Buffer,
	work func(ctx context.Context, version int) error) *kit.API {
	s := httpapi.New(httpapi.Config{
		Platform: shop(), Log: slog.New(slog.NewJSONHandler(log, nil)),
		Idempotency: httpapi.Idempotency{Keys: keys},
	})
	httpapi.Bind(s, schema.Operation[orderPath, none, none]{ID: "cancel", Status: http.StatusNoContent,
		IfMatch: "the order", Key: schema.KeyRequired}, func(ctx context.Context, _ ofOrder) (none, error) {
		return httpapi.IfMatch(ctx, func(version int) (none, error) { return none{}, work(ctx, version) })
	})
	return s.Handler()
}

// If-Match as RFC 9110 has it: a list of strong tags; one match is enough. The order has
// version 3.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]struct {
		status   int
		versions string
	}{
		"":                         {400, "[]"},
		" 	":                       {400, "[]"},
		"*":                        {204, "[0]"},
		` * `:                      {204, "[0]"},
		`"3"`:                      {204, "[3]"},
		`  "3"	`:                   {204, "[3]"},
		`"2"`:                      {412, "[2]"},
		`"2", "3"`:                 {204, "[2 3]"},
		`"2","3"`:                  {204, "[2 3]"},
		`"3", "2"`:                 {204, "[3]"},
		`"1" , "2",, "4",`:         {412, "[1]"},
		`,"3"`:                     {204, "[3]"},
		`W/"3"`:                    {412, "[-1]"},
		`W/"3", "3"`:               {204, "[3]"},
		`"abc"`:                    {412, "[-1]"},
		`"a,b", "3"`:               {204, "[3]"},
		`""`:                       {412, "[-1]"},
		`"03"`:                     {412, "[-1]"},
		`"+3"`:                     {412, "[-1]"},
		`"0"`:                      {412, "[-1]"},
		`"-1"`:                     {412, "[-1]"},
		`"99999999999999999"`:      {412, "[99999999999999999]"},
		`"9999999999999999999999"`: {412, "[-1]"},
		`3`:                        {400, "[]"},
		`"3`:                       {400, "[]"},
		`3"`:                       {400, "[]"},
		`"3" "2"`:                  {400, "[]"},
		`"3";"2"`:                  {400, "[]"},
		`w/"3"`:                    {400, "[]"},
		`W/3`:                      {400, "[]"},
		`W/ "3"`:                   {400, "[]"},
		`*, "3"`:                   {400, "[]"},
		`"3", *`:                   {400, "[]"},
		`" 3"`:                     {400, "[]"},
		`,`:                        {400, "[]"},
		`'3'`:                      {400, "[]"},
	} {
		var versions []int
		api := cancelling(&httpapitest.Ledger{}, &bytes.Buffer{}, func(_ context.Context, version int) error {
			if versions = append(versions, version); version != 0 && version != 3 {
				return &problem.VersionError{What: "the order", Current: 3}
			}
			return nil
		})
		w := serve(api, "DELETE /orders/1", "", "Idempotency-Key: k", "If-Match: "+header)
		if w.Code != want.status || fmt.Sprint(versions) != want.versions ||
			w.Code == 400 && !strings.Contains(w.Body.String(), "If-Match: ") {
			t.Errorf("%s: got %d %s, asked for versions %v; want %d, %s", header, w.Code, w.Body, versions, want.status,
				want.versions)
		}
	}
}

// Without an optional key the work is done each time, and nothing is asked of the keys.
func TestKeyOptional(t *testing.T) {
	t.Parallel()
	done := 0
	undo := schema.Operation[orderPath, none, int]{ID: "undo", Route: "DELETE /orders/{order_id}",
		Caller: schema.CallerUser, Key: schema.KeyOptional}
	s := httpapi.New(httpapi.Config{
		Platform:    schema.Platform{Routes: schema.Routes(undo)},
		Idempotency: httpapi.Idempotency{Keys: &httpapitest.Ledger{Refusal: idempotency.ErrOtherRequest}},
	})
	httpapi.Bind(s, undo,
		func(context.Context, ofOrder) (int, error) {
			done++
			return done, nil
		})
	for _, test := range []struct {
		header, answer string
		status         int
	}{
		{"X: y", "1\n", http.StatusOK},
		{"Idempotency-Key: ", "is missing or empty", http.StatusBadRequest},
		{"Idempotency-Key: k", "was used for another request", http.StatusUnprocessableEntity},
		{"Idempotency-Key: clé", "printable ASCII", http.StatusBadRequest},
		{"Idempotency-Key: a\x01b", "printable ASCII", http.StatusBadRequest},
		{"Idempotency-Key: a\tb", "printable ASCII", http.StatusBadRequest},
		{"Idempotency-Key: " + strings.Repeat("k", 256), "has 256 characters", http.StatusBadRequest},
		{"Idempotency-Key: " + strings.Repeat("k", 255), "was used for another request",
			http.StatusUnprocessableEntity},
		{"Idempotency-Key: a key with blanks~", "was used for another request", http.StatusUnprocessableEntity},
	} {
		w := serve(s.Handler(), "DELETE /orders/1", "", test.header)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.answer) || done != 1 {
			t.Errorf("%s: got %d %s after %d times", test.header, w.Code, w.Body, done)
		}
	}
	for _, p := range documentOf(t, s).Paths["/orders/{order_id}"]["delete"].Parameters {
		if p.Name == "Idempotency-Key" && p.Required {
			t.Error("the document requires the key")
		}
	}
}

// The key is read before the body, which may then be wrong, too.
func TestKeyBeforeBody(t *testing.T) {
	t.Parallel()
	s := httpapi.New(httpapi.Config{Platform: one("POST", "/orders"),
		Idempotency: httpapi.Idempotency{Keys: &httpapitest.Ledger{}}})
	httpapi.Bind(s, schema.Operation[none, Order, none]{ID: "do", Key: schema.KeyRequired},
		func(context.Context, httpapi.Request[none, Order]) (none, error) { return none{}, nil })
	for header, want := range map[string]string{"X: y": "Idempotency-Key: is missing", "Idempotency-Key: k": "body: "} {
		w := serve(s.Handler(), "POST /orders", "{", header)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"`+want) {
			t.Errorf("%s: got %d %s; want that it is refused for %s", header, w.Code, w.Body, want)
		}
	}
}

// gift has its key in its body.
type gift struct {
	Key string `json:"key,omitempty"`
	To  string `json:"to"`
}

func giftKey(r *httpapi.Request[none, gift]) (string, []byte, error) {
	if r.Body.To == "nobody" {
		return "", nil, validate.Errorf("to", validate.RuleConflict, "takes no gifts")
	}
	return r.Body.Key, []byte(r.Body.To), nil
}

// A key is for one method, path, If-Match and body: a request that differs in any is another one.
func TestKeyIsForOneRequest(t *testing.T) {
	t.Parallel()
	done := 0
	api := cancelling(&httpapitest.Ledger{}, &bytes.Buffer{}, func(context.Context, int) error { done++; return nil })
	for _, test := range []struct {
		line, header string
		status       int
	}{
		{"DELETE /orders/1", `If-Match: "3"`, http.StatusNoContent},
		{"DELETE /orders/1", `If-Match: "3"`, http.StatusNoContent},
		{"DELETE /orders/1", `If-Match: "2"`, http.StatusUnprocessableEntity},
		{"DELETE /orders/1", "X: y", http.StatusUnprocessableEntity},
		{"DELETE /orders/2", `If-Match: "3"`, http.StatusUnprocessableEntity},
	} {
		if w := serve(api, test.line, "", "Idempotency-Key: k", test.header); w.Code != test.status || done != 1 {
			t.Errorf("%s with %s: got %d %s after %d times; want %d", test.line, test.header, w.Code, w.Body, done,
				test.status)
		}
	}
}

// An input may have the key itself: no header asks for it, and no answer tells of a repeat. Refusals are not kept.
func TestKeyed(t *testing.T) {
	t.Parallel()
	full := problem.New(http.StatusConflict, "FULL", "the van is full")
	give := schema.Operation[none, gift, int]{ID: "give", Route: "POST /gifts", Key: schema.KeyOwn,
		Errors: []error{full}}
	s := httpapi.New(httpapi.Config{
		Platform:    schema.Platform{Routes: schema.Routes(give)},
		Idempotency: httpapi.Idempotency{Keys: &httpapitest.Ledger{}},
	})
	given := 0
	httpapi.BindWork(s, give,
		httpapi.Work[none, gift, int]{Key: giftKey,
			Do: func(context.Context, httpapi.Request[none, gift]) (int, error) {
				if given++; given == 1 {
					return 0, full
				}
				return given, nil
			}})
	for _, step := range []struct{ name, body, want string }{
		{"Refused", `{"to":"nobody","key":"k"}`, "422 to: takes no gifts, 0 times"},
		{"Failed", `{"to":"ann","key":"k"}`, "409 the van is full, 1 times"},
		{"First", `{"to":"ann","key":"k"}`, "200 2, 2 times"},
		{"Repeat", `{"to":"ann","key":"k"}`, "200 2, 2 times"},
		{"Other", `{"to":"bob","key":"k"}`, "422 " + idempotency.ErrOtherRequest.Error() + ", 2 times"},
		{"NoKey", `{"to":"ann"}`, "200 3, 3 times"},
		{"NoKeyAgain", `{"to":"ann"}`, "200 4, 4 times"},
	} {
		w := serve(s.Handler(), "POST /gifts", step.body)
		message := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(w.Body.String()), `{"message":"`), `"}`)
		if got := fmt.Sprint(w.Code, " ", message, ", ", given, " times"); got != step.want ||
			w.Header().Get(schema.ReplayedHeader) != "" {
			t.Errorf("%s: got %s, %v; want %s", step.name, got, w.Header(), step.want)
		}
	}
	document := documentOf(t, s)
	for _, name := range []string{schema.KeyHeader, schema.ReplayedHeader} {
		if strings.Contains(string(document.JSON), name) {
			t.Errorf("the document names %s", name)
		}
	}
}

// An answer that cannot be kept is still given when nothing was changed, unless another
// attempt has taken over.
func TestSettleFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settle, release error
		status          int
		released        int
	}{
		"Busy":      {settle: retry.ErrBusy, status: 204, released: 1},
		"BusyTwice": {settle: retry.ErrBusy, release: retry.ErrBusy, status: 204, released: 1},
		"Lost":      {settle: idempotency.ErrClaimLost, status: 409},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			keys := &httpapitest.Ledger{NotSettled: test.settle, NotReleased: test.release}
			w := serve(cancelling(keys, &log, func(context.Context, int) error { return nil }), "DELETE /orders/1", "",
				"Idempotency-Key: k")
			if w.Code != test.status || keys.Released != test.released {
				t.Errorf("got %d %s, released %d", w.Code, w.Body, keys.Released)
			}
			if test.released > 0 && !strings.Contains(log.String(), "was not kept") {
				t.Errorf("logged %s", &log)
			}
		})
	}
}

// hangingTable grants the first write, a claim, and then gives no answer.
type hangingTable struct {
	dynamo.Client
	writes int
}

func (h *hangingTable) UpdateItem(ctx context.Context, _ *dynamodb.UpdateItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if h.writes++; h.writes == 1 {
		return &dynamodb.UpdateItemOutput{}, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A caller whose work hangs, and whose claim cannot be released, still gets an answer before the
// invocation ends.
func TestHangingTable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		database := todo.Platform().Database
		table := &hangingTable{}
		db := dynamotest.Through(t, table, database)
		keys := idempotency.New(db, database.Tables[0].Name, func(scope, key string) []any { return []any{scope, key} })
		handler := kit.NewHTTPHandler(cancelling(keys, &bytes.Buffer{}, func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		const event = `{"version":"2.0","rawPath":"/orders/1","headers":{"idempotency-key":"k"},"requestContext":{
			"http":{"method":"DELETE"},"authorizer":{"jwt":{"claims":{"sub":"ann"}}}}}`
		invocation, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		answer, err := handler.Invoke(invocation, []byte(event))
		if err != nil || !strings.Contains(string(answer), `"statusCode":5`) || table.writes != 2 {
			t.Errorf("got %s, %v after %d writes; want a 5xx after a claim and a release", answer, err, table.writes)
		}
		if invocation.Err() != nil {
			t.Error("the invocation ended before there was an answer")
		}
	})
}
