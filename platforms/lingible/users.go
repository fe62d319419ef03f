package lingible

import (
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Tier is the subscription of a user.
type Tier string

// The tiers.
const (
	Free    Tier = "free"
	Premium Tier = "premium"
)

// Limits are the limits of a tier.
type Limits struct {
	// DailyTranslations is how many translations a day it allows.
	DailyTranslations int
	// TextLength is how many characters a text to translate may have.
	TextLength int
	// History is how long the table keeps translations. 0: it keeps none.
	History time.Duration
	// DailyQuestions is how many questions a day the quiz asks. 0: any number.
	DailyQuestions int
	// Trends limits the length of a list of trending terms. AllTrends gives it all categories instead of [Slang] alone.
	Trends    int
	AllTrends bool
	// Submissions is how many terms a user may submit within [SubmissionWindow].
	Submissions int
}

// SubmissionWindow is the time in which [Limits.Submissions] counts.
const SubmissionWindow = 24 * time.Hour

// Limits returns the limits of the tier. An unknown tier has those of [Free].
func (t Tier) Limits() Limits {
	if t == Premium {
		return Limits{DailyTranslations: 100, TextLength: 100, History: 30 * 24 * time.Hour, Trends: 100,
			AllTrends: true, Submissions: 10}
	}
	return Limits{DailyTranslations: 10, TextLength: 50, DailyQuestions: 10, Trends: 10}
}

// User is a user's profile, also on the wire.
type User struct {
	ID        string     `json:"user_id" dynamodbav:"user_id" attribute:"Subject of the user's token"`
	Email     string     `json:"email,omitempty" dynamodbav:"email,omitempty" attribute:"PROFILE: email address, as the token or the sign-up has it; absent when they have none"`
	Tier      Tier       `json:"tier" dynamodbav:"tier" enum:"free,premium" attribute:"free or premium; on PROFILE and USAGE#LIMITS, which change together"`
	Status    UserStatus `json:"status" dynamodbav:"status" enum:"active" attribute:"PROFILE: active or deleting"`
	CreatedAt time.Time  `json:"created_at" dynamodbav:"created_at" attribute:"Creation: RFC 3339 in UTC with milliseconds"`
	UpdatedAt time.Time  `json:"updated_at" dynamodbav:"updated_at" attribute:"PROFILE: last change: RFC 3339 in UTC with milliseconds"`
	wire.Extended
}

// UserStatus says whether a user's account is being deleted.
type UserStatus string

// The statuses.
const (
	Active   UserStatus = "active"
	Deleting UserStatus = "deleting"
)

// Usage has what a user has used of the tier's limits, as it is stored.
type Usage struct {
	UserID string `dynamodbav:"user_id"`
	Tier   Tier   `dynamodbav:"tier"`
	// DailyUsed counts the translations charged since the last midnight before ResetDailyAt.
	DailyUsed    int       `dynamodbav:"daily_used" attribute:"USAGE#LIMITS and DELETED: translations charged since the last midnight before reset_daily_at"`
	ResetDailyAt time.Time `dynamodbav:"reset_daily_at" attribute:"USAGE#LIMITS and DELETED: the midnight from which daily_used counts from 0: RFC 3339 in UTC with milliseconds"`
	// Charges are the ids of the latest translations that were charged by a separate write, the latest last. Those that
	// are kept, or have an idempotency key, are not among them.
	Charges []string `dynamodbav:"charges,omitempty" attribute:"USAGE#LIMITS: translation_id of the latest ten translations that were charged by a write of their own; absent when there is none"`
	// SubmittedAt are the times of the submissions of the last [SubmissionWindow], and maybe of older ones.
	SubmittedAt []time.Time `dynamodbav:"submitted_at" attribute:"USAGE#LIMITS and DELETED: when the submissions of the last 24 hours were made: RFC 3339 in UTC with milliseconds"`
	// QuizSessionID is the quiz that was begun last, unless it has ended. Empty: none.
	QuizSessionID string `dynamodbav:"quiz_session_id,omitempty" attribute:"USAGE#LIMITS: the active quiz; absent when there is none"`
}

// Used returns how many translations were charged on the day of now.
func (u Usage) Used(now time.Time) int {
	if !now.Before(u.ResetDailyAt) {
		return 0
	}
	return u.DailyUsed
}

// Submitted returns the times of the submissions within [SubmissionWindow] before now, in order.
func (u Usage) Submitted(now time.Time) []time.Time {
	recent := slices.DeleteFunc(slices.Clone(u.SubmittedAt),
		func(at time.Time) bool { return !at.Add(SubmissionWindow).After(now) })
	slices.SortFunc(recent, time.Time.Compare)
	return recent
}

// Balance is what a user has left of the tier's limits, on the wire.
type Balance struct {
	Tier            Tier      `json:"tier" enum:"free,premium"`
	DailyLimit      int       `json:"daily_limit" doc:"Translations that are charged on a day, at most."`
	DailyUsed       int       `json:"daily_used"`
	DailyRemaining  int       `json:"daily_remaining"`
	ResetDailyAt    time.Time `json:"reset_daily_at" doc:"When the next day begins: translations and questions of the quiz then count from 0."`
	TextLength      int       `json:"text_length" doc:"Characters of a text to translate, at most."`
	QuizLimit       int       `json:"quiz_limit" doc:"Questions of the quiz on a day, at most; 0: any number. GET /quiz/history says how many were asked."`
	SubmissionLimit int       `json:"submission_limit" doc:"Terms that are submitted within 24 hours, at most."`
	SubmissionsUsed int       `json:"submissions_used"`
}

// Owned is what a user owns. The write that begins the deletion of an account removes the usage, without which nothing
// can be added. The profile, which says that the deletion goes on, goes last.
func Owned() []schema.Owned {
	const user = "USER#"
	return []schema.Owned{
		{Name: "votes", Kind: schema.DecrementOwned, List: "ListUserItems", Partition: user, Sort: "VOTE#",
			Write:   "DeleteUserItem",
			Counter: schema.Counter{Update: "WithdrawVote", Name: "upvotes", Members: "upvoted_by"},
			Key: func(_ string, vote map[string]string) []any {
				return []any{vote["term_key"], "SUBMISSION#" + vote["submission_id"]}
			}},
		// With a submission the notes of others' votes for it go.
		{Name: "submissions", Kind: schema.HookOwned},
		{Name: "translations", Kind: schema.DeleteOwned, List: "ListTranslationKeys", Write: "DeleteTranslation",
			Partition: user},
		{Name: "all else", Kind: schema.DeleteOwned, List: "ListUserItems", Write: "DeleteUserItem", Partition: user},
		{Name: "when the account was deleted", Kind: schema.LeaveOwned, Table: usersName, Partition: "DELETED#",
			Until: "for 30 days, under a digest of the id"},
		{Name: "counts of requests", Kind: schema.LeaveOwned, Table: usersName, Partition: "RATE#",
			Until: "up to the end of their window"},
	}
}
