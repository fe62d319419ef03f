// Package bedrock is the operation Converse of Amazon Bedrock at the endpoint of functions: it forwards requests to
// models.
package bedrock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
)

// profileID is the id of an inference profile of Amazon Bedrock ("Supported Regions and models for inference
// profiles"), and not that of a model.
var profileID = regexp.MustCompile(`^([a-z]{2}|apac|us-gov|global)\.`)

// Service forwards requests to models. Make one with New.
type Service struct {
	// models forwards; nil without a server.
	models http.Handler
}

// New makes the service. The address is that of a server that speaks Converse, as http://HOST:PORT; empty: each request
// fails, with what to do. An error says that it is none.
func New(address string) (*Service, error) {
	if address == "" {
		return &Service{}, nil
	}
	target, err := url.Parse(address)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return nil, fmt.Errorf("URL of models: got %q: write http://HOST:PORT", address)
	}
	return &Service{models: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// The run's own key made the signature.
			r.Out.Header.Del("Authorization")
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			aws.WriteError(w, &aws.Failure{Type: "ServiceUnavailableException",
				Message: fmt.Sprintf("forwarding to %s: %v", address, err), Status: http.StatusServiceUnavailable})
		},
	}}, nil
}

// Needs implements [aws.Service]. It cannot ask what the role may do with the models that an inference profile routes
// to, because only AWS knows them.
func (s *Service) Needs(call *aws.Call) ([]aws.Permission, error) {
	rest, model := strings.CutPrefix(call.Request.URL.EscapedPath(), "/model/")
	escaped, converses := strings.CutSuffix(rest, "/converse")
	id, err := url.PathUnescape(escaped)
	if call.Request.Method != http.MethodPost || !model || !converses || err != nil {
		return nil, aws.Unknown("bedrock", call.Request.Method+" "+call.Request.URL.Path)
	}
	if err := call.ReadBody(); err != nil {
		return nil, err
	}
	var input struct {
		GuardrailConfig struct{ GuardrailIdentifier string }
	}
	if json.Unmarshal(call.Body, &input) != nil {
		return nil, aws.Invalid("the request is not the JSON of Converse")
	}
	resource, owner := "foundation-model/"+id, ""
	if profileID.MatchString(id) {
		resource, owner = "inference-profile/"+id, call.Account
	}
	needed := []aws.Permission{{Action: "bedrock:InvokeModel", Resource: arnOf(id, call.Region, owner, resource)}}
	if guardrail := input.GuardrailConfig.GuardrailIdentifier; guardrail != "" {
		needed = append(needed, aws.Permission{Action: "bedrock:ApplyGuardrail",
			Resource: arnOf(guardrail, call.Region, call.Account, "guardrail/"+guardrail)})
	}
	return needed, nil
}

// Serve implements [aws.Service].
func (s *Service) Serve(w http.ResponseWriter, call *aws.Call) error {
	if s.models == nil {
		return &aws.Failure{Type: "AccessDeniedException", Status: http.StatusForbidden,
			Message: "onesynth local has no models: leave the model out of the props of the stack that you run here, " +
				"or start the run with --bedrock (or AWS_ENDPOINT_URL_BEDROCK_RUNTIME), the URL of a server that " +
				"speaks Converse"}
	}
	call.Request.Body = io.NopCloser(bytes.NewReader(call.Body))
	s.models.ServeHTTP(w, call.Request)
	return nil
}

// Refuse implements [aws.Service].
func (*Service) Refuse(w http.ResponseWriter, _ *aws.Call, err error) {
	if denied, ok := errors.AsType[*aws.DeniedError](err); ok {
		err = &aws.Failure{Type: "AccessDeniedException", Message: denied.Error(), Status: http.StatusForbidden}
	}
	aws.WriteError(w, err)
}

// arnOf returns the given ARN, or else the ARN of the resource.
func arnOf(given, region, account, resource string) string {
	if strings.HasPrefix(given, "arn:") {
		return given
	}
	return fmt.Sprintf("arn:aws:bedrock:%s:%s:%s", region, account, resource)
}
