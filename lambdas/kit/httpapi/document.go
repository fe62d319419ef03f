package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// Document returns the OpenAPI 3.1 document of the operations registered so far, as JSON.
func (s *Server) Document() ([]byte, error) {
	all := s.operations()
	var inputs []*inputForm
	for _, each := range s.registered {
		inputs = append(inputs, all.describe(each))
	}
	document := all.document
	if s.config.Complete != nil {
		s.config.Complete(document)
	}
	document.Info.Description += ofGateway
	document.Components.SecuritySchemes = map[string]*huma.SecurityScheme{}
	for _, identity := range s.config.Callers {
		maps.Copy(document.Components.SecuritySchemes, identity.Schemes)
	}
	schemas := document.Components.Schemas.Map()
	for _, form := range schemas {
		allowNull(form)
	}
	for i, in := range inputs {
		if in.form != nil && len(in.form.Properties) > 0 {
			in.operation.RequestBody.Description = "Fields that this form does not name are " +
				map[bool]string{true: "refused.", false: "ignored."}[s.config.Strict]
		}
		all.describeGateway(in.operation)
		s.precise(s.registered[i].operation, in)
	}
	body, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	return body, nil
}

// allowNull completes huma's description of fields that may be null: by JSON Schema ("Validation",
// 6.1.2) an enum without null does not allow it, for any type.
func allowNull(form *huma.Schema) {
	for _, field := range form.Properties {
		if field.Nullable && len(field.Enum) > 0 && !slices.Contains(field.Enum, nil) {
			field.Enum = append(field.Enum, nil)
		}
	}
}

// OrNull makes a field of a form nullable in the document, and describes it. It is for a field that is a reference
// ($ref), of which huma supports neither, in [Config.Complete].
func OrNull(document *huma.OpenAPI, form, field, description string) {
	fields := document.Components.Schemas.Map()[form].Properties
	fields[field] = &huma.Schema{OneOf: []*huma.Schema{fields[field], {Type: "null"}}, Description: description}
}

// JSON returns JSON content of that form.
func JSON(form *huma.Schema, example any) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: form, Example: example}}
}

// HeaderParameter describes a request header of 1 to longest characters, without control characters. If longest is 0,
// there is no limit.
func HeaderParameter(name string, required bool, longest int, description, example string) *huma.Param {
	least := 1
	form := &huma.Schema{Type: huma.TypeString, MinLength: &least, Pattern: noControl}
	if longest > 0 {
		form.MaxLength = &longest
	}
	return &huma.Param{Name: name, In: "header", Required: required, Description: description, Example: example,
		Schema: form}
}

// ResponseHeader describes a response header; kind is [huma.TypeString] or
// [huma.TypeInteger].
func ResponseHeader(kind, description string) *huma.Header {
	return &huma.Header{Description: description, Schema: &huma.Schema{Type: kind}}
}
