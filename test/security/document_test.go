package security

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

var (
	// codeLink is a link to the code that stops a threat, with one name or several: [`name`](../file).
	codeLink = regexp.MustCompile("\\[(`[^\\]]+`)\\]\\((\\.\\./[^)]+)\\)")
	// codeName is a name in such a link.
	codeName = regexp.MustCompile("`([^`]+)`")
	// prop is the name of a prop in a text.
	prop = regexp.MustCompile("`Props\\.(\\w+)`")
)

// The code, tests and props that docs/operate/security.md names exist.
func TestDocument(t *testing.T) {
	t.Parallel()
	content := must.Get(os.ReadFile("../../docs/operate/security.md"))(t)
	document := string(content)
	links := codeLink.FindAllStringSubmatch(document, -1)
	for _, link := range links {
		file := filepath.Join("../../docs/operate", link[2])
		code, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s: %v", link[1], err)
			continue
		}
		for _, name := range codeName.FindAllStringSubmatch(link[1], -1) {
			if name[1] == filepath.Base(file) {
				continue
			}
			// A test and a function are declared; a rule is a key, and a variable a name.
			declared := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |	)"?` + regexp.QuoteMeta(name[1]) + `\b`)
			if !declared.Match(code) {
				t.Errorf("%s declares no %s", link[2], name[1])
			}
		}
	}
	props := prop.FindAllStringSubmatch(document, -1)
	for _, p := range props {
		if !slices.ContainsFunc(platforms.All(), func(of *platforms.Platform) bool {
			_, ok := reflect.TypeOf(of.Props).Elem().FieldByName(p[1])
			return ok
		}) {
			t.Errorf("there is no Props.%s", p[1])
		}
	}
	if len(links) < 40 || len(props) < 10 {
		t.Errorf("got %d links and %d props, want those of all threats", len(links), len(props))
	}
}
