package api

import (
	"context"
	"net/http"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
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
	s := o.server(httpapi.Identity{}, o.Hasher, httpapi.Idempotency{}, 0)
	o.register(s)
	return s.Handler()
}

// operatorIdentity is how operators identify themselves.
func operatorIdentity() httpapi.Identity {
	identity := httpapi.ByToken("operatorToken",
		"A token of a user who is in the group "+askahuman.OperatorsGroup+
			" of this platform's issuer of people's tokens.")
	identity.Tag = "operators"
	return identity
}

type personReportInput struct{ Body askahuman.PersonReport }

type responseReportInput struct{ Body askahuman.ResponseReport }

// registerReports declares the route by which people report.
func (h *HumanAPI) registerReports(s *httpapi.Server) {
	httpapi.Serve(s, httpapi.Operation{ID: "reportQuestion", NeedsCaller: true,
		Status: http.StatusCreated,
		Description: "Reports a question, or a name on a leaderboard, to the platform's operators. One person " +
			"reports each once: a repeat changes nothing. Of each, 50 reports are kept.",
		Variants: []httpapi.Variant{
			{Required: []string{"question_id"}, Fields: httpapi.Forms{"handle": httpapi.Absent}},
			{Required: []string{"handle"}, Fields: httpapi.Forms{"question_id": httpapi.Absent}},
		},
		Errors: []error{askahuman.ErrQuestionNotFound, askahuman.ErrHandleNotFound, askahuman.ErrBlocked},
	}, func(ctx context.Context, input *personReportInput) (askahuman.Reported, error) {
		reported, err := h.Service.ReportByPerson(ctx, caller(ctx), input.Body)
		if err == nil {
			h.Metrics.Emit(ctx, kit.Count("Reported", 1))
		}
		return reported, err
	})
}

// registerReports declares the route by which agents report.
func (a *AgentAPI) registerReports(s *httpapi.Server) {
	httpapi.Serve(s, httpapi.Operation{ID: "reportResponse", Status: http.StatusCreated,
		Description: "Reports an answer to one of the agent's own questions to the platform's operators. A repeat " +
			"changes nothing.",
		Errors: []error{askahuman.ErrQuestionNotFound, askahuman.ErrResponseNotFound, askahuman.ErrBlocked},
	}, func(ctx context.Context, input *responseReportInput) (askahuman.Reported, error) {
		reported, err := a.Service.ReportResponse(ctx, caller(ctx), input.Body)
		if err == nil {
			a.Metrics.Emit(ctx, kit.Count("Reported", 1))
		}
		return reported, err
	})
}

type reportListInput struct {
	State string `query:"state" enum:"open,dismissed,hidden" default:"open" doc:"Only what is in this state: open until an operator decides."`
	pageInput
}

// ReportList is a page of what was reported or hidden.
type ReportList struct {
	Reports    []askahuman.OperatorReport `json:"reports" nullable:"false" doc:"The last reported first."`
	NextCursor string                     `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// Seen is on what an operator decides.
type Seen struct {
	Version *int `json:"version,omitempty" nullable:"true" minimum:"0" doc:"The version that you saw of what you decide about: 409 says who has decided what since. Without it, you decide whatever was decided before."`
}

// decision is that of the operator who calls.
func (s Seen) decision(ctx context.Context) askahuman.Decision {
	return askahuman.Decision{Operator: caller(ctx), Seen: s.Version}
}

type dismissInput struct {
	ID   string `path:"report_id" doc:"The report's id." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Body Dismissal
}

// Dismissal says whether a report is dismissed.
type Dismissal struct {
	Dismissed bool `json:"dismissed" doc:"true: nothing is wrong with it; false: it is open again."`
	Seen
}

type openQuestionsInput struct {
	AgentID string `query:"agent_id" required:"true" minLength:"1" maxLength:"255" doc:"The agent, as reports name it." example:"my-agent"`
}

type hideOpenQuestionsInput struct{ Body AllHidden }

// AllHidden hides all of an agent's questions that take answers.
type AllHidden struct {
	AgentID string `json:"agent_id" minLength:"1" maxLength:"255" doc:"The agent, as reports name it." example:"my-agent"`
	Hidden  bool   `json:"hidden" enum:"true" doc:"Hidden questions are shown again one by one."`
	Seen
}

// HiddenQuestions says how many questions were hidden.
type HiddenQuestions struct {
	Hidden int  `json:"hidden" example:"12"`
	More   bool `json:"more,omitempty" doc:"true: there may be further ones; send the same again."`
}

type hideQuestionInput struct {
	ID   string `path:"question_id" doc:"The question's id." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Body Visibility
}

type hideResponseInput struct {
	ID         string `path:"question_id" doc:"The question's id." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	ResponseID string `path:"response_id" doc:"The answer's id." example:"0b7d2f0e-52a1-8a0d-b6f5-0d9a4c2f7e11"`
	Body       Visibility
}

// Visibility says whether a question or an answer is hidden.
type Visibility struct {
	Hidden bool `json:"hidden" doc:"true: it is hidden; false: it is shown again."`
	Seen
}

type boardInput struct {
	Period string `query:"period" enum:"daily,weekly,all_time" default:"all_time" doc:"The UTC day, the week from Monday UTC, or all time."`
}

// OperatorBoard is a leaderboard as operators see it.
type OperatorBoard struct {
	Entries []service.OperatorEntry `json:"entries" nullable:"false" doc:"The most points first, 100 at most."`
}

type resetInput struct{ Body HandleReset }

// HandleReset says whether a person's name is reset.
type HandleReset struct {
	Person string `json:"person" minLength:"64" maxLength:"64" doc:"The person, as the operators' leaderboard names them." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Reset  bool   `json:"reset" doc:"true: the name is taken; false: the person can choose again."`
	Seen
}

type blockInput struct{ Body Block }

// Block says whether a person or an agent is blocked.
type Block struct {
	Person  *string `json:"person,omitempty" nullable:"true" minLength:"64" maxLength:"64" doc:"The person of a reported answer, who then cannot answer or report."`
	AgentID *string `json:"agent_id,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"The agent of a reported question, which then can neither ask nor report, and gets no webhooks."`
	Blocked bool    `json:"blocked" doc:"true: blocked; false: the block is lifted."`
	Seen
}

// register declares the routes of the function moderationapi.
func (o *OperatorAPI) register(s *httpapi.Server) {
	o.registerData(s)
	uuid := httpapi.Format("uuid")
	httpapi.Serve(s, httpapi.Operation{ID: "listReports",
		Description: "Returns a page of the questions and answers that were reported, with their texts. Reports are " +
			"kept for 90 days after the last report or decision.",
	}, func(ctx context.Context, input *reportListInput) (ReportList, error) {
		reports, next, err := o.Service.Reports(ctx, askahuman.ReportState(input.State), input.Limit, input.Cursor)
		return ReportList{Reports: reports, NextCursor: next}, err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "decideReport", Status: http.StatusNoContent,
		Description: "Dismisses a report, so that it is open no more, or opens it again. It hides and shows nothing: " +
			"a report of what is hidden is decided by showing that again.",
		Stricter: httpapi.Forms{"path.report_id": uuid},
		Errors:   []error{askahuman.ErrReportNotFound, decided()},
	}, func(ctx context.Context, input *dismissInput) (any, error) {
		return nil, o.Service.Dismiss(ctx, input.Body.decision(ctx), input.ID, input.Body.Dismissed)
	})

	httpapi.Serve(s, httpapi.Operation{ID: "listOpenOfAgent",
		Description: "Returns the questions of an agent that take answers, with their texts.",
	}, func(ctx context.Context, input *openQuestionsInput) (askahuman.OfAgent, error) {
		return o.Service.OpenQuestions(ctx, input.AgentID)
	})

	httpapi.Serve(s, httpapi.Operation{ID: "hideOpenOfAgent",
		Description: "Hides the questions of an agent that take answers, 100 at most, each as hideQuestion does. " +
			"Block the agent first, so that it asks no more meanwhile.",
		Errors: []error{decided()},
	}, func(ctx context.Context, input *hideOpenQuestionsInput) (HiddenQuestions, error) {
		hidden, more, err := o.Service.HideOpenQuestions(ctx, input.Body.decision(ctx), input.Body.AgentID)
		if hidden > 0 {
			o.Metrics.Emit(ctx, kit.Count("Hidden", hidden))
		}
		return HiddenQuestions{Hidden: hidden, More: more}, err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "hideQuestion",
		Status: http.StatusNoContent,
		Description: "Hides a question: people no longer find it, it takes no more answers, and its agent sees that " +
			"it is closed and hidden. Its answers stay readable. Shown again, it stays closed.",
		Stricter: httpapi.Forms{"path.question_id": uuid},
		Errors:   []error{askahuman.ErrQuestionNotFound, decided()},
	}, func(ctx context.Context, input *hideQuestionInput) (any, error) {
		return nil, o.hid(ctx, input.Body, o.Service.HideQuestion(ctx, input.Body.decision(ctx), input.ID,
			input.Body.Hidden))
	})

	httpapi.Serve(s, httpapi.Operation{ID: "hideResponse",
		Status: http.StatusNoContent,
		Description: "Hides an answer from the agent that asked, or shows it again. It still counts towards the " +
			"answers that the question wanted.",
		Stricter: httpapi.Forms{"path.question_id": uuid, "path.response_id": uuid},
		Errors:   []error{askahuman.ErrResponseNotFound, decided()},
	}, func(ctx context.Context, input *hideResponseInput) (any, error) {
		return nil, o.hid(ctx, input.Body, o.Service.HideResponse(ctx, input.Body.decision(ctx), input.ID,
			input.ResponseID, input.Body.Hidden))
	})

	httpapi.Serve(s, httpapi.Operation{ID: "readBoard",
		Description: "Returns the first 100 of a leaderboard with the people, to reset a name or to block someone by.",
	}, func(ctx context.Context, input *boardInput) (OperatorBoard, error) {
		entries, err := o.Service.Board(ctx, askahuman.Period(input.Period))
		return OperatorBoard{Entries: entries}, err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "resetHandle", Status: http.StatusNoContent,
		Description: "Takes the name that a person chose for leaderboards: they have the one that is made for them, " +
			"and cannot choose another; or lets them choose again.",
		Errors: []error{askahuman.ErrPersonNotFound, decided()},
	}, func(ctx context.Context, input *resetInput) (any, error) {
		return nil, o.Service.ResetHandle(ctx, input.Body.decision(ctx), input.Body.Person, input.Body.Reset)
	})

	httpapi.Serve(s, httpapi.Operation{ID: "block", Status: http.StatusNoContent,
		Description: "Blocks a person, who then can neither answer nor report, or an agent, which then can neither " +
			"ask, nor report, nor have webhooks sent; or lifts the block. What they wrote before stays, until it is " +
			"hidden. A block also stops what is under " +
			"way.",
		Variants: []httpapi.Variant{
			{Required: []string{"person"}, Fields: httpapi.Forms{"agent_id": httpapi.Absent}},
			{Required: []string{"agent_id"}, Fields: httpapi.Forms{"person": httpapi.Absent}},
		},
		Errors: []error{askahuman.ErrPersonNotFound, decided()},
	}, func(ctx context.Context, input *blockInput) (any, error) {
		err := o.block(ctx, input.Body)
		if err == nil && input.Body.Blocked {
			o.Metrics.Emit(ctx, kit.Count("Blocked", 1))
		}
		return nil, err
	})
}

// decided is the error of a decision on what has changed, for the document.
func decided() error {
	return &askahuman.DecidedError{LastDecision: askahuman.LastDecision{Version: 1,
		What: askahuman.Decided(askahuman.ReportHidden), By: "olga",
		At: wire.Time(time.Date(2026, 2, 2, 9, 45, 0, 0, time.UTC))}}
}

func (o *OperatorAPI) block(ctx context.Context, b Block) error {
	switch {
	case b.Person == nil && b.AgentID == nil:
		return validate.Errorf("person", validate.RuleRequired,
			"is missing; send person for a person, or agent_id for an agent")
	case b.Person != nil && b.AgentID != nil:
		return validate.Errorf("person", validate.RuleConflict, "was sent together with agent_id; send one of the two")
	case b.Person != nil:
		return o.Service.BlockPerson(ctx, b.decision(ctx), *b.Person, b.Blocked)
	default:
		return o.Service.BlockAgent(ctx, b.decision(ctx), *b.AgentID, b.Blocked)
	}
}

// hid counts what was hidden.
func (o *OperatorAPI) hid(ctx context.Context, v Visibility, err error) error {
	if err == nil && v.Hidden {
		o.Metrics.Emit(ctx, kit.Count("Hidden", 1))
	}
	return err
}
