package api_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

// keyedAPI is an API whose agents show keys.
type keyedAPI struct {
	keys    *askahuman.AgentKeys
	handler *kit.API
	limiter *limiter
	log     bytes.Buffer
}

func newKeyed(t *testing.T) *keyedAPI {
	t.Helper()
	k := &keyedAPI{keys: &askahuman.AgentKeys{Store: &inmem.Store{}}, limiter: &limiter{used: map[string]int{}}}
	k.handler = (&api.AgentAPI{Service: &askahuman.Agents{Store: &inmem.Store{}}, AgentKeys: k.keys, Options: api.Options{RateLimiter: k.limiter, Log: slog.New(slog.NewJSONHandler(&k.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}}).Handler()
	return k
}

func (k *keyedAPI) issue(t *testing.T, agent string) string {
	t.Helper()
	key, _, err := k.keys.Issue(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (k *keyedAPI) send(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	return request{line: method + " " + path, headers: headers, body: body}.do(k.handler)
}

// A key names its agent in either header, and the agent is all that anything behind
// it sees.
func TestAgentKeys(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	ann, rotated, bob := k.issue(t, "ann"), k.issue(t, "ann"), k.issue(t, "bob")
	w := k.send("POST", "/agent/questions", `{"prompt":"Is anybody out there?","type":"text"}`, "X-Agent-Id: "+ann)
	if w.Code != http.StatusCreated {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	path := "/agent/questions/" + uuids.FindString(w.Body.String())
	for name, test := range map[string]struct {
		headers []string
		want    int
	}{
		"Header":        {[]string{"X-Agent-Id: " + ann}, 200},
		"Bearer":        {[]string{"Authorization: Bearer " + ann}, 200},
		"BearerInSmall": {[]string{"Authorization: bearer  " + ann}, 200},
		"Rotated":       {[]string{"X-Agent-Id: " + rotated}, 200},
		"BearerCounts":  {[]string{"Authorization: Bearer " + ann, "X-Agent-Id: " + bob}, 200},
		"OtherScheme":   {[]string{"Authorization: Basic YTpi", "X-Agent-Id: " + ann}, 200},
		"Other":         {[]string{"X-Agent-Id: " + bob}, 404},
		"Name":          {[]string{"X-Agent-Id: ann"}, 401},
		"None":          {nil, 401},
		"EmptyBearer":   {[]string{"Authorization: Bearer ", "X-Agent-Id: " + ann}, 401},
		"Twice":         {[]string{"X-Agent-Id: " + ann + "," + ann}, 401},
		"Long":          {[]string{"X-Agent-Id: " + strings.Repeat("k", 8000)}, 401},
	} {
		if w := k.send("GET", path, "", test.headers...); w.Code != test.want {
			t.Errorf("%s: got %d %s; want %d", name, w.Code, w.Body, test.want)
		}
	}
	// Limits are each agent's, not each key's, and calls without an agent count towards none.
	counted := append(k.limiter.callers("create"), k.limiter.callers("poll")...)
	for _, caller := range counted {
		if caller != "ann" && caller != "bob" {
			t.Errorf("counted %q", caller)
		}
	}
	if len(counted) != 3 {
		t.Errorf("counted %q; want ann twice and bob once", counted)
	}
	if w := k.send("GET", "/openapi.json", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"agentKeyBearer"`) {
		t.Errorf("the document: got %d %.200s", w.Code, w.Body)
	}
}

// A caller without a valid key gets the same answer for every kind of wrong key.
func TestAgentKeyRefused(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	revoked := k.issue(t, "ann")
	if _, err := k.keys.Revoke(t.Context(), revoked); err != nil {
		t.Fatal(err)
	}
	const want = `{"error":{"code":"UNAUTHORIZED","message":"there is no such key, or it was revoked: send one that was issued to you, as X-Agent-Id: KEY or as Authorization: Bearer KEY"}}`
	for name, key := range map[string]string{
		"Revoked": revoked, "Unknown": revoked[:55] + "B", "Malformed": "me", "Empty": "", "Control": "a\x07b", "NotUTF8": "\xff",
	} {
		for _, line := range []string{"POST /agent/questions", "GET /agent/questions", "GET /agent/questions/x", "DELETE /agent/questions/x"} {
			method, path, _ := strings.Cut(line, " ")
			hr := httptest.NewRequest(method, path, strings.NewReader(`{"prompt":1}`))
			hr.Header["X-Agent-Id"] = []string{key}
			w := httptest.NewRecorder()
			k.handler.ServeHTTP(w, hr)
			if w.Code != http.StatusUnauthorized || strings.TrimSpace(w.Body.String()) != want || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s, %s: got %d %v %s", name, line, w.Code, w.Header(), w.Body)
			}
		}
	}
	if counted := append(k.limiter.callers("create"), k.limiter.callers("poll")...); len(counted) > 0 {
		t.Errorf("counted %q", counted)
	}
}

// brokenKeys cannot be read.
type brokenKeys struct{ api.AgentKeys }

func (brokenKeys) Agent(context.Context, string) (string, error) {
	return "", errors.New("GetAgentKey: no table")
}

// Keys that cannot be read let no one in, and no key is in a line of the log.
func TestAgentKeysFail(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	key := k.issue(t, "ann")
	k.send("GET", "/agent/questions", "", "X-Agent-Id: "+key)
	k.send("POST", "/agent/questions", `{`, "Authorization: Bearer "+key)
	broken := (&api.AgentAPI{Service: &askahuman.Agents{Store: &inmem.Store{}}, AgentKeys: brokenKeys{}, Options: api.Options{RateLimiter: k.limiter, Log: slog.New(slog.NewJSONHandler(&k.log, nil))}}).Handler()
	w := request{line: "GET /agent/questions", headers: []string{"X-Agent-Id: " + key}}.do(broken)
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "table") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if log := k.log.String(); !strings.Contains(log, "no table") || strings.Contains(log, key) || strings.Contains(log, key[4:]) {
		t.Errorf("the log is %s", log)
	}
}
