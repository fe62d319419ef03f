package routes

import (
	"context"
	"slices"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// freeADay and premiumADay are how many translations a user has in a day, submissionsADay how many terms one
	// submits, and quizRequests is how many requests a quiz here has: 20 questions and their answers.
	freeADay, premiumADay, submissionsADay, quizRequests = 10, 100, 10, 40
)

// Lingible says what to measure of Lingible.
func (described) Lingible() Measured {
	// A premium user has a tier: an upgrade answers with it.
	premium, kept := []string{"tier"}, []string{"tier", "translation_id"}
	ask := func(ctx context.Context, c *caller) error { return c.call(ctx, lingible.AskQuestion) }
	// answer answers the question before, or the first one.
	answer := func(ctx context.Context, c *caller) error { return c.call(ctx, lingible.AnswerQuestion) }
	twenty := lingible.PageParams{Limit: 20}
	return Measured{
		platform: lingible.Platform(),
		makers: map[string]schema.Described{"tier": lingible.UpgradeUser, "translation_id": lingible.Translate,
			"submission_id": lingible.SubmitTerm, "question_id": lingible.AskQuestion},
		bodies: map[string]func(*caller, int) given{
			lingible.Translate.ID: func(*caller, int) given { return given{"text": "The concert was lit, no cap."} },
			// A term that is to be voted on.
			lingible.SubmitTerm.ID: func(*caller, int) given {
				term := NewWord() + " weather"
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
				body: func(*caller, int) given { return given{"text": "The committee adjourned."} }},
			{Name: "list", Of: lingible.ListTranslations, Params: twenty, Note: ", 20", Clients: allClients,
				has: append(premium, slices.Repeat(kept[1:], 20)...)},
			{Name: "usage", Of: lingible.ReadUsage, Clients: allClients},
			// The submission, in four indexes, the user's note of it, and the usage.
			{Name: "submit", Of: lingible.SubmitTerm, Clients: allClients,
				Transaction: Transaction{Items: 3, Indexed: 1}, has: premium, per: 1 + submissionsADay},
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
				Transaction: Transaction{Items: 3}, has: premium, per: quizRequests, before: answer},
			// The quiz and the day.
			{Name: "answer", Of: lingible.AnswerQuestion, Clients: allClients, Transaction: Transaction{Items: 2},
				has: premium, per: quizRequests, before: ask},
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
			{Name: "stand", Of: lingible.ReadQuiz, has: premium, per: quizRequests, before: answer},
			{Name: "end", Of: lingible.EndQuiz, has: premium, fresh: []string{"question_id"}, per: quizRequests,
				before: answer},
		},
	}
}

// NewWord is a word that the embedded language takes for one. No vowel is the one before it: a pair that comes three
// times, as in "zororor", is what the language takes for random letters.
func NewWord() string {
	const consonants = "bdfgklmnprstv"
	return letters(16, consonants, "a", consonants, "e", consonants, "i", consonants, "o", consonants, "u")
}

// needSubmission submits a term as another user, unless there is one to vote on, and waits until it
// is judged.
func needSubmission(ctx context.Context, c *caller) error {
	if c.known["submission_id"] != nil {
		return nil
	}
	other := newCaller(c.run, c.of, Route{})
	if err := other.need(ctx, "tier", "submission_id"); err != nil {
		return err
	}
	c.known["submission_id"] = other.known["submission_id"]
	return until(ctx, other, lingible.ListOwnSubmissions, lingible.PageParams{}, func(l lingible.SubmissionList) bool {
		return len(l.Submissions) == 1 && l.Submissions[0].Status == lingible.Validated
	})
}
