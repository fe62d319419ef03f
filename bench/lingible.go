package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

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
func (described) Lingible() platform {
	var once sync.Once
	var failed error
	begin := func(l *local) *speaker {
		return &speaker{caller: caller{base: l.api, http: &http.Client{Transport: &http.Transport{}}}, local: l}
	}
	// with returns clients who are another user after that many requests.
	with := func(isPremium bool, most int, prepare, request func(*speaker, context.Context) error) newClient {
		return client(begin, func(u *speaker, ctx context.Context) error {
			if once.Do(func() { failed = u.load(ctx) }); failed != nil {
				return failed
			}
			if u.token == "" || u.requests >= most {
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
	get := func(path string) func(*speaker, context.Context) error {
		return func(u *speaker, ctx context.Context) error {
			return u.call(ctx, http.MethodGet, path, http.StatusOK, nil, nil)
		}
	}
	translate := func(text string) func(*speaker, context.Context) error {
		return func(u *speaker, ctx context.Context) error { return u.translate(ctx, text) }
	}
	const terms, plain, endless = "The gig was lit, no cap.", "The committee adjourned.", 1 << 30
	counted := []string{schema.CountRequest, "GetUsage"}
	return platform{routes: []route{
		{name: "warm    GET /health, without DynamoDB", clients: []int{1}, client: client(begin, slowly, get("/health"))},
		{name: "free    POST /translate, of 2 terms", clients: allClients, patterns: append(counted, "StoreTranslation", "CountTerm"), client: with(false, freeADay, nil, translate(terms))},
		{name: "premium POST /translate, of 2 terms, kept", clients: allClients, patterns: append(counted, "StoreTranslation", "CountTerm"), client: with(true, premiumADay, nil, translate(terms))},
		{name: "same    POST /translate, unchanged", clients: allClients, patterns: counted, client: with(false, premiumADay, nil, translate(plain))},
		{name: "list    GET /translations, 20", clients: allClients, patterns: []string{"GetUsage", "ListTranslations"}, client: with(true, endless, (*speaker).needTwenty, get("/translations?limit=20"))},
		{name: "usage   GET /user/usage", clients: allClients, patterns: []string{"GetUsage"}, client: with(false, endless, nil, get("/user/usage"))},
		// The submission, in four indexes, the user's note of it, and the usage.
		{name: "submit  POST /slang/submit", clients: allClients, patterns: []string{"GetUsage", "GetEntry", "Submit"}, transaction: transaction{items: 3, indexed: 1}, client: with(true, submissionsADay, nil, (*speaker).submit)},
		// Each vote is by another user: the check of the usage, and the note.
		{name: "vote    POST /slang/upvote/{submission_id}", clients: allClients, patterns: []string{"GetUsage", "GetSubmissionByID", "GetSubmission", "RecordVote", "CountVote"}, transaction: transaction{items: 2},
			client: with(false, 0, (*speaker).needSubmission, (*speaker).vote)},
		{name: "open    GET /slang/pending, 20", clients: []int{1, 8}, patterns: []string{"ListSubmissionsByStatus", "GetSubmissions"}, client: with(false, endless, (*speaker).needSubmission, get("/slang/pending?limit=20"))},
		{name: "trends  GET /trending, 20", clients: allClients, patterns: []string{"GetUsage", "ListTrending"}, client: with(true, endless, nil, get("/trending?limit=20"))},
		// The usage, the day and the quiz.
		{name: "ask     GET /quiz/question", clients: allClients, patterns: []string{"GetUsage", "GetQuizSession", "GetEntry", "AskQuestion"}, transaction: transaction{items: 3}, client: with(true, quizLength, (*speaker).needAnswer, (*speaker).ask)},
		// The quiz and the day.
		{name: "answer  POST /quiz/answer", clients: allClients, patterns: []string{"GetUsage", "GetQuizSession", "AnswerQuestion"}, transaction: transaction{items: 2}, client: with(true, quizLength, (*speaker).ask, (*speaker).answer)},
		{name: "history GET /quiz/history", clients: allClients, patterns: []string{"GetUsage", "ListQuizDays"}, client: with(true, endless, (*speaker).needAnswer, get("/quiz/history"))},
	}}
}

// speaker is one client: one user after another.
type speaker struct {
	caller
	local      *local
	token      string
	requests   int // of the user
	kept       int // of the user's translations
	submission string
	question   struct {
		Session string `json:"session_id"`
		ID      string `json:"question_id"`
	}
}

func (u *speaker) call(ctx context.Context, method, path string, want int, body, out any) error {
	return u.caller.call(ctx, method, path, http.Header{"Authorization": {"Bearer " + u.token}}, want, body, out)
}

// load loads the lexicon, and lets the trending job propose its first trends.
func (u *speaker) load(ctx context.Context) error {
	if err := u.local.seed(ctx, "lingible"); err != nil {
		return err
	}
	var schedules []struct{ Name string }
	if err := u.local.get(ctx, "/schedules", &schedules); err != nil {
		return err
	}
	for _, s := range schedules {
		if strings.Contains(s.Name, "TrendingJob") {
			return u.local.post(ctx, "/schedules/"+s.Name+"/run", nil, nil)
		}
	}
	return fmt.Errorf("got the schedules %v; want that of the trending job", schedules)
}

// signUp makes the client another user.
func (u *speaker) signUp(ctx context.Context, isPremium bool) (err error) {
	u.requests, u.kept, u.question.ID = 0, 0, ""
	if u.token, err = u.local.token(ctx, "bench-"+rand.Text()); err != nil || !isPremium {
		return err
	}
	return u.call(ctx, http.MethodPost, "/user/upgrade", http.StatusOK, nil, nil)
}

func (u *speaker) translate(ctx context.Context, text string) error {
	u.kept++
	return u.call(ctx, http.MethodPost, "/translate", http.StatusOK, map[string]string{"text": text}, nil)
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
	var made struct {
		ID string `json:"submission_id"`
	}
	term := newWord() + " weather"
	err := u.call(ctx, http.MethodPost, "/slang/submit", http.StatusCreated, map[string]string{"slang_term": term, "meaning": "bad weather", "example_usage": "What a lovely " + term + " we have"}, &made)
	u.submission = made.ID
	return err
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
	if u.submission != "" {
		return nil
	}
	voter := u.token
	defer func() { u.token = voter }()
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
		if err := u.call(ctx, http.MethodGet, "/slang/mine", http.StatusOK, nil, &list); err != nil {
			return err
		}
		if len(list.Submissions) == 1 && list.Submissions[0].Status == "validated" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(judgedEvery):
		}
	}
}

func (u *speaker) vote(ctx context.Context) error {
	return u.call(ctx, http.MethodPost, "/slang/upvote/"+u.submission, http.StatusOK, nil, nil)
}

func (u *speaker) ask(ctx context.Context) error {
	return u.call(ctx, http.MethodGet, "/quiz/question", http.StatusOK, nil, &u.question)
}

func (u *speaker) answer(ctx context.Context) error {
	return u.call(ctx, http.MethodPost, "/quiz/answer", http.StatusOK, map[string]string{"session_id": u.question.Session, "question_id": u.question.ID, "selected_option": "a"}, nil)
}

// needAnswer answers the question before, or the first one.
func (u *speaker) needAnswer(ctx context.Context) error {
	if u.question.ID == "" {
		if err := u.ask(ctx); err != nil {
			return err
		}
	}
	return u.answer(ctx)
}
