package askahuman

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"golang.org/x/sync/errgroup"
)

// Agents is the side of the platform that AI agents see: they ask, read the answers, list and close
// their own questions. They cannot see another agent's question.
type Agents struct {
	// Store keeps the questions and answers.
	Store AgentStore
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
	// CheckCallback returns what is wrong with the address of an endpoint for webhooks, as what follows the field's name. Nil: no
	// webhooks are sent, and an ask that wants one is refused.
	CheckCallback func(url string) error
	// Ended is called once for each question that a method ends, with its new status, possibly from
	// several goroutines at once. Nil is allowed.
	Ended func(ctx context.Context, status Status)
	// Pause lets time pass while [Agents.ReadNews] waits, and returns the error of a context that ends
	// first. Nil is [retry.Pause].
	Pause func(ctx context.Context, d time.Duration) error
}

// Ask is a question as an agent asks it, on the wire, too. The tags are its limits.
type Ask struct {
	Prompt         string       `json:"prompt" minLength:"10" maxLength:"2000" doc:"The question. It is kept as written; white space around it counts towards the most characters, not towards the least." example:"Should error messages apologise to people?"`
	Type           QuestionType `json:"type" enum:"text,multiple_choice" doc:"How it is answered."`
	Options        []string     `json:"options,omitempty" nullable:"true" maxItems:"10" minLength:"1" maxLength:"200" doc:"What a multiple choice question offers: 2 to 10 distinct texts, each with more than white space. White space around a text does not make it distinct." example:"[\"Submit\",\"Send\"]"`
	Audience       []string     `json:"audience,omitempty" nullable:"true" enum:"technical,product,ethics,creative,general" doc:"Whom it is for; general by default." example:"[\"product\",\"creative\"]"`
	MinResponses   *int         `json:"min_responses,omitempty" nullable:"true" minimum:"1" maximum:"50" doc:"How many answers are wanted; 5 by default." example:"5"`
	TimeoutSeconds *int         `json:"timeout_seconds,omitempty" nullable:"true" minimum:"60" maximum:"86400" doc:"For how long answers are taken; 3600 by default." example:"3600"`
	CallbackURL    *string      `json:"callback_url,omitempty" nullable:"true" minLength:"1" maxLength:"2048" doc:"Where a webhook goes once the question has closed or expired: an https URL of the public Internet." example:"https://agent.example.com/webhooks"`
	IdempotencyKey *string      `json:"idempotency_key,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"Repeating a request with the same key within 24 hours makes no second question, but is answered as the first was. Defaults may be given or left out, and the key may be here or in the header: it is the same request. A request that is refused, for its content or for the quota, does not use its key up."`
}

// timeout is for how long answers are taken.
func (a Ask) timeout() time.Duration { return time.Duration(*a.TimeoutSeconds) * time.Second }

// WithDefaults returns the ask with its defaults filled in. Two asks are for the same question if
// they are then equal, except for the idempotency key.
func (a Ask) WithDefaults() Ask {
	if len(a.Audience) == 0 {
		a.Audience = []string{defaultCategory}
	}
	if a.MinResponses == nil {
		a.MinResponses = new(DefaultResponses)
	}
	if a.TimeoutSeconds == nil {
		a.TimeoutSeconds = new(int(DefaultTimeout / time.Second))
	}
	return a
}

// Validate returns an [*validate.Error] with all that is wrong. Call it on an ask with
// its defaults.
func (a Ask) Validate() error {
	var p problems
	p.Form(a)
	switch a.Type {
	case TypeText:
		if len(a.Options) > 0 {
			p.Add("options", validate.RuleConflict, "has %d %s, but a text question takes none; leave them out, or ask with type %q", len(a.Options), map[bool]string{true: "entry", false: "entries"}[len(a.Options) == 1], TypeMultipleChoice)
		}
	case TypeMultipleChoice:
		a.validateOptions(&p)
	}
	for i := range a.Audience {
		p.repeated(a.Audience, i)
	}
	p.InOrder(a)
	return p.Err()
}

func (a Ask) validateOptions(p *problems) {
	if a.Options == nil {
		p.Add("options", validate.RuleRequired, "is missing, but a multiple choice question needs %d to %d", MinOptions, MaxOptions)
	} else {
		p.Count("options", len(a.Options), MinOptions, MaxOptions)
	}
	seen := map[string]int{}
	for i, option := range a.Options {
		// White space around an option is invisible, so it does not make two options different.
		text := strings.TrimSpace(option)
		if first, ok := seen[text]; ok {
			p.Add(fmt.Sprintf("options[%d]", i), validate.RuleUnique, "is the same as options[%d]; give each option once", first)
			continue
		}
		seen[text] = i
	}
}

// Ask stores a question and returns it. It returns an [*validate.Error] with every
// problem, [ErrQuotaExceeded] or [ErrBlocked].
func (a *Agents) Ask(ctx context.Context, agentID string, ask Ask) (Question, error) {
	ask = ask.WithDefaults()
	if err := ask.Validate(); err != nil {
		return Question{}, err
	}
	if err := a.checkCallback(ask); err != nil {
		return Question{}, err
	}
	now := clock(a.Now)
	question := Question{
		ID:                QuestionID(now),
		Status:            StatusOpen,
		Prompt:            ask.Prompt,
		Type:              ask.Type,
		Options:           slices.Clone(ask.Options),
		Audience:          slices.Clone(ask.Audience),
		RequiredResponses: *ask.MinResponses,
		AgentID:           agentID,
		CreatedAt:         now,
		Deadline:          now.Add(ask.timeout()),
		ExpiresAt:         now.Add(ask.timeout() + KeepExpired),
		DueAt:             now,
	}
	if ask.IdempotencyKey != nil {
		question.IdempotencyKey = *ask.IdempotencyKey
	}
	if ask.CallbackURL != nil {
		question.CallbackURL = *ask.CallbackURL
	}
	if err := a.Store.CreateQuestion(ctx, question); err != nil {
		return Question{}, wrap(err, "create question")
	}
	return question, nil
}

// checkCallback returns an [*validate.Error] if no webhook can go where the ask says.
func (a *Agents) checkCallback(ask Ask) error {
	if ask.CallbackURL == nil {
		return nil
	}
	if a.CheckCallback == nil {
		return validate.Errorf("callback_url", validate.RuleConflict, "is given, but this environment sends no webhooks; leave it out, and read the question for its answers")
	}
	if err := a.CheckCallback(*ask.CallbackURL); err != nil {
		return validate.Errorf("callback_url", validate.RuleFormat, "%s", err)
	}
	return nil
}

// QuestionWithResponses is a question with its answers.
type QuestionWithResponses struct {
	Question
	// Responses are the answers that no operator has hidden, oldest first.
	Responses []Response
	// HiddenResponses is how many answers an operator has hidden.
	HiddenResponses int
	// Delivery is how far the question's webhook is; nil: its agent wants none.
	Delivery *Delivery
	// Summary is how many chose each option of a multiple choice question, in the
	// order of the options. It is nil for a text question.
	Summary []Votes
}

// Votes are how many people chose an option.
type Votes struct {
	Option string
	Count  int
}

// Read reads one of the agent's questions with its answers. Its Status is the one
// at this moment. It returns [ErrQuestionNotFound], also for another agent's.
func (a *Agents) Read(ctx context.Context, agentID, questionID string) (QuestionWithResponses, error) {
	now := clock(a.Now)
	if !isID(questionID) {
		return QuestionWithResponses{}, ErrQuestionNotFound
	}
	// Question and answers are two reads: an answer may come between them. They run at once. When
	// they disagree, they are repeated one after the other, the question first, so that no counted
	// answer is missing below.
	const attempts = 3
	var read QuestionWithResponses
	for attempt := range attempts {
		group, ctx := errgroup.WithContext(ctx)
		if attempt > 0 {
			group.SetLimit(1)
		}
		group.Go(func() (err error) {
			read.Question, err = a.own(ctx, agentID, questionID, now)
			return err
		})
		group.Go(func() (err error) {
			read.Responses, err = a.Store.Responses(ctx, questionID)
			return wrap(err, "read the answers to question "+questionID)
		})
		if err := group.Wait(); err != nil {
			return QuestionWithResponses{}, err
		}
		if len(read.Responses) == read.CurrentResponses {
			break
		}
	}
	return a.withResponses(ctx, read.Question, read.Responses, now)
}

// withResponses is a question as its agent sees it at a moment: without the answers that are hidden.
func (a *Agents) withResponses(ctx context.Context, question Question, responses []Response, now time.Time) (QuestionWithResponses, error) {
	delivery, err := a.delivery(ctx, question)
	if err != nil {
		return QuestionWithResponses{}, err
	}
	question.Status = question.StatusAt(now)
	shown := slices.DeleteFunc(slices.Clone(responses), func(r Response) bool { return !r.HiddenAt.IsZero() })
	return QuestionWithResponses{
		Question: question, Responses: shown, HiddenResponses: len(responses) - len(shown), Delivery: delivery, Summary: summary(question, shown),
	}, nil
}

func summary(question Question, responses []Response) []Votes {
	if question.Type != TypeMultipleChoice {
		return nil
	}
	votes := make([]Votes, len(question.Options))
	for i, option := range question.Options {
		votes[i].Option = option
	}
	for _, response := range responses {
		if i := response.SelectedOption; i >= 0 && i < len(question.Options) {
			votes[i].Count++
		}
	}
	return votes
}

// own reads a question as stored, if it is the agent's.
func (a *Agents) own(ctx context.Context, agentID, questionID string, now time.Time) (Question, error) {
	if !isID(questionID) {
		return Question{}, ErrQuestionNotFound
	}
	question, err := a.Store.Question(ctx, questionID, now)
	if err != nil {
		return Question{}, wrap(err, "read question "+questionID)
	}
	if question.AgentID != agentID {
		return Question{}, ErrQuestionNotFound
	}
	return question, nil
}

// List reads a page of the agent's own questions, newest first, with their Status
// at this moment. status empty is any; limit is 1 or more; a
// page has at most MaxListLimit; 0 is DefaultListLimit; cursor is the next of the
// page before. next is empty when there are no more. It returns an [*validate.Error].
func (a *Agents) List(ctx context.Context, agentID string, status Status, limit int, cursor string) (questions []Question, next string, err error) {
	var p problems
	if status != "" && !slices.Contains(Statuses(), status) {
		validate.OneOf(&p.Problems, "status", status, Statuses())
	}
	limit = p.limit(limit, DefaultListLimit, MaxListLimit)
	after := p.cursor(cursor)
	if err := p.Err(); err != nil {
		return nil, "", err
	}
	now := clock(a.Now)
	questions, position, more, err := a.Store.AgentQuestions(ctx, agentID, status, limit, after, now)
	if err != nil {
		return nil, "", fmt.Errorf("list questions: %w", err)
	}
	for i := range questions {
		questions[i].Status = questions[i].StatusAt(now)
	}
	if more {
		next = formatCursor(position)
	}
	return questions, next, nil
}

// Close ends one of the agent's questions early; its answers stay readable. A question that has
// ended already stays as it is. It returns [ErrQuestionNotFound], also for another agent's.
func (a *Agents) Close(ctx context.Context, agentID, questionID string) error {
	now := clock(a.Now)
	question, err := a.own(ctx, agentID, questionID, now)
	if err != nil {
		return err
	}
	if !question.Answerable() {
		return nil
	}
	status := StatusClosed
	if question.StatusAt(now) == StatusExpired {
		status = StatusExpired
	}
	if err := a.end(ctx, question, status, now); err != nil {
		return fmt.Errorf("close question %s: %w", questionID, err)
	}
	return nil
}

// end ends a question, unless it has ended already, and reports it to Ended.
func (a *Agents) end(ctx context.Context, question Question, status Status, now time.Time) error {
	ended, err := a.Store.EndQuestion(ctx, question, status, now)
	if ended && a.Ended != nil {
		a.Ended(ctx, status)
	}
	return err
}
