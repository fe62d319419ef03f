package askahuman

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/aws"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// When many race for a question's last places, and DynamoDB refuses or loses requests meanwhile,
// exactly as many answers are stored as the question needs, and points are what the answers said.
func TestRaces(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]aws.Faults{
		"WithRefusals":   {Throttle: 0.05, TransactionConflict: 0.05, DropResponse: 0.03, Seed: 2},
		"WithoutAnswers": {DropResponse: 0.01, Hang: 0.01, Seed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := ownRun(t, local.Options{})
			if err := rooms.Of(target.Run).AWS.SetFaults(faults); err != nil {
				t.Fatal(err)
			}
			const rounds = 5
			// The sum of all points in answers, and how many answers and people had them.
			told, answered, earned := 0, 0, 0
			for round := range rounds {
				// Reads are limited by address: each round has its own.
				c := newClient(t, target)
				c.Retry = onesynthtest.Busy
				told += raceOfPeople(t, c, round)
				told += raceWithOneself(t, c, round)
				answered, earned = answered+6, earned+6
				if round%5 == 0 {
					told += raceAcrossQuestions(t, c, round)
					answered, earned = answered+manyQuestions, earned+1
				}
			}
			if err := rooms.Of(target.Run).AWS.SetFaults(aws.Faults{}); err != nil {
				t.Fatal(err)
			}
			points, answers := 0, 0
			earners := target.Items(t, "UserStats")
			if len(earners) != earned {
				t.Errorf("got %d people with stats; want %d, the winners alone", len(earners), earned)
			}
			for _, item := range earners {
				points += int(item["total_points"].(float64))
				answers += int(item["total_answers"].(float64))
			}
			stored := 0
			for _, item := range target.Items(t, "Responses") {
				stored += int(item["points_earned"].(float64))
			}
			if points != told || stored != told || answers != answered {
				t.Errorf("got %d points in stats and %d in responses for %d answers; told were %d, for %d answers",
					points, stored, answers, told, answered)
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
	raceWithOneself(t, c, 0)
	raceAcrossQuestions(t, c, 0)
}

// storedBefore reports whether an answer was refused because an earlier attempt, which got no
// success, had stored it.
func storedBefore(r onesynthtest.Reply) bool {
	p, err := problemOf(r)
	return err == nil && r.Retries > 0 && r.Status == http.StatusConflict && p.Code == "ALREADY_ANSWERED"
}

// raceOfPeople has 64 people race for 5 places, and returns the points of the receipts.
func raceOfPeople(t *testing.T, c *client, round int) int {
	t.Helper()
	const racers, places = 64, 5
	asker := c.newAgent()
	asked := asker.ask(t, textQuestion(places))
	people := c.newPeople(racers)
	receipts, unknown := make([]*receipt, racers), make([]bool, racers)
	if err := onesynthtest.Together(racers, func(i int) error {
		r, err := people[i].tryAnswer(t.Context(), textAnswer(asked.QuestionID))
		switch {
		case err != nil:
			return err
		case r.Status == http.StatusCreated:
			got := onesynthtest.Read[receipt](t, r, http.StatusCreated)
			receipts[i] = &got
		case storedBefore(r):
			unknown[i] = true
		case r.Status == http.StatusGone:
			if p, err := problemOf(r); err != nil || p.Code != "QUESTION_CLOSED" {
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
			got = &receipt{PointsEarned: points, TotalPoints: points}
		}
		// That no loser has any stats is seen in the table at the end; some are asked.
		if got == nil {
			if lost++; lost > 3 {
				continue
			}
		}
		want := stats{}
		if got != nil {
			won++
			told += got.PointsEarned
			want = stats{TotalPoints: got.PointsEarned, TotalAnswers: 1, StreakDays: 1}
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

// raceWithOneself has one person answer the same question 24 times at once, and returns the points
// of the receipts.
func raceWithOneself(t *testing.T, c *client, round int) int {
	t.Helper()
	const times = 24
	asker, one := c.newAgent(), c.newPerson()
	places := 1 + round%2 // the one answer closes the question, or it does not
	asked := asker.ask(t, textQuestion(places))
	var mutex sync.Mutex
	told, won, unknown := 0, 0, 0
	if err := onesynthtest.Together(times, func(int) error {
		r, err := one.tryAnswer(t.Context(), textAnswer(asked.QuestionID))
		if err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		if r.Status == http.StatusCreated {
			won++
			told += onesynthtest.Read[receipt](t, r, http.StatusCreated).PointsEarned
			return nil
		}
		if storedBefore(r) {
			unknown++
		}
		if p, err := problemOf(r); err != nil || r.Status != http.StatusConflict || p.Code != "ALREADY_ANSWERED" {
			return fmt.Errorf("got %v; want 201 or 409 ALREADY_ANSWERED", r)
		}
		return nil
	}); err != nil {
		t.Fatalf("round %d, with oneself: %v", round, err)
	}
	if won == 0 && unknown > 0 {
		told = one.stats(t).TotalPoints
	} else if won != 1 {
		t.Errorf("round %d, with oneself: got 201 %d times; want once", round, won)
	}
	if has := one.stats(t); has.TotalPoints != told || has.TotalAnswers != 1 {
		t.Errorf("round %d, with oneself: got %+v; told were %d points", round, has, told)
	}
	if got := asker.question(t, asked.QuestionID); got.CurrentResponses != 1 || len(got.Responses) != 1 {
		t.Errorf("round %d, with oneself: got %+v; want one answer", round, got)
	}
	return told
}

// manyQuestions is how many questions one person answers at once, so well that it
// is worth more than a day's points.
const manyQuestions = 24

// raceAcrossQuestions has one person answer many questions at once, and returns the points of the
// receipts.
func raceAcrossQuestions(t *testing.T, c *client, round int) int {
	t.Helper()
	asker, one := c.newAgent(), c.newPerson()
	ids := make([]string, manyQuestions)
	for i := range ids {
		ids[i] = asker.ask(t, textQuestion(2)).QuestionID
	}
	var told, unknown atomic.Int32
	if err := onesynthtest.Together(len(ids), func(i int) error {
		r, err := one.tryAnswer(t.Context(), answer{QuestionID: ids[i],
			Answer: strings.Repeat("Every word counts. ", 6), Confidence: 3})
		if err != nil {
			return err
		}
		switch {
		case r.Status == http.StatusCreated:
			told.Add(int32(onesynthtest.Read[receipt](t, r, http.StatusCreated).PointsEarned))
		case storedBefore(r):
			unknown.Add(1)
		default:
			return fmt.Errorf("got %v; want 201", r)
		}
		return nil
	}); err != nil {
		t.Fatalf("round %d, across questions: %v", round, err)
	}
	// 24 answers at 22 points are 528; a day has 500.
	has := one.stats(t)
	if has.TotalPoints != 500 || told.Load() != 500 && unknown.Load() == 0 || has.TotalAnswers != manyQuestions {
		t.Errorf("round %d, across questions: got %+v; told were %d points; want 500", round, has, told.Load())
	}
	return has.TotalPoints
}
