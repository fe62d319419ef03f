package security

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms"
)

var (
	// codeLink is a link to the code that stops a threat: [`name`](../file).
	codeLink = regexp.MustCompile("\\[`([^`]+)`\\]\\(\\.\\./([^)]+)\\)")
	// prop is the name of a prop in a text.
	prop = regexp.MustCompile("`Props\\.(\\w+)`")
)

// The code, tests and props that docs/operate/security.md names exist.
func TestDocument(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/operate/security.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(content)
	links := codeLink.FindAllStringSubmatch(document, -1)
	for _, link := range links {
		name, file := link[1], link[2]
		code, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == filepath.Base(file) {
			continue
		}
		// A test and a function are declared; a rule is a key, and a variable a name.
		declared := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |	)"?` + regexp.QuoteMeta(name) + `\b`)
		if !declared.Match(code) {
			t.Errorf("%s declares no %s", file, name)
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
