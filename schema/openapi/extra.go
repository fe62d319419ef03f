package openapi

import (
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/schema"
)

// withExtra is an OpenAPI document whose forms have the fields that a team has added to records, and that the API
// shows.
func withExtra(document []byte, platform schema.Platform) ([]byte, error) {
	if len(platform.Extra) == 0 {
		return document, nil
	}
	var all map[string]any
	if err := json.Unmarshal(document, &all); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	components, _ := all["components"].(map[string]any)
	forms, _ := components["schemas"].(map[string]any)
	for _, e := range platform.Extra {
		record, _ := platform.Record(e.Record)
		for _, name := range record.FormNames() {
			form, _ := forms[name].(map[string]any)
			fields, ok := form["properties"].(map[string]any)
			for _, a := range e.Attributes {
				if a.Shown && !ok {
					return nil, fmt.Errorf("the OpenAPI document has no form %q, in which the API shows the attribute "+
						"%q: name it in Forms of the Record %s", name, a.Name, e.Record)
				}
				if a.Shown {
					fields[a.Name] = formOfExtra(a)
				}
			}
		}
	}
	return json.Marshal(all)
}

// formOfExtra is the form of an attribute that a team has added. Absent attributes are absent in answers.
func formOfExtra(a schema.ExtraAttribute) *Form {
	form := &Form{Description: a.Description}
	switch a.Type {
	case schema.Boolean:
		form.Type = huma.TypeBoolean
	case schema.Number:
		form.Type, form.Minimum, form.Maximum = huma.TypeNumber, a.Minimum, a.Maximum
	case schema.StringSet, schema.NumberSet:
		form.Type, form.MaxItems, form.UniqueItems = List, &a.MaxLength, true
		form.Items = &Form{Type: map[schema.Type]string{
			schema.StringSet: Text, schema.NumberSet: huma.TypeNumber}[a.Type]}
	default:
		form.Type, form.MaxLength = Text, &a.MaxLength
	}
	return form
}
