package apigateway

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// Admission is what a route asks of a request before the function behind it gets it: an [Authorizer], a
// [FunctionAuthorizer] or [Signed].
type Admission interface {
	// admit reports whether it lets the request in. Else it has answered it.
	admit(g *Gateway, w http.ResponseWriter, r *http.Request, c *call) bool
}

// Authorizer is a JWT authorizer ("Control access to HTTP APIs with JWT authorizers").
type Authorizer struct {
	Name string
	// Issuer is the iss that tokens must carry.
	Issuer string
	// AlsoIssuer is another iss that tokens may carry. Default: none.
	AlsoIssuer string
	// Audience lists the accepted values of aud, or of client_id in tokens without aud.
	Audience []string
	// IdentitySource is where the token is: $request.header.NAME or $request.querystring.NAME.
	// "" means $request.header.Authorization.
	IdentitySource string
	// Keys gives the issuer's public keys.
	Keys KeySource
}

// KeySource gives the public key of an issuer's key id, or an error when it has none.
type KeySource interface {
	PublicKey(issuer, keyID string) (any, error)
}

// admit implements Admission: it lets a request through or answers it with 401 or 403.
func (a *Authorizer) admit(g *Gateway, w http.ResponseWriter, r *http.Request, c *call) bool {
	claims, scopes, err := a.verify(r, g.options)
	if err != nil {
		c.failed = err.Error()
		scope := strings.Join(c.route.Scopes, " ")
		challenge := fmt.Sprintf(`Bearer scope=%q error="invalid_token" error_description=%q`, scope, describe(err))
		if errors.Is(err, errNoToken) {
			challenge = "Bearer"
		}
		w.Header()["Www-Authenticate"] = []string{challenge}
		g.refuse(w, c, http.StatusUnauthorized, "Unauthorized")
		return false
	}
	// The function learns of scopes on a route that asks for some.
	c.authorizer = &eventAuthorizer{JWT: &eventJWT{Claims: claims}}
	c.properties = map[string]string{}
	for name, value := range claims {
		c.properties["claims."+name] = value
	}
	if len(c.route.Scopes) == 0 {
		return true
	}
	if !slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(c.route.Scopes, s) }) {
		c.failed = "the token has none of the route's scopes"
		w.Header()["Www-Authenticate"] = []string{
			fmt.Sprintf(`Bearer scope=%q error="insufficient_scope"`, strings.Join(c.route.Scopes, " "))}
		g.refuse(w, c, http.StatusForbidden, "Forbidden")
		return false
	}
	c.authorizer.JWT.Scopes = scopes
	return true
}

var (
	errNoToken  = errors.New("no token")
	errAudience = errors.New("the token does not have a valid audience")
)

// algorithms are only RSA's: JWT authorizers support no others, and "none" must never pass.
var algorithms = jwt.WithValidMethods([]string{"RS256", "RS384", "RS512"})

func (a *Authorizer) verify(r *http.Request, options Options) (map[string]string, []string, error) {
	text := a.find(r)
	if text == "" {
		return nil, nil, errNoToken
	}
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(algorithms, jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(options.Now),
		jwt.WithJSONNumber())
	_, err := parser.ParseWithClaims(text, claims, func(t *jwt.Token) (any, error) {
		keyID, _ := t.Header["kid"].(string)
		if keyID == "" {
			return nil, errors.New("the token names no key (kid)")
		}
		return a.Keys.PublicKey(a.Issuer, keyID)
	})
	if err != nil {
		return nil, nil, err
	}
	if issuer, err := claims.GetIssuer(); err != nil || issuer == "" || issuer != a.Issuer && issuer != a.AlsoIssuer {
		return nil, nil, jwt.ErrTokenInvalidIssuer
	}
	audience, err := claims.GetAudience()
	if err != nil {
		return nil, nil, err
	}
	if _, has := claims["aud"]; !has {
		// AWS reads client_id only when there is no aud, as in Cognito's access tokens.
		if client, ok := claims["client_id"].(string); ok {
			audience = []string{client}
		}
	}
	if !slices.ContainsFunc(audience, func(s string) bool { return slices.Contains(a.Audience, s) }) {
		return nil, nil, errAudience
	}
	texts := make(map[string]string, len(claims))
	for name, value := range claims {
		// API Gateway writes claims as Go does: a list as "[a b]" (aws-lambda-go, issue 591), an object as
		// "map[key:value]" (issue 570). It leaves null out.
		if value != nil {
			texts[name] = fmt.Sprint(value)
		}
	}
	return texts, scopesOf(claims), nil
}

func (a *Authorizer) find(r *http.Request) string {
	source := a.IdentitySource
	if source == "" {
		source = "$request.header.Authorization"
	}
	var text string
	if name, ok := strings.CutPrefix(source, "$request.header."); ok {
		text = r.Header.Get(name)
	} else if name, ok := strings.CutPrefix(source, "$request.querystring."); ok {
		text = r.URL.Query().Get(name)
	}
	if len(text) > 7 && strings.EqualFold(text[:7], "Bearer ") {
		text = text[7:]
	}
	return strings.TrimSpace(text)
}

// scopesOf reads scope, a text of words, or scp, a text or a list.
func scopesOf(claims jwt.MapClaims) []string {
	scopes := []string{}
	for _, name := range []string{"scope", "scp"} {
		switch value := claims[name].(type) {
		case string:
			scopes = append(scopes, strings.Fields(value)...)
		case []any:
			for _, item := range value {
				if text, ok := item.(string); ok {
					scopes = append(scopes, text)
				}
			}
		}
	}
	return scopes
}

// describe says what is wrong with a token, in words that a header may have.
func describe(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{
		{jwt.ErrTokenExpired, "the token has expired"},
		{jwt.ErrTokenNotValidYet, "the token is not valid yet"},
		{jwt.ErrTokenUsedBeforeIssued, "the token was issued in the future"},
		{jwt.ErrTokenInvalidIssuer, "the token does not have a valid issuer"},
		{errAudience, errAudience.Error()},
		{jwt.ErrTokenSignatureInvalid, "the token has an invalid signature"},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return "the token is malformed or signed in a way that is not accepted"
}
