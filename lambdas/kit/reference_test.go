package kit

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// section returns the rows of the first table below a heading of
// docs/operate/alarms.md, as their cells.
func section(t *testing.T, heading string) [][]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "operate", "alarms.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(content), heading+"\n")
	if !found {
		t.Fatalf("docs/operate/alarms.md has no %q", heading)
	}
	var rows [][]string
	for line := range strings.Lines(below) {
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("docs/operate/alarms.md: %q has no table", heading)
	}
	return rows[2:]
}

// The reference of fields names exactly the fields that the logger writes.
func TestFieldReference(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := NewLogger(&out, "", "f")
	if err != nil {
		t.Fatal(err)
	}
	log.InfoContext(WithInvocation(t.Context(), Invocation{RequestID: "r", Route: "GET /x", ColdStart: true}),
		"invocation")
	var documented []string
	for _, row := range section(t, "These fields may be in any line:") {
		documented = append(documented, strings.Trim(row[0], "`"))
	}
	slices.Sort(documented)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(lines(t, &out)[0])), documented); diff != "" {
		t.Errorf("fields in docs/operate/alarms.md (-logger +documented):\n%s", diff)
	}
}

// The reference of messages names each that a handler writes, with its level and
// fields, and no other.
func TestMessageReference(t *testing.T) {
	t.Parallel()
	levels := map[string]slog.Level{"DebugContext": slog.LevelDebug, "InfoContext": slog.LevelInfo,
		"WarnContext": slog.LevelWarn, "ErrorContext": slog.LevelError}
	written := map[string]map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			level, ok := levels[selector.Sel.Name]
			if !ok {
				return true
			}
			message := literal(call.Args[1])
			if message == "" {
				t.Errorf("%s: the message of a line varies", path)
			}
			key := fmt.Sprintf("%s %s", level, message)
			if written[key] == nil {
				written[key] = map[string]bool{}
			}
			for i := 2; i < len(call.Args); i += 2 {
				written[key][literal(call.Args[i])] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]string{}, map[string]string{}
	for key, fields := range written {
		var list []string
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			list = append(list, "`"+field+"`")
		}
		want[key] = strings.Join(list, ", ")
	}
	for _, row := range section(t, "And these with their message:") {
		got[row[1]+" "+strings.Trim(row[0], "`")] = row[2]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages in docs/operate/alarms.md (-written +documented):\n%s", diff)
	}
}

func literal(e ast.Expr) string {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return literal(sum.X) + literal(sum.Y)
	}
	l, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return text
}
