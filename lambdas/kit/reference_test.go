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

	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// fields says what each field is that may be in any line.
var fields = map[string]string{
	"timestamp":     "when, in RFC 3339 and UTC",
	"level":         "`DEBUG`, `INFO`, `WARN` or `ERROR`",
	"message":       "one of the messages below, which has no variable parts",
	"function_name": "the physical name of the function",
	"request_id": "AWS Lambda's id of the invocation: the same in all its lines, in its metrics, in AWS Lambda's own " +
		"lines, and in its trace",
	"cold_start": "`true` in the first invocation of a process; otherwise absent",
	"route":      "of an HTTP request: the route that matched, such as `GET /agent/questions/{question_id}`",
}

// happened says of messages what their text leaves open.
var happened = map[string]string{
	"INFO request":            "an HTTP request was answered; 5xx is a failure of this side",
	"INFO invocation":         "an event was handled",
	"ERROR invocation failed": "an event was not handled. What invoked the function tries again, or gives up",
	"ERROR request failed":    "why a request was answered with 500 or 503",
	"ERROR panic": "a mistake in the code ended a request, which was answered with 500, or the handling " +
		"of an event, which failed, or the start of the function",
	"ERROR an error could not be written": "the answer to a failure is not JSON: a mistake in the code",
	"ERROR cannot start": "the function's environment is wrong, and `error` names what is missing; or the " +
		"set-up panicked, and the line `panic` before it says where",
	"WARN an idempotency key was not released: until its lease ends the request counts as running": "a " +
		"repeat gets 409 until then",
	"WARN an answer was not kept": "a repeat of the request is carried out again, and refused as before",
	"ERROR a change of a table is not handled": "with `given_up` the record is in the queue of failures; " +
		"otherwise it comes again",
	"ERROR the queue of failures did not take a change, which comes again": "Amazon SQS or the role refused " +
		"the message. Until it is taken, the record holds up its shard",
	"WARN a message comes again later than it could": "with `Events`, the eraser goes on with this deletion " +
		"after half an hour instead of 10 seconds",
	"INFO notifier run":             "a run of the notifier, and what it did",
	"WARN a part of the run failed": "the next run of the notifier tries it again",
	"WARN the last use of a key was not kept": "an agent's request went on; `onesynth agent list` shows an " +
		"earlier use until the next one is kept",
	"WARN no one is notified; questions still expire": "the secret still has the push credentials that the " +
		"construct made: put real ones there",
	"ERROR no one is notified; questions still expire": "the push credentials are not a service account key",
	"INFO a webhook failed, and is tried again":        "the next attempt follows in `next_seconds`",
	"WARN a webhook does not wait for its next attempt as planned": "Amazon SQS did not take the time: the " +
		"webhook comes again after 90 seconds",
	"ERROR a webhook is given up": "the last attempt failed, or the message is no webhook: see [webhooks " +
		"that no endpoint took](../operate/alarms.md#webhooks-that-no-endpoint-took)",
	"INFO a test of an endpoint failed": "an agent asked for a test event, which is sent once",
	"WARN the state of a webhook was not kept": "the agent does not see how the last attempt went; the " +
		"webhook itself is not affected",
	"WARN an evaluation failed": "it is tried again: see [evaluations fail](../operate/upkeep.md#evaluations-fail)",
	"INFO evaluator run":        "a run of the evaluator, and what it did",
	"WARN an attempt gets no profile: it was evaluated longer ago than profiles are kept": "an old record " +
		"came again; the profile that it had made is deleted",
	"WARN a submission is not validated yet": "the language failed; the revalidator tries again within five minutes",
	"INFO revalidator run":                   "a run of the revalidator, and what it did",
	"INFO trending run":                      "a run of the trending job, and what it did",
	"WARN the language proposed no trends: the counts alone are scored": "the next run asks again",
	"WARN terms were not counted": "trends lack a use of each of these terms, whose translation was " +
		"answered; or they have one too many, of a translation that was refused",
	"WARN the latest export of the lexicon could not be read: an older one is used": "the function asks " +
		"again after 15 seconds: see [the export lags](../operate/upkeep.md#the-export-lags)",
	"ERROR a confirmed user has no profile yet: the first request creates it": "the sign-up is confirmed " +
		"all the same; that profile may lack the email address",
	"INFO batch":      "a batch of changes is in the lake",
	"INFO compaction": "a run of the compactor, and what it did",
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
	for i, field := range logged(t) {
		if fields[field] == "" {
			t.Errorf("fields does not say what %s is", field)
		}
		page.Item(i == 0, "`"+field+"`: "+fields[field]+".", "", "")
	}
	unknown, all := maps.Clone(happened), written(t, ".")
	folders, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		messages := written(t, folder.Name())
		if len(messages) == 0 {
			continue
		}
		page.Heading(2, "lambdas/"+folder.Name())
		for i, key := range slices.Sorted(maps.Keys(messages)) {
			level, message, _ := strings.Cut(key, " ")
			text := "`" + message + "`, " + level + ", with `" + strings.Join(messages[key], "`, `") + "`"
			if happened[key] != "" {
				text += ": " + happened[key]
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
		t.Errorf("happened has %q, which no function writes", key)
	}
	page.Check(t, "logs")
}

// logged are the fields of a line that the logger writes.
func logged(t *testing.T) []string {
	t.Helper()
	var out bytes.Buffer
	log, err := NewLogger(&out, "", "f")
	if err != nil {
		t.Fatal(err)
	}
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
	err := filepath.WalkDir(filepath.Join("..", folder), func(path string, entry fs.DirEntry, err error) error {
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
	})
	if err != nil {
		t.Fatal(err)
	}
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
