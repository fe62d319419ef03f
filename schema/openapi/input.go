package openapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Input is the form of an operation's input.
type Input struct {
	Forms
	Parameters []Parameter
	// Body is the form of the body; nil: there is none. BodyRequired says that each request has it.
	Body         *Form
	BodyRequired bool

	// content is the form of the body as the operation refers to it.
	content *Form
}

// Parameter is the form of a parameter.
type Parameter struct {
	*huma.Param
	// Field is its field in the type that [schema.Description.Params] returns.
	Field reflect.StructField
}

// InputOf returns the form of an operation's input, of a platform that speaks HTTP so.
func InputOf(op schema.Description, api schema.API) *Input {
	return inputOf(op, NewForms(componentPrefix, api.Forms, api.Strict))
}

func inputOf(op schema.Description, forms Forms) *Input {
	in := &Input{Forms: forms}
	for _, each := range op.Parameters() {
		form := huma.SchemaFromField(in, each.Field, "")
		form.Nullable = form.Nullable && each.Field.Type.Kind() != reflect.Pointer
		p := &huma.Param{Name: each.Name, In: each.Place, Description: form.Description, Schema: form,
			Required: each.Required}
		if each.Place == "query" {
			p.Explode = &each.Explode
		}
		in.Parameters = append(in.Parameters, Parameter{p, each.Field})
	}
	if body := op.Body(); body != nil {
		field := reflect.StructField{Name: "Body", Type: body}
		in.content = huma.SchemaFromField(in, field, op.ID+"Body")
		in.Body, in.BodyRequired = Resolved(in, in.content), body.Kind() != reflect.Pointer
	}
	return in
}
