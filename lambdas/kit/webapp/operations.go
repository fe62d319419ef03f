package webapp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Operations returns a JavaScript module that exports the operations of an OpenAPI document, by their ids, for the
// function call of the module requests.js. A tag selects the operations that have it; "" selects all. Values of a path
// and of a query are named as in the document.
func Operations(document []byte, tag string) ([]byte, error) {
	var api struct {
		Paths map[string]map[string]struct {
			ID         string `json:"operationId"`
			Tags       []string
			Parameters []struct{ In, Name string }
		}
	}
	if err := json.Unmarshal(document, &api); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	operations := map[string]string{}
	for path, methods := range api.Paths {
		for method, operation := range methods {
			if tag != "" && !slices.Contains(operation.Tags, tag) {
				continue
			}
			var query []string
			for _, parameter := range operation.Parameters {
				if parameter.In == "query" {
					query = append(query, fmt.Sprintf("'%s'", parameter.Name))
				}
			}
			text := fmt.Sprintf("{method: '%s', path: '%s'", strings.ToUpper(method), path)
			if len(query) > 0 {
				text += ", query: [" + strings.Join(query, ", ") + "]"
			}
			operations[operation.ID] = text + "}"
		}
	}
	if len(operations) == 0 {
		return nil, fmt.Errorf("the OpenAPI document has no operation with the tag %s", tag)
	}
	module := bytes.NewBufferString("// The operations of the API, made of its OpenAPI document.\n\n")
	for _, id := range slices.Sorted(maps.Keys(operations)) {
		fmt.Fprintf(module, "export const %s = %s;\n", id, operations[id])
	}
	return module.Bytes(), nil
}
