package constructs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Every prop of a construct documents its default, or that it is required. It may refer to the same
// prop of another construct.
func TestPropsAreDocumented(t *testing.T) {
	t.Parallel()
	files := must.Get(filepath.Glob("*/*.go"))(t)
	seen := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments))(t)
		for _, declaration := range parsed.Decls {
			types, ok := declaration.(*ast.GenDecl)
			if !ok || types.Tok != token.TYPE {
				continue
			}
			for _, specification := range types.Specs {
				described := specification.(*ast.TypeSpec)
				structure, ok := described.Type.(*ast.StructType)
				if !ok || !strings.HasSuffix(described.Name.Name, "Props") || parsed.Name.Name == "platform" {
					continue
				}
				whole, comment := types.Doc.Text(), ""
				for _, field := range structure.Fields.List {
					seen += len(field.Names)
					if field.Doc != nil {
						comment = field.Doc.Text()
					}
					for _, name := range field.Names {
						// A comment of several fields names each.
						if (field.Doc == nil && !strings.Contains(comment, name.Name)) ||
							!saysWithout(comment, whole, name.Name) {
							t.Errorf("%s: %s.%s says neither its default nor that it is required", file,
								described.Name.Name, name.Name)
						}
					}
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("got %d props, want those of all constructs", seen)
	}
}

// saysWithout reports whether the comment of a prop, or of all props, documents the prop's default
// or that it is required.
func saysWithout(comment, whole, name string) bool {
	for _, words := range []string{"Default:", "Required", "as in ["} {
		if strings.Contains(comment, words) {
			return true
		}
	}
	return strings.Contains(whole, "Default:") || strings.Contains(whole, "required") && strings.Contains(whole, name)
}
