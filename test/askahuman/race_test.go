package askahuman

import (
	"errors"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema/client"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// When many race for a question's last places on AWS or on its emulator, exactly as many answers are stored as the
// question needs, and points are what the answers said.
func TestRaceAsDeployed(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	if target.Run != nil {
		t.Skip("skipped in a local run: the service's own tests race, with faults")
	}
	avoidEndOfHour(t) // which may be the end of the day
	c := platform.NewClient(t, target)
	c.Retry = onesynthtest.Busy
	const racers, places = 64, 5
	asker := newAgent(c)
	asked := asker.ask(t, textQuestion(places))
	people := make([]*onesynthtest.Client, racers)
	for i := range people {
		people[i] = newPerson(c)
	}
	must.OK(t, onesynthtest.Together(racers, func(i int) error {
		_, err := client.Call(t.Context(), people[i], askahuman.AnswerQuestion, askahuman.ZoneParams{},
			textAnswer(asked.QuestionID))
		// An attempt that got no answer may have been stored.
		if errors.Is(err, askahuman.ErrQuestionClosed) || errors.Is(err, askahuman.ErrAlreadyAnswered) {
			return nil
		}
		return err
	}))
	points, answers := 0, 0
	for _, one := range people {
		has := platform.Call(t, one, askahuman.ReadStats, askahuman.ZoneParams{})
		points, answers = points+has.TotalPoints, answers+has.TotalAnswers
	}
	// 10 for each text, and 5 for each of the three given while under half were there.
	if answers != places || points != 65 {
		t.Errorf("got %d answers and %d points; want %d and 65, in any order", answers, points, places)
	}
	if got := asker.question(t, asked.QuestionID); got.Status != "CLOSED" || len(got.Responses) != places {
		t.Errorf("got %+v; want CLOSED with %d", got, places)
	}
}
