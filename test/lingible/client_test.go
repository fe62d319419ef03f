package lingible

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// caller is a user with a token.
type caller struct{ platform.Caller }

func newUser(t testing.TB, on *target) caller {
	t.Helper()
	return caller{platform.NewCaller(t, on.Target)}
}

// newPremium returns a user who has upgraded.
func newPremium(t testing.TB, on *target) caller {
	t.Helper()
	c := newUser(t, on)
	c.must(t, http.MethodPost, "/user/upgrade", nil, http.StatusOK)
	return c
}

// newAdmin returns a user in the group admin.
func newAdmin(t testing.TB, on *target) caller {
	t.Helper()
	groups := []string{"admin"}
	if on.Run != nil { // A user pool has no other group.
		groups = append([]string{"staff"}, groups...)
	}
	return caller{platform.NewCaller(t, on.Target, groups...)}
}

// with returns the user with a token that has further claims.
func (c caller) with(t testing.TB, on *target, claims map[string]any) caller {
	t.Helper()
	client := *c.Client
	client.Header = http.Header{"Authorization": {"Bearer " +
		on.Token(t, map[string]any{"sub": c.ID, "claims": claims})}}
	c.Client = &client
	return c
}

type input map[string]any

// object is a reply's body.
type object map[string]any

// list returns the objects of a list.
func (o object) list(name string) (objects []object) {
	all, _ := o[name].([]any)
	for _, one := range all {
		objects = append(objects, one.(map[string]any))
	}
	return objects
}

// must makes a request that is answered with that status.
func (c caller) must(t testing.TB, method, path string, body any, status int) object {
	t.Helper()
	return onesynthtest.Read[object](t, c.Try(t, method, path, body), status)
}

func (c caller) get(t testing.TB, path string) object {
	t.Helper()
	return c.must(t, http.MethodGet, path, nil, http.StatusOK)
}

func (c caller) translate(t testing.TB, text string) object {
	t.Helper()
	return c.must(t, http.MethodPost, "/translate", input{"text": text}, http.StatusOK)
}

// proposal is a valid submission of a term.
func proposal(term string) input {
	return input{"slang_term": term, "meaning": "to wait for a long time in bad weather",
		"example_usage": "We had to " + term + " outside the station for an hour."}
}

// weak is a valid submission whose example says little: people have to vote on it.
func weak(term string) input {
	p := proposal(term)
	p["example_usage"] = "we love " + term + " here"
	return p
}

// newTerm is a term that no lexicon has.
func newTerm() string { return "zor" + letters() }

// letters are five random vowels and consonants by turns, which look like a word: no vowel is the one before it, since
// a pair that comes three times, as in "zororor", is what the validation takes for random letters.
func letters() string {
	const vowels, consonants = "aeiou", "bdfgklmnprstv"
	var b strings.Builder
	vowel := 0
	random := onesynthtest.Random(10)
	for i := 0; i < len(random); i += 2 {
		vowel = (vowel + 1 + int(random[i])%(len(vowels)-1)) % len(vowels)
		b.WriteByte(vowels[vowel])
		b.WriteByte(consonants[int(random[i+1])%len(consonants)])
	}
	return b.String()
}

// submit submits a term, and waits until it is validated.
func (c caller) submit(t testing.TB, p input) object {
	t.Helper()
	made := c.must(t, http.MethodPost, "/slang/submit", p, http.StatusCreated)
	id := made["submission_id"].(string)
	wait.Until(t, "the submission is validated", func() (any, bool) {
		for _, s := range c.get(t, "/slang/mine?limit=100").list("submissions") {
			if s["submission_id"] == id && s["status"] != "pending" {
				made = s
				return made, true
			}
		}
		return made, false
	})
	return made
}

type failure struct {
	Success *bool
	Message string
	Code    string `json:"error_code"`
	Status  int    `json:"status_code"`
	Details []struct {
		Field   string
		Index   *int
		Message string
	}
	Timestamp string
	RequestID string `json:"request_id"`
}

// failureOf returns an error in the form of the contract, with nothing else.
func failureOf(r onesynthtest.Reply) (failure, error) {
	var f failure
	decoder := json.NewDecoder(strings.NewReader(string(r.Body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil || f.Success == nil || *f.Success || f.Message == "" || f.Code == "" ||
		f.Status != r.Status || f.Details == nil || f.Timestamp == "" || f.RequestID == "" {
		return f, fmt.Errorf("got %v; want an error in the form of the contract: %v", r, err)
	}
	return f, nil
}

// refused checks that a request is refused with that status and code.
func refused(t testing.TB, r onesynthtest.Reply, status int, code string) failure {
	t.Helper()
	f, err := failureOf(r)
	if err != nil || r.Status != status || f.Code != code {
		t.Errorf("got %v, %v; want %d %s", r, err, status, code)
	}
	return f
}
