package apigateway

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/services/htmlpage"
)

// Front is what a browser shows at the root of an API that has no route there. It keeps API Gateway's status, 404.
type Front struct {
	// Name and Stack are those of the API, and URL is its address.
	Name, Stack, URL string
	// Document is the address of the OpenAPI document; empty: the API has none.
	Document string
	// Pages are the API's pages at other addresses.
	Pages []Page
	// Console is the address of the run's console.
	Console string
	// Token is the command that prints a token; empty: no route has a JWT authorizer.
	Token string
}

//go:embed front.html
var frontText string

//go:embed front.css
var frontStyle string

// page returns the document.
func (f Front) page() ([]byte, error) {
	text, err := template.New("front").Parse(frontText)
	if err != nil {
		return nil, fmt.Errorf("the page of an API without a page: %w", err)
	}
	var page bytes.Buffer
	err = text.Execute(&page, struct {
		Front
		Style template.CSS
	}{f, template.CSS(frontStyle)})
	return page.Bytes(), err
}

// front answers a browser that asks for the root of an API without a route there, and reports whether it has. path is
// what routes match; the root of the address leads to no stage but $default.
func (g *Gateway) front(w http.ResponseWriter, r *http.Request, c *call, path string) bool {
	if g.page == nil || r.Method != http.MethodGet || path != "/" && r.URL.Path != "/" ||
		!strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	c.status, c.answer, c.message = http.StatusNotFound, g.page, "Not Found"
	htmlpage.SetHeaders(w.Header(), frontStyle, "'none'")
	w.Header().Set("Content-Length", strconv.Itoa(len(g.page)))
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(g.page) // whoever asked has gone
	return true
}
