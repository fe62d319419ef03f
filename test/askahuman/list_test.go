package askahuman

import (
	"net/url"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// An agent's list has each of its questions once, newest first, also while more
// are asked between two pages.
func TestAgentListPagesWhileMoreAreAsked(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	c.Retry = onesynthtest.Busy
	asker := c.newAgent()
	var asked []string
	for range 7 {
		asked = append(asked, asker.ask(t, textQuestion(2)).QuestionID)
	}
	var listed []string
	for cursor := ""; ; {
		page := asker.list(t, url.Values{"limit": {"2"}, "cursor": {cursor}})
		if len(page.Questions) > 2 {
			t.Fatalf("got %d questions in a page; want at most 2", len(page.Questions))
		}
		for _, q := range page.Questions {
			listed = append(listed, q.QuestionID)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
		asker.ask(t, textQuestion(2))
	}
	slices.Reverse(asked)
	if !slices.Equal(listed, asked) {
		t.Errorf("got %v; want %v", listed, asked)
	}
}

// The feed has every open question once, newest first, without those that the
// person has answered and without those that have ended, also while others ask,
// answer and close.
func TestFeedPagesWhileOthersWrite(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	c.Retry = onesynthtest.Busy
	asker, reader := c.newAgent(), c.newPerson()
	// An audience keeps the feed short that all tests share.
	question := textQuestion(3)
	question.Audience = []string{"creative"}
	var stay []string
	for range 6 {
		stay = append(stay, asker.ask(t, question).QuestionID)
	}
	own := asker.ask(t, question).QuestionID
	reader.answer(t, textAnswer(own))
	// A question that has an answer already must not fall behind those that have none.
	c.newPerson().answer(t, textAnswer(stay[2]))
	ended := asker.ask(t, question).QuestionID
	asker.close(t, ended)

	onesynthtest.Settled(t, "the reader's answer leaves the feed", func() bool {
		return !slices.ContainsFunc(reader.feed(t, url.Values{"limit": {"50"}, "audience": {"creative"}}).Questions,
			func(q humanQuestion) bool {
				return q.QuestionID == own
			})
	})
	var seen []humanQuestion
	for cursor, pages := "", 0; ; pages++ {
		page := reader.feed(t, url.Values{"limit": {"3"}, "cursor": {cursor}, "audience": {"creative"}})
		seen = append(seen, page.Questions...)
		if cursor = page.NextCursor; cursor == "" {
			break
		}
		if pages == 1 {
			asker.ask(t, question)
			c.newPerson().answer(t, textAnswer(stay[0]))
		}
	}
	if !slices.IsSortedFunc(seen, func(a, b humanQuestion) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
		t.Error("the feed is not newest first")
	}
	counts := map[string]int{}
	for _, q := range seen {
		counts[q.QuestionID]++
		if q.ResponsesNeeded < 1 {
			t.Errorf("got %+v, which needs no responses", q)
		}
	}
	for _, id := range stay {
		if counts[id] != 1 {
			t.Errorf("question %s: got it %d times; want once", id, counts[id])
		}
	}
	for id, n := range counts {
		if n > 1 {
			t.Errorf("question %s: got it %d times", id, n)
		}
	}
	if counts[own] > 0 || counts[ended] > 0 {
		t.Error("the feed has a question that the person answered, or one that has ended")
	}
}
