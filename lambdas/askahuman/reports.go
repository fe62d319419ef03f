package askahuman

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// untilLifted is the end of use of an item that has a block: the block outlives what else the item says.
var untilLifted = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// about returns the part of every write to a report that says what the report is about, and how long it
// is kept.
func about(questionID, responseID string, now time.Time) expression.UpdateBuilder {
	update := expression.Set(dynamo.Name("question_id"), expression.Value(questionID)).
		Set(dynamo.Name("expires_at"), expression.Value(dynamo.ExpiryAt(now.Add(askahuman.KeepReports))))
	if responseID != "" {
		update = update.Set(dynamo.Name("response_id"), expression.Value(responseID))
	}
	return update
}

// decide adds a decision to the update of a report.
func decide(update expression.UpdateBuilder, state askahuman.ReportState,
	decision askahuman.Decision) expression.UpdateBuilder {
	at := moment(decision.At)
	return update.Set(dynamo.Name("state"), expression.Value(state)).
		Set(dynamo.Name("decided_at"), at).
		Set(dynamo.Name("decided_by"), expression.Value(decision.Operator)).
		Set(dynamo.Name("reported_at"), dynamo.Name("reported_at").IfNotExists(at))
}

// keepReport adds a complaint to the report of a question or, with a responseID, of an answer, unless the reporter has
// one there or there are [askahuman.MaxReporters].
func (s *Service) keepReport(ctx context.Context, questionID, responseID, reporter string,
	complaint askahuman.ComplaintEntry) error {
	said, err := dynamo.Marshal(complaint)
	if err != nil {
		return err
	}
	reports, reporters, state, by := dynamo.Name("reports"), dynamo.Name("reporters"), dynamo.Name("state"),
		digest(reporter)
	none, one := &types.AttributeValueMemberL{},
		&types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberM{Value: said}}}
	update := about(questionID, responseID, time.Time(complaint.At)).
		Set(state, state.IfNotExists(expression.Value(askahuman.ReportOpen))).
		Set(dynamo.Name("reported_at"), expression.Value(complaint.At.String())).
		Set(reports, expression.ListAppend(expression.IfNotExists(reports, expression.Value(none)),
			expression.Value(one))).
		Add(reporters, idSet(by))
	// A first attempt whose answer was lost has stored the reporter, too.
	further := dynamo.Absent("reporters").Or(
		expression.Not(reporters.Contains(by)).And(reporters.Size().LessThan(expression.Value(askahuman.MaxReporters))))
	key := []any{cmp.Or(responseID, questionID)}
	_, err = dynamo.Satisfied(s.DB.Update(ctx, "KeepReport", key, update, further, nil))
	return err
}

// readContents reads what the reports are about. What has been deleted stays zero.
func (s *Service) readContents(ctx context.Context, reports []askahuman.OperatorReport) error {
	var questionKeys, responseKeys [][]any
	var answers []int // the reports of responseKeys
	for i, report := range reports {
		questionKeys = append(questionKeys, []any{report.QuestionID})
		if report.ResponseID != "" {
			responseKeys, answers = append(responseKeys, []any{report.QuestionID, report.ResponseID}),
				append(answers, i)
		}
	}
	var questions []*askahuman.Question
	var responses []*askahuman.Response
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		questions, err = dynamo.ReadBatch[askahuman.Question](ctx, s.DB, "GetReportedQuestions", questionKeys...)
		return err
	})
	group.Go(func() (err error) {
		responses, err = dynamo.ReadBatch[askahuman.Response](ctx, s.DB, "GetReportedResponses", responseKeys...)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for i, q := range questions {
		if r := &reports[i]; q != nil {
			r.Prompt, r.Options, r.AgentID, r.Hidden = q.Prompt, q.Options, q.AgentID, !q.HiddenAt.IsZero()
		}
	}
	for i, answer := range responses {
		if r := &reports[answers[i]]; answer != nil {
			r.Answer, r.SelectedOption, r.Person = answer.Answer, answer.SelectedOption, answer.PersonHash
			r.Hidden = !answer.HiddenAt.IsZero()
		}
	}
	return nil
}

// hiding returns the update that hides a question or an answer, or shows it again, and the decision.
func hiding(update expression.UpdateBuilder, questionID, responseID string, hidden bool,
	decision askahuman.Decision) (content expression.UpdateBuilder, report dynamo.Write) {
	state := askahuman.ReportDismissed
	if hidden {
		state = askahuman.ReportHidden
	}
	key := []any{cmp.Or(responseID, questionID)}
	return since(update, "hidden_at", hidden, decision.At), dynamo.Update("Reports", key,
		decide(about(questionID, responseID, decision.At), state, decision), expression.ConditionBuilder{})
}

// openOfAgent reads the questions of an agent that take answers at now, newest first, up to limit.
func (s *Service) openOfAgent(ctx context.Context, agentID string, limit int, now time.Time) (open askahuman.OfAgent,
	err error) {
	listed, blocked, err := s.openIDs(ctx, agentID)
	if err != nil {
		return open, err
	}
	open.Blocked, open.Questions = blocked, []askahuman.Question{}
	for ids := range slices.Chunk(listed, limit) {
		if open.More = len(open.Questions) == limit; open.More {
			break
		}
		questions, err := s.answerable(ctx, "GetOpenQuestions", ids, now)
		if err != nil {
			return open, err
		}
		open.Questions = append(open.Questions, questions...)
		if open.More = len(open.Questions) > limit; open.More {
			open.Questions = open.Questions[:limit]
			break
		}
	}
	return open, nil
}

// hideQuestion hides a question that was read, and ends it if it is open or partial; or it shows it again. It returns
// [retry.ErrStale] if the question has changed since.
func (s *Service) hideQuestion(ctx context.Context, q askahuman.Question, hidden bool,
	decision askahuman.Decision) error {
	var update expression.UpdateBuilder
	condition := expression.AttributeExists(dynamo.Name("question_id"))
	ends := hidden && q.Answerable()
	switch {
	case ends:
		var err error
		if update, err = dynamo.Changes(s.stored(q.Ended(decision.At)), ending...); err != nil {
			return err
		}
		condition = answerable()
	case hidden:
		condition = condition.And(expression.Not(answerable()))
	}
	update, report := hiding(update, q.ID, "", hidden, decision)
	writes := []dynamo.Write{dynamo.Update("Questions", []any{q.ID}, update, condition), report}
	if ends {
		writes = append(writes, returnPlace(q, decision.At))
	}
	return dynamo.UnlessStale(s.DB.Transact(ctx, "HideQuestion", writes...), dynamo.OnFailed(0, retry.ErrStale))
}

// since adds to an update that an attribute says since when something is so, or, if it is not, that there is none.
func since(update expression.UpdateBuilder, attribute string, isSo bool, now time.Time) expression.UpdateBuilder {
	at := dynamo.Name(attribute)
	if !isSo {
		return update.Remove(at)
	}
	return update.Set(at, at.IfNotExists(moment(now)))
}
