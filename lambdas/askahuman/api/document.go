package api

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
)

// securitySchemes are the ways in which agents identify themselves, by name: any one of
// them is enough. There are none if agents need not.
func (by AgentIdentity) securitySchemes() map[string]*huma.SecurityScheme {
	switch by {
	case ByHeader:
		return nil
	case ByKey:
		return map[string]*huma.SecurityScheme{
			"agentKey":       {Type: "apiKey", In: "header", Name: agentHeader, Description: "A key that was issued to the agent."},
			"agentKeyBearer": {Type: "http", Scheme: "bearer", Description: "The same key. It counts before that of " + agentHeader + "."},
		}
	default:
		return map[string]*huma.SecurityScheme{
			"agentToken": {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "A token of this platform's issuer. The agent is its subject."},
		}
	}
}

// Document is the OpenAPI 3.1 document of all routes, as JSON, for agents that are
// identified in that way.
func Document(agents AgentIdentity, rules *schema.AskAHumanRules) ([]byte, error) {
	s := newServer(server{agents: agents, rules: rules})
	registerAgents(s, nil, nil)
	registerPeople(s, nil)
	openAPI := s.OpenAPI()
	openAPI.Tags = []*huma.Tag{
		{Name: "agents", Description: "What AI agents call."},
		{Name: "people", Description: "What people's apps call."},
	}
	openAPI.Components.SecuritySchemes = agents.securitySchemes()
	return s.Document()
}

// describe is an operation as huma has it.
func (s *server) describe(op operation) huma.Operation {
	route, _ := s.Route(op.method, op.path)
	described := huma.Operation{
		OperationID:   op.id,
		Method:        op.method,
		Path:          op.path,
		Description:   op.description,
		DefaultStatus: op.status,
		Metadata:      map[string]any{needsPerson: op.needsPerson},
		Responses:     map[string]*huma.Response{},
	}
	codes := append([]code{codeValidation, codeServerError}, op.codes...)
	switch route.Caller {
	case schema.CallerAgent:
		described.Tags = []string{"agents"}
		if s.agents == ByHeader {
			described.Parameters = append(described.Parameters, httpapi.HeaderParameter(agentHeader, true, askahuman.MaxAgentIDLength,
				"Who asks: an id of the agent's own choice.", "my-agent"))
		} else {
			for _, name := range slices.Sorted(maps.Keys(s.agents.securitySchemes())) {
				described.Security = append(described.Security, map[string][]string{name: {}})
			}
			codes = append(codes, codeUnauthorized)
		}
	case schema.CallerPerson:
		described.Tags = []string{"people"}
		described.Parameters = append(described.Parameters, httpapi.HeaderParameter(fingerprintHeader, op.needsPerson, askahuman.MaxFingerprintLength,
			"Tells anonymous people apart. Only a keyed hash of it is stored.", "c1b9e0c5a2"))
	}
	var headers map[string]*huma.Header
	if limit, ok := s.platform.RateLimit(route.RateLimit); ok {
		described.Description += fmt.Sprintf(" At most %d calls in %s for each %s", limit.Requests, limit.Window, limit.Per)
		if limit.AddressRequests > 0 {
			described.Description += fmt.Sprintf(", or for each address without %s; and %d for all of an address together", fingerprintHeader, limit.AddressRequests)
		}
		described.Description += ". A call that is refused for its content counts, too."
		headers = map[string]*huma.Header{
			"X-RateLimit-Limit":     httpapi.ResponseHeader(huma.TypeInteger, "How many calls a window allows."),
			"X-RateLimit-Remaining": httpapi.ResponseHeader(huma.TypeInteger, "How many of them are left."),
			"X-RateLimit-Reset":     httpapi.ResponseHeader(huma.TypeInteger, "When the next window begins, in Unix seconds."),
		}
	}
	described.Responses[strconv.Itoa(op.status)] = &huma.Response{
		Description: http.StatusText(op.status), Headers: headers, Content: op.content,
	}
	if route.Caller == schema.CallerAnyone {
		s.describeErrors(&described, codes, headers)
		return described
	}
	s.describeErrors(&described, append(codes, codeRateLimited), headers)
	// SERVER_ERROR has two statuses.
	described.Responses[strconv.Itoa(http.StatusServiceUnavailable)] = &huma.Response{
		Description: "SERVER_ERROR: no answer in time", Headers: withRetryAfter(headers),
		Content: httpapi.JSON(s.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[ErrorResponse](), true, ""), ErrorResponse{ErrorBody{Code: codeServerError, Message: unanswered}}),
	}
	return described
}

// describeErrors adds a response for each status of the codes.
func (s *server) describeErrors(described *huma.Operation, codes []code, headers map[string]*huma.Header) {
	form := s.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[ErrorResponse](), true, "")
	slices.SortFunc(codes, func(a, b code) int { return a.status() - b.status() })
	for _, c := range codes {
		response := &huma.Response{
			Description: string(c),
			Headers:     headers,
			Content:     httpapi.JSON(form, ErrorResponse{s.exampleError(c)}),
		}
		if c == codeRateLimited || c == codeRequestInProgress {
			response.Headers = withRetryAfter(headers)
		}
		described.Responses[strconv.Itoa(c.status())] = response
	}
}

func withRetryAfter(headers map[string]*huma.Header) map[string]*huma.Header {
	all := map[string]*huma.Header{"Retry-After": httpapi.ResponseHeader(huma.TypeInteger, "When to try again, in seconds.")}
	maps.Copy(all, headers)
	return all
}

// exampleError is an example of an error of that code.
func (s *server) exampleError(c code) ErrorBody {
	body := ErrorBody{Code: c}
	switch c {
	case codeValidation:
		least, most := askahuman.MinPromptLength, askahuman.MaxPromptLength
		problem := askahuman.LengthProblem("prompt", 4, "character", &least, &most)
		body.Message, body.Details = problem.Message, details([]askahuman.Problem{problem})
	case codeUnauthorized:
		body.Message = kit.ErrNoToken.Error()
		if s.agents == ByKey {
			body.Message = askahuman.ErrUnknownAgentKey.Error()
		}
	case codeQuotaExceeded:
		body.Message = quotaExceeded(s.rules.OpenQuestions)
	case codeQuestionNotFound:
		body.Message = askahuman.ErrQuestionNotFound.Error()
	case codeSubscriptionNotFound:
		body.Message = askahuman.ErrSubscriptionNotFound.Error()
	case codeAlreadyAnswered:
		body.Message = askahuman.ErrAlreadyAnswered.Error()
	case codeQuestionClosed:
		body.Message = askahuman.ErrQuestionClosed.Error()
	case codeRateLimited:
		body.Message = "more than 60 calls in this window: try again after 2026-02-02T10:00:00Z"
	default:
		body.Message = "something went wrong on this side: try again; if it lasts, tell the operator when it happened"
	}
	return body
}
