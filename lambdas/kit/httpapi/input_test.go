package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

type parcelPath struct {
	ID string `path:"id"`
}

// searchInput has a parameter of each kind.
type searchParams struct {
	parcelPath
	Limit  int       `query:"limit" default:"20" maximum:"100"`
	Seen   *int      `query:"seen" minimum:"0"`
	Bits   uint8     `query:"bits"`
	Share  float64   `query:"share"`
	Open   bool      `query:"open"`
	Since  time.Time `query:"since"`
	Sizes  []int     `query:"sizes"`
	Words  []string  `query:"words,explode"`
	Token  string    `header:"X-Token" required:"true"`
	Broken error
}

// Check implements [validate.Checker].
func (s searchParams) Check(p *validate.Problems, _ string) {
	if s.Limit == 14 {
		p.Add("limit", validate.RuleConflict, "is odd to some")
	}
}

// Parameters are read by the types of their fields, and refused with what was got.
func TestParameters(t *testing.T) {
	t.Parallel()
	find := schema.Operation[searchParams, none, string]{ID: "do", Route: "GET /parcels/{id}"}
	s := httpapi.New(httpapi.Config{Platform: schema.Platform{Routes: schema.Routes(find)}})
	search := func(ctx context.Context, r httpapi.Request[searchParams, none]) (string, error) {
		in := r.Params
		httpapi.SetHeader(ctx, "X-Seen", in.ID)
		seen := "none"
		if in.Seen != nil {
			seen = fmt.Sprint(*in.Seen)
		}
		return fmt.Sprint(in.ID, " ", in.Limit, " ", seen, " ", in.Bits, " ", in.Share, " ", in.Open, " ",
			in.Since.Format(time.DateOnly), " ", in.Sizes, " ", in.Words, " ", in.Token), nil
	}
	httpapi.Bind(s, find, search)
	handler := s.Handler()
	const notWhole = "; it must be a whole number of at most 18 digits"
	for query, want := range map[string]string{
		"":                          "200 7 20 none 0 0 false 0001-01-01 [] [] t",
		"?seen=0&limit=3&open=true": "200 7 3 0 0 0 true 0001-01-01 [] [] t",
		"?bits=255&share=0.5&since=2026-02-03T00:00:00Z": "200 7 20 none 255 0.5 false 2026-02-03 [] [] t",
		"?sizes=1,2&words=a,b&words=c":                   "200 7 20 none 0 0 false 0001-01-01 [1 2] [a,b c] t",
		"?seen=&sizes=":                                  "200 7 20 none 0 0 false 0001-01-01 [] [] t",
		"?bits=256":                                      "422 bits: is 256" + notWhole,
		"?share=x":                                       "422 share: is x; it must be a number",
		"?open=maybe":                                    "422 open: is maybe; it must be true or false",
		"?since=today": "422 since: is today; it must be a moment as in RFC 3339, such as " +
			"2026-02-28T09:30:00Z",
		"?sizes=1,x":       "422 sizes[1]: is x" + notWhole,
		"?seen=-1":         "422 seen: is -1; allowed is 0 or more",
		"?limit=0x1":       "422 limit: is 0x1" + notWhole,
		"?limit=14":        "422 limit: is odd to some",
		"?limit=14&bits=x": "422 bits: is x" + notWhole + "; limit: is odd to some",
	} {
		w := serve(handler, "GET /parcels/7"+query, "", "X-Token: t")
		body := strings.NewReplacer(`{"message":"`, "", `\"`, "", `"`, "", "}", "").Replace(w.Body.String())
		if got := fmt.Sprint(w.Code, " ", strings.TrimSpace(body)); got != want &&
			(w.Code != http.StatusInternalServerError || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: got %s; want %s", query, got, want)
		}
		if seen := w.Header().Get("X-Seen"); (seen == "7") != (w.Code == http.StatusOK) {
			t.Errorf("%s: got %d with the header %q", query, w.Code, seen)
		}
	}
	if w := serve(handler, "GET /parcels/7", ""); !strings.Contains(w.Body.String(), "X-Token: is missing") {
		t.Errorf("without a header: got %d %s", w.Code, w.Body)
	}
	for _, p := range documentOf(t, s).Paths["/parcels/{id}"]["get"].Parameters {
		if p.Name == "seen" && p.Schema["type"] != "integer" {
			t.Errorf("a parameter that may be left out is of type %v; null is no text", p.Schema["type"])
		}
	}
}

// An answer names a hundred problems, and counts the others.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	type list struct {
		Sizes []int `json:"sizes" maximum:"9"`
	}
	s := httpapi.New(httpapi.Config{Platform: one("POST", "/sizes")})
	httpapi.Bind(s, schema.Operation[none, list, string]{ID: "do"},
		func(context.Context, httpapi.Request[none, list]) (string, error) { return "", nil })
	for sizes, want := range map[int]string{100: "sizes[99]: is 10; allowed is at most 9",
		101: "sizes[99]: is 10; allowed is at most 9; body: has 1 more problems; correct these first"} {
		body := `{"sizes":[10` + strings.Repeat(",10", sizes-1) + `]}`
		w := serve(s.Handler(), "POST /sizes", body)
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusUnprocessableEntity ||
			!strings.HasSuffix(got, want+`"}`) {
			t.Errorf("%d sizes: got %d %s; want the end %s", sizes, w.Code, got, want)
		}
	}
}

// A body that is a pointer may be left out.
func TestOptionalBody(t *testing.T) {
	t.Parallel()
	type optional struct {
		Name string `json:"name" maxLength:"3"`
	}
	s := httpapi.New(httpapi.Config{Platform: one("POST", "/names")})
	httpapi.Bind(s, schema.Operation[none, *optional, string]{ID: "do"},
		func(_ context.Context, r httpapi.Request[none, *optional]) (string, error) {
			if r.Body == nil {
				return "none", nil
			}
			return r.Body.Name, nil
		})
	handler := s.Handler()
	for body, want := range map[string]string{"": "200 \"none\"", `{"name":"ann"}`: "200 \"ann\"",
		`{"name":"anna"}`: `422 {"message":"name: has 4 characters; at most 3 are allowed"}`} {
		w := serve(handler, "POST /names", body)
		if got := fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String())); got != want {
			t.Errorf("%s: got %s; want %s", body, got, want)
		}
	}
}
