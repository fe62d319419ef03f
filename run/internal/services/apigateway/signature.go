package apigateway

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Principal is the user or role that an access key belongs to.
type Principal struct {
	// Secret is the access key's.
	Secret string
	// Account, ARN and ID are what the function behind a route learns of it.
	Account, ARN, ID string
	// Allows returns why its policies do not let it do the action on the resource, or nil.
	Allows func(action, resource string) error
}

// Signed admits callers that sign with credentials of AWS and may invoke the route ("Control access to HTTP APIs with
// IAM authorization").
type Signed struct{}

type eventIAM struct {
	AccessKey       string  `json:"accessKey"`
	AccountID       string  `json:"accountId"`
	CallerID        string  `json:"callerId"`
	CognitoIdentity *string `json:"cognitoIdentity"`
	PrincipalOrgID  *string `json:"principalOrgId"`
	UserARN         string  `json:"userArn"`
	UserID          string  `json:"userId"`
}

// admit implements Admission.
func (Signed) admit(g *Gateway, w http.ResponseWriter, r *http.Request, c *call) bool {
	if _, err := c.read(r); err != nil {
		// It is refused as any body that cannot be read.
		return true
	}
	key, principal, err := g.signer(r, c)
	if err == nil {
		err = principal.Allows(invoke, g.resource(r, c))
	}
	if err != nil {
		c.failed = err.Error()
		g.refuse(w, c, http.StatusForbidden, "Forbidden")
		return false
	}
	c.authorizer = &eventAuthorizer{IAM: &eventIAM{AccessKey: key, AccountID: principal.Account, CallerID: principal.ID,
		UserARN: principal.ARN, UserID: principal.ID}}
	c.properties = map[string]string{"identity.accountId": principal.Account, "identity.caller": principal.ID,
		"identity.user": principal.ID, "identity.userArn": principal.ARN}
	return true
}

// Service is how signatures name API Gateway.
const Service = "execute-api"

const (
	signatureForm = "AWS4-HMAC-SHA256"
	// signatureTime is the form of X-Amz-Date.
	signatureTime = "20060102T150405Z"
	// maxSkew is by how much the time of a signature may differ from that of AWS ("Signature Version 4").
	maxSkew = 5 * time.Minute
)

// signer returns the principal that signed the request, and its access key.
func (g *Gateway) signer(r *http.Request, c *call) (key string, by Principal, err error) {
	form, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if form != signatureForm {
		return "", by, errors.New("the request is not signed: its header Authorization is not of " + signatureForm)
	}
	fields := map[string]string{}
	for field := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	credential := strings.Split(fields["Credential"], "/")
	at, err := time.Parse(signatureTime, r.Header.Get("X-Amz-Date"))
	if err != nil || len(credential) != 5 {
		return "", by, fmt.Errorf("the signature has Credential=%s and X-Amz-Date %q: write both as Signature "+
			"Version 4 has them", fields["Credential"], r.Header.Get("X-Amz-Date"))
	}
	if credential[2] != g.api.Region || credential[3] != Service {
		return "", by, fmt.Errorf("the request is signed for %s in %s: sign it for %s in %s", credential[3],
			credential[2], Service, g.api.Region)
	}
	if skew := g.options.Now().Sub(at).Abs(); skew > maxSkew {
		return "", by, fmt.Errorf("the time of the signature differs by %s, and may by %s: sign each request anew",
			skew, maxSkew)
	}
	if by, err = g.options.Principal(credential[0]); err != nil {
		return "", by, err
	}
	again, err := sign(r, c.body, aws.Credentials{AccessKeyID: credential[0], SecretAccessKey: by.Secret,
		SessionToken: r.Header.Get("X-Amz-Security-Token")}, strings.Split(fields["SignedHeaders"], ";"), g.api.Region,
		at)
	if err != nil {
		return "", by, err
	}
	if subtle.ConstantTimeCompare([]byte(again), []byte(fields["Signature"])) == 0 {
		return "", by, fmt.Errorf("the signature by the access key %s does not match the request: check the secret, "+
			"and that nothing changes what was signed", credential[0])
	}
	return credential[0], by, nil
}

// sign returns the signature of a request's method, path, query, body and named headers.
func sign(r *http.Request, body []byte, by aws.Credentials, headers []string, region string, at time.Time) (string,
	error) {
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.URL.RequestURI(),
		bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	again.Host, again.ContentLength = r.Host, 0
	for _, name := range headers {
		switch canonical := http.CanonicalHeaderKey(name); canonical {
		case "Host":
		case "Content-Length":
			if again.ContentLength, err = strconv.ParseInt(r.Header.Get(canonical), 10, 64); err != nil {
				again.ContentLength = r.ContentLength
			}
		default:
			again.Header[canonical] = r.Header[canonical]
		}
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(r.Context(), by, again, hex.EncodeToString(sum[:]), Service, region,
		at); err != nil {
		return "", err
	}
	_, signature, _ := strings.Cut(again.Header.Get("Authorization"), "Signature=")
	return signature, nil
}
