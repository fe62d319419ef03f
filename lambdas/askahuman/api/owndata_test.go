package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

// A person exports and deletes what is theirs, and an operator does so for the person whose id a header has. No one
// else may, and no log has the id.
func TestOwnData(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	operators := (&api.OperatorAPI{Service: p.service, Hasher: testHasher(),
		Options: api.Options{Clock: p.clock.read}}).Handler()
	operated := func(group, line, person string, status int, into any) {
		t.Helper()
		r := request{line: line}.http()
		if person != "" {
			r.Header.Set("X-Fingerprint", person)
		}
		w := httptest.NewRecorder()
		operators.ServeHTTP(w, r.WithContext(kit.WithInvocation(r.Context(),
			kit.Invocation{Claims: map[string]string{"sub": "olga"}, Groups: []string{group}})))
		if w.Code != status {
			t.Fatalf("%s %s: got %d %s; want %d", group, line, w.Code, w.Body, status)
		}
		if into != nil {
			if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
				t.Fatal(err)
			}
		}
	}
	id := p.ask(t, `{"prompt":"Is anybody out there?","type":"text"}`)
	for _, person := range []string{"ann", "bob"} {
		p.do(t, asPerson(person, "POST /human/responses", `{"question_id":"`+id+`","answer":"I am."}`), 201)
		p.do(t, asPerson(person, "POST /human/push/subscribe", `{"fcm_token":"token-`+person+`"}`), 201)
	}
	for _, line := range []string{"GET /human/data", "DELETE /human/data"} {
		p.do(t, request{line: line}, 400)
	}
	p.do(t, asPerson("ann", "GET /human/data?cursor=x", ""), 400)
	own := p.do(t, asPerson("ann", "GET /human/data", ""), 200)
	if len(own["answers"].([]any)) != 1 || len(own["subscriptions"].([]any)) != 1 || own["stats"] == nil {
		t.Errorf("ann exports %v", own)
	}

	for _, line := range []string{"GET /operator/data", "DELETE /operator/data"} {
		operated("staff", line, "bob", 403, nil)
		operated("operators", line, "", 400, nil)
		operated("operators", line, strings.Repeat("b", 257), 400, nil)
	}
	var of service.PersonData
	operated("operators", "GET /operator/data", "bob", 200, &of)
	if len(of.Answers) != 1 || of.Answers[0].QuestionID != id || len(of.Subscriptions) != 1 || of.Stats == nil {
		t.Errorf("an operator exports %+v of bob", of)
	}
	p.clock.advance(time.Minute)
	for _, want := range []int{1, 0} {
		var deleted service.Deleted
		operated("operators", "DELETE /operator/data", "bob", 200, &deleted)
		if deleted != (service.Deleted{Answers: want}) {
			t.Errorf("deleted %+v of bob; want %d answers", deleted, want)
		}
	}
	if bob := p.do(t, asPerson("bob", "GET /human/data", ""), 200); bob["stats"] != nil ||
		len(bob["answers"].([]any))+len(bob["subscriptions"].([]any)) != 0 {
		t.Errorf("of bob there is %v", bob)
	}
	for want := 1.0; want >= 0; want-- {
		got := p.do(t, asPerson("ann", "DELETE /human/data", ""), 200)
		if got["answers"] != want || got["more"] != nil {
			t.Errorf("deleted %v of ann; want %v answers", got, want)
		}
	}
	if seen := p.do(t, asAgent("GET /agent/questions/"+id, ""), 200); len(seen["responses"].([]any)) != 2 {
		t.Errorf("the agent sees %v", seen)
	}
	if strings.Contains(p.log.String(), "bob") {
		t.Errorf("the log names bob: %s", p.log.String())
	}
}
