package api

import (
	"context"
	"errors"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// ScenarioList has scenarios.
type ScenarioList struct {
	Scenarios []clarity.Scenario `json:"scenarios" nullable:"false" doc:"The easiest first."`
}

type (
	scenariosInput struct {
		Difficulty clarity.Difficulty `query:"difficulty" enum:",beginner,intermediate,advanced" doc:"Only scenarios of this difficulty; all by default."`
	}
	scenarioInput struct {
		ID string `path:"id" doc:"The scenario's id." example:"city-bike-lanes"`
	}
)

func (s *server) registerOthers() {
	httpapi.Serve(s.Server, httpapi.Operation{ID: "listScenarios",
		Description: "Returns all active scenarios.",
	}, func(ctx context.Context, input *scenariosInput) (ScenarioList, error) {
		found, err := s.api.Service.Scenarios.Active(ctx, input.Difficulty)
		return ScenarioList{append([]clarity.Scenario{}, found...)}, err
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readScenario",
		Description: "Returns a scenario, also one that is not active any more.",
		Errors:      []error{clarity.ErrScenarioNotFound},
	}, func(ctx context.Context, input *scenarioInput) (clarity.Scenario, error) {
		scenario, err := s.api.Service.Scenarios.Scenario(ctx, input.ID)
		return scenario, s.orNone(ctx, err)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readProfile",
		Description: "Returns the caller's latest profile. It follows the evaluation of an attempt within a moment.",
		Errors:      []error{clarity.ErrNoProfile},
	}, func(ctx context.Context, _ *struct{}) (clarity.Profile, error) {
		return s.api.Service.LatestProfile(ctx, httpapi.CallerFrom(ctx).ID)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "listProfiles",
		Description: "Returns a page of the caller's profiles, one for each evaluated attempt.",
	}, func(ctx context.Context, page *Page) (clarity.ProfileList, error) {
		return s.api.Service.Profiles(ctx, httpapi.CallerFrom(ctx).ID, page.Limit, page.NextToken)
	})

	httpapi.RegisterDocument(s.Server, httpapi.Operation{ID: "readDocument",
		Description: "Returns the description of all routes.",
	}, Document)
}

// orNone makes [clarity.ErrScenarioNotFound] say so if no scenario is active at all.
func (s *server) orNone(ctx context.Context, err error) error {
	if !errors.Is(err, clarity.ErrScenarioNotFound) {
		return err
	}
	if list, failed := s.api.Service.Scenarios.Active(ctx, ""); failed == nil && len(list) == 0 {
		return clarity.ErrNoScenarios
	}
	return err
}
