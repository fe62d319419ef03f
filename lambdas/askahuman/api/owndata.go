package api

import (
	"context"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
)

// What an operator sends for a person: in a header, because paths are logged.
type personInput struct {
	Fingerprint string `header:"X-Fingerprint" required:"true" minLength:"1" maxLength:"512" doc:"The person's id, as they tell it: the page shows it in its settings." example:"c1b9e0c5a2"`
}

type dataOfInput struct {
	personInput
	cursorInput
}

const (
	exports = "Returns all that the tables keep of the person, by pages: stats and the last notification, then " +
		"answers, then subscriptions. A token has a digest in its place. Counts of requests, which end with their " +
		"window, reports, which do not name who reported, and which operator decided are not there. An answer of a " +
		"moment ago may be missing."
	deletes = "Deletes what is kept of the person: points, badges, streak, name, places on leaderboards, " +
		"subscriptions and the last notification. Answers stay for their agents, and nothing in them " +
		"tells whose they are. A block and the reset of a name stay. One request deletes 100 answers and " +
		"subscriptions: send it again while the answer has more. It may be repeated at any time."
)

// registerData declares the routes of what is kept of a person.
func (h *HumanAPI) registerData(s *httpapi.Server) {
	httpapi.Serve(s, httpapi.Operation{ID: "exportData", NeedsCaller: true, Description: exports},
		func(ctx context.Context, input *cursorInput) (service.PersonData, error) {
			return h.Service.PersonData(ctx, caller(ctx), input.Cursor)
		})
	httpapi.Serve(s, httpapi.Operation{ID: "deleteData", NeedsCaller: true, Description: deletes},
		func(ctx context.Context, _ *struct{}) (service.Deleted, error) {
			return h.Service.DeletePerson(ctx, caller(ctx))
		})
}

// registerData declares the routes by which operators do the same for a person who asks.
func (o *OperatorAPI) registerData(s *httpapi.Server) {
	httpapi.Serve(s, httpapi.Operation{ID: "exportDataOf", Description: exports},
		func(ctx context.Context, input *dataOfInput) (service.PersonData, error) {
			person, err := o.Hasher.Person(ctx, input.Fingerprint)
			if err != nil {
				return service.PersonData{}, err
			}
			return o.Service.PersonData(ctx, person, input.Cursor)
		})
	httpapi.Serve(s, httpapi.Operation{ID: "deleteDataOf", Description: deletes},
		func(ctx context.Context, input *personInput) (service.Deleted, error) {
			person, err := o.Hasher.Person(ctx, input.Fingerprint)
			if err != nil {
				return service.Deleted{}, err
			}
			return o.Service.DeletePerson(ctx, person)
		})
}
