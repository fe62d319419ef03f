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

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// explained returns what testdata/logs.txt says of fields and of messages.
func explained(t *testing.T) map[string]string {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/logs.txt"))(t)
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if of, says, ok := strings.Cut(strings.TrimSpace(line), " | "); ok {
			all[of] = says
		}
	}
	return all
}

// docs/reference/logs.md has the fields that the logger writes, and the messages of the handlers, each with its level
// and fields.
func TestLogReference(t *testing.T) {
	t.Parallel()
	var page reference.Page
	page.Heading(1, "Lines of logs")
	page.Text("Each function writes lines of JSON to its log group. No line contains what callers send or get: no "+
		"prompt, answer, title, address of a person, token, agent key or secret. `error` has ids and the words of AWS "+
		"and Firebase; for a panic, only the words of Go's runtime. When the invocation of an event fails, AWS "+
		"Lambda's client for Go adds a line of text with the same error.", "", "")
	page.Heading(2, "Fields")
	page.Text("These fields may be in any line. Of the fields below, `ms` are milliseconds. "+
		"The messages in lambdas/kit may come from every function.", "", "")
	says := explained(t)
	unknown, all := maps.Clone(says), written(t, ".")
	for i, field := range logged(t) {
		if says[field] == "" {
			t.Errorf("testdata/logs.txt does not say what %s is", field)
		}
		page.Item(i == 0, "`"+field+"`: "+says[field]+".", "", "")
		delete(unknown, field)
	}
	folders := must.Get(os.ReadDir(".."))(t)
	for _, folder := range folders {
		messages := written(t, folder.Name())
		if len(messages) == 0 {
			continue
		}
		page.Heading(2, "lambdas/"+folder.Name())
		for i, key := range slices.Sorted(maps.Keys(messages)) {
			level, message, _ := strings.Cut(key, " ")
			text := "`" + message + "`, " + level + ", with `" + strings.Join(messages[key], "`, `") + "`"
			if says[key] != "" {
				text += ": " + says[key]
			}
			page.Item(i == 0, text+".", "", "")
			delete(unknown, key)
			delete(all, key)
		}
	}
	for key := range all {
		t.Errorf("no section of the page has %q", key)
	}
	for key := range unknown {
		t.Errorf("testdata/logs.txt has %q, which no function writes", key)
	}
	page.Check(t, "logs")
}

// logged are the fields of a line that the logger writes.
func logged(t *testing.T) []string {
	t.Helper()
	var out bytes.Buffer
	log := must.Get(NewLogger(&out, "", "f"))(t)
	log.InfoContext(WithInvocation(t.Context(), Invocation{RequestID: "r", Route: "GET /x", ColdStart: true}),
		"invocation")
	return slices.Sorted(maps.Keys(lines(t, &out)[0]))
}

// written are the messages of the code in a folder of lambdas, with their levels, and the fields of each.
func written(t *testing.T, folder string) map[string][]string {
	t.Helper()
	levels := map[string]slog.Level{"DebugContext": slog.LevelDebug, "InfoContext": slog.LevelInfo,
		"WarnContext": slog.LevelWarn, "ErrorContext": slog.LevelError}
	messages := map[string][]string{}
	must.OK(t, filepath.WalkDir(filepath.Join("..", folder), func(path string, entry fs.DirEntry, err error) error {
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
			for i := 2; i < len(call.Args); i += 2 {
				messages[key] = append(messages[key], literal(call.Args[i]))
			}
			slices.Sort(messages[key])
			messages[key] = slices.Compact(messages[key])
			return true
		})
		return nil
	}))
	return messages
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
