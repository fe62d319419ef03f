package aws

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	// longestPresigned is how long a presigned URL may be valid, and skew how far the signer's clock may be ahead
	// ("Authenticating Requests: Using Query Parameters", Amazon S3 API Reference).
	longestPresigned = 7 * 24 * time.Hour
	skew             = 15 * time.Minute
	// signingTime is the form of X-Amz-Date.
	signingTime = "20060102T150405Z"
)

// Presigned reports whether the credentials of a request are in its query.
func Presigned(r *http.Request) bool {
	return r.Header.Get("Authorization") == "" && r.URL.Query().Has("X-Amz-Credential")
}

// checkPresigned checks the time and the signature of a presigned request, and removes the parameters of the signature
// from it. What it refuses is an error of Amazon S3.
func checkPresigned(r *http.Request, key string, scope []string, now time.Time) error {
	query := r.URL.Query()
	refused := func(code, message string, status int) error {
		return &Failure{Type: code, Message: message, Status: status}
	}
	invalid := func(message string) error {
		return refused("AuthorizationQueryParametersError", message, http.StatusBadRequest)
	}
	if query.Get("X-Amz-Algorithm") != "AWS4-HMAC-SHA256" || len(scope) != 4 {
		return invalid("X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256\", with the credential " +
			"ACCESS-KEY/DATE/REGION/SERVICE/aws4_request")
	}
	signed, err := time.Parse(signingTime, query.Get("X-Amz-Date"))
	if err != nil {
		return invalid("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"")
	}
	seconds, err := strconv.Atoi(query.Get("X-Amz-Expires"))
	if valid := time.Duration(seconds) * time.Second; err != nil || seconds < 1 || valid > longestPresigned {
		return invalid("X-Amz-Expires must be a number of seconds from 1 to 604800")
	}
	switch {
	case now.Before(signed.Add(-skew)):
		return refused("AccessDenied", "Request is not valid yet", http.StatusForbidden)
	case now.After(signed.Add(time.Duration(seconds) * time.Second)):
		return refused("AccessDenied", "Request has expired", http.StatusForbidden)
	}
	wanted, err := signatureOf(r, key, scope, query, signed)
	if err != nil {
		return invalid(err.Error())
	}
	if subtle.ConstantTimeCompare([]byte(wanted), []byte(query.Get("X-Amz-Signature"))) != 1 {
		return refused("SignatureDoesNotMatch", "The request signature we calculated does not match the signature "+
			"you provided. Check your key and signing method, and send the headers that are signed: "+
			query.Get("X-Amz-SignedHeaders"), http.StatusForbidden)
	}
	for name := range query {
		if strings.HasPrefix(name, "X-Amz-") {
			query.Del(name)
		}
	}
	r.URL.RawQuery = query.Encode()
	return nil
}

// signatureOf returns the signature that the owner of the key makes for the request, with the headers that it names.
func signatureOf(r *http.Request, key string, scope []string, query url.Values, at time.Time) (string, error) {
	unsigned := url.Values{}
	for name, values := range query {
		if name != "X-Amz-Signature" {
			unsigned[name] = values
		}
	}
	again := (&http.Request{Method: r.Method, Host: r.Host, Header: http.Header{}, URL: &url.URL{
		Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: unsigned.Encode(),
	}}).WithContext(context.Background())
	for name := range strings.SplitSeq(query.Get("X-Amz-SignedHeaders"), ";") {
		switch name {
		case "host":
		case "content-length":
			again.ContentLength = r.ContentLength
		default:
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	text, _, err := v4.NewSigner().PresignHTTP(r.Context(), sdk.Credentials{AccessKeyID: key, SecretAccessKey: Secret,
		SessionToken: query.Get("X-Amz-Security-Token")}, again, "UNSIGNED-PAYLOAD", scope[2], scope[1], at,
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return "", err
	}
	made, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	return made.Query().Get("X-Amz-Signature"), nil
}
