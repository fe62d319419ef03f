package cognito

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// codeAge is how long a code can be exchanged ("The redirect and authorization endpoint").
	codeAge = 5 * time.Minute
	// sessionAge is how long a browser stays signed in ("Managed login session duration").
	sessionAge = time.Hour

	// The cookies of a browser. Cookies know no ports, so the names say whose they are.
	sessionCookie = "onesynth-sign-in"
	formCookie    = "onesynth-sign-in-form"
)

// person is a user who has signed in.
type person struct {
	name   string
	groups []string
	since  time.Time
}

// email is the address that a user of that name has in a run.
func (p person) email() string {
	if strings.Contains(p.name, "@") {
		return p.name
	}
	return p.name + "@example.com"
}

// granted is what a person has let a client have. origin is the same in all tokens of one sign-in.
type granted struct {
	person
	scopes []string
	origin string
}

type code struct {
	granted
	client, callback, challenge, nonce string
	// ends is when the code is forgotten. Of a used code that is when the refresh token ends that came of it.
	ends time.Time
	// used says that the code was exchanged, and usedTwice that this was tried once more.
	used, usedTwice bool
}

type refreshToken struct {
	granted
	client string
	ends   time.Time
	// replaced says that the client has the next one.
	replaced bool
}

type session struct {
	person
	pool string
	ends time.Time
}

// grants are what is under way between people and clients. Pools of the next assembly take them over.
type grants struct {
	// key signs the forms.
	key []byte

	mu       sync.Mutex
	codes    map[string]code
	refresh  map[string]refreshToken
	sessions map[string]session
	// names are of those who signed in, by the pool's id.
	names map[string]map[string]bool
}

func newGrants() *grants {
	return &grants{key: []byte(rand.Text()), codes: map[string]code{}, refresh: map[string]refreshToken{},
		sessions: map[string]session{}, names: map[string]map[string]bool{}}
}

// forget removes what has ended. mu is held.
func (g *grants) forget() {
	now := time.Now()
	for id, one := range g.codes {
		if !now.Before(one.ends) {
			delete(g.codes, id)
		}
	}
	for id, one := range g.refresh {
		if !now.Before(one.ends) {
			delete(g.refresh, id)
		}
	}
	for id, one := range g.sessions {
		if !now.Before(one.ends) {
			delete(g.sessions, id)
		}
	}
}

func (g *grants) code(asked request, who person) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	id := rand.Text()
	g.codes[id] = code{granted: granted{person: who, scopes: asked.scopes, origin: rand.Text()},
		client: asked.client.id, callback: asked.callback, challenge: asked.challenge, nonce: asked.nonce,
		ends: time.Now().Add(codeAge)}
	return id
}

// takeCode returns what a code is for, once. Its second use revokes the refresh tokens that came of it (RFC 6749,
// section 4.1.2).
func (g *grants) takeCode(id string) (taken code, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	taken, ok = g.codes[id]
	if !ok {
		return code{}, false
	}
	next := taken
	next.used, next.usedTwice = true, taken.used
	g.codes[id] = next
	if taken.used {
		g.revokeSignIn(taken.origin)
	}
	return taken, !taken.used
}

// keep makes the refresh token of a code that was taken. It returns false if the code was used twice meanwhile.
func (g *grants) keep(id string, taken code, ends time.Time) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now, ok := g.codes[id]; ok && now.usedTwice {
		return "", false
	}
	taken.used, taken.ends = true, ends
	g.codes[id] = taken
	return g.newRefreshToken(taken.client, taken.granted, ends), true
}

// newRefreshToken makes a refresh token. mu is held.
func (g *grants) newRefreshToken(client string, of granted, ends time.Time) string {
	id := rand.Text()
	g.refresh[id] = refreshToken{granted: of, client: client, ends: ends}
	return id
}

// use returns what a refresh token is for. If the client's tokens rotate, next takes its place for the time that is
// left, and the token itself can be tried again for the client's grace period.
func (g *grants) use(id string, by client) (of granted, next string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	one, ok := g.refresh[id]
	if !ok || one.client != by.id {
		return granted{}, "", false
	}
	if !by.rotates {
		return one.granted, "", true
	}
	next = g.newRefreshToken(by.id, one.granted, one.ends)
	if !one.replaced {
		if until := time.Now().Add(by.grace); until.Before(one.ends) {
			one.ends = until
		}
		one.replaced = true
		g.refresh[id] = one
	}
	return one.granted, next, true
}

// revoke removes all refresh tokens of the sign-in that the token is of.
func (g *grants) revoke(id, client string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one, ok := g.refresh[id]
	if !ok || one.client != client {
		return
	}
	g.revokeSignIn(one.origin)
}

// revokeSignIn removes all refresh tokens of a sign-in. mu is held.
func (g *grants) revokeSignIn(origin string) {
	for id, of := range g.refresh {
		if of.origin == origin {
			delete(g.refresh, id)
		}
	}
}

// session returns who is signed in to the pool in the browser of a request.
func (g *grants) session(r *http.Request, pool string) (person, bool) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return person{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	one, ok := g.sessions[cookie.Value]
	return one.person, ok && one.pool == pool
}

// open begins a session.
func (g *grants) open(w http.ResponseWriter, pool string, who person) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	id := rand.Text()
	g.sessions[id] = session{person: who, pool: pool, ends: time.Now().Add(sessionAge)}
	if g.names[pool] == nil {
		g.names[pool] = map[string]bool{}
	}
	g.names[pool][who.name] = true
	http.SetCookie(w, cookie(sessionCookie, id, int(sessionAge.Seconds())))
}

// close ends the session of a browser, if it is one of the pool.
func (g *grants) close(w http.ResponseWriter, r *http.Request, pool string) {
	if _, ok := g.session(r, pool); !ok {
		return
	}
	sent, err := r.Cookie(sessionCookie)
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, sent.Value)
	http.SetCookie(w, cookie(sessionCookie, "", -1))
}

// stamp marks a form as made for this browser, so that no other page can send it.
func (g *grants) stamp(w http.ResponseWriter, r *http.Request) string {
	sent, err := r.Cookie(formCookie)
	if err != nil {
		sent = cookie(formCookie, rand.Text(), 0)
		http.SetCookie(w, sent)
	}
	return g.sign(sent.Value)
}

// ownForm reports whether the form that was sent has the stamp of this browser.
func (g *grants) ownForm(r *http.Request) bool {
	sent, err := r.Cookie(formCookie)
	return err == nil && hmac.Equal([]byte(g.sign(sent.Value)), []byte(r.PostForm.Get("_csrf")))
}

func (g *grants) sign(text string) string {
	mac := hmac.New(sha256.New, g.key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// cookie is for the endpoints alone. A run has no TLS, so it cannot be Secure.
func cookie(name, value string, age int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteLaxMode}
}
