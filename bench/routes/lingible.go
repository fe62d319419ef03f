package routes

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
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
func (described) Lingible() Measured {
	var once sync.Once
	var failed error
	begin := func(l *Run) *speaker {
		return &speaker{caller: caller{run: l, http: &http.Client{Transport: &http.Transport{}}}}
	}
	// with returns clients who are another user after that many requests.
	with := func(isPremium bool, most int, prepare, request func(*speaker, context.Context) error) NewClient {
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
	review := func(decision string) func(*speaker, context.Context) error {
		return func(u *speaker, ctx context.Context) error { return u.review(ctx, decision) }
	}
	const terms, plain, endless = "The gig was lit, no cap.", "The committee adjourned.", 1 << 30
	counted := []string{schema.CountRequest, "GetUsage"}
	return Measured{Routes: []Route{
		{Name: "warm    GET /health, without DynamoDB", Clients: []int{1}, Client: client(begin, slowly, get("/health"))},
		{Name: "free    POST /translate, of 2 terms", Clients: allClients, Patterns: append(slices.Clone(counted), "ChargeTranslation", "CountTerm"), Client: with(false, freeADay, nil, translate(terms))},
		{Name: "premium POST /translate, of 2 terms, kept", Clients: allClients, Patterns: append(slices.Clone(counted), "StoreTranslation", "CountTerm"), Client: with(true, premiumADay, nil, translate(terms))},
		{Name: "same    POST /translate, unchanged", Clients: allClients, Patterns: counted, Client: with(false, premiumADay, nil, translate(plain))},
		{Name: "list    GET /translations, 20", Clients: allClients, Patterns: []string{"GetUsage", "ListTranslations"}, Client: with(true, endless, (*speaker).needTwenty, get("/translations?limit=20"))},
		{Name: "usage   GET /user/usage", Clients: allClients, Patterns: []string{"GetUsage"}, Client: with(false, endless, nil, get("/user/usage"))},
		// The submission, in four indexes, the user's note of it, and the usage.
		{Name: "submit  POST /slang/submit", Clients: allClients, Patterns: []string{"GetUsage", "GetEntry", "Submit"}, Transaction: Transaction{Items: 3, Indexed: 1}, Client: with(true, submissionsADay, nil, (*speaker).submit)},
		// Each vote is by another user: the check of the usage, and the note.
		{Name: "vote    POST /slang/upvote/{submission_id}", Clients: allClients, Patterns: []string{"GetUsage", "GetSubmissionByID", "Vote"}, Transaction: Transaction{Items: 2},
			Client: with(false, 0, (*speaker).needSubmission, (*speaker).vote)},
		{Name: "open    GET /slang/pending, 20", Clients: []int{1, 8}, Patterns: []string{"ListSubmissionsByStatus", "GetSubmissions"}, Client: with(false, endless, (*speaker).needSubmission, get("/slang/pending?limit=20"))},
		{Name: "trends  GET /trending, 20", Clients: allClients, Patterns: []string{"GetUsage", "ListTrending"}, Client: with(true, endless, nil, get("/trending?limit=20"))},
		// The usage, the day and the quiz.
		// A process reads the wrong answers of each category once.
		{Name: "ask     GET /quiz/question", Warm: 25, Clients: allClients, Patterns: []string{"GetUsage", "GetLatestQuizSession", "AskQuestion"}, Transaction: Transaction{Items: 3}, Client: with(true, quizLength, (*speaker).needAnswer, (*speaker).ask)},
		// The quiz and the day.
		{Name: "answer  POST /quiz/answer", Clients: allClients, Patterns: []string{"GetUsage", "GetQuizSession", "AnswerQuestion"}, Transaction: Transaction{Items: 2}, Client: with(true, quizLength, (*speaker).ask, (*speaker).answer)},
		{Name: "history GET /quiz/history", Clients: allClients, Patterns: []string{"GetUsage", "ListQuizDays"}, Client: with(true, endless, (*speaker).needAnswer, get("/quiz/history"))},
		{Name: "clear   DELETE /translations, 1", Clients: single, Client: with(true, premiumADay, translate(terms), (*speaker).clear)},
		{Name: "drop    DELETE /translations/{id}", Clients: single, Client: with(true, premiumADay, translate(terms), (*speaker).drop)},
		{Name: "self    GET /user/profile", Clients: single, Patterns: []string{"GetUsage"}, Client: with(false, endless, nil, get("/user/profile"))},
		{Name: "upgrade POST /user/upgrade", Clients: single, Client: with(false, 0, nil, (*speaker).upgrade)},
		{Name: "leave   DELETE /user/account", Clients: single, Client: with(true, 0, translate(terms), (*speaker).leave)},
		{Name: "mine    GET /slang/mine, 1", Clients: single, Client: with(true, endless, (*speaker).needOwnSubmission, get("/slang/mine"))},
		{Name: "approve POST /slang/admin/approve/{submission_id}", Clients: single, Client: with(false, 0, (*speaker).needJudged, review("approve"))},
		{Name: "reject  POST /slang/admin/reject/{submission_id}", Clients: single, Client: with(false, 0, (*speaker).needJudged, review("reject"))},
		{Name: "stand   GET /quiz/progress", Clients: single, Client: with(true, quizLength, (*speaker).needAnswer, (*speaker).progress)},
		{Name: "end     POST /quiz/end", Clients: single, Client: with(true, quizLength, (*speaker).needAnswer, (*speaker).end)},
	}}
}

// speaker is one client: one user after another.
type speaker struct {
	caller
	token      string
	requests   int    // of the user
	kept       int    // of the user's translations
	translated string // the last translation
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
func (u *speaker) signUp(ctx context.Context, isPremium bool) (err error) {
	u.requests, u.kept, u.question.ID = 0, 0, ""
	if u.token, err = u.run.Token(ctx, "bench-"+rand.Text()); err != nil || !isPremium {
		return err
	}
	return u.call(ctx, http.MethodPost, "/user/upgrade", http.StatusOK, nil, nil)
}

func (u *speaker) translate(ctx context.Context, text string) error {
	u.kept++
	var made struct {
		ID string `json:"translation_id"`
	}
	err := u.call(ctx, http.MethodPost, "/translate", http.StatusOK, map[string]string{"text": text}, &made)
	u.translated = made.ID
	return err
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

func (u *speaker) clear(ctx context.Context) error {
	return u.call(ctx, http.MethodDelete, "/translations", http.StatusNoContent, nil, nil)
}

func (u *speaker) drop(ctx context.Context) error {
	return u.call(ctx, http.MethodDelete, "/translations/"+u.translated, http.StatusNoContent, nil, nil)
}

func (u *speaker) upgrade(ctx context.Context) error {
	return u.call(ctx, http.MethodPost, "/user/upgrade", http.StatusOK, nil, nil)
}

func (u *speaker) leave(ctx context.Context) error {
	return u.call(ctx, http.MethodDelete, "/user/account", http.StatusAccepted, map[string]string{"confirmation": "DELETE"}, nil)
}

func (u *speaker) needOwnSubmission(ctx context.Context) error {
	if u.submission != "" {
		return nil
	}
	return u.submit(ctx)
}

// needJudged makes the client an administrator, with a submission that is validated.
func (u *speaker) needJudged(ctx context.Context) (err error) {
	u.submission = ""
	if err := u.needSubmission(ctx); err != nil {
		return err
	}
	u.token, err = u.run.Token(ctx, "bench-"+rand.Text(), "admin")
	return err
}

func (u *speaker) review(ctx context.Context, decision string) error {
	return u.call(ctx, http.MethodPost, "/slang/admin/"+decision+"/"+u.submission, http.StatusOK, nil, nil)
}

func (u *speaker) progress(ctx context.Context) error {
	return u.call(ctx, http.MethodGet, "/quiz/progress?session_id="+u.question.Session, http.StatusOK, nil, nil)
}

func (u *speaker) end(ctx context.Context) error {
	err := u.call(ctx, http.MethodPost, "/quiz/end", http.StatusOK, map[string]string{"session_id": u.question.Session}, nil)
	u.question.ID = ""
	return err
}
