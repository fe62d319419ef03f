package api

import (
	"context"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// OperatorAPI serves the routes of operators.
type OperatorAPI struct {
	// Service carries requests out.
	Service *service.Service
	// Options are the options of all APIs. Metrics receives the metrics Hidden and Blocked.
	Options
	// Hasher makes the people anonymous of whom operators are asked.
	Hasher Hasher
}

// Handler returns the handler of the routes.
func (o *OperatorAPI) Handler() *kit.API {
	s := o.server(o.platform(false), nil, httpapi.Idempotency{}, 0)
	o.bind(s)
	return s.Handler()
}

// bind serves the routes of the function moderationapi.
func (o *OperatorAPI) bind(s *httpapi.Server) {
	o.bindData(s)
	o.bindReports(s)
	o.bindHiding(s)
	httpapi.Bind(s, askahuman.ReadBoard,
		func(ctx context.Context, r requestBy[askahuman.BoardParams]) (askahuman.OperatorBoard, error) {
			entries, err := o.Service.Board(ctx, askahuman.Period(r.Params.Period))
			return askahuman.OperatorBoard{Entries: entries}, err
		})
	httpapi.Bind(s, askahuman.ResetHandle,
		func(ctx context.Context, r requestWith[askahuman.HandleReset]) (none, error) {
			return none{}, o.Service.ResetHandle(ctx, r.Body.By(r.Caller.ID), r.Body.Person, r.Body.Reset)
		})
	httpapi.Bind(s, askahuman.DecideBlock, func(ctx context.Context, r requestWith[askahuman.Block]) (none, error) {
		err := o.block(ctx, r.Body.By(r.Caller.ID), r.Body)
		if err == nil && r.Body.Blocked {
			o.Metrics.Emit(ctx, kit.Count("Blocked", 1))
		}
		return none{}, err
	})
}

// bindReports serves the routes of reports.
func (o *OperatorAPI) bindReports(s *httpapi.Server) {
	httpapi.Bind(s, askahuman.ListReports,
		func(ctx context.Context, r requestBy[askahuman.ReportListParams]) (askahuman.ReportList, error) {
			reports, next, err := o.Service.Reports(ctx, askahuman.ReportState(r.Params.State), r.Params.Limit,
				r.Params.Cursor)
			return askahuman.ReportList{Reports: reports, NextCursor: next}, err
		})
	httpapi.Bind(s, askahuman.DecideReport,
		func(ctx context.Context, r httpapi.Request[askahuman.ReportParams, askahuman.Dismissal]) (none, error) {
			return none{}, o.Service.Dismiss(ctx, r.Body.By(r.Caller.ID), r.Params.ID, r.Body.Dismissed)
		})
}

// bindHiding serves the routes by which operators hide questions and answers.
func (o *OperatorAPI) bindHiding(s *httpapi.Server) {
	httpapi.Bind(s, askahuman.ListOpenOfAgent,
		func(ctx context.Context, r requestBy[askahuman.AgentParams]) (askahuman.OfAgent, error) {
			return o.Service.OpenQuestions(ctx, r.Params.AgentID)
		})
	httpapi.Bind(s, askahuman.HideOpenOfAgent,
		func(ctx context.Context, r requestWith[askahuman.AllHidden]) (askahuman.HiddenQuestions, error) {
			hidden, more, err := o.Service.HideOpenQuestions(ctx, r.Body.By(r.Caller.ID), r.Body.AgentID)
			o.Metrics.Emit(ctx, kit.Count("Hidden", hidden))
			return askahuman.HiddenQuestions{Hidden: hidden, More: more}, err
		})
	httpapi.Bind(s, askahuman.HideQuestion,
		func(ctx context.Context, r httpapi.Request[askahuman.QuestionParams, askahuman.Visibility]) (none, error) {
			return none{}, o.hid(ctx, r.Body, o.Service.HideQuestion(ctx, r.Body.By(r.Caller.ID), r.Params.ID,
				r.Body.Hidden))
		})
	httpapi.Bind(s, askahuman.HideResponse,
		func(ctx context.Context, r httpapi.Request[askahuman.ResponseParams, askahuman.Visibility]) (none, error) {
			return none{}, o.hid(ctx, r.Body, o.Service.HideResponse(ctx, r.Body.By(r.Caller.ID), r.Params.ID,
				r.Params.ResponseID, r.Body.Hidden))
		})
}

// bindData serves the routes by which operators export and delete for a person who asks.
func (o *OperatorAPI) bindData(s *httpapi.Server) {
	httpapi.Bind(s, askahuman.ExportDataOf,
		func(ctx context.Context, r requestBy[askahuman.DataParams]) (askahuman.PersonData, error) {
			person, err := o.Hasher.Person(ctx, r.Params.Fingerprint)
			if err != nil {
				return askahuman.PersonData{}, err
			}
			return o.Service.PersonData(ctx, person, r.Params.Cursor)
		})
	httpapi.Bind(s, askahuman.DeleteDataOf,
		func(ctx context.Context, r requestBy[askahuman.PersonParams]) (askahuman.Deleted, error) {
			person, err := o.Hasher.Person(ctx, r.Params.Fingerprint)
			if err != nil {
				return askahuman.Deleted{}, err
			}
			return o.Service.DeletePerson(ctx, person)
		})
}

func (o *OperatorAPI) block(ctx context.Context, decision askahuman.Decision, b askahuman.Block) error {
	switch {
	case b.Person == nil && b.AgentID == nil:
		return validate.Errorf("person", validate.RuleRequired,
			"is missing; send person for a person, or agent_id for an agent")
	case b.Person != nil && b.AgentID != nil:
		return validate.Errorf("person", validate.RuleConflict, "was sent together with agent_id; send one of the two")
	case b.Person != nil:
		return o.Service.BlockPerson(ctx, decision, *b.Person, b.Blocked)
	default:
		return o.Service.BlockAgent(ctx, decision, *b.AgentID, b.Blocked)
	}
}

// hid counts what was hidden.
func (o *OperatorAPI) hid(ctx context.Context, v askahuman.Visibility, err error) error {
	if err == nil && v.Hidden {
		o.Metrics.Emit(ctx, kit.Count("Hidden", 1))
	}
	return err
}
