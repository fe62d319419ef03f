package cognito

import (
	_ "embed"
	"html/template"
	"maps"
	"net/http"
	"slices"

	"github.com/onesynth-cdk/onesynth/run/internal/services/htmlpage"
)

// form is what people see and send to sign in.
type form struct {
	// UserName and Chosen, the user's groups, are what is filled in.
	UserName string
	Chosen   []string
	// Wrong says what is wrong with it.
	Wrong string

	Pool, Client, Stack string
	Groups, Known       []string
	Action, Stamp       string
	Style               template.CSS
}

// In says whether the group is chosen.
func (f form) In(group string) bool { return slices.Contains(f.Chosen, group) }

//go:embed form.html
var formText string

//go:embed refusal.html
var refusalText string

//go:embed form.css
var style string

// showForm answers with the form to sign in.
func (p *Pools) showForm(w http.ResponseWriter, r *http.Request, asked request, status int, f form) {
	f.Pool, f.Client, f.Stack = asked.pool.resource.Ref, asked.client.name, asked.pool.resource.Stack.Name
	f.Groups, f.Known = asked.pool.groups, p.grants.known(asked.pool.resource.Ref)
	f.Action, f.Stamp = loginPath+"?"+r.URL.RawQuery, p.grants.stamp(w, r)
	f.Style = template.CSS(style)
	// A form may only go where a Content-Security-Policy lets its answer lead.
	show(w, status, formText, f, "'self' "+originOf(asked.callback))
}

// showRefusal says to people why they cannot sign in or out.
func showRefusal(w http.ResponseWriter, why *refusal) {
	show(w, http.StatusBadRequest, refusalText, map[string]any{"Code": why.code, "Description": why.description,
		"Style": template.CSS(style)}, "'none'")
}

func show(w http.ResponseWriter, status int, text string, data any, formAction string) {
	htmlpage.SetHeaders(w.Header(), style, formAction)
	// The browser tells the endpoint alone that the form is its own.
	w.Header().Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_ = template.Must(template.New("").Parse(text)).Execute(w, data) // whoever asked has gone
}

// known returns the names of those who have signed in to the pool.
func (g *grants) known(pool string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.names[pool]))
}
