package openapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// ofGateway says in the document which requests no function answers.
const ofGateway = ` Amazon API Gateway answers some requests itself, with {"message": "..."} and the name of the status: ` +
	`401 without a valid token where one is needed, 404 where there is no such route, 413 when the body has more than 10 MB, or more than AWS Lambda takes, ` +
	`429 when all callers together send too many requests, 431 when the request line and the headers have more than 10,240 bytes, ` +
	`400 when it cannot read the request, 500 when the function fails, and 503 when the function cannot take the request or takes too long.`

// describeGateway adds to an operation the errors of Amazon API Gateway that a caller has to
// expect. Where the platform has an error of the same status, the response has both forms.
func (d *document) describeGateway(operation *huma.Operation, route schema.Route) {
	statuses := []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if d.platform.API.NeedsToken(route.Caller) || route.Caller.Authorizer != "" {
		statuses = append(statuses, http.StatusUnauthorized)
	}
	if route.Caller.Authorizer != "" || route.Caller.IAM {
		statuses = append(statuses, http.StatusForbidden)
	}
	if hasBody(operation) {
		statuses = append(statuses, http.StatusRequestEntityTooLarge)
	}
	form := d.forms.Schema(reflect.TypeFor[problem.GatewayError](), true, "")
	for _, status := range statuses {
		name := http.StatusText(status)
		response := operation.Responses[strconv.Itoa(status)]
		if response == nil {
			operation.Responses[strconv.Itoa(status)] = &huma.Response{
				Description: name + ", from Amazon API Gateway",
				Content:     content(form, problem.GatewayError{Message: name}),
			}
			continue
		}
		response.Description += fmt.Sprintf("; from Amazon API Gateway {\"message\":%q}", name)
		if content := response.Content["application/json"]; content != nil && content.Schema.Ref != form.Ref {
			forms := []*Form{content.Schema, form}
			content.Schema = &Form{OneOf: forms}
			if own := d.forms.SchemaFromRef(forms[0].Ref); own != nil && own.Properties["message"] != nil {
				// An error of the platform has the gateway's form, too.
				content.Schema = &Form{AnyOf: forms}
			}
		}
	}
}
