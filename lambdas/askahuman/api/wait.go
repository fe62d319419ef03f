package api

import (
	"context"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// workTime is how long an operation of agents may work, unless it waits: the function has more time
// for the one that does. A repeat of a request whose function died waits until this time is over.
const workTime = 9 * time.Second

// bindRead serves the route on which an agent reads a question, with or without waiting.
func (a *AgentAPI) bindRead(s *httpapi.Server) {
	if a.Parts.WithoutWaiting {
		httpapi.Bind(s, askahuman.ReadQuestionAtOnce,
			func(ctx context.Context, r requestBy[askahuman.QuestionParams]) (askahuman.QuestionWithResponses, error) {
				return a.Service.Read(ctx, r.Caller.ID, r.Params.ID)
			})
		return
	}
	httpapi.Bind(s, askahuman.ReadQuestion,
		func(ctx context.Context, r requestBy[askahuman.NewsParams]) (askahuman.QuestionWithResponses, error) {
			if r.Params.Wait == 0 {
				return a.Service.Read(ctx, r.Caller.ID, r.Params.ID)
			}
			// A call beyond the limit must not hold an instance of the function.
			if err := dynamo.Await(ctx); err != nil {
				return askahuman.QuestionWithResponses{}, err
			}
			wait := service.Wait{Longest: time.Duration(r.Params.Wait) * time.Second, Seen: r.Params.Seen}
			question, waited, err := a.Service.ReadNews(ctx, r.Caller.ID, r.Params.ID, wait)
			if waited > 0 {
				a.Metrics.Emit(ctx, kit.Count("Waited", 1))
			}
			return question, err
		})
}
