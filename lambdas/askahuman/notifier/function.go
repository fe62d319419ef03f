package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/fcm"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// credentialsAge is how long the push credentials are used before the secret is read again: new
// ones are in use after that at the latest.
const credentialsAge = 10 * time.Minute

// function is the notifier. Lambda gives a process one event at a time.
type function struct {
	service     *askahuman.Service
	credentials *kit.Secret // the key file of a Firebase service account
	endpoint    string      // of Firebase Cloud Messaging
	questionURL string      // where people answer a question
	log         *slog.Logger
	metrics     *kit.Metrics
	clock       wire.Clock

	used string                                             // the credentials that push was made of
	push func(context.Context, askahuman.PushMessage) error // nil: push is not configured
}

// handle does one run. It ignores the schedule's event.
func (f *function) handle(ctx context.Context, _ json.RawMessage) error {
	unread := f.refresh(ctx)
	notifier := &askahuman.Notifier{Service: f.service, Push: f.push, QuestionURL: f.questionURL, Clock: f.clock,
		Log: f.log}
	report, err := notifier.Run(ctx)
	if slices.ContainsFunc(report.Failures, func(err error) bool { return errors.Is(err, fcm.ErrUnauthorized) }) {
		f.credentials.Forget()
	}
	f.metrics.Emit(ctx,
		kit.Count("Expired", report.Expired),
		kit.Count("Notified", report.Notified),
		kit.Count("SubscriptionsDeactivated", report.Deactivated),
		kit.Count("NotificationsReleased", report.Released),
		kit.Count("NotifierFailures", len(report.Failures)))
	f.log.InfoContext(ctx, "notifier run",
		"expired", report.Expired, "questions", report.Questions, "notified", report.Notified,
		"deactivated", report.Deactivated, "released", report.Released, "waiting", report.Waiting, "more", report.More,
		"push_unavailable", report.Unavailable, "failures", len(report.Failures))
	return errors.Join(unread, err)
}

// refresh makes the push client from the present credentials. It returns an error when they cannot
// be read. Then the run uses the credentials read before. Without any, it sends nothing, and
// questions still expire.
func (f *function) refresh(ctx context.Context) error {
	value, err := f.credentials.Value(ctx)
	if err != nil {
		return fmt.Errorf("read the push credentials: %w", err)
	}
	if value == f.used {
		return nil
	}
	client, err := fcm.New([]byte(value), f.endpoint, nil)
	f.used, f.push = value, nil
	switch {
	case errors.Is(err, fcm.ErrNotConfigured):
		f.log.WarnContext(ctx, "no one is notified; questions still expire", "reason", err.Error())
	case err != nil:
		f.log.ErrorContext(ctx, "no one is notified; questions still expire", "reason", err.Error())
	default:
		f.push = client.Send
	}
	return nil
}
