package askahuman

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// ReportByPerson keeps what a person reported: a question, or a name on a leaderboard. A person reports each once; a
// repeat changes nothing. It returns an [*validate.Error], [askahuman.ErrQuestionNotFound],
// [askahuman.ErrHandleNotFound] or [askahuman.ErrBlocked].
func (s *Service) ReportByPerson(ctx context.Context, personHash string,
	report askahuman.PersonReport) (askahuman.Reported, error) {
	if report.QuestionID != nil && !wire.IsID(*report.QuestionID) {
		return askahuman.Reported{}, askahuman.ErrQuestionNotFound
	}
	now := s.Clock.Now()
	of := subject{question: askahuman.Or(report.QuestionID, "")}
	var stats askahuman.Stats
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if report.Handle != nil {
			of.name = *report.Handle
			of.person, err = s.named(reading, of.name, now)
			return err
		}
		_, err = s.question(reading, of.question, now)
		return wrap(err, "read question "+of.question)
	})
	group.Go(func() (err error) {
		stats, err = s.stats(reading, personHash)
		return wrap(err, "read the person's stats")
	})
	if err := group.Wait(); err != nil {
		return askahuman.Reported{}, err
	}
	if !stats.BlockedAt.IsZero() {
		return askahuman.Reported{}, askahuman.ErrBlocked
	}
	return s.report(ctx, of, "person", personHash, askahuman.ComplaintEntry{Reason: report.Reason,
		Comment: askahuman.Or(report.Comment, ""), At: wire.Time(now)})
}

// ReportResponse keeps what an agent reported: an answer to one of its own questions. A repeat changes nothing.
// It returns an [*validate.Error], [askahuman.ErrQuestionNotFound], [askahuman.ErrResponseNotFound] or
// [askahuman.ErrBlocked].
func (s *Service) ReportResponse(ctx context.Context, agentID string,
	report askahuman.ResponseReport) (askahuman.Reported, error) {
	if !wire.IsID(report.QuestionID) {
		return askahuman.Reported{}, askahuman.ErrQuestionNotFound
	}
	now := s.Clock.Now()
	var responses []askahuman.Response
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() error {
		_, err := s.own(reading, agentID, report.QuestionID, now)
		return err
	})
	group.Go(func() (err error) {
		responses, err = s.responses(reading, report.QuestionID)
		return wrap(err, "read the answers to question "+report.QuestionID)
	})
	group.Go(func() error { return s.CheckAgent(reading, agentID) })
	if err := group.Wait(); err != nil {
		return askahuman.Reported{}, err
	}
	if !slices.ContainsFunc(responses, func(response askahuman.Response) bool {
		return response.ID == report.ResponseID
	}) {
		return askahuman.Reported{}, askahuman.ErrResponseNotFound
	}
	return s.report(ctx, subject{question: report.QuestionID, response: report.ResponseID}, "agent", agentID,
		askahuman.ComplaintEntry{Reason: report.Reason, Comment: askahuman.Or(report.Comment, ""), At: wire.Time(now)})
}

// report keeps a complaint of a reporter about a subject.
func (s *Service) report(ctx context.Context, of subject, by, reporter string,
	complaint askahuman.ComplaintEntry) (askahuman.Reported, error) {
	complaint.By = by
	if err := s.keepReport(ctx, of, by+"\x00"+reporter, complaint); err != nil {
		return askahuman.Reported{}, wrap(err, "keep the report")
	}
	return askahuman.Reported{ReportID: of.id(), Status: string(askahuman.ReportOpen)}, nil
}

// Reports reads a page of the reports of a state, newest first. limit and cursor are as in [Service.List]. It returns
// an [*validate.Error].
func (s *Service) Reports(ctx context.Context, state askahuman.ReportState, limit int,
	cursor string) (reports []askahuman.OperatorReport, next string, err error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	limit, reports = min(limit, askahuman.MaxListLimit), []askahuman.OperatorReport{}
	for report, err := range dynamo.Read[askahuman.OperatorReport](ctx, s.DB, "ListReports", dynamo.Query{
		Values: []any{state}, PageSize: limit + 1,
		Filter:     dynamo.Name("expires_at").GreaterThan(expression.Value(s.Clock.Now().Unix())),
		StartAfter: after.start("state", string(state), "reported_at", "report_id"),
	}) {
		if err != nil {
			return nil, "", fmt.Errorf("list reports: %w", err)
		}
		if len(reports) == limit {
			last := reports[limit-1]
			next = formatCursor(position{time.Time(last.ReportedAt), last.ID})
			break
		}
		if report.Complaints == nil {
			report.Complaints = []askahuman.ComplaintEntry{}
		}
		reports = append(reports, report)
	}
	return reports, next, wrap(s.readContents(ctx, reports), "list reports")
}

// Dismiss says that nothing is wrong with what was reported, or opens the report again. It hides and shows nothing, so
// it does not decide about what is hidden. It returns [askahuman.ErrReportNotFound] or a [askahuman.DecidedError].
func (s *Service) Dismiss(ctx context.Context, by askahuman.Decision, reportID string, dismissed bool) error {
	if !wire.IsID(reportID) {
		return askahuman.ErrReportNotFound
	}
	state := askahuman.ReportOpen
	if dismissed {
		state = askahuman.ReportDismissed
	}
	by.At = s.Clock.Now()
	kept := expression.Value(dynamo.ExpiryAt(by.At.Add(askahuman.KeepReports)))
	condition := expression.AttributeExists(dynamo.Name("report_id")).
		And(dynamo.Name("state").NotEqual(expression.Value(askahuman.ReportHidden)))
	if by.Seen != nil {
		condition = condition.And(asSeen("report_id", "version", by.Seen))
	}
	err := s.DB.Update(ctx, "DecideReport", []any{reportID},
		decide(expression.Set(dynamo.Name("expires_at"), kept), state, by), condition, nil)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		if err = askahuman.ErrReportNotFound; refused.Item != nil {
			err = reportDecided(refused.Item, state, by)
		}
	}
	return wrap(err, "decide report "+reportID)
}

// HideQuestion hides a question from people, and closes it, or shows it to its agent again as one that
// is not hidden; it stays closed. It returns [askahuman.ErrQuestionNotFound] or a [askahuman.DecidedError].
func (s *Service) HideQuestion(ctx context.Context, by askahuman.Decision, questionID string, hidden bool) error {
	if !wire.IsID(questionID) {
		return askahuman.ErrQuestionNotFound
	}
	return retry.Do(ctx, func() error {
		by.At = s.Clock.Now()
		question, err := s.question(ctx, questionID, by.At)
		if err != nil {
			return wrap(err, "read question "+questionID)
		}
		return wrap(s.hideQuestion(ctx, question, hidden, by), "hide question "+questionID)
	})
}

// OpenQuestions reads the questions of an agent that take answers, newest first, [askahuman.MaxOpenShown] at most.
func (s *Service) OpenQuestions(ctx context.Context, agentID string) (askahuman.OfAgent, error) {
	open, err := s.openOfAgent(ctx, agentID, askahuman.MaxOpenShown, s.Clock.Now())
	return open, wrap(err, "read an agent's open questions")
}

// HideOpenQuestions hides the questions of an agent that take answers, [askahuman.MaxOpenShown] at most, or as many as
// the context leaves time for. more says whether there may be further ones: then a repeat goes on. Block
// the agent first, for else it may ask meanwhile. With an error, hidden are those before it. It returns a
// [askahuman.DecidedError] if someone has decided about the agent since the operator saw it.
func (s *Service) HideOpenQuestions(ctx context.Context, by askahuman.Decision, agentID string) (hidden int, more bool,
	err error) {
	open, err := s.OpenQuestions(ctx, agentID)
	if err == nil && by.Seen != nil && *by.Seen != open.Version {
		err = &askahuman.DecidedError{LastDecision: open.Last}
	}
	if err != nil {
		return 0, false, err
	}
	by.Seen = nil // It is the version of the agent, and of none of its questions.
	// One after the other: each write changes the list of the agent's open questions.
	for _, question := range open.Questions {
		if endsBefore(ctx, lastLook) {
			return hidden, true, nil
		}
		if err := s.HideQuestion(ctx, by, question.ID, true); err != nil &&
			!errors.Is(err, askahuman.ErrQuestionNotFound) {
			return hidden, true, err
		}
		hidden++
	}
	return hidden, open.More, nil
}

// HideResponse hides an answer from its agent, or shows it again. It returns [askahuman.ErrResponseNotFound] or a
// [askahuman.DecidedError].
func (s *Service) HideResponse(ctx context.Context, by askahuman.Decision, questionID, responseID string,
	hidden bool) error {
	if !wire.IsID(questionID) || !wire.IsID(responseID) {
		return askahuman.ErrResponseNotFound
	}
	by.At = s.Clock.Now()
	content := dynamo.Update("Responses", []any{questionID, responseID},
		since(expression.UpdateBuilder{}, "hidden_at", hidden, by.At),
		expression.AttributeExists(dynamo.Name("response_id")))
	return wrap(s.hide(ctx, "HideResponse", questionID, responseID, hidden, by, askahuman.ErrResponseNotFound, content),
		"hide answer "+responseID)
}

// BlockPerson makes a person who has answered unable to answer and to report, or able again. It returns
// [askahuman.ErrPersonNotFound] or a [askahuman.DecidedError].
func (s *Service) BlockPerson(ctx context.Context, by askahuman.Decision, personHash string, blocked bool) error {
	by.At = s.Clock.Now()
	update := since(expression.UpdateBuilder{}, "blocked_at", blocked, by.At)
	return wrap(s.changePerson(ctx, "BlockPerson", personHash, update, blocking(blocked), by), "block a person")
}

// blocking is the decision to block someone, or to lift the block.
func blocking(blocked bool) askahuman.Decided {
	if blocked {
		return askahuman.DecidedBlocked
	}
	return askahuman.DecidedUnblocked
}

// changePerson changes the stats of a person who has answered. It returns [askahuman.ErrPersonNotFound] or a
// [askahuman.DecidedError].
func (s *Service) changePerson(ctx context.Context, pattern, personHash string, update expression.UpdateBuilder,
	what askahuman.Decided, by askahuman.Decision) error {
	update = decideAbout(update, what, by).Add(dynamo.Name("version"), expression.Value(1))
	known := expression.AttributeExists(dynamo.Name("fingerprint_hash"))
	if by.Seen != nil {
		known = known.And(asSeen("fingerprint_hash", "decisions", by.Seen))
	}
	err := s.DB.Update(ctx, pattern, []any{personHash}, update, known, nil)
	refused, ok := errors.AsType[*dynamo.ConditionError](err)
	switch {
	case !ok:
		return err
	case refused.Item == nil:
		return askahuman.ErrPersonNotFound
	}
	return aboutDecided(refused.Item, what, by)
}

// CheckAgent returns [askahuman.ErrBlocked] if an operator has blocked the agent.
func (s *Service) CheckAgent(ctx context.Context, agentID string) error {
	listed, err := s.openIDs(ctx, agentID)
	if listed.BlockedAt != "" {
		return askahuman.ErrBlocked
	}
	return wrap(err, "read whether an agent is blocked")
}

// BlockAgent makes an agent unable to ask, to report and to have webhooks sent, or able again. What the agent has asked
// stays. It returns a [askahuman.DecidedError].
func (s *Service) BlockAgent(ctx context.Context, by askahuman.Decision, agentID string, blocked bool) error {
	by.At = s.Clock.Now()
	end := quotaEnd(by.At)
	if blocked {
		end = expression.Value(dynamo.ExpiryAt(untilLifted))
	}
	update := decideAbout(since(expression.UpdateBuilder{}, "blocked_at", blocked, by.At), blocking(blocked), by).
		Set(dynamo.Name("expires_at"), end)
	err := s.DB.Update(ctx, "BlockAgent", quota(agentID), update, asSeen("guard_key", "decisions", by.Seen), nil)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		err = aboutDecided(refused.Item, blocking(blocked), by)
	}
	return wrap(err, "block an agent")
}
