package apigateway

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// RunIssuer is the iss of a token for several APIs whose authorizers name different issuers. No one outside the run can
// own the name (RFC 6761).
const RunIssuer = "https://issuer.localhost"

// Issuer stands in for every OpenID Connect issuer that an assembly's authorizers name, Cognito's and
// others alike: it signs tokens with their iss, and the authorizers of this run trust its key. It cannot
// make a token that a deployed API accepts.
type Issuer struct {
	load func() (*rsa.PrivateKey, error)
}

// NewIssuer returns an issuer whose RSA key is made when it is first needed, or read from and kept in
// folder/issuer.pem (mode 0600) when a folder is given.
func NewIssuer(folder string) *Issuer {
	return &Issuer{load: sync.OnceValues(func() (*rsa.PrivateKey, error) { return loadKey(folder) })}
}

func loadKey(folder string) (*rsa.PrivateKey, error) {
	if folder == "" {
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	path := filepath.Join(folder, "issuer.pem")
	text, err := os.ReadFile(path)
	if err == nil {
		block, _ := pem.Decode(text)
		if block == nil {
			return nil, fmt.Errorf("%s is not a PEM file: remove it and start again", path)
		}
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: remove it and start again", path, err)
		}
		private, ok := key.(*rsa.PrivateKey)
		if !ok {
			return nil, fmt.Errorf("%s holds a %T, want an RSA key: remove it and start again", path, key)
		}
		return private, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("issuer key: %w", err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("issuer key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("issuer key: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("issuer key: %w", err)
	}
	// A full disk leaves no half of a key.
	err = os.WriteFile(path+".new", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, fmt.Errorf("issuer key: %w", err)
	}
	return key, nil
}

// Request describes a token to mint.
type Request struct {
	// Issuer is the iss claim: an authorizer's issuer.
	Issuer string
	// Subject is the sub claim.
	Subject string
	// Audience is the aud claim: a text for one, a list for several; none leaves it out.
	Audience []string
	// Scope is the scope claim, words separated by spaces; "" leaves it out.
	Scope string
	// Lifetime until exp; 0 means one hour. A negative one makes an expired token.
	Lifetime time.Duration
	// Claims are added as they are and win over the fields above.
	Claims map[string]any
}

// Mint signs a token. It fails only when the key cannot be made or read.
func (i *Issuer) Mint(request Request) (string, error) {
	key, err := i.load()
	if err != nil {
		return "", err
	}
	lifetime := request.Lifetime
	if lifetime == 0 {
		lifetime = time.Hour
	}
	now := time.Now()
	claims := jwt.MapClaims{"iss": request.Issuer, "sub": request.Subject, "iat": now.Unix(),
		"exp": now.Add(lifetime).Unix(), "jti": newRequestID()}
	if lifetime < 0 {
		claims["iat"] = now.Add(2 * lifetime).Unix()
	}
	switch len(request.Audience) {
	case 0:
	case 1:
		claims["aud"] = request.Audience[0]
	default:
		claims["aud"] = request.Audience
	}
	if request.Scope != "" {
		claims["scope"] = request.Scope
	}
	maps.Copy(claims, request.Claims)
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	t.Header["kid"] = keyID(&key.PublicKey)
	signed, err := t.SignedString(key)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

// PublicKey implements KeySource: one key for every issuer.
func (i *Issuer) PublicKey(_, id string) (any, error) {
	key, err := i.load()
	if err != nil {
		return nil, err
	}
	if want := keyID(&key.PublicKey); id != want {
		return nil, fmt.Errorf("the issuer of this run has no key %q: mint a token with `onesynth token`", id)
	}
	return &key.PublicKey, nil
}

// JWKS is the issuer's JSON Web Key Set (RFC 7517).
func (i *Issuer) JWKS() (map[string]any, error) {
	key, err := i.load()
	if err != nil {
		return nil, err
	}
	encode := base64.RawURLEncoding.EncodeToString
	return map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": keyID(&key.PublicKey),
		"n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes()),
	}}}, nil
}

func keyID(key *rsa.PublicKey) string {
	sum := sha256.Sum256(x509.MarshalPKCS1PublicKey(key))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
