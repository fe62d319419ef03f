package httpapitest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
)

// Script is a platform that a section of a file makes requests of, one after the other. The answers are compared with
// the file's, byte for byte: status, headers and body. The flag -update writes the answers into the file instead.
//
// Each section is a test. Sections run in parallel. A section has a heading, then a command that starts a platform,
// then cases. A case is a few lines:
//
//	## Tasks that change
//
//	! stored
//
//	! advance 1m
//
//	PATCH /api/v1/tasks/<id 1> as ann
//	If-Match: "1"
//	> {"title":"Plants"}
//	< 200; Content-Type: application/json; Etag: "2"
//	< {"task_id":"<id 1>","title":"Plants",…}
//
// A request is a line "METHOD /path", with its caller "as ann", or "as ann of staff, operators" if the caller has
// groups; then its headers, and its body in one line after "> ". Its answer follows in lines that begin with "<". Lines
// that begin with "#" are comments. Other lines begin with "! ":
//
//	! advance 1m                  the clock moves on
//	! at 2026-02-03T00:00:00Z     the clock moves to this moment
//	! at once 20                  the next request is made 20 times at the same moment
//	! throttled 2                 DynamoDB refuses the next two attempts for load; "always": all of the request
//	! conflict                    another transaction cancels the next one
//	! lost                        the answer to the next write is lost
//	! killed 3                    the process dies after three requests to DynamoDB
//	! meanwhile 3 GET /x as ann   after three requests to DynamoDB this one is made, or a verb; a body follows " > "
//	! stored TABLE KEY            the items whose key, its values joined by a blank, is KEY or begins with "KEY "
//	! events                      a verb of Verbs, answered with its lines, sorted
//
// Any other line is a command of Start. The next request or verb of Verbs has to meet the fault before it, or what
// comes "meanwhile", whose status is in its answer. "at once" is answered with the number of answers of each status,
// such as "1 × 201 | 19 × 409"; <n> in the request is the number of each one, from 1.
//
// The file has <id 1>, <cursor 1>, <handed 1> and so on for the random UUIDs, ids of webhooks and what is signed
// (next_cursor or nextToken, handed) in answers, in the order of first appearance after a command. Requests and verbs
// use these names, too. In a request, <x*300> stands for 300 times x.
type Script struct {
	// Start carries out a command. It returns the handler of the next requests, and the world whose clock and tables
	// the verbs change; nil: the world stays.
	Start func(command string) (http.Handler, *worldtest.World)
	// As gives a request its caller, if it reports so. Otherwise, and if it is nil, the caller is the subject of a
	// verified token.
	As func(r *http.Request, caller string) bool
	// Key is the name of a header that each write has with a value of its own, if the file gives none. A header without
	// a value is not sent.
	Key string
	// Verbs are further verbs by their names. A verb gets the text after its name. It returns the lines of its answer,
	// or "" if it has none.
	Verbs map[string]func(argument string) (lines string)
}

// Run makes the requests of the sections of a file. script returns the platform of a section, in the section's test.
// complete is called after all sections, if all ran; nil: nothing is.
func Run(t *testing.T, file string, script func(t *testing.T) Script, complete func()) {
	t.Helper()
	goldentest.Sections(t, file, func(t *testing.T, section string) string {
		r := running{Script: script(t), t: t}
		for block := range strings.SplitSeq(section, "\n\n") {
			r.block(block)
		}
		return r.after.String()
	}, complete)
}

// always is a number of faults that no request comes to.
const always = math.MaxInt32

// running is a script that runs.
type running struct {
	Script
	t       *testing.T
	handler http.Handler
	world   *worldtest.World
	names   names
	// requests counts those so far, and times is how often the next one is made at once; 0: once, and its answer is
	// shown.
	requests, times int
	faults          int    // of the next request or verb
	meanwhile       string // the answer to what came during the next request or verb
	after           strings.Builder
}

// block makes the requests of lines without an empty line between them.
func (r *running) block(block string) {
	var request []string
	for line := range strings.Lines(block + "\n") {
		if strings.HasPrefix(line, "<") {
			continue
		}
		r.after.WriteString(line)
		line = r.names.known(strings.TrimSuffix(line, "\n"))
		if text, ok := strings.CutPrefix(line, "! "); ok {
			r.verb(text)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			request = append(request, line)
		}
	}
	if len(request) > 0 {
		r.requests++
		if r.times > 0 {
			r.after.WriteString(r.atOnce(request))
		} else {
			answer := r.answer(request, fmt.Sprint("request ", r.requests))
			r.lines(r.meanwhile)
			r.after.WriteString(r.names.masked(answer))
		}
		r.times = 0
		r.heal()
	}
	r.after.WriteString("\n")
}

// verb carries out a line after "! ".
func (r *running) verb(text string) {
	verb, argument, _ := strings.Cut(text, " ")
	n, noNumber := strconv.Atoi(cmp.Or(argument, "1"))
	if argument == "always" {
		n, noNumber = always, nil
	}
	var err error
	switch own := r.Verbs[verb]; {
	case verb == "advance":
		var by time.Duration
		by, err = time.ParseDuration(argument)
		r.world.Advance(by)
	case strings.HasPrefix(text, "at once "):
		r.times, err = strconv.Atoi(text[len("at once "):])
	case verb == "at":
		var now time.Time
		now, err = time.Parse(time.RFC3339Nano, argument)
		r.world.MoveTo(now)
	case verb == "meanwhile":
		r.between(argument)
	case verb == "stored" && argument != "":
		r.lines(r.stored(argument))
	case own != nil:
		text := own(argument)
		r.lines(text + "\n" + r.meanwhile)
		r.heal()
	case noNumber == nil && r.world != nil && r.world.Fault(verb, n):
		r.faults = n
	default:
		handler, world := r.Start(text)
		r.handler, r.world, r.names = handler, cmp.Or(world, r.world), nil
	}
	if err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
}

// heal ends the faults of a request or a verb, which must have met them.
func (r *running) heal() {
	if r.faults > 0 {
		if left := r.world.Heal(); left == always || left > 0 && r.faults != always {
			r.t.Errorf("after request %d: %d of its %d faults are left", r.requests, left, r.faults)
		}
	}
	r.faults, r.meanwhile = 0, ""
}

// between has a request or a verb of Verbs come after the next one has made n requests to DynamoDB.
func (r *running) between(argument string) {
	number, text, _ := strings.Cut(argument, " ")
	verb, words, _ := strings.Cut(text, " ")
	line, body, hasBody := strings.Cut(text, " > ")
	request := []string{line}
	if hasBody {
		request = append(request, "> "+body)
	}
	r.faults = 1
	r.world.After(must.Get(strconv.Atoi(number))(r.t), func() {
		answer := ""
		if own := r.Verbs[verb]; own != nil {
			answer = own(words)
		} else {
			answer = r.answer(request, "meanwhile "+text)[len("< "):][:3]
		}
		r.meanwhile = "meanwhile " + answer
	})
}

// lines writes what a verb is answered with.
func (r *running) lines(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	lines := strings.Split(r.names.masked(text), "\n")
	slices.Sort(lines)
	r.after.WriteString("< " + strings.Join(lines, "\n< ") + "\n")
}

// stored has the items of a table under a key, one a line.
func (r *running) stored(argument string) (lines string) {
	name, key, _ := strings.Cut(argument, " ")
	table, _ := r.world.Platform.Database.Table(name)
	for _, item := range r.world.Items(r.t, name) {
		var values []string
		for _, attribute := range table.Key.Attributes() {
			values = append(values, fmt.Sprint(item[attribute]))
		}
		if key == "" || strings.HasPrefix(strings.Join(values, " ")+" ", key+" ") {
			lines += asJSON(item) + "\n"
		}
	}
	return cmp.Or(lines, "nothing")
}

// atOnce makes a request many times at the same moment, and counts its answers by their status.
func (r *running) atOnce(request []string) string {
	answers := make([]string, r.times)
	var all sync.WaitGroup
	for i := range answers {
		own := strings.NewReplacer("<n>", strconv.Itoa(i+1))
		all.Go(func() {
			var lines []string
			for _, line := range request {
				lines = append(lines, own.Replace(line))
			}
			answers[i] = r.answer(lines, fmt.Sprint("request ", r.requests, " ", i))[len("< "):][:3]
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

// Request returns a request by its lines, as a file has them. key is that of a write without one.
func (s Script) Request(lines []string, key string) *http.Request {
	line, caller, _ := strings.Cut(lines[0], " as ")
	caller, groups, _ := strings.Cut(caller, " of ")
	method, target, _ := strings.Cut(line, " ")
	var body string
	header := http.Header{}
	if s.Key != "" && method != http.MethodGet {
		header.Set(s.Key, key)
	}
	given := map[string]bool{}
	for _, line := range lines[1:] {
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			body = rest
			if header.Get("Content-Type") == "" {
				header.Set("Content-Type", "application/json")
			}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		if !given[name] {
			header.Del(name)
		}
		if given[name] = true; value != "" {
			header.Add(name, strings.TrimPrefix(value, " "))
		}
	}
	request := httptest.NewRequest(method, target, strings.NewReader(body))
	request.Header = header
	invocation := kit.Invocation{SourceAddress: "203.0.113.7"}
	if groups != "" {
		invocation.Groups = strings.Split(groups, ", ")
	}
	if caller != "" && (s.As == nil || !s.As(request, caller)) {
		invocation.Claims = map[string]string{"sub": caller}
	}
	return request.WithContext(kit.WithInvocation(request.Context(), invocation))
}

// answer is the answer to a request, as a script has it.
func (r *running) answer(lines []string, key string) string {
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, r.Request(lines, key))
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
	random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|msg_[0-9a-f]{32}` +
		`|"(?:next_cursor|nextToken|handed)":"[^"]*"`)
	named = regexp.MustCompile(`<(id|cursor|handed) ([0-9]+)>`)
)

// names are the random values by their names.
type names []struct{ name, value string }

// masked is the text with the names of random values.
func (n *names) masked(text string) string {
	return random.ReplaceAllStringFunc(text, func(found string) string {
		kind, value, quoted := "id", found, "%s"
		if field, rest, ok := strings.Cut(found, `":"`); ok {
			kind, value, quoted = "cursor", strings.TrimSuffix(rest, `"`), field+`":"%s"`
			if field == `"handed` {
				kind = "handed"
			}
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
		return strings.ReplaceAll(name, " ", "-") // a blank would end the path
	})
	return goldentest.Expand(text)
}

// lines are the places of a document that begin a line in a file.
var lines = regexp.MustCompile(
	`"(get|post|put|patch|delete|responses|schemas|properties|[0-9]{3}|/[^"]*|[A-Z][A-Za-z]+)":[\[{]`)

// SameAsFile compares an OpenAPI document with a file, byte for byte, but for line feeds that make the file readable.
// The flag -update writes the file.
func SameAsFile(t *testing.T, file string, document []byte) {
	t.Helper()
	goldentest.Check(t, file, append(lines.ReplaceAll(bytes.TrimSpace(document), []byte("\n$0")), '\n'))
}
