package api

import (
	"context"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
)

// workTime is how long an operation of agents may work, unless it waits: the function has more time
// for the one that does. A repeat of a request whose function died waits until this time is over.
const workTime = 9 * time.Second

type newsInput struct {
	ID   string `path:"question_id" doc:"The question's id." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Wait int    `query:"wait" minimum:"0" maximum:"20" doc:"For how many seconds the answer may wait for news: until the question has ended, or has more answers than were seen. Without news, it is the question as it is then. A call counts once, however long it waits." example:"20"`
	Seen *int   `query:"seen" minimum:"0" maximum:"50" doc:"With wait: how many answers are no news, such as the current_responses of the read before. By default, those that there are when the wait begins." example:"2"`
}

// registerRead declares the route on which an agent reads a question, with or without waiting.
func (a *AgentAPI) registerRead(s *httpapi.Server, op httpapi.Operation) {
	if a.Parts.WithoutWaiting {
		httpapi.Serve(s, op, func(ctx context.Context, input *questionInput) (AgentQuestionWithResponses, error) {
			question, err := a.Service.Read(ctx, caller(ctx), input.ID)
			return agentQuestionWithResponses(question), err
		})
		return
	}
	op.NoWorkTime = true
	httpapi.Serve(s, op, func(ctx context.Context, input *newsInput) (AgentQuestionWithResponses, error) {
		if input.Wait == 0 {
			question, err := a.Service.Read(ctx, caller(ctx), input.ID)
			return agentQuestionWithResponses(question), err
		}
		// A call beyond the limit must not hold an instance of the function.
		if err := dynamo.Await(ctx); err != nil {
			return AgentQuestionWithResponses{}, err
		}
		wait := service.Wait{Longest: time.Duration(input.Wait) * time.Second, Seen: input.Seen}
		question, waited, err := a.Service.ReadNews(ctx, caller(ctx), input.ID, wait)
		if waited > 0 {
			a.Metrics.Emit(ctx, kit.Count("Waited", 1))
		}
		return agentQuestionWithResponses(question), err
	})
}
