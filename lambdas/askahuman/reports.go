package askahuman

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// untilLifted is the end of use of an item that has a block: the block outlives what else the item says.
var untilLifted = time.Date(4999, time.December, 31, 0, 0, 0, 0, time.UTC)

// subject is what a report is about: a question, an answer to it, or the name of a person.
type subject struct{ question, response, person, name string }

// id is that of the report.
func (s subject) id() string {
	if s.person != "" {
		return askahuman.NameReportID(s.person)
	}
	return cmp.Or(s.response, s.question)
}

// about returns the part of every write to a report that says what the report is about, and how long it
// is kept.
func about(of subject, now time.Time) expression.UpdateBuilder {
	update := expression.Set(dynamo.Name("expires_at"),
		expression.Value(dynamo.ExpiryAt(now.Add(askahuman.KeepReports))))
	for _, part := range [][2]string{{"question_id", of.question}, {"response_id", of.response},
		{"person", of.person}, {"handle", of.name}} {
		if part[1] != "" {
			update = update.Set(dynamo.Name(part[0]), expression.Value(part[1]))
		}
	}
	return update
}

// decide adds a decision to the update of a report.
func decide(update expression.UpdateBuilder, state askahuman.ReportState,
	decision askahuman.Decision) expression.UpdateBuilder {
	at := moment(decision.At)
	return update.Set(dynamo.Name("state"), expression.Value(state)).
		Add(dynamo.Name("version"), expression.Value(1)).
		Set(dynamo.Name("decided_at"), at).
		Set(dynamo.Name("decided_by"), expression.Value(decision.Operator)).
		Set(dynamo.Name("reported_at"), dynamo.Name("reported_at").IfNotExists(at))
}

// asSeen is the condition that an item, whose key has an attribute, has the version that an operator saw, or is not
// there any more. A nil version gives no condition, which is the zero value.
func asSeen(key, version string, seen *int) expression.ConditionBuilder {
	switch {
	case seen == nil:
		return expression.ConditionBuilder{}
	case *seen == 0:
		return dynamo.Absent(version)
	}
	return dynamo.Absent(key).Or(dynamo.Equal(version, *seen))
}

// decidedMeanwhile returns the [askahuman.DecidedError] of the last decision, or nil if the operator has decided the
// same: an attempt whose answer was lost, or a repeat.
func decidedMeanwhile(last askahuman.LastDecision, what askahuman.Decided, decision askahuman.Decision) error {
	if last.What == what && last.By == decision.Operator {
		return nil
	}
	return &askahuman.DecidedError{LastDecision: last}
}

// reportDecided is decidedMeanwhile for the item of a report.
func reportDecided(item dynamo.Item, state askahuman.ReportState, decision askahuman.Decision) error {
	var report askahuman.OperatorReport
	if err := attributevalue.UnmarshalMap(item, &report); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	return decidedMeanwhile(report.Last(), askahuman.Decided(state), decision)
}

// decideAbout adds a decision about a person or an agent to the update of their item.
func decideAbout(update expression.UpdateBuilder, what askahuman.Decided,
	decision askahuman.Decision) expression.UpdateBuilder {
	return update.Add(dynamo.Name("decisions"), expression.Value(1)).
		Set(dynamo.Name("decision"), expression.Value(what)).
		Set(dynamo.Name("decided_by"), expression.Value(decision.Operator)).
		Set(dynamo.Name("decided_at"), moment(decision.At))
}

// aboutDecided is decidedMeanwhile for the item of a person or an agent.
func aboutDecided(item dynamo.Item, what askahuman.Decided, decision askahuman.Decision) error {
	var last askahuman.LastDecision
	if err := attributevalue.UnmarshalMap(item, &last); err != nil {
		return fmt.Errorf("read the last decision: %w", err)
	}
	return decidedMeanwhile(last, what, decision)
}

// keepReport adds a complaint to the report of a subject, unless the reporter has one there or there are
// [askahuman.MaxReporters]. A report of a name that the person had before is replaced.
func (s *Service) keepReport(ctx context.Context, of subject, reporter string,
	complaint askahuman.ComplaintEntry) error {
	said, err := dynamo.Marshal(complaint)
	if err != nil {
		return err
	}
	state, reports, reporters, name := dynamo.Name("state"), dynamo.Name("reports"), dynamo.Name("reporters"),
		dynamo.Name("handle")
	by := digest(reporter)
	none, one := &types.AttributeValueMemberL{},
		&types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberM{Value: said}}}
	// A first attempt whose answer was lost has stored the reporter, too.
	further := dynamo.Absent("reporters").Or(
		expression.Not(reporters.Contains(by)).And(reporters.Size().LessThan(expression.Value(askahuman.MaxReporters))))
	if of.name != "" {
		further = further.And(dynamo.Absent("handle").Or(dynamo.Equal("handle", of.name)))
	}
	update := func() expression.UpdateBuilder { // A builder shares what is added to it.
		return about(of, time.Time(complaint.At)).
			Set(dynamo.Name("reported_at"), expression.Value(complaint.At.String()))
	}
	key := []any{of.id()}
	kept, err := dynamo.Satisfied(s.DB.Update(ctx, "KeepReport", key, update().
		Set(state, state.IfNotExists(expression.Value(askahuman.ReportOpen))).
		Set(reports, expression.ListAppend(expression.IfNotExists(reports, expression.Value(none)),
			expression.Value(one))).
		Add(reporters, idSet(by)), further, nil))
	if err != nil || kept || of.name == "" {
		return err
	}
	// What was decided about another name says nothing about this one. The version stays: decisions count on.
	_, err = dynamo.Satisfied(s.DB.Update(ctx, "KeepReport", key, update().
		Set(state, expression.Value(askahuman.ReportOpen)).
		Set(reports, expression.Value(one)).
		Set(reporters, idSet(by)).
		Remove(dynamo.Name("decided_at")).Remove(dynamo.Name("decided_by")),
		name.NotEqual(expression.Value(of.name)), nil))
	return err
}

// forgetNameReport takes all that was kept out of the report of a person's name, if there is one. Operators do not see
// it any more.
func (s *Service) forgetNameReport(ctx context.Context, personHash string) error {
	update := expression.Set(dynamo.Name("expires_at"), expression.Value(dynamo.ExpiryAt(s.Clock.Now())))
	for _, name := range []string{"person", "handle", "state", "reports", "reporters"} {
		update = update.Remove(dynamo.Name(name))
	}
	_, err := dynamo.Satisfied(s.DB.Update(ctx, "ForgetNameReport", []any{askahuman.NameReportID(personHash)}, update,
		expression.AttributeExists(dynamo.Name("report_id")), nil))
	return err
}

// readContents reads what the reports are about. What has been deleted stays zero.
func (s *Service) readContents(ctx context.Context, reports []askahuman.OperatorReport) error {
	var questionKeys, responseKeys [][]any
	var asked, answers []int // the reports of questionKeys and responseKeys
	for i, report := range reports {
		if report.NamedPerson != "" {
			reports[i].Person = report.NamedPerson
			continue
		}
		questionKeys, asked = append(questionKeys, []any{report.QuestionID}), append(asked, i)
		if report.ResponseID != "" {
			responseKeys, answers = append(responseKeys, []any{report.QuestionID, report.ResponseID}),
				append(answers, i)
		}
	}
	var questions []*askahuman.Question
	var responses []*askahuman.Response
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		questions, err = dynamo.ReadBatch[askahuman.Question](reading, s.DB, "GetReportedQuestions", questionKeys...)
		return err
	})
	group.Go(func() (err error) {
		responses, err = dynamo.ReadBatch[askahuman.Response](reading, s.DB, "GetReportedResponses", responseKeys...)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for i, q := range questions {
		if r := &reports[asked[i]]; q != nil {
			r.Prompt, r.Options, r.AgentID, r.Hidden = q.Prompt, q.Options, q.AgentID, !q.HiddenAt.IsZero()
		}
	}
	for i, answer := range responses {
		if r := &reports[answers[i]]; answer != nil {
			r.Answer, r.SelectedOption, r.Person = answer.Answer, answer.SelectedOption, answer.PersonHash
			r.Hidden = !answer.HiddenAt.IsZero()
		}
	}
	return s.readPeople(ctx, reports)
}

// readPeople reads what operators decided about the people of reports.
func (s *Service) readPeople(ctx context.Context, reports []askahuman.OperatorReport) error {
	var keys [][]any
	var of []int // the reports of keys
	for i, report := range reports {
		if report.Person != "" {
			keys, of = append(keys, []any{report.Person}), append(of, i)
		}
	}
	people, err := dynamo.ReadBatch[askahuman.Stats](ctx, s.DB, "GetPeople", keys...)
	for i, person := range people {
		if r := &reports[of[i]]; person != nil {
			r.PersonBlocked, r.PersonVersion = !person.BlockedAt.IsZero(), person.LastDecision.Version
			if r.NamedPerson != "" {
				r.CurrentHandle = askahuman.HandleOf(r.NamedPerson, person.Handle)
				r.NameReset = !person.HandleResetAt.IsZero()
			}
		}
	}
	return err
}

// hide changes a question or an answer, as the first of the writes, and the report of it, as the second. It returns
// refused if the condition of the first is false, or a [askahuman.DecidedError].
func (s *Service) hide(ctx context.Context, pattern, questionID, responseID string, hidden bool,
	decision askahuman.Decision, refused error, content dynamo.Write, more ...dynamo.Write) error {
	state := askahuman.ReportDismissed
	if hidden {
		state = askahuman.ReportHidden
	}
	report := dynamo.Update("Reports", []any{cmp.Or(responseID, questionID)},
		decide(about(subject{question: questionID, response: responseID}, decision.At), state, decision),
		asSeen("report_id", "version", decision.Seen))
	err := s.DB.Transact(ctx, pattern, append([]dynamo.Write{content, report}, more...)...)
	if failed, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		_, unmet := failed.Failed(0)
		if item, decided := failed.Failed(1); decided && !unmet {
			return reportDecided(item, state, decision)
		}
	}
	return dynamo.UnlessStale(err, dynamo.OnFailed(0, refused))
}

// openOfAgent reads the questions of an agent that take answers at now, newest first, up to limit.
func (s *Service) openOfAgent(ctx context.Context, agentID string, limit int, now time.Time) (open askahuman.OfAgent,
	err error) {
	listed, err := s.openIDs(ctx, agentID)
	if err != nil {
		return open, err
	}
	open.Blocked, open.Questions = listed.BlockedAt != "", []askahuman.Question{}
	open.Last, open.Version = listed.LastDecision, listed.Version
	for ids := range slices.Chunk(listed.IDs, limit) {
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
// [retry.ErrStale] if the question has changed since, or a [askahuman.DecidedError].
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
	var more []dynamo.Write
	if ends {
		more = append(more, returnPlace(q, decision.At))
	}
	return s.hide(ctx, "HideQuestion", q.ID, "", hidden, decision, retry.ErrStale, dynamo.Update("Questions",
		[]any{q.ID}, since(update, "hidden_at", hidden, decision.At), condition), more...)
}

// since adds to an update that an attribute says since when something is so, or, if it is not, that there is none.
func since(update expression.UpdateBuilder, attribute string, isSo bool, now time.Time) expression.UpdateBuilder {
	at := dynamo.Name(attribute)
	if !isSo {
		return update.Remove(at)
	}
	return update.Set(at, at.IfNotExists(moment(now)))
}
