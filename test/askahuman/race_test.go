package askahuman

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// When many race for a question's last places, and DynamoDB refuses or loses requests meanwhile,
// exactly as many answers are stored as the question needs, and points are what the answers said.
func TestRaces(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]runtest.Faults{
		"WithRefusals":   {Throttle: 0.05, TransactionConflict: 0.05, DropResponse: 0.03, Seed: 2},
		"WithoutAnswers": {DropResponse: 0.01, Hang: 0.01, Seed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := ownRun(t, run.Options{})
			if err := runtest.Of(target.Run).SetFaults(faults); err != nil {
				t.Fatal(err)
			}
			const rounds = 5
			told := 0 // the points in answers
			for round := range rounds {
				// Reads are limited by address: each round has its own.
				c := newClient(t, target)
				c.Retry = onesynthtest.Busy
				told += raceOfPeople(t, c, round)
			}
			if err := runtest.Of(target.Run).SetFaults(runtest.Faults{}); err != nil {
				t.Fatal(err)
			}
			points, answers := 0, 0
			earners := target.Items(t, "UserStats")
			if len(earners) != rounds*places {
				t.Errorf("got %d people with stats; want %d, the winners alone", len(earners), rounds*places)
			}
			for _, item := range earners {
				points += int(item["total_points"].(float64))
				answers += int(item["total_answers"].(float64))
			}
			stored := 0
			for _, item := range target.Items(t, "Responses") {
				stored += int(item["points_earned"].(float64))
			}
			if points != told || stored != told || answers != rounds*places {
				t.Errorf("got %d points in stats and %d in responses for %d answers; told were %d, for %d answers",
					points, stored, answers, told, rounds*places)
			}
		})
	}
}

// The same holds on AWS and on its emulator, without faults.
func TestRaceAsDeployed(t *testing.T) {
	t.Parallel()
	target := shared(t)
	if target.Run != nil {
		t.Skip("TestRaces shows it of a local run")
	}
	avoidEndOfHour(t) // which may be the end of the day
	c := newClient(t, target)
	c.Retry = onesynthtest.Busy
	raceOfPeople(t, c, 0)
}

// storedBefore reports whether an answer was refused because an earlier attempt, which got no
// success, had stored it.
func storedBefore(r onesynthtest.Reply) bool {
	p, err := suite.IsError(r)
	return err == nil && r.Retries > 0 && r.Status == http.StatusConflict && p.Code == "ALREADY_ANSWERED"
}

// places is how many answers a question takes that people race for.
const places = 5

// raceOfPeople has 64 people race for the places, and returns the points of the receipts.
func raceOfPeople(t *testing.T, c *visitor, round int) int {
	t.Helper()
	const racers = 64
	asker := c.newAgent()
	asked := asker.ask(t, textQuestion(places))
	people := c.newPeople(racers)
	receipts, unknown := make([]*askahuman.Receipt, racers), make([]bool, racers)
	if err := onesynthtest.Together(racers, func(i int) error {
		r, err := people[i].tryAnswer(t.Context(), textAnswer(asked.QuestionID))
		switch {
		case err != nil:
			return err
		case r.Status == http.StatusCreated:
			got := onesynthtest.Read[askahuman.Receipt](t, r, http.StatusCreated)
			receipts[i] = &got
		case storedBefore(r):
			unknown[i] = true
		case r.Status == http.StatusGone:
			if p, err := suite.IsError(r); err != nil || p.Code != "QUESTION_CLOSED" {
				return fmt.Errorf("got %v; want QUESTION_CLOSED", r)
			}
		default:
			return fmt.Errorf("got %v; want 201 or 410", r)
		}
		return nil
	}); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	told, won, lost := 0, 0, 0
	for i, got := range receipts {
		if unknown[i] {
			points := people[i].stats(t).TotalPoints
			got = &askahuman.Receipt{PointsEarned: points, TotalPoints: points}
		}
		// That no loser has any stats is seen in the table at the end; some are asked.
		if got == nil {
			if lost++; lost > 3 {
				continue
			}
		}
		want := askahuman.Standing{}
		if got != nil {
			won++
			told += got.PointsEarned
			want = askahuman.Standing{TotalPoints: got.PointsEarned, TotalAnswers: 1, StreakDays: 1}
			if got.TotalPoints != got.PointsEarned {
				t.Errorf("round %d: got %+v for a first answer", round, got)
			}
		}
		if has := people[i].stats(t); has.TotalPoints != want.TotalPoints || has.TotalAnswers != want.TotalAnswers ||
			has.StreakDays != want.StreakDays {
			t.Errorf("round %d: got %+v for a person who was told %+v", round, has, got)
		}
	}
	if won != places {
		t.Errorf("round %d: got %d winners; want %d", round, won, places)
	}
	// 10 for each text, and 5 for each of the three given while under half were there.
	if told != 65 {
		t.Errorf("round %d: got %d points in all; want 65, in any order", round, told)
	}
	if got := asker.question(t, asked.QuestionID); got.Status != "CLOSED" || got.CurrentResponses != places ||
		len(got.Responses) != places {
		t.Errorf("round %d: got %+v; want CLOSED with %d", round, got, places)
	}
	return told
}
