package routes

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// freeADay and premiumADay are how many translations a user has in a day, submissionsADay how
	// many terms one submits, and quizLength is how many questions a quiz here has.
	freeADay, premiumADay, submissionsADay, quizLength = 10, 100, 10, 20
	// judgedEvery is the interval of looking whether a submission is judged.
	judgedEvery = 10 * time.Millisecond
)

// Lingible says what to measure of Lingible.
func (described) Lingible() Measured {
	// A premium user has a tier: an upgrade answers with it.
	premium, kept := []string{"tier"}, []string{"tier", "translation_id"}
	ask := func(ctx context.Context, c *caller) error { return c.do(ctx, lingible.AskQuestion) }
	// answer answers the question before, or the first one.
	answer := func(ctx context.Context, c *caller) error { return c.do(ctx, lingible.AnswerQuestion) }
	twenty := lingible.PageParams{Limit: 20}
	return Measured{
		platform: lingible.Platform(), load: loadLanguage, identify: asUser, identity: []string{"sub"},
		within: map[string][]string{"sub": {"tier", "translation_id", "question_id"}},
		makers: map[string]schema.Described{"tier": lingible.UpgradeUser, "translation_id": lingible.Translate,
			"submission_id": lingible.SubmitTerm, "question_id": lingible.AskQuestion},
		bodies: map[string]func(*caller) given{
			lingible.Translate.ID: func(*caller) given { return given{"text": "The concert was lit, no cap."} },
			// A term that is to be voted on.
			lingible.SubmitTerm.ID: func(*caller) given {
				term := newWord() + " weather"
				return given{"slang_term": term, "meaning": "bad weather",
					"example_usage": "What a lovely " + term + " we have"}
			},
		},
		Routes: []Route{
			{Name: "warm", Of: lingible.ReadHealth, Note: ", without DynamoDB"},
			{Name: "free", Of: lingible.Translate, Note: ", of 2 terms", Clients: allClients, per: freeADay},
			{Name: "premium", Of: lingible.Translate, Note: ", of 2 terms, kept", Clients: allClients, has: premium,
				per: premiumADay},
			{Name: "same", Of: lingible.Translate, Note: ", unchanged", Clients: allClients, per: premiumADay,
				body: func(*caller) given { return given{"text": "The committee adjourned."} }},
			{Name: "list", Of: lingible.ListTranslations, Params: twenty, Note: ", 20", Clients: allClients,
				has: append(premium, slices.Repeat(kept[1:], 20)...)},
			{Name: "usage", Of: lingible.ReadUsage, Clients: allClients},
			// The submission, in four indexes, the user's note of it, and the usage.
			{Name: "submit", Of: lingible.SubmitTerm, Clients: allClients,
				Transaction: Transaction{Items: 3, Indexed: 1}, has: premium, per: submissionsADay},
			// Each vote is by another user: the check of the usage, and the note.
			{Name: "vote", Of: lingible.VoteForSubmission, Clients: allClients, Transaction: Transaction{Items: 2},
				per: 1, before: needSubmission},
			{Name: "open", Of: lingible.ListOpenSubmissions, Params: twenty, Note: ", 20", Clients: []int{1, 8},
				before: needSubmission},
			{Name: "trends", Of: lingible.ListTrends, Params: lingible.TrendParams{Limit: 20},
				Note: ", 20", Clients: allClients, has: premium},
			// The usage, the day and the quiz.
			// A process reads the wrong answers of each category once.
			{Name: "ask", Of: lingible.AskQuestion, Warm: 25, Clients: allClients,
				Transaction: Transaction{Items: 3}, has: premium, per: quizLength, before: answer},
			// The quiz and the day.
			{Name: "answer", Of: lingible.AnswerQuestion, Clients: allClients, Transaction: Transaction{Items: 2},
				has: premium, per: quizLength, before: ask},
			{Name: "history", Of: lingible.ReadQuizHistory, Clients: allClients, has: premium, before: answer},
			{Name: "clear", Of: lingible.DeleteTranslations, Note: ", 1", has: kept, fresh: []string{"translation_id"},
				per: premiumADay},
			{Name: "drop", Of: lingible.DeleteTranslation, has: kept, per: premiumADay},
			{Name: "self", Of: lingible.ReadUser},
			{Name: "upgrade", Of: lingible.UpgradeUser, per: 1},
			{Name: "leave", Of: lingible.DeleteUser, has: kept, per: 1},
			{Name: "mine", Of: lingible.ListOwnSubmissions, Note: ", 1",
				has: []string{"tier", "submission_id"}},
			{Name: "approve", Of: lingible.ApproveSubmission, fresh: []string{"submission_id"},
				before: needSubmission},
			{Name: "reject", Of: lingible.RejectSubmission, fresh: []string{"submission_id"}, before: needSubmission},
			{Name: "stand", Of: lingible.ReadQuiz, has: premium, per: quizLength, before: answer},
			{Name: "end", Of: lingible.EndQuiz, has: premium, fresh: []string{"question_id"}, per: quizLength,
				before: answer},
		},
	}
}

// loadLanguage loads the lexicon, and lets the trending job propose its first trends.
func loadLanguage(ctx context.Context, c *caller) (map[string]any, error) {
	if err := c.run.Seed(ctx, "lingible"); err != nil {
		return nil, err
	}
	var schedules []struct{ Name string }
	if err := c.run.Get(ctx, "/schedules", &schedules); err != nil {
		return nil, err
	}
	for _, s := range schedules {
		if strings.Contains(s.Name, "TrendingJob") {
			return nil, c.run.Post(ctx, "/schedules/"+s.Name+"/run", nil, nil)
		}
	}
	return nil, fmt.Errorf("got the schedules %v; want the schedule of the trending job", schedules)
}

// newWord is a word that the embedded language takes for one.
func newWord() string {
	const consonants, vowels = "bdfgklmnprstv", "aeiou"
	word := []byte(rand.Text()[:16])
	for i, c := range word {
		if word[i] = consonants[int(c)%len(consonants)]; i%2 == 1 {
			word[i] = vowels[i/2%len(vowels)]
		}
	}
	return string(word)
}

// needSubmission submits a term as another user, unless there is one to vote on, and waits until it
// is judged.
func needSubmission(ctx context.Context, c *caller) error {
	if c.knows("submission_id") {
		return nil
	}
	other := newCaller(c.run, c.of, Route{})
	if err := other.need(ctx, "tier", "submission_id"); err != nil {
		return err
	}
	c.known["submission_id"] = other.known["submission_id"]
	for {
		var list lingible.SubmissionList
		if err := other.send(ctx, lingible.ListOwnSubmissions.Describe(), Route{}, nil, &list); err != nil {
			return err
		}
		if len(list.Submissions) == 1 && list.Submissions[0].Status == lingible.Validated {
			return nil
		}
		if err := wait(ctx, judgedEvery); err != nil {
			return err
		}
	}
}
