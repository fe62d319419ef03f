package routes

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"
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
	var once sync.Once
	var failed error
	begin := func(run *Run) *speaker { return &speaker{caller: newCaller(run)} }
	// asking returns clients who are another user after that many requests.
	asking := func(isPremium bool, most int, prepare, request func(*speaker, context.Context) error) starter {
		return steps(begin, func(u *speaker, ctx context.Context) error {
			if once.Do(func() { failed = u.load(ctx) }); failed != nil {
				return failed
			}
			if u.Header.Get("Authorization") == "" || u.requests >= most {
				if err := u.signUp(ctx, isPremium); err != nil {
					return err
				}
			}
			u.requests++
			if prepare == nil {
				return nil
			}
			return prepare(u, ctx)
		}, request)
	}
	translate := func(text string) func(*speaker, context.Context) error {
		return func(u *speaker, ctx context.Context) error { return u.translate(ctx, text) }
	}
	const terms, plain, endless = "The gig was lit, no cap.", "The committee adjourned.", 1 << 30
	return Measured{Routes: []Route{
		{Name: "warm", Method: "GET", Path: "/health", Note: ", without DynamoDB", start: steps(begin, slowly, nil)},
		{Name: "free", Method: "POST", Path: "/translate", Note: ", of 2 terms", Clients: allClients,
			start: asking(false, freeADay, nil, translate(terms))},
		{Name: "premium", Method: "POST", Path: "/translate", Note: ", of 2 terms, kept", Clients: allClients,
			start: asking(true, premiumADay, nil, translate(terms))},
		{Name: "same", Method: "POST", Path: "/translate", Note: ", unchanged", Clients: allClients,
			start: asking(false, premiumADay, nil, translate(plain))},
		{Name: "list", Method: "GET", Path: "/translations", Query: "limit=20", Note: ", 20", Clients: allClients,
			start: asking(true, endless, (*speaker).needTwenty, nil)},
		{Name: "usage", Method: "GET", Path: "/user/usage", Clients: allClients,
			start: asking(false, endless, nil, nil)},
		// The submission, in four indexes, the user's note of it, and the usage.
		{Name: "submit", Method: "POST", Path: "/slang/submit", Clients: allClients,
			Transaction: Transaction{Items: 3, Indexed: 1},
			start:       asking(true, submissionsADay, nil, (*speaker).submit)},
		// Each vote is by another user: the check of the usage, and the note.
		{Name: "vote", Method: "POST", Path: "/slang/upvote/{submission_id}", Clients: allClients,
			Transaction: Transaction{Items: 2}, start: asking(false, 0, (*speaker).needSubmission, nil)},
		{Name: "open", Method: "GET", Path: "/slang/pending", Query: "limit=20", Note: ", 20", Clients: []int{1, 8},
			start: asking(false, endless, (*speaker).needSubmission, nil)},
		{Name: "trends", Method: "GET", Path: "/trending", Query: "limit=20", Note: ", 20", Clients: allClients,
			start: asking(true, endless, nil, nil)},
		// The usage, the day and the quiz.
		// A process reads the wrong answers of each category once.
		{Name: "ask", Method: "GET", Path: "/quiz/question", Warm: 25, Clients: allClients,
			Transaction: Transaction{Items: 3}, start: asking(true, quizLength, (*speaker).needAnswer, (*speaker).ask)},
		// The quiz and the day.
		{Name: "answer", Method: "POST", Path: "/quiz/answer", Clients: allClients, Transaction: Transaction{Items: 2},
			start: asking(true, quizLength, (*speaker).ask, (*speaker).answer)},
		{Name: "history", Method: "GET", Path: "/quiz/history", Clients: allClients,
			start: asking(true, endless, (*speaker).needAnswer, nil)},
		{Name: "clear", Method: "DELETE", Path: "/translations", Note: ", 1",
			start: asking(true, premiumADay, translate(terms), nil)},
		{Name: "drop", Method: "DELETE", Path: "/translations/{id}",
			start: asking(true, premiumADay, translate(terms), nil)},
		{Name: "self", Method: "GET", Path: "/user/profile", start: asking(false, endless, nil, nil)},
		{Name: "upgrade", Method: "POST", Path: "/user/upgrade", start: asking(false, 0, nil, nil)},
		{Name: "leave", Method: "DELETE", Path: "/user/account", start: asking(true, 0, translate(terms), nil)},
		{Name: "mine", Method: "GET", Path: "/slang/mine", Note: ", 1",
			start: asking(true, endless, (*speaker).needOwnSubmission, nil)},
		{Name: "approve", Method: "POST", Path: "/slang/admin/approve/{submission_id}",
			start: asking(false, 0, (*speaker).needJudged, nil)},
		{Name: "reject", Method: "POST", Path: "/slang/admin/reject/{submission_id}",
			start: asking(false, 0, (*speaker).needJudged, nil)},
		{Name: "stand", Method: "GET", Path: "/quiz/progress",
			start: asking(true, quizLength, (*speaker).needAnswer, nil)},
		{Name: "end", Method: "POST", Path: "/quiz/end",
			start: asking(true, quizLength, (*speaker).needAnswer, (*speaker).end)},
	}}
}

// speaker is one client: one user after another.
type speaker struct {
	caller
	requests int // of the user
	kept     int // of the user's translations
}

// load loads the lexicon, and lets the trending job propose its first trends.
func (u *speaker) load(ctx context.Context) error {
	if err := u.run.Seed(ctx, "lingible"); err != nil {
		return err
	}
	var schedules []struct{ Name string }
	if err := u.run.Get(ctx, "/schedules", &schedules); err != nil {
		return err
	}
	for _, s := range schedules {
		if strings.Contains(s.Name, "TrendingJob") {
			return u.run.Post(ctx, "/schedules/"+s.Name+"/run", nil, nil)
		}
	}
	return fmt.Errorf("got the schedules %v; want the schedule of the trending job", schedules)
}

// signUp makes the client another user.
func (u *speaker) signUp(ctx context.Context, isPremium bool) error {
	u.requests, u.kept = 0, 0
	delete(u.known, "question_id")
	if err := u.as(ctx, "bench-"+rand.Text()); err != nil || !isPremium {
		return err
	}
	return u.call(ctx, "POST /user/upgrade", nil, nil)
}

func (u *speaker) translate(ctx context.Context, text string) error {
	u.kept++
	return u.call(ctx, "POST /translate", given{"text": text}, nil)
}

func (u *speaker) needTwenty(ctx context.Context) error {
	for u.kept < 20 {
		if err := u.translate(ctx, "The gig was lit, no cap."); err != nil {
			return err
		}
	}
	return nil
}

// submit submits a term that is to be voted on.
func (u *speaker) submit(ctx context.Context) error {
	term := newWord() + " weather"
	return u.call(ctx, "POST /slang/submit", given{"slang_term": term, "meaning": "bad weather",
		"example_usage": "What a lovely " + term + " we have"}, nil)
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
func (u *speaker) needSubmission(ctx context.Context) error {
	if u.knows("submission_id") {
		return nil
	}
	voter := u.Header.Get("Authorization")
	defer func() { u.Header.Set("Authorization", voter) }()
	if err := u.signUp(ctx, true); err != nil {
		return err
	}
	if err := u.submit(ctx); err != nil {
		return err
	}
	for {
		var list struct {
			Submissions []struct{ Status string }
		}
		if err := u.call(ctx, "GET /slang/mine", nil, &list); err != nil {
			return err
		}
		if len(list.Submissions) == 1 && list.Submissions[0].Status == "validated" {
			return nil
		}
		if err := wait(ctx, judgedEvery); err != nil {
			return err
		}
	}
}

func (u *speaker) ask(ctx context.Context) error {
	return u.call(ctx, "GET /quiz/question", nil, &u.known)
}

func (u *speaker) answer(ctx context.Context) error {
	return u.call(ctx, "POST /quiz/answer", nil, nil)
}

// needAnswer answers the question before, or the first one.
func (u *speaker) needAnswer(ctx context.Context) error {
	if !u.knows("question_id") {
		if err := u.ask(ctx); err != nil {
			return err
		}
	}
	return u.answer(ctx)
}

func (u *speaker) needOwnSubmission(ctx context.Context) error {
	if u.knows("submission_id") {
		return nil
	}
	return u.submit(ctx)
}

// needJudged makes the client an administrator, with a submission that is validated.
func (u *speaker) needJudged(ctx context.Context) error {
	delete(u.known, "submission_id")
	if err := u.needSubmission(ctx); err != nil {
		return err
	}
	return u.as(ctx, "bench-"+rand.Text(), "admin")
}

func (u *speaker) end(ctx context.Context) error {
	err := u.request(ctx, nil)
	delete(u.known, "question_id")
	return err
}
