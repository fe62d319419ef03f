package setup

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/dynamodb"
)

// Moderation returns the moderation on a store. The variable VOTES_TO_APPROVE is how many votes
// approve a submission, at least 1 and by default [lingible.DefaultVotesToApprove].
func Moderation(environment kit.Environment, users *lingible.Users, store *dynamodb.Store, language lingible.Language) (*lingible.Moderation, error) {
	moderation := &lingible.Moderation{
		Users: users, Store: store, Language: language, VotesToApprove: lingible.DefaultVotesToApprove, Calendar: users.Calendar,
		Count: Count(environment.Metrics), Log: environment.Log,
	}
	const variable = "VOTES_TO_APPROVE"
	if environment.Getenv(variable) == "" {
		return moderation, nil
	}
	var err error
	moderation.VotesToApprove, err = environment.Int(variable, 1)
	return moderation, err
}

// Validator returns the moderation of a function of schema.Lingible that validates submissions.
func Validator(environment kit.Environment, function string) (*lingible.Moderation, error) {
	users, store, err := Users(environment, function)
	if err != nil {
		return nil, err
	}
	language, _, err := Language(environment, store)
	if err != nil {
		return nil, err
	}
	return Moderation(environment, users, store, language)
}
