package wire

import (
	"bytes"
	"encoding/json"
)

// Extended is embedded in forms to which a team can add attributes ([github.com/onesynth-cdk/onesynth/schema.Extra]).
// Package dynamo fills it in when it reads an item, and does not write it; [Inline] turns it into fields of the form.
// It is empty if a team has added nothing that the API shows.
type Extended struct {
	Extra Extra `json:"$extra,omitempty" dynamodbav:"$extra,omitempty" attribute:"-" hidden:"true"`
}

// ExtraName is the name of the field that holds [Extended] on its way from a table to the wire. No attribute has it.
const ExtraName = "$extra"

// Extra has the attributes of an item that a team has added and that the API shows, as a JSON object. It is empty
// without any.
type Extra string

// MarshalJSON returns the object.
func (e Extra) MarshalJSON() ([]byte, error) { return []byte(e), nil }

// UnmarshalJSON reads the object again, from a kept answer.
func (e *Extra) UnmarshalJSON(text []byte) error {
	*e = Extra(text)
	return nil
}

// Inline puts the fields of each [Extra] in JSON beside those of the form that has it.
func Inline(body []byte) []byte {
	const beginning = `"` + ExtraName + `":`
	if !bytes.Contains(body, []byte(beginning)) {
		return body
	}
	var inlined []byte
	for {
		// In a text, the quotes would be escaped.
		before, rest, found := bytes.Cut(body, []byte(beginning))
		if inlined = append(inlined, before...); !found {
			return inlined
		}
		var extra json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&extra); err != nil || len(extra) < 2 {
			return append(append(inlined, beginning...), rest...)
		}
		inlined = append(inlined, extra[1:len(extra)-1]...)
		body = rest[len(extra):]
	}
}
