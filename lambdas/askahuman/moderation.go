package askahuman

import (
	"cmp"
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
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// ReportQuestion keeps what a person reported. A person reports a question once; a repeat changes nothing. It
// returns an [*validate.Error], [askahuman.ErrQuestionNotFound] or [askahuman.ErrBlocked].
func (s *Service) ReportQuestion(ctx context.Context, personHash string,
	report askahuman.QuestionReport) (askahuman.Reported, error) {
	if err := validate.Form(report); err != nil {
		return askahuman.Reported{}, err
	}
	if !askahuman.IsID(report.QuestionID) {
		return askahuman.Reported{}, askahuman.ErrQuestionNotFound
	}
	now := s.Clock.Now()
	var stats askahuman.Stats
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() error {
		_, err := s.question(reading, report.QuestionID, now)
		return wrap(err, "read question "+report.QuestionID)
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
	return s.report(ctx, report, "", "person", personHash, now)
}

// ReportResponse keeps what an agent reported: an answer to one of its own questions. A repeat changes nothing.
// It returns an [*validate.Error], [askahuman.ErrQuestionNotFound] or [askahuman.ErrResponseNotFound].
func (s *Service) ReportResponse(ctx context.Context, agentID string,
	report askahuman.ResponseReport) (askahuman.Reported, error) {
	if err := validate.Form(report); err != nil {
		return askahuman.Reported{}, err
	}
	if !askahuman.IsID(report.QuestionID) {
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
	if err := group.Wait(); err != nil {
		return askahuman.Reported{}, err
	}
	if !slices.ContainsFunc(responses, func(response askahuman.Response) bool {
		return response.ID == report.ResponseID
	}) {
		return askahuman.Reported{}, askahuman.ErrResponseNotFound
	}
	return s.report(ctx, report.QuestionReport, report.ResponseID, "agent", agentID, now)
}

// report keeps the report of a question or, with a responseID, of an answer.
func (s *Service) report(ctx context.Context, report askahuman.QuestionReport, responseID, by, reporter string,
	now time.Time) (askahuman.Reported, error) {
	complaint := askahuman.ComplaintEntry{Reason: report.Reason, Comment: askahuman.Or(report.Comment, ""), By: by,
		At: wire.Time(now)}
	if err := s.keepReport(ctx, report.QuestionID, responseID, by+"\x00"+reporter, complaint); err != nil {
		return askahuman.Reported{}, wrap(err, "keep the report")
	}
	return askahuman.Reported{ReportID: cmp.Or(responseID, report.QuestionID), Status: string(askahuman.ReportOpen)},
		nil
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

// Dismiss says that nothing is wrong with what was reported, or opens the report again. It returns
// [askahuman.ErrReportNotFound].
func (s *Service) Dismiss(ctx context.Context, operator, reportID string, dismissed bool) error {
	if !askahuman.IsID(reportID) {
		return askahuman.ErrReportNotFound
	}
	state := askahuman.ReportOpen
	if dismissed {
		state = askahuman.ReportDismissed
	}
	decision := s.decision(operator)
	kept := expression.Value(dynamo.ExpiryAt(decision.At.Add(askahuman.KeepReports)))
	update := decide(expression.Set(dynamo.Name("expires_at"), kept), state, decision)
	err := s.DB.Update(ctx, "DecideReport", []any{reportID}, update,
		expression.AttributeExists(dynamo.Name("report_id")), nil)
	return wrap(dynamo.Unless(err, askahuman.ErrReportNotFound), "decide report "+reportID)
}

// HideQuestion hides a question from people, and closes it, or shows it to its agent again as one that
// is not hidden; it stays closed. It returns [askahuman.ErrQuestionNotFound].
func (s *Service) HideQuestion(ctx context.Context, operator, questionID string, hidden bool) error {
	if !askahuman.IsID(questionID) {
		return askahuman.ErrQuestionNotFound
	}
	return retry.Do(ctx, func() error {
		decision := s.decision(operator)
		question, err := s.question(ctx, questionID, decision.At)
		if err != nil {
			return wrap(err, "read question "+questionID)
		}
		return wrap(s.hideQuestion(ctx, question, hidden, decision), "hide question "+questionID)
	})
}

// OpenQuestions reads the questions of an agent that take answers, newest first, [askahuman.MaxOpenShown] at most.
func (s *Service) OpenQuestions(ctx context.Context, agentID string) (askahuman.OfAgent, error) {
	open, err := s.openOfAgent(ctx, agentID, askahuman.MaxOpenShown, s.Clock.Now())
	return open, wrap(err, "read an agent's open questions")
}

// HideOpenQuestions hides the questions of an agent that take answers, [askahuman.MaxOpenShown] at most, or as many as
// the context leaves time for. more says whether there may be further ones: then a repeat goes on. Block
// the agent first, for else it may ask meanwhile. With an error, hidden are those before it.
func (s *Service) HideOpenQuestions(ctx context.Context, operator, agentID string) (hidden int, more bool, err error) {
	open, err := s.OpenQuestions(ctx, agentID)
	if err != nil {
		return 0, false, err
	}
	// One after the other: each write changes the list of the agent's open questions.
	for _, question := range open.Questions {
		if endsBefore(ctx, lastLook) {
			return hidden, true, nil
		}
		if err := s.HideQuestion(ctx, operator, question.ID, true); err != nil &&
			!errors.Is(err, askahuman.ErrQuestionNotFound) {
			return hidden, true, err
		}
		hidden++
	}
	return hidden, open.More, nil
}

// HideResponse hides an answer from its agent, or shows it again. It returns [askahuman.ErrResponseNotFound].
func (s *Service) HideResponse(ctx context.Context, operator, questionID, responseID string, hidden bool) error {
	if !askahuman.IsID(questionID) || !askahuman.IsID(responseID) {
		return askahuman.ErrResponseNotFound
	}
	update, report := hiding(expression.UpdateBuilder{}, questionID, responseID, hidden, s.decision(operator))
	err := dynamo.UnlessStale(s.DB.Transact(ctx, "HideResponse",
		dynamo.Update("Responses", []any{questionID, responseID}, update,
			expression.AttributeExists(dynamo.Name("response_id"))), report),
		dynamo.OnFailed(0, askahuman.ErrResponseNotFound))
	return wrap(err, "hide answer "+responseID)
}

// BlockPerson makes a person who has answered unable to answer and to report, or able again. It returns
// [askahuman.ErrPersonNotFound].
func (s *Service) BlockPerson(ctx context.Context, personHash string, blocked bool) error {
	update := since(expression.UpdateBuilder{}, "blocked_at", blocked, s.Clock.Now())
	return wrap(s.changePerson(ctx, "BlockPerson", personHash, update), "block a person")
}

// changePerson changes the stats of a person who has answered. It returns [askahuman.ErrPersonNotFound].
func (s *Service) changePerson(ctx context.Context, pattern, personHash string, update expression.UpdateBuilder) error {
	update = update.Add(dynamo.Name("version"), expression.Value(1))
	return dynamo.Unless(s.DB.Update(ctx, pattern, []any{personHash}, update,
		expression.AttributeExists(dynamo.Name("fingerprint_hash")), nil), askahuman.ErrPersonNotFound)
}

// BlockAgent makes an agent unable to ask, or able again. What the agent has asked stays.
func (s *Service) BlockAgent(ctx context.Context, agentID string, blocked bool) error {
	now := s.Clock.Now()
	end := quotaEnd(now)
	if blocked {
		end = expression.Value(dynamo.ExpiryAt(untilLifted))
	}
	update := since(expression.UpdateBuilder{}, "blocked_at", blocked, now).Set(dynamo.Name("expires_at"), end)
	return wrap(s.DB.Update(ctx, "BlockAgent", quota(agentID), update, expression.ConditionBuilder{}, nil),
		"block an agent")
}

func (s *Service) decision(operator string) askahuman.Decision {
	return askahuman.Decision{Operator: operator, At: s.Clock.Now()}
}
