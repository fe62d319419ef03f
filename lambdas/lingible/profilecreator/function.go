package main

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// confirmed is the source of the event of a sign-up. Other events of the trigger, such as
// PostConfirmation_ConfirmForgotPassword, are about users who are there ("Post confirmation Lambda
// trigger", Amazon Cognito developer guide).
const confirmed = "PostConfirmation_ConfirmSignUp"

// function is the profile creator.
type function struct {
	service *service.Service
	log     *slog.Logger
}

// handle creates the profile of a confirmed user, and returns the event, as Amazon Cognito expects.
// A failure is no error of the sign-up, which is confirmed already: the user's first request creates
// the profile.
func (f *function) handle(ctx context.Context,
	event events.CognitoEventUserPoolsPostConfirmation) (events.CognitoEventUserPoolsPostConfirmation, error) {
	id := event.Request.UserAttributes["sub"]
	if event.TriggerSource != confirmed || id == "" {
		return event, nil
	}
	if err := f.service.CreateUser(ctx, service.Caller{ID: id,
		Email: event.Request.UserAttributes["email"]}); err != nil {
		f.log.ErrorContext(ctx, "a confirmed user has no profile yet: the first request creates it", "error",
			err.Error())
	}
	return event, nil
}
