// Package setup wires what several functions of Lingible have.
package setup

import (
	"cmp"
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// DefaultTimeZone is the zone of the days of limits, unless TIME_ZONE names another one.
const DefaultTimeZone = "America/Chicago"

// Calendar returns the calendar in the zone that the variable TIME_ZONE names, by its IANA name.
func Calendar(environment kit.Environment) (lingible.Calendar, error) {
	name := cmp.Or(environment.Getenv("TIME_ZONE"), DefaultTimeZone)
	zone, err := validate.Zone(name)
	if err != nil {
		return lingible.Calendar{}, fmt.Errorf("TIME_ZONE is %q: write the IANA name of a time zone, such as %s", name,
			DefaultTimeZone)
	}
	return lingible.Calendar{Zone: zone}, nil
}

// Service returns the service of a function of the platform that needs no language.
func Service(environment kit.Environment, function string) (*service.Service, error) {
	db, err := dynamo.Open(environment, lingible.Platform(), function)
	if err != nil {
		return nil, err
	}
	calendar, err := Calendar(environment)
	if err != nil {
		return nil, err
	}
	return &service.Service{DB: db, Calendar: calendar, Metrics: environment.Metrics, Log: environment.Log}, nil
}

// Speaking returns the service of a function of the platform with its language and the lexicon of the latest export.
func Speaking(environment kit.Environment, function string) (*service.Service, error) {
	s, err := Service(environment, function)
	if err != nil {
		return nil, err
	}
	if s.Language, s.Lexicon, err = Language(environment, s.DB); err != nil {
		return nil, err
	}
	s.VotesToApprove, err = VotesToApprove(environment)
	return s, err
}

// VotesToApprove is how many votes approve a submission, as the variable of that name says: at least 1 and by default
// [lingible.DefaultVotesToApprove].
func VotesToApprove(environment kit.Environment) (int, error) {
	const variable = "VOTES_TO_APPROVE"
	if environment.Getenv(variable) == "" {
		return lingible.DefaultVotesToApprove, nil
	}
	return environment.Int(variable, 1)
}
