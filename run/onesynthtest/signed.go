package onesynthtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	endpoint "github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
)

// AsSigned returns a client that signs its requests as callers of routes with IAM do (Signature Version 4). name is a
// role of the run, which has to allow execute-api:Invoke, or else a user, who may call every route.
func (p *Target) AsSigned(t testing.TB, name string) *Client {
	t.Helper()
	c := NewClient(t, p)
	c.HTTP.Transport = &signing{c.HTTP.Transport, aws.Credentials{AccessKeyID: name,
		SecretAccessKey: endpoint.Secret}, p.Run.Parts().Assembly.Stacks[0].Region}
	return c
}

type signing struct {
	http.RoundTripper
	by     aws.Credentials
	region string
}

// RoundTrip implements http.RoundTripper.
func (s *signing) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	signed := r.Clone(r.Context())
	signed.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(r.Context(), s.by, signed, hex.EncodeToString(sum[:]), apigateway.Service,
		s.region, time.Now()); err != nil {
		return nil, err
	}
	return s.RoundTripper.RoundTrip(signed)
}
