package converse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema/model"
)

// Question asks a model for an answer in JSON.
type Question struct {
	// System says what the model has to do, that the message is data and no instruction, and what form the reply must
	// have.
	System string
	// Data becomes the message: one line of JSON, with <, > and & escaped, too. So no text in it can end its string or
	// write a tag.
	Data any
	// MaxTokens bounds the reply, in tokens of the model.
	MaxTokens int32
}

// Ask asks a question at the lowest temperature, and reads the reply as [Decode] does. The model has to take a system
// prompt and a temperature. Ask returns the errors of [Client.Converse] and of [Decode].
func (c *Client) Ask(ctx context.Context, q Question, reply any) error {
	message, err := json.Marshal(q.Data)
	if err != nil {
		return fmt.Errorf("writing the question as JSON: %w", err)
	}
	var coldest float32
	text, err := c.Converse(ctx, Request{System: q.System, User: string(message), MaxTokens: q.MaxTokens,
		Temperature: &coldest})
	if err != nil {
		return err
	}
	return Decode(text, reply)
}

// Decode reads text into the struct that reply points to. The text must be one JSON object, with nothing around it,
// that has every field of the struct once, by its exact name, no other member and no null. The same holds for objects
// in it. The error is a [*model.Error] that says [model.Unusable] and quotes nothing of the text; the struct's content
// is then undefined.
func Decode(text string, reply any) error {
	if json.Unmarshal([]byte(text), reply) != nil {
		return model.Errorf(model.Unusable, "the reply is not one JSON object of the required form")
	}
	if err := checkMembers(json.NewDecoder(strings.NewReader(text)), reflect.TypeOf(reply).Elem()); err != nil {
		return model.Errorf(model.Unusable, "the reply does not fit: %w", err)
	}
	return nil
}

// checkMembers reads the next value, which [json.Unmarshal] has taken for one of the type, and
// refuses what that lets pass: members that are missing, unknown or there twice, names in other
// letters, and null.
func checkMembers(decoder *json.Decoder, t reflect.Type) error {
	token, err := decoder.Token()
	switch {
	case err != nil:
		return err
	case token == nil:
		return errors.New("it has null")
	case t.Kind() == reflect.Slice:
		for decoder.More() {
			if err := checkMembers(decoder, t.Elem()); err != nil {
				return err
			}
		}
		_, err = decoder.Token()
	case t.Kind() == reflect.Struct:
		missing := map[string]reflect.Type{}
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			missing[name] = field.Type
		}
		for decoder.More() {
			token, _ := decoder.Token()
			name, _ := token.(string)
			member, isMissing := missing[name]
			if !isMissing {
				return errors.New("it has a member of another name, or one twice")
			}
			delete(missing, name)
			if err := checkMembers(decoder, member); err != nil {
				return err
			}
		}
		for name := range missing {
			return fmt.Errorf("it lacks the member %q", name)
		}
		_, err = decoder.Token()
	}
	return err
}
