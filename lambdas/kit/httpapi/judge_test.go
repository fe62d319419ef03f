package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Parcel states every rule that a form can.
type Parcel struct {
	Label   string          `json:"label" minLength:"2" maxLength:"4"`
	Code    string          `json:"code,omitempty" pattern:"^[A-Z]+$" dependentRequired:"day"`
	Day     string          `json:"day,omitempty" format:"date"`
	Grams   *int            `json:"grams,omitempty" nullable:"true" minimum:"1" maximum:"500"`
	Speed   *string         `json:"speed,omitempty" nullable:"true" enum:"slow,fast"`
	Stamps  []string        `json:"stamps,omitempty" minItems:"1" maxItems:"2" uniqueItems:"true" minLength:"3"`
	Sender  ParcelAddress   `json:"sender"`
	Through []ParcelAddress `json:"through,omitempty"`
}

// ParcelAddress is a form within a form.
type ParcelAddress struct {
	Town string `json:"town,omitempty" maxLength:"5"`
}

type parcelParams struct {
	Days     int      `query:"days" minimum:"1"`
	Colours  []string `query:"colours" enum:"red,blue"`
	Reminder string   `header:"X-Reminder" maxLength:"3"`
}

// The constraint of an error does not depend on its words.
func TestConstraints(t *testing.T) {
	t.Parallel()
	var found []validate.Problem
	platform := one("POST", "/parcels")
	platform.API.Errors.Body = func(f problem.Failure) any {
		if wrong, ok := f.Err.(*validate.Error); ok {
			found = wrong.Problems
		}
		return struct{}{}
	}
	s := httpapi.New(httpapi.Config{Platform: platform})
	httpapi.Bind(s, schema.Operation[parcelParams, Parcel, none]{ID: "do"},
		func(context.Context, httpapi.Request[parcelParams, Parcel]) (none, error) { return none{}, nil })
	handler := s.Handler()
	one, two, three, four, five, most := 1, 2, 3, 4, 5, 500
	for name, test := range map[string]struct {
		line, body, header string
		field              string
		want               validate.Constraint
	}{
		"Required": {body: `{"sender":{}}`, field: "label", want: validate.Constraint{Rule: validate.RuleRequired}},
		"Type": {body: `{"label":1,"sender":{}}`, field: "label",
			want: validate.Constraint{Rule: validate.RuleType, Type: "string", Got: 1.0}},
		"TypeObject": {body: `{"label":"ab","sender":[]}`, field: "sender",
			want: validate.Constraint{Rule: validate.RuleType, Type: "object", Got: []any{}}},
		"TypeBody": {body: `7`, field: "body",
			want: validate.Constraint{Rule: validate.RuleType, Type: "object", Got: 7.0}},
		"Short": {body: `{"label":"a","sender":{}}`, field: "label",
			want: validate.Constraint{Rule: validate.RuleLength, Type: "string", Min: &two, Max: &four, Got: "a"}},
		"Long": {body: `{"label":"abcde","sender":{}}`, field: "label",
			want: validate.Constraint{Rule: validate.RuleLength, Type: "string", Min: &two, Max: &four, Got: "abcde"}},
		"Dependent": {body: `{"label":"ab","sender":{},"code":"A"}`, field: "day",
			want: validate.Constraint{Rule: validate.RuleRequired}},
		"Pattern": {body: `{"label":"ab","sender":{},"code":"a","day":"2026-02-03"}`, field: "code",
			want: validate.Constraint{Rule: validate.RulePattern, Type: "string", Got: "a",
				Wanted: "a text that matches ^[A-Z]+$"}},
		"Format": {body: `{"label":"ab","sender":{},"day":"today"}`, field: "day",
			want: validate.Constraint{Rule: validate.RuleFormat}},
		"Low": {body: `{"label":"ab","sender":{},"grams":0}`, field: "grams",
			want: validate.Constraint{Rule: validate.RuleRange, Type: "integer", Min: &one, Max: &most, Got: 0.0}},
		"High": {body: `{"label":"ab","sender":{},"grams":501}`, field: "grams",
			want: validate.Constraint{Rule: validate.RuleRange, Type: "integer", Min: &one, Max: &most, Got: 501.0}},
		"Enum": {body: `{"label":"ab","sender":{},"speed":"x"}`, field: "speed",
			want: validate.Constraint{Rule: validate.RuleEnum, Type: "string", Allowed: []string{"slow", "fast"},
				Got: "x"}},
		"Few": {body: `{"label":"ab","sender":{},"stamps":[]}`, field: "stamps",
			want: validate.Constraint{Rule: validate.RuleLength, Type: "array", Min: &one, Max: &two, Got: []any{}}},
		"Twice": {body: `{"label":"ab","sender":{},"stamps":["abc","abc"]}`, field: "stamps",
			want: validate.Constraint{Rule: validate.RuleUnique, Type: "array", Got: []any{"abc", "abc"}}},
		"Entry": {body: `{"label":"ab","sender":{},"stamps":["abc","d"]}`, field: "stamps[1]",
			want: validate.Constraint{Rule: validate.RuleLength, Type: "string", Min: &three, Got: "d"}},
		"Inside": {body: `{"label":"ab","sender":{"town":"London"}}`, field: "sender.town",
			want: validate.Constraint{Rule: validate.RuleLength, Type: "string", Max: &five, Got: "London"}},
		"InsideList": {body: `{"label":"ab","sender":{},"through":[{},{"town":"London"}]}`, field: "through[1].town",
			want: validate.Constraint{Rule: validate.RuleLength, Type: "string", Max: &five, Got: "London"}},
		"Query": {line: "?days=0", body: `{"label":"ab","sender":{}}`, field: "days",
			want: validate.Constraint{Rule: validate.RuleRange, Type: "integer", Min: &one, Got: int64(0)}},
		"QueryWord": {line: "?days=x", body: `{"label":"ab","sender":{}}`, field: "days",
			want: validate.Constraint{Rule: validate.RuleType, Type: "integer", Got: "x"}},
		"QueryEntry": {line: "?colours=red,green", body: `{"label":"ab","sender":{}}`, field: "colours[1]",
			want: validate.Constraint{Rule: validate.RuleEnum, Type: "string", Allowed: []string{"red", "blue"},
				Got: "green"}},
		"Header": {header: "X-Reminder: soon", body: `{"label":"ab","sender":{}}`, field: "X-Reminder",
			want: validate.Constraint{Rule: validate.RuleLength, Type: "string", Max: &three, Got: "soon"}},
		"MediaType": {header: "Content-Type: text/plain", body: `x`, field: "Content-Type",
			want: validate.Constraint{Rule: validate.RuleEnum, Allowed: []string{"application/json"}}},
		"Unreadable": {body: `{`, field: "body"},
	} {
		// One after the other: they share what the server found last.
		found = nil
		headers := []string{"Content-Type: application/json"}
		if test.header != "" {
			headers = append(headers[:0:0], test.header)
		}
		if w := serve(handler, "POST /parcels"+test.line, test.body, headers...); w.Code < http.StatusBadRequest {
			t.Errorf("%s: got %d", name, w.Code)
			continue
		}
		if len(found) != 1 || found[0].Field != test.field || found[0].Message == "" {
			t.Errorf("%s: got %+v; want one problem of %s", name, found, test.field)
			continue
		}
		if diff := cmp.Diff(test.want, found[0].Constraint); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
