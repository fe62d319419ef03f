package cognito

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
)

// The endpoints of a user pool's domain ("User pool endpoints and managed login reference", Amazon Cognito developer
// guide). The app client says which pool a request is for, so all pools of a run share them.
const (
	authorizePath = "/oauth2/authorize"
	loginPath     = "/login"
	logoutPath    = "/logout"
	tokenPath     = "/oauth2/token"
	revokePath    = "/oauth2/revoke"
)

const (
	// maxOfForm is the largest form that the endpoints read, in bytes.
	maxOfForm = 64 << 10
	// longestUserName is Amazon Cognito's limit, in characters ("AdminCreateUser", API reference: Username).
	longestUserName = 128
)

// Tokens signs tokens (apigateway.Issuer).
type Tokens interface {
	Mint(request apigateway.Request) (string, error)
}

// Endpoint is a request that the domain of a user pool answers, and what it does.
type Endpoint struct{ Request, Does string }

// Endpoints are those that a run has. They are Amazon Cognito's, and of all user pools: the app client says which one.
func Endpoints() []Endpoint {
	const proof = "response_type=code&client_id=ID&redirect_uri=URL&scope=SCOPES&state=TEXT&nonce=TEXT&" +
		"code_challenge_method=S256&code_challenge=DIGEST&prompt=PROMPT"
	return []Endpoint{
		{"GET " + authorizePath + "?" + proof, "Signs a person in at an app client, and sends them to one of its " +
			"callback URLs with a code. It takes no request without a proof key (PKCE). The prompt none shows no " +
			"page: whoever is not signed in is sent back with login_required. Another one always shows the form."},
		{"GET " + loginPath + "?" + proof, "The form to sign in. It takes any user name, and asks for no password."},
		{"POST " + loginPath, "Takes the form."},
		{"GET " + logoutPath + "?client_id=ID&logout_uri=URL", "Signs the browser out, and sends it to one of the " +
			"app client's sign-out URLs. With redirect_uri and the other parameters of GET " + loginPath +
			" in place of logout_uri, it shows the form again."},
		{"POST " + tokenPath, "Exchanges a code or a refresh token for tokens. The body is a form: grant_type, " +
			"client_id, and code, redirect_uri and code_verifier, or refresh_token. A code is for one exchange " +
			"within 5 minutes. A second one revokes the refresh tokens of the first."},
		{"POST " + revokePath, "Makes the refresh tokens of a sign-in worthless. The body is a form: token, " +
			"a refresh token, and client_id."},
	}
}

// TakesForms reports whether an endpoint takes forms at that path, which any page can send: the endpoint checks itself
// whose they are.
func TakesForms(path string) bool { return path == loginPath || ForPages(path) }

// ForPages reports whether pages of app clients call an endpoint at that path.
func ForPages(path string) bool { return path == tokenPath || path == revokePath }

func (p *Pools) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+authorizePath, p.authorize)
	mux.HandleFunc("GET "+loginPath, p.login)
	mux.HandleFunc("POST "+loginPath, p.signIn)
	mux.HandleFunc("GET "+logoutPath, p.logout)
	mux.HandleFunc("POST "+tokenPath, p.forPages(p.token))
	mux.HandleFunc("POST "+revokePath, p.forPages(p.revoke))
	return mux
}

// Endpoints answers the requests of the function Endpoints.
func (p *Pools) Endpoints() http.Handler { return p.endpoints }

// Discovery is what an issuer says of itself (OpenID Connect Discovery 1.0), with the endpoints at the base address.
func Discovery(issuer, base string) map[string]any {
	return map[string]any{
		"issuer": issuer, "jwks_uri": base + "/.well-known/jwks.json", "authorization_endpoint": base + authorizePath,
		"token_endpoint": base + tokenPath, "revocation_endpoint": base + revokePath,
		"end_session_endpoint": base + logoutPath, "response_types_supported": []string{"code"},
		"grant_types_supported":                 []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":      []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none"},
		"scopes_supported":                      []string{"openid", "email", "phone", "profile"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
	}
}

// Issuer returns the iss of a pool's tokens, or "" if the run has no such pool.
func (p *Pools) Issuer(id string) string {
	if of := p.pool(id); of != nil {
		return of.issuer()
	}
	return ""
}

func (p *pool) issuer() string {
	return fmt.Sprintf("https://cognito-idp.%s.amazonaws.com/%s", p.resource.Stack.Region, p.resource.Ref)
}

// HasPagesAt reports whether an app client has a callback URL at the origin, whose pages may then fetch tokens.
func (p *Pools) HasPagesAt(origin string) bool {
	for _, of := range p.pools {
		for _, one := range of.clients {
			if slices.ContainsFunc(one.callbacks, func(callback string) bool { return originOf(callback) == origin }) {
				return true
			}
		}
	}
	return false
}

// originOf returns the origin of an address, such as "https://example.com", or "app:" for a scheme of an app's own.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

// refusal is an answer of OAuth 2.0 other than success: code is one of RFC 6749, sections 4.1.2.1 and 5.2, and
// description says to people what was got, what is allowed, and what to do.
type refusal struct{ code, description string }

func refused(code, format string, values ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, values...)}
}

// request is a checked request to sign in.
type request struct {
	pool      *pool
	client    client
	callback  string
	state     string
	nonce     string
	scopes    []string
	challenge string
	// prompt are the values of prompt, each once or more.
	prompt []string
}

// The values of prompt (OpenID Connect Core 1.0, section 3.1.2.1).
const (
	promptNone    = "none"
	promptLogin   = "login"
	promptConsent = "consent"
	promptAccount = "select_account"
)

// challenge is a SHA-256 digest in base64url (RFC 7636, section 4.2).
var challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// check reads a request to sign in. Without a client and one of its callback URLs it has nowhere to send the person, so
// page is for the person; else back is for the client.
func (p *Pools) check(query url.Values) (r request, page, back *refusal) {
	for name, values := range query {
		if len(values) > 1 {
			page = refused("invalid_request", "The address has %s %d times: send it once.", name, len(values))
			return r, page, nil
		}
	}
	if r.pool, r.client, page = p.clientForPeople(query.Get("client_id")); page != nil {
		return r, page, nil
	}
	r.callback, r.state, r.nonce = query.Get("redirect_uri"), query.Get("state"), query.Get("nonce")
	if !slices.Contains(r.client.callbacks, r.callback) {
		return r, refused("redirect_mismatch", "The redirect_uri is %q. Allowed are the callback URLs of the app "+
			"client, to the letter: %s.", r.callback, listed(r.client.callbacks)), nil
	}
	method, digest := query.Get("code_challenge_method"), query.Get("code_challenge")
	switch response := query.Get("response_type"); {
	case response == "token":
		return r, nil, refused("unauthorized_client", "response_type is token: the client may have a code alone")
	case response != "code":
		return r, nil, refused("invalid_request", "response_type is %q: write code", response)
	case method != "S256":
		return r, nil, refused("invalid_request", "code_challenge_method is %q: write S256", method)
	case !challenge.MatchString(digest):
		return r, nil, refused("invalid_request", "code_challenge is %q: write the SHA-256 digest of the verifier in "+
			"base64url, 43 characters", digest)
	}
	r.challenge, r.scopes = digest, strings.Fields(query.Get("scope"))
	if len(r.scopes) == 0 {
		r.scopes = r.client.scopes
	}
	for _, scope := range r.scopes {
		if !slices.Contains(r.client.scopes, scope) {
			return r, nil, refused("invalid_scope", "scope has %q: the client may request %s", scope,
				strings.Join(r.client.scopes, " "))
		}
	}
	r.prompt = strings.Fields(query.Get("prompt"))
	for _, value := range r.prompt {
		switch {
		case !slices.Contains([]string{promptNone, promptLogin, promptConsent, promptAccount}, value):
			return r, nil, refused("invalid_request", "prompt has %q: write none, or any of login, consent and "+
				"select_account", value)
		case value == promptNone && len(r.prompt) > 1:
			return r, nil, refused("invalid_request", "prompt is %q: write none alone", query.Get("prompt"))
		}
	}
	return r, nil, nil
}

// clientForPeople finds an app client at whose pool people can sign in on pages.
func (p *Pools) clientForPeople(id string) (*pool, client, *refusal) {
	for _, of := range p.pools {
		for _, one := range of.clients {
			switch {
			case one.id != id:
			case of.domain == "":
				return nil, client{}, refused("invalid_client", "The user pool %s has no domain: give it one, as "+
					"pages to sign in are at that address.", of.resource.Ref)
			case !one.code:
				return nil, client{}, refused("unauthorized_client", "The app client %s has no authorization code "+
					"grant: allow it in AllowedOAuthFlows.", id)
			case one.secret:
				return nil, client{}, refused("invalid_client", "The app client %s has a secret: use one without, as "+
					"a run knows no secrets of app clients.", id)
			default:
				return of, one, nil
			}
		}
	}
	var known []string
	for _, of := range p.pools {
		for _, one := range of.clients {
			if one.code && !one.secret {
				known = append(known, one.id)
			}
		}
	}
	return nil, client{}, refused("invalid_client", "The client_id is %q. App clients for people are: %s.", id,
		listed(known))
}

func listed(texts []string) string {
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}

// asked returns what a request to sign in asks for. A request that is not possible it answers itself.
func (p *Pools) asked(w http.ResponseWriter, r *http.Request) (asked request, ok bool) {
	asked, page, back := p.check(r.URL.Query())
	switch {
	case page != nil:
		showRefusal(w, page)
	case back != nil:
		asked.redirect(w, r, url.Values{"error": {back.code}, "error_description": {back.description}})
	default:
		return asked, true
	}
	return asked, false
}

// authorize sends people to the form, or back with a code if they have signed in before. With a prompt it always sends
// them to the form; with the prompt none never.
func (p *Pools) authorize(w http.ResponseWriter, r *http.Request) {
	asked, ok := p.asked(w, r)
	if !ok {
		return
	}
	if len(asked.prompt) == 0 || asked.silent() {
		if who, ok := p.grants.session(r, asked.pool.resource.Ref); ok {
			asked.redirect(w, r, url.Values{"code": {p.grants.code(asked, who)}})
			return
		}
	}
	if asked.silent() {
		asked.redirect(w, r, url.Values{"error": {"login_required"},
			"error_description": {"nobody is signed in in this browser: send the request without prompt=none"}})
		return
	}
	http.Redirect(w, r, loginPath+"?"+r.URL.RawQuery, http.StatusFound)
}

// silent reports whether people may see no page.
func (asked request) silent() bool { return slices.Contains(asked.prompt, promptNone) }

// redirect sends people back to the client.
func (asked request) redirect(w http.ResponseWriter, r *http.Request, answer url.Values) {
	to, err := url.Parse(asked.callback)
	if err != nil {
		showRefusal(w, refused("redirect_mismatch", "The callback URL %q cannot be read: correct it at the app client.",
			asked.callback))
		return
	}
	query := to.Query()
	for name, values := range answer {
		query[name] = values
	}
	if asked.state != "" {
		query.Set("state", asked.state)
	}
	to.RawQuery = query.Encode()
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// login shows the form.
func (p *Pools) login(w http.ResponseWriter, r *http.Request) {
	switch asked, ok := p.asked(w, r); {
	case !ok:
	case asked.silent():
		p.authorize(w, r)
	default:
		p.showForm(w, r, asked, http.StatusOK, form{Chosen: asked.pool.groups})
	}
}

// signIn takes the form.
func (p *Pools) signIn(w http.ResponseWriter, r *http.Request) {
	asked, ok := p.asked(w, r)
	if !ok {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxOfForm)
	if err := r.ParseForm(); err != nil {
		showRefusal(w, refused("invalid_request", "The form cannot be read: go back, and send it again."))
		return
	}
	// Keyboards add a space after a name. Whatever else is not seen is refused.
	filled := form{UserName: strings.Trim(r.PostForm.Get("username"), " "), Chosen: r.PostForm["group"]}
	if !p.grants.ownForm(r) {
		filled.Wrong = "The form is not the one that this browser got last: send this one."
		p.showForm(w, r, asked, http.StatusForbidden, filled)
		return
	}
	if filled.Wrong = asked.pool.checkUser(filled); filled.Wrong != "" {
		p.showForm(w, r, asked, http.StatusBadRequest, filled)
		return
	}
	who := person{name: filled.UserName, groups: filled.Chosen, since: time.Now()}
	err := p.SignUp(r.Context(), asked.pool.issuer(),
		User{Subject: who.name, Email: who.email(), Clients: []string{asked.client.id}})
	if err != nil {
		filled.Wrong = fmt.Sprintf("%v: the next try calls the function again.", err)
		p.showForm(w, r, asked, http.StatusBadGateway, filled)
		return
	}
	p.grants.open(w, asked.pool.resource.Ref, who)
	asked.redirect(w, r, url.Values{"code": {p.grants.code(asked, who)}})
}

// checkUser says what is wrong with the user of a filled form, or "".
func (p *pool) checkUser(filled form) string {
	odd := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError }
	if n := utf8.RuneCountInString(filled.UserName); n < 1 || n > longestUserName ||
		strings.ContainsFunc(filled.UserName, odd) {
		return fmt.Sprintf("The user name has %d characters. Write 1 to %d, without spaces and line breaks.", n,
			longestUserName)
	}
	for _, group := range filled.Chosen {
		if !slices.Contains(p.groups, group) {
			return fmt.Sprintf("The group %q is none of the user pool's: %s.", group, listed(p.groups))
		}
	}
	return ""
}

// logout ends the session of a browser, and sends people to a page that the client names.
func (p *Pools) logout(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	of, one, page := p.clientForPeople(query.Get("client_id"))
	if page != nil {
		showRefusal(w, page)
		return
	}
	to := query.Get("logout_uri")
	switch {
	case query.Has("logout_uri"):
		if !slices.Contains(one.logouts, to) {
			showRefusal(w, refused("redirect_mismatch", "The logout_uri is %q. Allowed are the sign-out URLs of the "+
				"app client, to the letter: %s.", to, listed(one.logouts)))
			return
		}
	case query.Has("redirect_uri"):
		// The form checks the rest of the request.
		to = loginPath + "?" + r.URL.RawQuery
	default:
		showRefusal(w, refused("invalid_request", "The address has neither logout_uri nor redirect_uri: send one."))
		return
	}
	p.grants.close(w, r, of.resource.Ref)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusFound)
}

// forPages lets pages of clients read the answers.
func (p *Pools) forPages(answer func(*http.Request) (map[string]any, *refusal)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Origin")
		if origin := r.Header.Get("Origin"); p.HasPagesAt(origin) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		document, not := answer(r)
		if not != nil {
			w.WriteHeader(http.StatusBadRequest)
			document = map[string]any{"error": not.code, "error_description": not.description}
		}
		if document != nil {
			_ = json.NewEncoder(w).Encode(document) // whoever asked has gone
		}
	}
}

// postedForm reads the form of a program, and finds its client.
func (p *Pools) postedForm(r *http.Request) (*pool, client, *refusal) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, client{}, refused("invalid_request", "Content-Type is %q: write application/x-www-form-urlencoded",
			r.Header.Get("Content-Type"))
	}
	r.Body = http.MaxBytesReader(nil, r.Body, maxOfForm)
	if err := r.ParseForm(); err != nil {
		return nil, client{}, refused("invalid_request", "the form cannot be read: %v", err)
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return nil, client{}, refused("invalid_request", "the form has %s %d times: send it once", name,
				len(values))
		}
	}
	if r.Header.Get("Authorization") != "" || r.PostForm.Has("client_secret") {
		return nil, client{}, refused("invalid_client", "the request has a secret, and clients for people have none "+
			"here: send client_id alone")
	}
	if !r.PostForm.Has("client_id") {
		return nil, client{}, refused("invalid_request", "client_id is missing: send the id of the app client")
	}
	return p.clientForPeople(r.PostForm.Get("client_id"))
}

// verifier is of RFC 7636, section 4.1.
var verifier = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// token exchanges a code or a refresh token for tokens.
func (p *Pools) token(r *http.Request) (map[string]any, *refusal) {
	of, one, not := p.postedForm(r)
	if not != nil {
		return nil, not
	}
	switch grant := r.PostForm.Get("grant_type"); grant {
	case "authorization_code":
		return p.exchange(of, one, r.PostForm)
	case "refresh_token":
		return p.refresh(of, one, r.PostForm)
	default:
		return nil, refused("unsupported_grant_type", "grant_type is %q: write authorization_code or refresh_token; "+
			"for a program, onesynth token makes one", grant)
	}
}

func (p *Pools) exchange(of *pool, one client, posted url.Values) (map[string]any, *refusal) {
	for _, name := range []string{"code", "redirect_uri", "code_verifier"} {
		if posted.Get(name) == "" {
			return nil, refused("invalid_request", "%s is missing", name)
		}
	}
	grant, ok := p.grants.takeCode(posted.Get("code"))
	if !ok {
		return nil, refused("invalid_grant", "the code is unknown, older than %v, or was used before, which revokes "+
			"the refresh tokens that came of it: sign in again", codeAge)
	}
	proof := posted.Get("code_verifier")
	digest := sha256.Sum256([]byte(proof))
	switch {
	case grant.client != one.id:
		return nil, refused("invalid_grant", "the code is one of another client: sign in again")
	case grant.callback != posted.Get("redirect_uri"):
		return nil, refused("invalid_grant", "redirect_uri is %q: write that of the request to sign in",
			posted.Get("redirect_uri"))
	case !verifier.MatchString(proof) || subtle.ConstantTimeCompare([]byte(grant.challenge),
		[]byte(base64.RawURLEncoding.EncodeToString(digest[:]))) == 0:
		return nil, refused("invalid_grant", "code_verifier does not fit the code_challenge: sign in again")
	}
	answer, not := p.mint(of, one, grant.granted, grant.nonce)
	if not != nil {
		return nil, not
	}
	refresh, ok := p.grants.keep(posted.Get("code"), grant, time.Now().Add(one.refresh))
	if !ok {
		return nil, refused("invalid_grant", "the code was used twice at once: sign in again")
	}
	answer["refresh_token"] = refresh
	return answer, nil
}

func (p *Pools) refresh(of *pool, one client, posted url.Values) (map[string]any, *refusal) {
	if posted.Get("refresh_token") == "" {
		return nil, refused("invalid_request", "refresh_token is missing")
	}
	granted, next, ok := p.grants.use(posted.Get("refresh_token"), one)
	if !ok {
		return nil, refused("invalid_grant", "the refresh token is unknown, too old, revoked, or of another client: "+
			"sign in again")
	}
	answer, not := p.mint(of, one, granted, "")
	if not == nil && next != "" {
		answer["refresh_token"] = next
	}
	return answer, not
}

// mint makes the tokens ("Understanding user pool JSON web tokens (JWTs)", Amazon Cognito developer guide).
func (p *Pools) mint(of *pool, one client, granted granted, nonce string) (map[string]any, *refusal) {
	shared := map[string]any{"origin_jti": granted.origin, "event_id": rand.Text(), "auth_time": granted.since.Unix()}
	if len(granted.groups) > 0 {
		shared["cognito:groups"] = granted.groups
	}
	claims := func(own map[string]any) map[string]any {
		for name, value := range shared {
			own[name] = value
		}
		return own
	}
	access, err := p.options.Tokens.Mint(apigateway.Request{Issuer: of.issuer(), Subject: granted.name,
		Scope: strings.Join(granted.scopes, " "), Lifetime: one.access,
		Claims: claims(map[string]any{"token_use": "access", "client_id": one.id, "username": granted.name,
			"version": 2})})
	if err != nil {
		return nil, refused("server_error", "no token: %v", err)
	}
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": int(one.access.Seconds())}
	if !slices.Contains(granted.scopes, "openid") {
		return answer, nil
	}
	digest := sha256.Sum256([]byte(access))
	own := map[string]any{"token_use": "id", "cognito:username": granted.name,
		"at_hash": base64.RawURLEncoding.EncodeToString(digest[:len(digest)/2])}
	if slices.Contains(granted.scopes, "email") {
		own["email"], own["email_verified"] = granted.email(), true
	}
	if nonce != "" {
		own["nonce"] = nonce
	}
	identity, err := p.options.Tokens.Mint(apigateway.Request{Issuer: of.issuer(), Subject: granted.name,
		Audience: []string{one.id}, Lifetime: one.identity, Claims: claims(own)})
	if err != nil {
		return nil, refused("server_error", "no token: %v", err)
	}
	answer["id_token"] = identity
	return answer, nil
}

// revoke makes a refresh token worthless. As RFC 7009 has it, an unknown token is no error.
func (p *Pools) revoke(r *http.Request) (map[string]any, *refusal) {
	_, one, not := p.postedForm(r)
	switch {
	case not != nil:
		return nil, not
	case !one.revokes:
		return nil, refused("invalid_request", "the client does not revoke tokens: turn on EnableTokenRevocation")
	case r.PostForm.Get("token") == "":
		return nil, refused("invalid_request", "token is missing: send the refresh token")
	case strings.Count(r.PostForm.Get("token"), ".") == 2:
		return nil, refused("unsupported_token_type", "the token is no refresh token: send that one")
	}
	p.grants.revoke(r.PostForm.Get("token"), one.id)
	return nil, nil
}
