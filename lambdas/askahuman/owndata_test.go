package askahuman

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership/ownershiptest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// linked are the items that have a person's hash in any attribute, by table.
func linked(t *testing.T, p *platform, person string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, line := range ownershiptest.Named(t, p.Tables, askahuman.Platform(), person) {
		table, _, _ := strings.Cut(line, " ")
		found[table]++
	}
	return found
}

// knownPerson returns a platform with a person who has answered questions. One of their two devices was notified.
func knownPerson(t *testing.T, answers int) (*platform, []askahuman.Question) {
	t.Helper()
	p := newPlatform(t)
	var questions []askahuman.Question
	ask := textAsk()
	for range answers {
		p.MoveTo(p.Now().Add(time.Second))
		q := p.ask(t, ask)
		ask.MinResponses = new(1) // only the first one stays open
		p.answer(t, person(0), text(q.ID, "An answer."))
		questions = append(questions, q)
	}
	for _, token := range []string{"first-token", "second-token"} {
		p.MoveTo(p.Now().Add(time.Second))
		p.device(t, person(0), token, 30)
	}
	must.OK(t, p.notifying.markNotified(t.Context(), person(0), questions[0].ID, p.Now()))
	p.answer(t, person(1), text(questions[0].ID, "Of another person."))
	p.device(t, person(1), "third-token", 30)
	p.MoveTo(p.Now().Add(time.Minute))
	return p, questions
}

// deleteAll deletes until there is no more, and says how often that was.
func deleteAll(t *testing.T, s *Service, p *platform, person string) (answers, requests int) {
	t.Helper()
	for more := true; more; requests++ {
		deleted := must.Get(s.DeletePerson(t.Context(), person))(t)
		answers, more = answers+deleted.Answers, deleted.More
		p.MoveTo(p.Now().Add(time.Duration(deleted.Wait) * time.Second))
	}
	return answers, requests
}

// An export has all that has the person's hash in the tables, page by page, and no token.
func TestPersonData(t *testing.T) {
	t.Parallel()
	p, questions := knownPerson(t, dataPage+3)
	if got := fmt.Sprint(linked(t, p, person(0))); got != "map[Guards:1 Responses:103 Subscriptions:3 UserStats:1]" {
		t.Errorf("the tables keep %s of the person", got)
	}
	for _, function := range []string{"humanapi", "moderationapi"} {
		service := p.as(t, function)
		first := must.Get(service.PersonData(t.Context(), person(0), ""))(t)
		second := must.Get(service.PersonData(t.Context(), person(0), first.NextCursor))(t)
		if len(first.Answers) != dataPage || len(second.Answers) != 3 || second.NextCursor != "" {
			t.Errorf("got %d answers, then %d", len(first.Answers), len(second.Answers))
		}
		st := first.Stats
		if st == nil || st.TotalAnswers != dataPage+3 || st.Day != "2026-03-04" || len(st.Badges) < 3 {
			t.Errorf("got the stats %+v", st)
		}
		if n := first.Notified; n == nil || n.QuestionID != questions[0].ID {
			t.Errorf("got the notification %+v", n)
		}
		last := second.Answers[2]
		if last.QuestionID != questions[0].ID || *last.Answer != "An answer." || last.Points == 0 ||
			last.ContentDigest == "" || time.Time(last.ExpiresAt).IsZero() {
			t.Errorf("got the answer %+v", last)
		}
		if len(second.Subscriptions) != 2 || second.Subscriptions[0].TokenDigest != digest("second-token") {
			t.Errorf("got the subscriptions %+v", second.Subscriptions)
		}
		for _, sub := range second.Subscriptions {
			if !sub.LastNotifiedAt.IsZero() || !sub.NextNotificationAt.IsZero() {
				t.Errorf("a device that was never notified has %+v", sub)
			}
		}
		all := string(must.Get(json.Marshal([]askahuman.PersonData{first, second}))(t))
		if strings.Contains(all, "-token") {
			t.Errorf("a token is there in clear: %s", all)
		}
		nobody := must.Get(service.PersonData(t.Context(), person(2), ""))(t)
		if nobody.Stats != nil || nobody.Notified != nil || len(nobody.Answers)+len(nobody.Subscriptions) != 0 {
			t.Errorf("of nobody: got %+v", nobody)
		}
		for _, cursor := range []string{"x", "s.x", "s"} {
			_, err := service.PersonData(t.Context(), person(0), cursor)
			wantError(t, err, errCursor)
		}
	}
}

// After a deletion nothing in any table has the person, another person has all of theirs, and agents have the answers.
// A repeat changes nothing, and the person can begin anew.
func TestDeletePerson(t *testing.T) {
	t.Parallel()
	for function, given := range map[string]int{"humanapi": dataPage + 3, "moderationapi": 3} {
		p, questions := knownPerson(t, given)
		other := linked(t, p, person(1))
		answers, requests := deleteAll(t, p.as(t, function), p, person(0))
		if answers != given || requests != 1+given/dataPage {
			t.Errorf("made %d of %d answers nobody's by %d requests", answers, given, requests)
		}
		if left := linked(t, p, person(0)); len(left) > 0 {
			t.Errorf("the tables still have the person: %v", left)
		}
		wantEqual(t, "what is kept of another person", linked(t, p, person(1)), other)
		if due := must.Get(p.notifying.dueSubscriptions(t.Context(), p.Now(), 10))(t); len(due) != 1 {
			t.Errorf("got %d devices to notify; want the other person's", len(due))
		}
		read := must.Get(p.Read(t.Context(), questions[0].AgentID, questions[0].ID))(t)
		if len(read.Responses) != 2 || *read.Responses[0].Answer != "An answer." {
			t.Errorf("the agent reads %+v", read.Responses)
		}
		if answers, requests := deleteAll(t, p.people, p, person(0)); answers != 0 || requests != 1 {
			t.Errorf("deleted again: %d answers by %d requests", answers, requests)
		}
		_, err := p.people.Answer(t.Context(), person(0), nil, text(questions[0].ID, "A second answer."))
		wantError(t, err, askahuman.ErrAlreadyAnswered)
		if offered, _, err := p.people.Feed(t.Context(), person(0), nil, 20, ""); err != nil || len(offered) != 0 {
			t.Errorf("the feed offers %+v, %v; want nothing that the person answered", offered, err)
		}
		if offered, _, err := p.people.Feed(t.Context(), person(2), nil, 20, ""); err != nil || len(offered) != 1 {
			t.Errorf("the feed offers %+v, %v to someone else; want the open question", offered, err)
		}
		if receipt := p.answer(t, person(0), text(p.ask(t, textAsk()).ID, "Anew.")); receipt.TotalPoints !=
			receipt.PointsEarned {
			t.Errorf("the person starts again with %+v", receipt)
		}
	}
}

// A deletion that dies at any of its writes is finished by its repeat.
func TestDeletionDies(t *testing.T) {
	t.Parallel()
	died := errors.New("died")
	for survives := 0; ; survives++ {
		p, _ := knownPerson(t, 3)
		writes, dead := 0, false
		var mu sync.Mutex
		p.faults(func(r dynamotest.Request) error {
			mu.Lock()
			defer mu.Unlock()
			switch r.Action {
			case schema.UpdateItem, schema.DeleteItem, schema.TransactWriteItems:
				if writes++; writes > survives {
					dead = true
				}
			}
			if dead {
				return died
			}
			return nil
		})
		_, err := p.people.DeletePerson(t.Context(), person(0))
		p.faults(nil)
		if err == nil {
			if survives < 6 {
				t.Errorf("a deletion has %d writes; want more", survives)
			}
			return
		}
		if !errors.Is(err, died) {
			t.Errorf("got %v", err)
		}
		deleteAll(t, p.people, p, person(0))
		if left := linked(t, p, person(0)); len(left) > 0 {
			t.Errorf("died after %d writes; the tables still have the person: %v", survives, left)
		}
	}
}

// An answer that comes during a deletion belongs to the person with its points, or to nobody without them.
func TestDeleteWhileAnswering(t *testing.T) {
	t.Parallel()
	p, _ := knownPerson(t, 5)
	var questions []askahuman.Question
	for range 12 {
		questions = append(questions, p.ask(t, textAsk()))
	}
	// Of the past for the deletion, so that it need not wait.
	deleting := p.as(t, "humanapi")
	later := p.Now().Add(settled)
	deleting.Clock = func() time.Time { return later }
	var group sync.WaitGroup
	group.Go(func() {
		for _, q := range questions {
			if _, err := p.people.Answer(t.Context(), person(0), nil, text(q.ID, "An answer.")); err != nil {
				t.Errorf("answer: %v", err)
			}
		}
	})
	for range 2 {
		group.Go(func() {
			for range 8 {
				if _, err := deleting.DeletePerson(t.Context(), person(0)); err != nil {
					t.Errorf("delete: %v", err)
				}
			}
		})
	}
	group.Wait()
	for _, q := range questions {
		if read := must.Get(p.Read(t.Context(), q.AgentID, q.ID))(t); len(read.Responses) != 1 {
			t.Errorf("a question has %d answers; want 1", len(read.Responses))
		}
	}
	stats := must.Get(p.people.stats(t.Context(), person(0)))(t)
	if own := linked(t, p, person(0))["Responses"]; own > stats.TotalAnswers {
		t.Errorf("the person has %d answers, and points for %d", own, stats.TotalAnswers)
	}
	deleteAll(t, deleting, p, person(0))
	if left := linked(t, p, person(0)); len(left) > 0 {
		t.Errorf("the tables still have the person: %v", left)
	}
}

// An answer that was read before a deletion does not bring back the points of before.
func TestDeletionIsFinal(t *testing.T) {
	t.Parallel()
	p, _ := knownPerson(t, 1)
	before := must.Get(p.people.stats(t.Context(), person(0)))(t)
	deleteAll(t, p.people, p, person(0))
	p.answer(t, person(0), text(p.ask(t, textAsk()).ID, "Anew."))
	q := p.ask(t, textAsk())
	r := responseTo(q, person(0), start)
	r.CreatedAt = p.Now()
	if _, err := p.people.submitResponse(t.Context(), q, r, before); err == nil {
		t.Error("an answer on the stats of before is stored")
	}
}

// A device that became another person's meanwhile stays theirs.
func TestDeleteSparesOthersDevices(t *testing.T) {
	t.Parallel()
	p, _ := knownPerson(t, 1)
	sub := must.Get(p.people.Subscribe(t.Context(), person(0), askahuman.NewSubscription{Token: "shared"}))(t)
	must.Get(p.people.Subscribe(t.Context(), person(1), askahuman.NewSubscription{Token: "shared"}))(t)
	wantError(t, p.people.endSubscription(t.Context(), sub.ID, person(0)), askahuman.ErrSubscriptionNotFound)
	deleteAll(t, p.people, p, person(0))
	if kept := must.Get(p.people.PersonData(t.Context(), person(1), ""))(t); len(kept.Subscriptions) != 2 {
		t.Errorf("the other person has %+v", kept.Subscriptions)
	}
}
