package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/shortener/lambdas/shortener"
	"example.com/shortener/links"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/laketest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

var suite = onesynthtest.Suite{Platform: links.Platform(), Construct: "Shortener"}

func TestMain(m *testing.M) { suite.Main(m) }

// create makes a link.
func create(t testing.TB, c *onesynthtest.Client, key string, input map[string]any) onesynthtest.Reply {
	t.Helper()
	return c.MustSend(t, "POST", "/links", http.Header{"Idempotency-Key": {key}}, input)
}

// created makes a link, and returns it.
func created(t testing.TB, c *onesynthtest.Client) links.Link {
	t.Helper()
	return onesynthtest.Call(t, c, links.CreateLink, schema.None{}, links.Link{URL: "https://example.com/a"}).Value
}

// refused checks that a reply has a status and names something.
func refused(t testing.TB, r onesynthtest.Reply, status int, names string) {
	t.Helper()
	if r.Status != status || !strings.Contains(string(r.Body), names) {
		t.Errorf("got %v; want %d that names %q", r, status, names)
	}
}

// follow follows a link, and returns where it leads.
func follow(t testing.TB, target *onesynthtest.Target, code string) (onesynthtest.Reply, string) {
	t.Helper()
	r := onesynthtest.NewClient(t, target).Try(t, "GET", "/"+code, nil)
	return r, r.Header.Get("Location")
}

// The routes of the contract, of the stack and of the handlers are the same.
func TestRoutes(t *testing.T) {
	t.Parallel()
	suite.CheckRoutes(t, suite.Shared(t))
}

// A link is created once. Anyone may follow it; only its owner may read and delete it.
func TestLink(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	alice, bob := target.As(t, onesynthtest.Unique("alice")), target.As(t, onesynthtest.Unique("bob"))
	code := onesynthtest.Unique("home")
	input := map[string]any{"code": code, "url": "https://example.com/?a=b#c"}
	first, again := create(t, alice, "once", input), create(t, alice, "once", input)
	link := onesynthtest.Read[links.Link](t, first, http.StatusCreated)
	if link.Code != code || link.URL != input["url"] || time.Since(link.CreatedAt) > time.Hour {
		t.Errorf("got %+v; want %v", link, input)
	}
	if again.Status != http.StatusCreated || string(again.Body) != string(first.Body) ||
		again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %v; want the answer %v again", again, first)
	}
	refused(t, create(t, alice, "once", map[string]any{"url": "https://example.com/other"}),
		http.StatusUnprocessableEntity, "Idempotency-Key")
	refused(t, create(t, bob, "once", input), http.StatusConflict, "taken")
	refused(t, create(t, bob, "", input), http.StatusBadRequest, "Idempotency-Key")
	refused(t, create(t, bob, "wrong", map[string]any{"url": "ftp://example.com", "expires_on": "2020-01-01"}),
		http.StatusUnprocessableEntity, "url")
	refused(t, create(t, bob, "past", map[string]any{"url": "https://example.com", "expires_on": "2020-01-01"}),
		http.StatusUnprocessableEntity, "expires_on")
	refused(t, onesynthtest.NewClient(t, target).MustSend(t, "GET", "/links", nil, nil), http.StatusUnauthorized, "")

	if r, location := follow(t, target, code); r.Status != http.StatusFound || location != link.URL {
		t.Errorf("got %v to %q; want 302 to %s", r, location, link.URL)
	}
	for _, method := range []string{"GET", "DELETE"} {
		refused(t, bob.MustSend(t, method, "/links/"+code, nil, nil), http.StatusNotFound, "no such link")
	}
	own := links.CodeParams{Code: code}
	if got := onesynthtest.Call(t, alice, links.GetLink, own, schema.None{}).Value; got != link {
		t.Errorf("got %+v; want %+v", got, link)
	}
	onesynthtest.Call(t, alice, links.DeleteLink, own, schema.None{})
	refused(t, alice.MustSend(t, "GET", "/links/"+code, nil, nil), http.StatusNotFound, "no such link")
	r, _ := follow(t, target, code)
	refused(t, r, http.StatusNotFound, "no such link")
}

// A list has a user's own links, page by page.
func TestList(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	alice := target.As(t, onesynthtest.Unique("alice"))
	created(t, target.As(t, onesynthtest.Unique("bob")))
	var want, got []string
	for range 5 {
		want = append(want, created(t, alice).Code)
	}
	for page := (links.Page{}); len(got) == 0 || page.NextCursor != ""; {
		at := links.ListParams{Limit: 2, Cursor: page.NextCursor}
		page = onesynthtest.Call(t, alice, links.ListLinks, at, schema.None{}).Value
		for _, link := range page.Links {
			got = append(got, link.Code)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
	refused(t, alice.MustSend(t, "GET", "/links?cursor=AQ", nil, nil), http.StatusUnprocessableEntity, "cursor")
}

// A user who creates more links than an hour allows learns when to try again.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	alice := target.As(t, onesynthtest.Unique("alice"))
	limit := links.Platform().RateLimits[0].Requests
	for range limit + 1 {
		if r := create(t, alice, onesynthtest.Unique("key"), map[string]any{}); r.Status == http.StatusTooManyRequests {
			if after, ok := r.RetryAfter(); !ok || after > time.Hour {
				t.Errorf("got %v with Retry-After %q; want at most an hour", r, r.Header.Get("Retry-After"))
			}
			return
		}
	}
	t.Errorf("got no 429 within %d calls", limit+1)
}

// Expired links are deleted every night at three in Vienna.
func TestExpiry(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	alice := target.As(t, onesynthtest.Unique("alice"))
	expired, today := created(t, alice).Code, created(t, alice).Code
	zone, err := time.LoadLocation(links.Zone)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().In(zone)
	for code, days := range map[string]int{expired: -1, today: 0} {
		target.Set(t, "Links", "code", code, map[string]any{
			"expires_on": now.AddDate(0, 0, days).Format(time.DateOnly)})
	}
	target.RunSchedule(t, "Expirer")
	if r, _ := follow(t, target, expired); r.Status != http.StatusNotFound {
		t.Errorf("got %v; want 404 after the last day", r)
	}
	if r, _ := follow(t, target, today); r.Status != http.StatusFound && time.Now().In(zone).Day() == now.Day() {
		t.Errorf("got %v; want 302 on the last day", r)
	}
	next, err := runtest.Of(target.Run).NextRun(target.Schedule(t, "Expirer"))
	if err != nil || next.In(zone).Hour() != 3 {
		t.Errorf("the expirer runs next at %v, %v; want three o'clock in %s", next, err, links.Zone)
	}
}

// Every click lands in the lake, where the saved query counts it.
func TestLake(t *testing.T) {
	if testing.Short() {
		t.Skip("needs DuckDB: go test without -short does")
	}
	t.Parallel()
	target := suite.Shared(t)
	owner := onesynthtest.Unique("alice")
	code := created(t, target.As(t, owner)).Code
	for range 3 {
		follow(t, target, code)
	}
	target.Flush(t)
	type row struct {
		Code, Owner string
		Clicks      int
	}
	rows := laketest.Query[row](t, laketest.Open(t, target), links.Platform().Lakes[0].Queries[0].SQL)
	if want := (row{code, owner, 3}); !slices.Contains(rows, want) {
		t.Errorf("got %v; want %v", rows, want)
	}
}

// Each role allows exactly what its function does.
func TestGrants(t *testing.T) {
	t.Parallel()
	suite.CheckGrants(t, func(t testing.TB, target *onesynthtest.Target) {
		alice := target.As(t, onesynthtest.Unique("alice"))
		kept, deleted, expired := created(t, alice).Code, created(t, alice).Code, created(t, alice).Code
		// Small objects for the compactor to merge, from two batches.
		for range 2 {
			follow(t, target, kept)
			target.Flush(t)
		}
		target.RunSchedule(t, "Lake")
		yesterday := time.Now().Add(-36 * time.Hour).Format(time.DateOnly)
		target.Set(t, "Links", "code", expired, map[string]any{"expires_on": yesterday})
		target.RunSchedule(t, "Expirer")
		onesynthtest.Call(t, alice, links.GetLink, links.CodeParams{Code: kept}, schema.None{})
		onesynthtest.Call(t, alice, links.ListLinks, links.ListParams{}, schema.None{})
		onesynthtest.Call(t, alice, links.DeleteLink, links.CodeParams{Code: deleted}, schema.None{})
	})
}

// Every access pattern works on a real engine as declared.
func TestAccessPatterns(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, links.Platform().Database)
	service := &shortener.Service{DB: tables.DB, CursorKey: dynamo.CursorKey("0123456789abcdef")}
	keys, limit := idempotency.New(tables.DB, "Requests", nil), links.Platform().RateLimits[0]
	ctx := t.Context()
	claim := func() *idempotency.Claim {
		claimed, _, err := keys.Begin(ctx, "alice", onesynthtest.Unique("key"), []byte("request"), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return claimed
	}
	ready := func(request func() error) func() func() error { return func() func() error { return request } }
	tables.Measure(t, links.Platform().Database.AccessPatterns, dynamotest.Cases{
		"CreateLink": ready(func() error {
			_, err := service.Create(ctx, "alice", links.Link{Code: "first", URL: "https://example.com/"})
			return err
		}),
		"GetLink":     ready(func() error { _, err := service.Get(ctx, "alice", "first"); return err }),
		"ListLinks":   ready(func() error { _, err := service.List(ctx, "alice", "", 10); return err }),
		"RecordClick": ready(func() error { _, err := service.Follow(ctx, "first"); return err }),
		"DeleteLink":  ready(func() error { return service.Delete(ctx, "alice", "first") }),
		"ListExpired": ready(func() error { _, err := service.Expire(ctx); return err }),
		"ExpireLink": func() func() error {
			expired := links.Link{Code: "over", Owner: "alice", URL: "https://example.com/",
				ExpiresOn: time.Now().Add(-36 * time.Hour).Format(time.DateOnly)}
			if err := tables.DB.Transact(ctx, "CreateLink",
				dynamo.Put("Links", expired, dynamo.Absent("code"))); err != nil {
				t.Fatal(err)
			}
			return func() error { _, err := service.Expire(ctx); return err }
		},
		schema.CountRequest: ready(func() error {
			_, err := ratelimit.New(tables.DB, "Requests", nil).CountRequest(ctx, limit, "alice", time.Now())
			return err
		}),
		"ClaimIdempotencyKey": ready(func() error { claim(); return nil }),
		"SettleIdempotencyKey": func() func() error {
			claimed := claim()
			return func() error { return keys.Settle(ctx, claimed, idempotency.Response{Status: http.StatusConflict}) }
		},
	}, nil)
}
