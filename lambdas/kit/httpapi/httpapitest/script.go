package httpapitest

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
)

// Script makes the requests of a file, one after the other, and compares their answers with the
// file's, byte for byte: status, headers and body. The flag -update writes the answers into the
// file instead.
//
// A case is a few lines:
//
//	! advance 1m
//
//	PATCH /api/v1/tasks/<id 1>
//	As: ann
//	If-Match: "1"
//	> {"title":"Plants"}
//	< 200; Content-Type: application/json; Etag: "2"
//	< {"task_id":"<id 1>","title":"Plants",…}
//
// A request is a line "METHOD /path", then its headers, then its body in one line after "> ". The header As is the
// subject of a verified token. Its answer follows in lines that begin with "<". Lines that begin with "#" are comments.
//
// Other lines begin with "! ". "advance 1m" moves the clock by advance. "at once 20" makes the next request 20 times at
// the same moment; the answer is the number of answers of each status, such as "1 × 201 | 19 × 409", and <n> in the
// request is the number of each one, from 1. The name of one of looks, such as "events", is answered with its lines,
// sorted. Any other line calls command with its text; command returns the handler of the next requests.
//
// The file has <id 1>, <cursor 1>, <handed 1> and so on for the random UUIDs and what is signed (next_cursor, handed)
// in answers, in the order of first appearance after a command. Requests name them likewise. In a request <x*300> is
// 300 times x.
func Script(t *testing.T, file string, advance func(time.Duration), command func(*testing.T, string) http.Handler,
	looks map[string]func() (lines string)) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var after strings.Builder
	var handler http.Handler
	var names names
	for block := range strings.SplitSeq(strings.TrimRight(string(before), "\n"), "\n\n") {
		var request []string
		times := 0
		for line := range strings.Lines(block + "\n") {
			if strings.HasPrefix(line, "<") {
				continue
			}
			after.WriteString(line)
			line = strings.TrimSuffix(line, "\n")
			if by, ok := strings.CutPrefix(line, "! advance "); ok {
				duration, err := time.ParseDuration(by)
				if err != nil {
					t.Fatal(err)
				}
				advance(duration)
			} else if n, ok := strings.CutPrefix(line, "! at once "); ok {
				if times, err = strconv.Atoi(n); err != nil {
					t.Fatal(err)
				}
			} else if look := looks[strings.TrimPrefix(line, "! ")]; look != nil {
				lines := strings.Split(strings.TrimSpace(names.masked(look())), "\n")
				slices.Sort(lines)
				after.WriteString("< " + strings.Join(lines, "\n< ") + "\n")
			} else if what, ok := strings.CutPrefix(line, "! "); ok {
				handler, names = command(t, what), nil
			} else if line != "" && !strings.HasPrefix(line, "#") {
				request = append(request, names.known(line))
			}
		}
		if times > 0 {
			after.WriteString(atOnce(handler, request, times))
		} else if len(request) > 0 {
			after.WriteString(names.masked(answer(handler, request)))
		}
		after.WriteString("\n")
	}
	got := strings.TrimRight(after.String(), "\n") + "\n"
	if goldentest.Update() {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(before), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-file +run):\n%s", file, diff)
	}
}

// atOnce makes a request that many times at the same moment, and counts its answers by their status.
func atOnce(handler http.Handler, request []string, times int) string {
	answers := make([]string, times)
	var all sync.WaitGroup
	for i := range answers {
		own := strings.NewReplacer("<n>", strconv.Itoa(i+1))
		all.Go(func() {
			var lines []string
			for _, line := range request {
				lines = append(lines, own.Replace(line))
			}
			answers[i] = answer(handler, lines)[len("< "):][:3]
		})
	}
	all.Wait()
	counts := map[string]int{}
	for _, status := range answers {
		counts[status]++
	}
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprint(counts[status], " × ", status))
	}
	return "< " + strings.Join(parts, " | ") + "\n"
}

// answer is the answer to a request, as a script has it.
func answer(handler http.Handler, lines []string) string {
	method, target, _ := strings.Cut(lines[0], " ")
	var body string
	header := http.Header{}
	for _, line := range lines[1:] {
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			body = rest
			if header.Get("Content-Type") == "" {
				header.Set("Content-Type", "application/json")
			}
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	invocation := kit.Invocation{SourceAddress: "203.0.113.7"}
	if subject := header.Get("As"); subject != "" {
		invocation.Claims = map[string]string{"sub": subject}
		header.Del("As")
	}
	r.Header = header
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(kit.WithInvocation(r.Context(), invocation)))

	var answer strings.Builder
	fmt.Fprintf(&answer, "< %d", w.Code)
	var names []string
	for name := range w.Header() {
		// These two are on every answer.
		if name != "Cache-Control" && name != "X-Content-Type-Options" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&answer, "; %s: %s", name, strings.Join(w.Header()[name], " | "))
	}
	answer.WriteString("\n")
	if w.Body.Len() > 0 {
		fmt.Fprintf(&answer, "< %s\n", strings.TrimSuffix(w.Body.String(), "\n"))
	}
	return answer.String()
}

var (
	random   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"(?:next_cursor|handed)":"[^"]*"`)
	named    = regexp.MustCompile(`<(id|cursor|handed) ([0-9]+)>`)
	repeated = regexp.MustCompile(`<(.)\*([0-9]+)>`)
)

// names are the random values by their names.
type names []struct{ name, value string }

// masked is the text with the names of random values.
func (n *names) masked(text string) string {
	return random.ReplaceAllStringFunc(text, func(found string) string {
		kind, value, quoted := "id", found, "%s"
		if field, rest, ok := strings.Cut(found, `":"`); ok {
			kind, value, quoted = strings.TrimPrefix(field, `"next_`), strings.TrimSuffix(rest, `"`), field+`":"%s"`
			kind = strings.TrimPrefix(kind, `"`)
		}
		count := 1
		for _, each := range *n {
			if each.value == value {
				return fmt.Sprintf(quoted, each.name)
			}
			if strings.HasPrefix(each.name, "<"+kind) {
				count++
			}
		}
		name := fmt.Sprintf("<%s %d>", kind, count)
		*n = append(*n, struct{ name, value string }{name, value})
		return fmt.Sprintf(quoted, name)
	})
}

// known is the text with the values of names.
func (n names) known(text string) string {
	text = named.ReplaceAllStringFunc(text, func(name string) string {
		for _, each := range n {
			if each.name == name {
				return each.value
			}
		}
		return name
	})
	return repeated.ReplaceAllStringFunc(text, func(found string) string {
		parts := repeated.FindStringSubmatch(found)
		count, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], count)
	})
}

// lines are the places of a document that begin a line in a file.
var lines = regexp.MustCompile(
	`"(get|post|put|patch|delete|responses|schemas|properties|[0-9]{3}|/[^"]*|[A-Z][A-Za-z]+)":[\[{]`)

// SameAsFile compares an OpenAPI document with a file, byte for byte, but for line feeds that make the file readable.
// The flag -update writes the file.
func SameAsFile(t *testing.T, file string, document []byte) {
	t.Helper()
	got := lines.ReplaceAll(bytes.TrimSpace(document), []byte("\n$0"))
	if goldentest.Update() {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"),
		strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s (-file +run):\n%s", file, diff)
	}
}
