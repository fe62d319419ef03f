package askahuman

import (
	"net/http"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// An agent waits for many questions at once, and learns of the answer to each. While each wait holds an instance of the
// function, no instance refuses the agent's calls.
func TestWaitingTogether(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	c, waiting := platform.NewClient(t, target), target.AtOnce(40)
	asker := newAgent(c)
	asked := make([]askahuman.Submission, waiting)
	for i := range asked {
		asked[i] = asker.ask(t, textQuestion(1))
	}
	replies := make([]onesynthtest.Reply, waiting)
	var group sync.WaitGroup
	for i := range asked {
		group.Go(func() {
			var err error
			if replies[i], err = asker.Send(t.Context(), http.MethodGet, asked[i].PollURL+"?wait=20&seen=0",
				nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	for _, of := range asked {
		answer(t, newPerson(c), textAnswer(of.QuestionID))
	}
	group.Wait()
	for _, reply := range replies {
		if got := onesynthtest.Read[askahuman.QuestionWithResponses](t, reply, http.StatusOK); got.Status != "CLOSED" ||
			got.CurrentResponses != 1 || len(got.Responses) != 1 {
			t.Errorf("got %s with %d answers, counted %d; want CLOSED with 1", got.Status, len(got.Responses),
				got.CurrentResponses)
		}
	}
}
