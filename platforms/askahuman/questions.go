package askahuman

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Status is the state of a question.
type Status string

// The statuses (origin: Questions table).
const (
	StatusOpen    Status = "OPEN"
	StatusPartial Status = "PARTIAL"
	StatusClosed  Status = "CLOSED"
	StatusExpired Status = "EXPIRED"
)

// Statuses returns all statuses in the order of a question's life.
func Statuses() []Status {
	return []Status{StatusOpen, StatusPartial, StatusClosed, StatusExpired}
}

// StatusOf returns a stored status without the number of its shard.
func StatusOf(stored string) Status {
	status, _, _ := strings.Cut(stored, "#")
	return Status(status)
}

// TakesAnswers reports whether the stored status still takes answers.
func (s Status) TakesAnswers() bool { return s == StatusOpen || s == StatusPartial }

// QuestionType is how a question is answered.
type QuestionType string

// The question types.
const (
	TypeText           QuestionType = "text"
	TypeMultipleChoice QuestionType = "multiple_choice"
)

// The limits that rules and stores build on; the tags of [Ask], [Answer] and the forms of
// subscriptions state the limits of single fields. Lengths are in characters (Unicode code points).
const (
	MinOptions, MaxOptions         = 2, 10
	DefaultResponses               = 5
	DefaultTimeout, MaxTimeout     = time.Hour, 24 * time.Hour
	MaxConfidence                  = 5
	DefaultListLimit, MaxListLimit = 20, 50
	MaxBoardLimit                  = 100
	MinInterval, MaxInterval       = 5 * time.Minute, 24 * time.Hour
	DefaultIntervalMinutes         = 30
	DefaultOpenQuestions           = 100
	MaxAgentIDLength               = 128
	MaxFingerprintLength           = 512
	// ranks beyond it are not shown: counting further would read the whole board
	MaxRank                 = 1000
	KeepClosed              = 7 * 24 * time.Hour
	KeepExpired             = 24 * time.Hour
	KeepResponses           = 30 * 24 * time.Hour
	NotificationBonusWindow = 5 * time.Minute
	RenotifyAfter           = 15 * time.Minute
)

// Audiences returns the tags that a question can be addressed to. The last is the default.
func Audiences() []string {
	return []string{"technical", "product", "ethics", "creative", "general"}
}

// Question is a question and its state: as its agent sees it on the wire, and as the table has it. Its tags, like those
// of [Response], [Stats], [Subscription] and [AgentKey], have the names in both, and the texts of documents.
type Question struct {
	ID                string       `json:"question_id" dynamodbav:"question_id" format:"uuid" attribute:"UUID, partition key"`
	Status            Status       `json:"status" dynamodbav:"status" enum:"OPEN,PARTIAL,CLOSED,EXPIRED" example:"PARTIAL" attribute:"OPEN, PARTIAL, CLOSED or EXPIRED; with more than one shard followed by # and the shard's number"`
	Prompt            string       `json:"prompt" dynamodbav:"prompt" attribute:"The question text, 10 to 2000 characters"`
	Type              QuestionType `json:"type" dynamodbav:"type" enum:"text,multiple_choice" attribute:"text or multiple_choice"`
	Options           []string     `json:"options,omitempty" dynamodbav:"options,omitempty" nullable:"false" doc:"Of a multiple choice question." attribute:"The options of a multiple choice question, 2 to 10 strings"`
	Audience          []string     `json:"audience" dynamodbav:"audience" nullable:"false" example:"[\"general\"]" attribute:"Tags of technical, product, ethics, creative, general"`
	RequiredResponses int          `json:"required_responses" dynamodbav:"required_responses" example:"5" attribute:"Target number of responses, 1 to 50"`
	CurrentResponses  int          `json:"current_responses" dynamodbav:"current_responses" example:"2" attribute:"Number of responses stored, only ever counted up by the transaction that stores one"`
	AgentID           string       `json:"-" dynamodbav:"agent_id" attribute:"Identifier of the asking agent"`
	// Empty: none.
	IdempotencyKey string    `json:"-" dynamodbav:"idempotency_key,omitempty" attribute:"The agent's key for duplicate request prevention, if it sent one"`
	CallbackURL    string    `json:"-" dynamodbav:"callback_url,omitempty" attribute:"-"` // where a webhook goes when it ends; empty: nowhere
	CreatedAt      wire.Time `json:"created_at" dynamodbav:"created_at" format:"date-time" example:"2026-02-02T09:30:00.000Z" attributetype:"String" attribute:"{time}"`
	Deadline       wire.Time `json:"expires_at" dynamodbav:"deadline" format:"date-time" doc:"When answers stop being taken." example:"2026-02-02T10:30:00.000Z" attributetype:"String" attribute:"When answers stop being taken: {time}"`
	// ExpiredAt and Hidden follow from the other fields ([Question.At]).
	ExpiredAt wire.Time `json:"expired_at,omitzero" dynamodbav:"-" format:"date-time" doc:"Of an expired question: when it did, which is expires_at." example:"2026-02-02T10:30:00.000Z"`
	ExpiresAt time.Time `json:"-" dynamodbav:"expires_at,unixtime" attribute:"End of retention in Unix seconds (TTL attribute): 24 hours after the deadline, or 7 days after closing"`
	// Zero: not closed.
	ClosedAt wire.Time `json:"closed_at,omitzero" dynamodbav:"closed_at,omitempty" format:"date-time" doc:"Of a closed question." example:"2026-02-02T09:45:00.000Z" attributetype:"String" attribute:"When it was closed: {time}"`
	// Due is the key of the index in which the notifier finds the question, or "" if the notifier has nothing left to
	// do.
	Due string `json:"-" dynamodbav:"due,omitempty" attribute:"DUE while the notifier has something left to do for the question, with the shard's number like status; absent after that"`
	// When the notifier looks at it next. Zero: never.
	DueAt time.Time `json:"-" dynamodbav:"due_at,omitempty" attribute:"When the notifier has to look at the question next: {time}"`
	// Zero: no one was notified yet.
	NotifiedAt time.Time `json:"-" dynamodbav:"notified_at,omitempty" attribute:"When people were last notified of it: {time}"`
	HiddenAt   time.Time `json:"-" dynamodbav:"hidden_at,omitempty" attribute:"-"` // when an operator hid it; zero: not hidden
	Hidden     bool      `json:"hidden,omitempty" dynamodbav:"-" doc:"true: an operator has hidden it from people, and so ended it."`
	wire.Extended
}

// StatusAt returns the status at a moment: an open or partial question is expired from its deadline on, whether or not
// the table says so yet.
func (q Question) StatusAt(now time.Time) Status {
	if q.Answerable() && !q.AnswerableAt(now) {
		return StatusExpired
	}
	return q.Status
}

// At returns the question as its agent sees it at a moment.
func (q Question) At(now time.Time) Question {
	q.Status, q.Hidden = q.StatusAt(now), !q.HiddenAt.IsZero()
	if q.Status == StatusExpired {
		q.ExpiredAt = q.Deadline
	}
	return q
}

// Ended returns an answerable question as closed at a moment, or as [StatusExpired] if its deadline has passed.
func (q Question) Ended(now time.Time) Question {
	q.Status, q.Due, q.DueAt = StatusClosed, "", time.Time{}
	if q.ExpiresAt = keptUntil(now.Add(KeepClosed)); now.Before(time.Time(q.Deadline)) {
		q.ClosedAt = wire.Time(now)
	} else {
		q.Status, q.ExpiresAt = StatusExpired, keptUntil(time.Time(q.Deadline).Add(KeepExpired))
	}
	return q
}

// keptUntil is the end of a retention: a time to live has whole seconds, and ends nothing early.
func keptUntil(t time.Time) time.Time { return t.Add(time.Second - 1).Truncate(time.Second) }

// Answerable reports whether the stored status still takes answers.
func (q Question) Answerable() bool { return q.Status.TakesAnswers() }

// AnswerableAt reports whether the question takes answers at a moment.
func (q Question) AnswerableAt(now time.Time) bool {
	return q.Answerable() && now.Before(time.Time(q.Deadline))
}

// UnderHalf reports whether the question has less than half of its answers: the next one is then worth more.
func (q Question) UnderHalf() bool { return 2*q.CurrentResponses < q.RequiredResponses }

// Response is one person's answer to a question: as the question's agent sees it on the wire, and as the table has it.
type Response struct {
	QuestionID     string  `json:"-" dynamodbav:"question_id" attribute:"Links to Questions, partition key"`
	ID             string  `json:"response_id" dynamodbav:"response_id" format:"uuid" doc:"What a report of the answer names." attribute:"UUID, sort key, derived from the question and the person: one person has one key per question"`
	Answer         *string `json:"answer,omitempty" dynamodbav:"answer,omitempty" doc:"To a text question." attribute:"The answer to a text question, 1 to 5000 characters"`
	SelectedOption *int    `json:"selected_option,omitempty" dynamodbav:"selected_option,omitempty" doc:"To a multiple choice question: the option's index, from 0." attribute:"Index of the chosen option, from 0, if multiple choice"`
	// Nil: not given.
	Confidence *int      `json:"confidence,omitempty" dynamodbav:"confidence,omitempty" minimum:"1" maximum:"5" doc:"If the person gave it." attribute:"Optional confidence, 1 to 5"`
	PersonHash string    `json:"-" dynamodbav:"fingerprint_hash" attribute:"Anonymised person: HMAC-SHA-256 of the fingerprint, hexadecimal"`
	CreatedAt  time.Time `json:"-" dynamodbav:"created_at" attribute:"{time}"`
	// As the client says. Nil: it did not say.
	ResponseTimeMS *int64 `json:"-" dynamodbav:"response_time_ms,omitempty" attribute:"Milliseconds from page load to submission, as the client says"`
	Points         int    `json:"-" dynamodbav:"points_earned" attribute:"Points that the answer earned"`
	// No enum: a client must take flags that it does not know.
	Flags []string `json:"flags,omitempty" dynamodbav:"flags,omitempty" nullable:"false" doc:"What makes the answer suspicious, if anything does; it is for the agent to judge. suspicious_timing: response_time_ms was given, and is under 5000 for a text or under 2000 for an option. duplicate_content: the text is that of one of the person's last 20 answers, except for case and white space. pattern_match: the text has at most 10 characters without the white space around it, and so has each of the four texts before it among the person's last 20 answers; answers to multiple choice questions in between do not matter. So the fifth such text in a row is the first with the flag. Answers older than 30 days count for neither. More flags may come." example:"[\"suspicious_timing\"]" attribute:"suspicious_timing, duplicate_content, pattern_match; absent when there are none"`
	// Empty for an option.
	ContentDigest string    `json:"-" dynamodbav:"content_digest,omitempty" attribute:"SHA-256 of the normalised text answer, hexadecimal"`
	ContentLength int       `json:"-" dynamodbav:"content_length,omitempty" attribute:"Length of the text answer in characters"`
	ExpiresAt     time.Time `json:"-" dynamodbav:"expires_at,unixtime" attribute:"End of retention in Unix seconds (TTL attribute): 30 days after the answer"`
	HiddenAt      time.Time `json:"-" dynamodbav:"hidden_at,omitempty" attribute:"-"` // when an operator hid it; zero: not hidden
	wire.Extended
}

// Stats are a person's points, streak and badges. The zero value with the person's hash is a person who has never
// answered.
type Stats struct {
	PersonHash        string               `dynamodbav:"fingerprint_hash" attribute:"Anonymised person, partition key"`
	TotalPoints       int                  `dynamodbav:"total_points" attribute:"Cumulative points"`
	TotalAnswers      int                  `dynamodbav:"total_answers" attribute:"Total answers submitted"`
	StreakDays        int                  `dynamodbav:"streak_days" attribute:"Length of the answer streak that ended on streak_last_date"`
	StreakLastDate    string               `dynamodbav:"streak_last_date,omitempty" attribute:"Date of the last streak-counted answer in the person's time zone, YYYY-MM-DD"`
	Badges            []string             `dynamodbav:"badges" attribute:"Earned badge IDs"`
	BadgesEarnedAt    map[string]time.Time `dynamodbav:"badges_earned_at" attribute:"When each badge was earned, by ID: {time}"`
	AnswersByCategory map[string]int       `dynamodbav:"answers_by_category" attribute:"Count per category (technical, …)"`
	NightAnswers      int                  `dynamodbav:"night_answers" attribute:"Answers from 00:00 to 06:00 in the person's time zone"`
	FastAnswers       int                  `dynamodbav:"fast_answers" attribute:"Answers given in under 30 seconds"`
	ConfidentAnswers  int                  `dynamodbav:"confident_answers" attribute:"Answers with confidence 5"`
	CreatedAt         time.Time            `dynamodbav:"created_at" attribute:"{time}"`
	UpdatedAt         time.Time            `dynamodbav:"updated_at" attribute:"{time}"`
	// Zero: not stored yet.
	Version int64 `dynamodbav:"version" attribute:"Counted up by every write: a write holds only on the version that it read"`
	// Empty: the one that is made of the hash.
	Handle string `dynamodbav:"handle,omitempty" attribute:"The name that the person chose for leaderboards; absent: one made of the hash"`
	// when an operator reset the name; zero: the person can choose one
	HandleResetAt time.Time `dynamodbav:"handle_reset_at,omitempty" attribute:"-"`
	// when an operator blocked the person; zero: not blocked
	BlockedAt time.Time `dynamodbav:"blocked_at,omitempty" attribute:"-"`
	LastDecision
	Leaderboard   string `dynamodbav:"_leaderboard" attribute:"The constant _leaderboard; with more than one shard followed by # and the shard's number"`
	Day           string `dynamodbav:"daily_board,omitempty" attribute:"UTC day of daily_points, YYYY-MM-DD, with the shard's number like _leaderboard"`
	DailyPoints   int    `dynamodbav:"daily_points" attribute:"Points earned on that day"`
	DailyAnswers  int    `dynamodbav:"daily_answers" attribute:"Answers on that day"`
	Week          string `dynamodbav:"weekly_board,omitempty" attribute:"Monday of the UTC week of weekly_points, YYYY-MM-DD, with the shard's number like _leaderboard"`
	WeeklyPoints  int    `dynamodbav:"weekly_points" attribute:"Points earned in that week"`
	WeeklyAnswers int    `dynamodbav:"weekly_answers" attribute:"Answers in that week"`
	// Late has the moments of late answers by the ids of their questions.
	Late map[string]time.Time `dynamodbav:"late_answers,omitempty" attribute:"Answers of the last 10 minutes that came after the end of their question, by its ID: {time}. Each has earned its points once"`
}

// Period is the time that a leaderboard covers.
type Period string

// The periods. Days and weeks are UTC; a week begins on Monday.
const (
	PeriodDaily   Period = "daily"
	PeriodWeekly  Period = "weekly"
	PeriodAllTime Period = "all_time"
)

// Ask is a question as an agent asks it, on the wire, too. The tags are its limits.
type Ask struct {
	Prompt         string       `json:"prompt" strict:"pattern=\\S[^\\u0000]{8,}\\S" minLength:"10" maxLength:"2000" doc:"The question. It is kept as written; white space around it counts towards the most characters, not towards the least." example:"Should error messages apologise to people?"`
	Type           QuestionType `json:"type" enum:"text,multiple_choice" doc:"How it is answered."`
	Options        []string     `json:"options,omitempty" strict:"each=notblank" nullable:"true" maxItems:"10" minLength:"1" maxLength:"200" doc:"What a multiple choice question offers: 2 to 10 distinct texts, each with more than white space. White space around a text does not make it distinct." example:"[\"Submit\",\"Send\"]"`
	Audience       []string     `json:"audience,omitempty" strict:"distinct" nullable:"true" enum:"technical,product,ethics,creative,general" doc:"Whom it is for; general by default." example:"[\"product\",\"creative\"]"`
	MinResponses   *int         `json:"min_responses,omitempty" nullable:"true" minimum:"1" maximum:"50" doc:"How many answers are wanted; 5 by default." example:"5"`
	TimeoutSeconds *int         `json:"timeout_seconds,omitempty" nullable:"true" minimum:"60" maximum:"86400" doc:"For how long answers are taken; 3600 by default." example:"3600"`
	CallbackURL    *string      `json:"callback_url,omitempty" nullable:"true" minLength:"1" maxLength:"2048" doc:"Where a webhook goes once the question has closed or expired: an https URL of the public Internet." example:"https://agent.example.com/webhooks"`
	IdempotencyKey *string      `json:"idempotency_key,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"Repeating a request with the same key within 24 hours makes no second question, but is answered as the first was. Defaults may be given or left out, and the key may be here or in the header: it is the same request. A request that is refused, for its content or for the quota, does not use its key up."`
}

// Question returns the question that an agent asks at a moment. The ask must have its defaults.
func (a Ask) Question(agentID string, now time.Time) Question {
	deadline := now.Add(time.Duration(*a.TimeoutSeconds) * time.Second)
	return Question{
		ID: wire.NewID(now), Status: StatusOpen, Prompt: a.Prompt, Type: a.Type, Options: a.Options,
		Audience: a.Audience, RequiredResponses: *a.MinResponses, AgentID: agentID, CreatedAt: wire.Time(now),
		Deadline: wire.Time(deadline), ExpiresAt: keptUntil(deadline.Add(KeepExpired)), DueAt: now,
		IdempotencyKey: Or(a.IdempotencyKey, ""), CallbackURL: Or(a.CallbackURL, ""),
	}
}

// Or returns the value that given points to, or byDefault if given is nil.
func Or[T any](given *T, byDefault T) T {
	if given == nil {
		return byDefault
	}
	return *given
}

// WithDefaults returns the ask with its defaults filled in. If two asks are then equal, except for the idempotency key,
// they are for the same question.
func (a Ask) WithDefaults() Ask {
	if len(a.Audience) == 0 {
		a.Audience = []string{defaultCategory}
	}
	a.MinResponses = cmp.Or(a.MinResponses, new(DefaultResponses))
	a.TimeoutSeconds = cmp.Or(a.TimeoutSeconds, new(int(DefaultTimeout/time.Second)))
	return a
}

// Check adds a problem for options that do not fit the type, and for each repeated value.
func (a Ask) Check(p *validate.Problems, _ string) {
	switch a.Type {
	case TypeText:
		if len(a.Options) > 0 {
			p.Add("options", validate.RuleConflict,
				"has %d %s, but a text question takes none; leave them out, or ask with type %q", len(a.Options),
				map[bool]string{true: "entry", false: "entries"}[len(a.Options) == 1], TypeMultipleChoice)
		}
	case TypeMultipleChoice:
		a.checkOptions(p)
	}
	for i := range a.Audience {
		CheckRepeated(p, a.Audience, i)
	}
}

func (a Ask) checkOptions(p *validate.Problems) {
	if a.Options == nil {
		p.Add("options", validate.RuleRequired, "is missing, but a multiple choice question needs %d to %d", MinOptions,
			MaxOptions)
	} else {
		p.Count("options", len(a.Options), MinOptions, MaxOptions)
	}
	seen := map[string]int{}
	for i, option := range a.Options {
		// White space around an option is invisible, and so is how Unicode writes an é: neither makes two options
		// different.
		text := strings.TrimSpace(norm.NFC.String(option))
		if first, ok := seen[text]; ok {
			p.Add(fmt.Sprintf("options[%d]", i), validate.RuleUnique,
				"is the same as options[%d]; give each option once", first)
			continue
		}
		seen[text] = i
	}
}

// CheckRepeated adds a problem if tags[i] is an audience that an earlier tag names, too. Values that are no audience
// have a problem of their own.
func CheckRepeated(p *validate.Problems, tags []string, i int) {
	if slices.Contains(Audiences(), tags[i]) && slices.Contains(tags[:i], tags[i]) {
		p.Add(fmt.Sprintf("audience[%d]", i), validate.RuleUnique, "is %q again; give each tag once", tags[i])
	}
}

// PollURL returns the path at which an agent reads a question and its answers.
func PollURL(questionID string) string { return "/agent/questions/" + questionID }

// QuestionWithResponses is a question with its answers.
type QuestionWithResponses struct {
	Question
	Responses []Response `json:"responses" nullable:"false" doc:"The answers, oldest first."`
	Hidden    int        `json:"hidden_responses,omitempty" minimum:"1" doc:"How many answers operators have hidden: they are neither here nor in the summary." example:"1"`
	Webhook   *Delivery  `json:"webhook,omitempty" doc:"Of a question with a callback_url: how far its webhook is."`
	Summary   Summary    `json:"summary,omitempty" doc:"Of a multiple choice question: how many chose each option, in the order of the options."`
}

// Submission is a question that was stored.
type Submission struct {
	QuestionID string    `json:"question_id" format:"uuid"`
	Status     Status    `json:"status" enum:"OPEN,PARTIAL,CLOSED,EXPIRED" example:"OPEN"`
	PollURL    string    `json:"poll_url" doc:"The path to read the answers at." example:"/agent/questions/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	ExpiresAt  wire.Time `json:"expires_at" format:"date-time" doc:"When answers stop being taken." example:"2026-02-02T10:30:00.000Z"`
	CreatedAt  wire.Time `json:"created_at" format:"date-time" example:"2026-02-02T09:30:00.000Z"`
}

// AgentQuestionList is a page of an agent's questions.
type AgentQuestionList struct {
	Questions  []Question `json:"questions" nullable:"false" doc:"Newest first."`
	NextCursor string     `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// HumanQuestion is a question as people see it.
type HumanQuestion struct {
	QuestionID      string   `json:"question_id" format:"uuid"`
	Prompt          string   `json:"prompt"`
	Type            string   `json:"type" enum:"text,multiple_choice"`
	Options         []string `json:"options,omitempty" nullable:"false" doc:"Of a multiple choice question."`
	Audience        []string `json:"audience" nullable:"false" example:"[\"general\"]"`
	ResponsesNeeded int      `json:"responses_needed" doc:"How many answers are still wanted." example:"3"`
	CreatedAt       string   `json:"created_at" format:"date-time" example:"2026-02-02T09:30:00.000Z"`
	ExpiresAt       string   `json:"expires_at" format:"date-time" doc:"When answers stop being taken." example:"2026-02-02T10:30:00.000Z"`
}

// HumanQuestionList is a page of questions that need answers.
type HumanQuestionList struct {
	Questions  []HumanQuestion `json:"questions" nullable:"false" doc:"Newest first."`
	NextCursor string          `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// AnswerableQuestion is a question for one person.
type AnswerableQuestion struct {
	HumanQuestion
	CanAnswer bool   `json:"can_answer" doc:"False for a person who has answered it."`
	Handed    string `json:"handed,omitempty" doc:"Says that this person was handed the question, and when, signed by the platform. Send it with the answer. Absent where X-Fingerprint is, and for a person who has answered."`
}
