package awsapi

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
)

// profileID is the id of an inference profile of Amazon Bedrock ("Supported Regions and models for inference profiles"), and not
// that of a model.
var profileID = regexp.MustCompile(`^([a-z]{2}|apac|us-gov|global)\.`)

// readModels makes what forwards requests to models.
func (s *Server) readModels() error {
	if s.options.ModelsURL == "" {
		return nil
	}
	target, err := url.Parse(s.options.ModelsURL)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return fmt.Errorf("URL of models: got %q: write http://HOST:PORT", s.options.ModelsURL)
	}
	s.models = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// The run's own key made the signature.
			r.Out.Header.Del("Authorization")
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			writeError(w, &apiError{Type: "ServiceUnavailableException", Message: fmt.Sprintf("forwarding to %s: %v", s.options.ModelsURL, err), Status: http.StatusServiceUnavailable})
		},
	}
	return nil
}

// converse serves the operation Converse of Amazon Bedrock: it checks the role, and forwards the request. It cannot check what the
// role may do with the models that an inference profile routes to, because only AWS knows them.
func (s *Server) converse(w http.ResponseWriter, r *http.Request, by *caller, body []byte) {
	rest, model := strings.CutPrefix(r.URL.EscapedPath(), "/model/")
	escaped, converses := strings.CutSuffix(rest, "/converse")
	id, err := url.PathUnescape(escaped)
	var input struct {
		GuardrailConfig struct{ GuardrailIdentifier string }
	}
	switch {
	case r.Method != http.MethodPost || !model || !converses || err != nil:
		writeError(w, unknown("bedrock", r.Method+" "+r.URL.Path))
		return
	case json.Unmarshal(body, &input) != nil:
		writeError(w, &apiError{Type: "ValidationException", Message: "the request is not the JSON of Converse"})
		return
	}
	resource := "foundation-model/" + id
	owner := ""
	if profileID.MatchString(id) {
		resource, owner = "inference-profile/"+id, by.account()
	}
	err = s.authorise(by, "bedrock:InvokeModel", bedrockARN(id, by.region, owner, resource))
	if guardrail := input.GuardrailConfig.GuardrailIdentifier; guardrail != "" && err == nil {
		err = s.authorise(by, "bedrock:ApplyGuardrail", bedrockARN(guardrail, by.region, by.account(), "guardrail/"+guardrail))
	}
	var denied *DeniedError
	switch {
	case errors.As(err, &denied):
		writeError(w, &apiError{Type: "AccessDeniedException", Message: denied.Error(), Status: http.StatusForbidden})
	case err != nil:
		writeError(w, err)
	case s.models == nil:
		writeError(w, &apiError{Type: "AccessDeniedException", Status: http.StatusForbidden, Message: "onesynth local has no models: leave the model out of the props of the stack that you run here, " +
			"or start the run with --bedrock (or AWS_ENDPOINT_URL_BEDROCK_RUNTIME), the URL of a server that speaks Converse"})
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.models.ServeHTTP(w, r)
	}
}

// bedrockARN returns the given ARN, or else the ARN of the resource.
func bedrockARN(given, region, account, resource string) string {
	if strings.HasPrefix(given, "arn:") {
		return given
	}
	return fmt.Sprintf("arn:aws:bedrock:%s:%s:%s", region, account, resource)
}
