package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// program shows a token of its own.
var program = schema.Caller{Name: "agent", Token: schema.TokenOfProgram}

// shop is a platform that is small enough to see through.
func shop() schema.Platform {
	return schema.Platform{Name: "shop", Title: "Shop", Routes: schema.Routes(order, cancel, agents, prices)}
}

// The operations of the shop.
var (
	order = schema.Operation[orderParams, Order, said]{ID: "order", Route: "POST /orders/{order_id}",
		Caller: schema.CallerUser, Summary: "Order"}
	cancel = schema.Operation[orderPath, none, none]{ID: "cancel", Route: "DELETE /orders/{order_id}",
		Caller: schema.CallerUser, Summary: "Cancel", Status: http.StatusNoContent}
	agents = schema.Operation[none, none, none]{ID: "agents", Route: "GET /agents", Caller: program,
		Summary: "Be told apart by the function", Status: http.StatusNoContent}
	prices = schema.Operation[none, none, none]{ID: "prices", Route: "GET /prices", Caller: schema.CallerAnyone,
		Summary: "Read the prices", Status: http.StatusNoContent}
)

// one is a platform of one route, do.
func one(method, path string) schema.Platform {
	return schema.Platform{Name: "post", Title: "Post",
		Routes: []schema.Route{{ID: "do", Method: method, Path: path}}}
}

func documentOf(t *testing.T, s *httpapi.Server) httpapitest.Document {
	t.Helper()
	return httpapitest.Parse(t, must.Get(s.Document())(t))
}

type orderPath struct {
	ID string `path:"order_id"`
}

type orderParams struct {
	ID      string `path:"order_id"`
	Gift    string `query:"gift" enum:"yes,no"`
	Colours string `header:"X-Colours"`
}

// Requests without a body, and without parameters, too.
type (
	none    = schema.None
	request = httpapi.Request[none, none]
	ofOrder = httpapi.Request[orderPath, none]
)

// Order is what is ordered.
type Order struct {
	Name  string  `json:"name" minLength:"2"`
	Count *int64  `json:"count,omitempty" nullable:"true" minimum:"1"`
	Size  *string `json:"size,omitempty" nullable:"true" enum:"small,large"`
}

// Check implements [validate.Checker].
func (o Order) Check(p *validate.Problems, _ string) {
	if o.Name == "" || o.Name == "nothing" {
		p.Add("name", validate.RuleConflict, "is nothing")
		p.Add("count", validate.RuleConflict, "is of nothing")
	}
}

type said struct {
	Text string `json:"text"`
}

var errSoldOut = errors.New("sold out")

// server serves the shop. What is said of the order is in the answer.
func server(strict bool, log *bytes.Buffer) *httpapi.Server {
	platform := shop()
	platform.API = schema.API{
		Description: "Sells.", Strict: strict, MaxBodyBytes: 1000,
		Credentials: map[schema.Caller]schema.Credential{program: {Key: "key", KeyHeader: "X-Key"}},
		Errors: problem.Answers{
			Known:   []problem.Answer{{Match: problem.Is(errSoldOut), Status: 410, RetryAfter: 90 * time.Second}},
			Unknown: problem.Answer{Message: "unknown"},
			Body:    func(f problem.Failure) any { return map[string]string{"error": f.Message} },
		},
	}
	s := httpapi.New(httpapi.Config{
		Platform: platform, Log: slog.New(slog.NewJSONHandler(log, nil)),
		Identify: map[schema.Caller]httpapi.Identify{program: func(*httpapi.Context) (httpapi.Caller, error) {
			return httpapi.Caller{ID: "some agent"}, nil
		}},
		Admit: func(ctx *httpapi.Context) (context.Context, error) {
			ctx.SetHeader("X-Route", ctx.Route.Summary)
			if ctx.Header("X-Stranger") != "" {
				return nil, errors.New("a stranger")
			}
			return context.WithValue(ctx.Context(), admitted{}, "admitted"), nil
		},
	})
	httpapi.Bind(s, order,
		func(ctx context.Context, r httpapi.Request[orderParams, Order]) (said, error) {
			switch r.Params.ID {
			case "sold":
				return said{}, fmt.Errorf("ordering: %w", errSoldOut)
			case "secret":
				return said{}, errors.New("a secret")
			}
			return said{fmt.Sprint(ctx.Value(admitted{}), " ", r.Params.ID, " ", r.Body.Name, " ",
				r.Params.Colours)}, nil
		})
	httpapi.Bind(s, cancel, func(context.Context, ofOrder) (none, error) { return none{}, nil })
	for _, op := range []schema.Operation[none, none, none]{agents, prices} {
		httpapi.Bind(s, op, func(context.Context, request) (none, error) { return none{}, nil })
	}
	return s
}

type admitted struct{}

// serve makes a request of somebody with a token.
func serve(handler http.Handler, line, body string, headers ...string) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r = r.WithContext(kit.WithInvocation(r.Context(), kit.Invocation{Claims: map[string]string{"sub": "me"}}))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// A mistake that requests would reveal too late stops the function's start.
func TestErrDeclaration(t *testing.T) {
	t.Parallel()
	type nothing = schema.Operation[none, none, none]
	cancel := func(context.Context, request) (none, error) { return none{}, nil }
	for name, test := range map[string]struct {
		declare func()
		want    string
	}{
		"ErrLimit": {func() {
			limited := shop()
			limited.Routes[3].RateLimit, limited.RateLimits = "read",
				[]schema.RateLimit{{Name: "read", Requests: 1, Window: time.Hour, Per: schema.PerAddress}}
			s := httpapi.New(httpapi.Config{Platform: limited})
			httpapi.Bind(s, nothing{ID: "prices"}, cancel)
			s.Handler()
		}, "the rate limits of GET /prices are not counted"},
		"ErrKeys": {func() {
			keyed := shop()
			for i := range keyed.Routes {
				keyed.Routes[i].Function = "shop"
			}
			keyed.Database.AccessPatterns = schema.IdempotencyPatterns("Keys", "other")
			s := httpapi.New(httpapi.Config{Platform: keyed})
			httpapi.Bind(s, nothing{ID: "cancel", Key: schema.KeyRequired}, cancel)
			s.Handler()
		}, "may not claim idempotency keys: name it in IdempotencyPatterns"},
		"ErrOperation": {func() {
			orders := shop()
			for i := range 2 {
				orders.Routes[i].Function = "orders"
			}
			s := httpapi.New(httpapi.Config{Platform: orders})
			httpapi.Bind(s, nothing{ID: "cancel"}, cancel)
			s.Handler()
		}, "no operation serves POST /orders/{order_id}: register one"},
		"ErrRoute": {func() {
			httpapi.Bind(server(true, &bytes.Buffer{}), nothing{ID: "look"}, cancel)
		}, `no route of shop has the ID "look"`},
		"ErrParameter": {func() {
			httpapi.Bind(server(true, &bytes.Buffer{}), schema.Operation[orderPath, none, none]{ID: "prices"},
				func(context.Context, ofOrder) (none, error) { return none{}, nil })
		}, "the parameters of prices have order_id, which the path /prices lacks"},
		"ErrLocation": {func() {
			op := schema.Operation[none, none, problem.GatewayError]{ID: "cancel", Location: "/orders/{id}",
				Key: schema.KeyRequired}
			httpapi.Bind(server(true, &bytes.Buffer{}), op,
				func(context.Context, request) (answer problem.GatewayError, err error) { return answer, nil })
		}, "the Location of cancel has {id}, which is no field of its answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, test.want) {
					t.Errorf("got %s, want %s", got, test.want)
				}
			}()
			test.declare()
		})
	}
}

// The answers to good and bad requests, of a strict server and of another.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const order = "POST /orders/1"
	same := func(status int, body string) [2]string {
		text := fmt.Sprint(status, " ", body)
		return [2]string{text, text}
	}
	failed := func(status int, text string) string { return fmt.Sprintf(`%d {"error":"%s"}`, status, text) }
	for name, test := range map[string]struct {
		line, body string
		headers    []string
		want       [2]string // strict, lenient
	}{
		"OK": {order, `{"name":"<tea>"}`, nil, same(200, `{"text":"admitted 1 <tea> "}`)},
		"ContentType": {order, `{"name":"tea"}`, []string{"Content-Type: Application/JSON; charset=utf-8"},
			same(200, `{"text":"admitted 1 tea "}`)},
		"ContentTypeSuffix": {order, `{"name":"tea"}`, []string{"Content-Type: application/vnd.shop+json"},
			same(200, `{"text":"admitted 1 tea "}`)},
		"BothCases": {order, `{"name":"tea","size":"small","SIZE":"large"}`, nil,
			[2]string{failed(422, "SIZE: is not known here; leave it out, or check its spelling"),
				`200 {"text":"admitted 1 tea "}`}},
		"Accept": {order, `{"name":"tea"}`, []string{"Accept: text/html"},
			same(200, `{"text":"admitted 1 tea "}`)},
		"HeaderTwice": {order, `{"name":"tea"}`, []string{"X-Colours: red", "X-Colours: blue"},
			same(200, `{"text":"admitted 1 tea red,blue"}`)},
		"Empty204": {"DELETE /orders/1", ``, nil, same(204, ``)},
		"Null": {order, `{"name":"tea","count":null,"size":null}`, nil,
			same(200, `{"text":"admitted 1 tea "}`)},
		"Domain":   {"POST /orders/sold", `{"name":"tea"}`, nil, same(410, `{"error":"sold out"}`)},
		"Unknown":  {"POST /orders/secret", `{"name":"tea"}`, nil, same(500, `{"error":"unknown"}`)},
		"Stranger": {order, `{"name":"tea"}`, []string{"X-Stranger: yes"}, same(500, `{"error":"unknown"}`)},
		"NoRoute": {"POST /orders", `{"name":"tea"}`, nil,
			same(404,
				`{"error":"there is no such route: check the path for typing errors, a slash at the end or a missing id"}`)},
		"BadQuery": {order + "?x=%zz", `{"name":"tea"}`, nil,
			same(400, `{"error":"query: cannot be read: invalid URL escape \"%zz\"; percent-encode values"}`)},
		"TooLarge": {order, `{"name":"tea"}` + strings.Repeat(" ", 1000), nil, same(413,
			`{"error":"the body has more than 1000 bytes, which is the most allowed"}`)},
		"NoBody": {order, ``, nil, same(400, `{"error":"body: is missing, but required"}`)},
		"NotJSON": {order, `{`, nil, same(400,
			`{"error":"body: the body is not valid JSON: unexpected end of JSON input at byte 1"}`)},
		"NotUTF8": {order, "\xff", nil, same(400, `{"error":"body: the body is not valid UTF-8"}`)},
		"HalfAPair": {order, `{"name":"tea\ud83d"}`, nil, same(400, `{"error":"body: the body has \\ud83d at byte 13, `+
			`which is half of a surrogate pair and no character: send both halves, or the character itself"}`)},
		"Mark": {order, "\xef\xbb\xbf{}", nil,
			same(400,
				`{"error":"body: the body begins with a byte order mark: leave it out (RFC 8259, section 8.1)"}`)},
		"Trailing": {order, `{"name":"tea"}{}`, nil, same(400,
			`{"error":"body: the body is not valid JSON: invalid character '{' after top-level value at byte 15"}`)},
		"Form": {order, `name=tea`, []string{"Content-Type: application/x-www-form-urlencoded"},
			same(415,
				`{"error":"Content-Type: is not application/json: send JSON with the header Content-Type: application/json"}`)},
		"Missing": {order, `{}`, nil, same(422,
			`{"error":"name: is missing, but required; count: is of nothing"}`)},
		"Rule": {order, `{"name":"nothing","count":0}`, nil,
			same(422, `{"error":"count: is 0; allowed is 1 or more; name: is nothing"}`)},
		"NotAnObject": {order, `[]`, nil, same(422, `{"error":"body: is a list; it must be an object"}`)},
		"Everything": {order + "?gift=maybe", `{"name":"x","size":"` + strings.Repeat("Ω", 41) + `"}`, nil,
			same(422,
				`{"error":"gift: is \"maybe\"; allowed is yes or no; name: has 1 character; it needs at least 2; size: is \"`+
					strings.Repeat("Ω", 40)+`\"… of 41 characters; allowed is small or large"}`)},
		"Float": {order, `{"name":"tea","count":1.0}`, nil, same(200, `{"text":"admitted 1 tea "}`)},
		"Fraction": {order, `{"name":"5.0","count":1.05}`, nil,
			same(422, `{"error":"count: is 1.05; it must be a whole number of at most 18 digits"}`)},
		"UnknownField": {order, `{"name":"tea","colour":"green"}`, nil,
			[2]string{failed(422, "colour: is not known here; leave it out, or check its spelling"),
				`200 {"text":"admitted 1 tea "}`}},
		"OtherCase": {order, `{"name":"tea","SIZE":"small"}`, nil,
			[2]string{failed(422, "SIZE: is not known here; leave it out, or check its spelling"),
				`200 {"text":"admitted 1 tea "}`}},
		"LongS": {order, `{"name":"tea","ſize":"small"}`, nil,
			[2]string{failed(422, "ſize: is not known here; leave it out, or check its spelling"),
				`200 {"text":"admitted 1 tea "}`}},
		"Twice": {order, `{"name":"tea","name":"tin"}`, nil,
			[2]string{
				failed(400,
					`body: the field \"name\" stands twice in one object: send it once, because readers differ in which one they take (RFC 8259, section 4)`),
				`200 {"text":"admitted 1 tin "}`}},
		"UnknownQuery": {order + "?x=1", `{"name":"tea"}`, nil,
			[2]string{failed(422, "x: is no query parameter of this route; use gift"),
				`200 {"text":"admitted 1 tea "}`}},
		"EmptyQuery": {order + "?gift=", `{"name":"tea"}`, nil,
			[2]string{failed(422, "gift: is empty; give it a value, or leave it out"),
				`200 {"text":"admitted 1 tea "}`}},
		"QueryNoText": {order + "?gift=%ff", `{"name":"tea"}`, nil,
			[2]string{failed(422, "gift: is not valid UTF-8"),
				failed(422, `gift: is \"\\xff\"; allowed is yes or no`)}},
		"QueryTwice": {order + "?gift=yes&gift=no", `{"name":"tea"}`, nil,
			[2]string{failed(422, "gift: stands 2 times; give it once"), `200 {"text":"admitted 1 tea "}`}},
		"NoQuery": {"DELETE /orders/1?x=1", ``, nil,
			[2]string{failed(422, "x: is no query parameter of this route, which has none"), `204 `}},
	} {
		for i, strict := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", name, strict), func(t *testing.T) {
				t.Parallel()
				var log bytes.Buffer
				w := serve(server(strict, &log).Handler(), test.line, test.body, test.headers...)
				got := fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String()))
				if got != test.want[i] {
					t.Errorf("got %s; want %s", got, test.want[i])
				}
				if logged := strings.Contains(log.String(), "request failed"); logged != (w.Code == 500) {
					t.Errorf("logged %s", &log)
				}
				if w.Code >= 400 && w.Header().Get("Content-Type") != "application/json" {
					t.Errorf("headers are %v", w.Header())
				}
				if (w.Header().Get("Retry-After") == "90") != (w.Code == 410) {
					t.Errorf("headers are %v", w.Header())
				}
			})
		}
	}
}

func TestDocument(t *testing.T) {
	t.Parallel()
	d := documentOf(t, server(true, &bytes.Buffer{}))
	if content := d.Paths["/orders/{order_id}"]["delete"].Responses["204"].Content; len(content) > 0 {
		t.Errorf("204 is described with %v", content)
	}
	for line, want := range map[string]string{
		"post /orders/{order_id}":   "200 400 401 413 415 429 500 503",
		"delete /orders/{order_id}": "204 400 401 429 500 503", "get /agents": "204 400 429 500 503",
	} {
		method, path, _ := strings.Cut(line, " ")
		responses := d.Paths[path][method].Responses
		if got := strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(responses)), func(status string) bool {
			return status == "422"
		}), " "); got != want {
			t.Errorf("%s: described are %s, want %s", line, got, want)
		}
		for status, name := range map[string]string{"413": "Request Entity Too Large", "429": "Too Many Requests",
			"503": "Service Unavailable"} {
			// The API describes 413 and 503 itself, too.
			response, ok := responses[status]
			if example := response.Content["application/json"].Example; ok &&
				!strings.HasSuffix(response.Description, `from Amazon API Gateway {"message":"`+name+`"}`) &&
				fmt.Sprint(example) != "map[message:"+name+"]" {
				t.Errorf("%s: %s is described as %v", line, status, response)
			}
		}
	}
	if got := fmt.Sprint(
		d.Paths["/orders/{order_id}"]["post"].Responses["401"].Content["application/json"].Examples); !strings.Contains(
		got, "there is no verified token") {
		t.Errorf("401 has the examples %s", got)
	}
	if !strings.HasPrefix(d.Info.Description, "Sells. Amazon API Gateway answers some requests itself") {
		t.Errorf("the document says of the gateway %q", d.Info.Description)
	}
	properties := d.Components.Schemas["Order"].(map[string]any)["properties"].(map[string]any)
	if got := fmt.Sprint(properties["size"].(map[string]any)["enum"]); got != "[small large <nil>]" {
		t.Errorf("a size that may be null is one of %s", got)
	}
}
