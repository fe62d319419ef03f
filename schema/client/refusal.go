package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// Refusal is an answer that is no success of the operation. [errors.Is] matches it with the operation's own errors,
// such as ErrTaskNotFound: the status has to be the same, and the code or the message.
type Refusal struct {
	Reply
	// Code is what the platform calls the error, for programs. Empty: its errors have no code.
	Code string
	// Message says what is wrong, for people. Empty: Problems say it, or the answer has no text.
	Message string
	// Problems are the fields of the request that are wrong, and why. Nil: the API found none.
	Problems []Problem
}

// Problem is what is wrong with one field of a request.
type Problem struct {
	// Field is its name, "body" for the whole. Index is that of an entry of a list; nil: the field is meant.
	Field string `json:"field"`
	Index *int   `json:"index"`
	// Message says what was got and what is allowed.
	Message string `json:"message"`
	// Allowed are the only values that are. Nil: there are others, or the platform does not list them.
	Allowed []string `json:"allowed"`
}

// Error returns the status, and what the API says is wrong.
func (r *Refusal) Error() string {
	var all []string
	for _, p := range r.Problems {
		all = append(all, strings.TrimSpace(p.Field+" "+p.Message))
	}
	return fmt.Sprintf("%s: %d %s", r.Request, r.Status,
		cmp.Or(r.Message, strings.Join(all, "; "), http.StatusText(r.Status)))
}

// Is reports whether a target is the [problem.Problem] that the API answered with.
func (r *Refusal) Is(target error) bool {
	told, ok := target.(problem.Problem)
	if !ok {
		return false
	}
	p := told.Problem()
	return p.Status == r.Status && (p.Code != "" && p.Code == r.Code || target.Error() == r.Message)
}

// RefusalOf reads an answer that is an error.
func RefusalOf(reply Reply) *Refusal {
	r := &Refusal{Reply: reply}
	var body map[string]any
	if json.Unmarshal(reply.Body, &body) == nil { // what is no JSON has no texts of the platform
		r.read(body)
	}
	return r
}

// read finds the texts of an error. A platform chooses the form of its errors: the fields may be those of a member.
func (r *Refusal) read(body map[string]any) {
	for name, value := range body {
		switch name {
		case "code", "error_code":
			r.Code, _ = value.(string)
		case "message", "error", "detail", "details", "problems":
			switch value := value.(type) {
			case string:
				r.Message = value
			case map[string]any:
				r.read(value)
			case []any:
				list, _ := json.Marshal(value) // it was read from JSON
				_ = json.Unmarshal(list, &r.Problems)
			}
		}
	}
}
