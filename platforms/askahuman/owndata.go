package askahuman

import (
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// ownDataPatterns are how what is kept of a person is found and deleted.
func ownDataPatterns() []schema.AccessPattern {
	return schema.UsedBy("humanapi",
		schema.BatchGetItem.Pattern("ExportAnswers", "Responses",
			"A page of a person's answers, with all that is kept of them."),
		schema.Query.Pattern("ListOwnSubscriptions", "Subscriptions",
			"A person's subscriptions on all devices, the newest first.").
			By("ByFingerprint", schema.Where("fingerprint_hash", schema.Equal)).Downwards(),
		schema.BatchGetItem.Pattern("ExportSubscriptions", "Subscriptions",
			"A page of a person's subscriptions, with all that is kept of them."),
		schema.GetItem.Pattern("GetNotified", "Guards", "When a person was last notified, and of what."),
		schema.UpdateItem.Pattern("ForgetAnswer", "Responses",
			"Take out of an answer what tells whose it is, if it is this person's. The answer stays."),
		schema.DeleteItem.Pattern("ForgetNotified", "Guards", "Delete when a person was last notified."),
		schema.UpdateItem.Pattern("DateStats", "UserStats",
			"Date a person's stats to now that a clock which was set back has dated ahead."),
		schema.DeleteItem.Pattern("ForgetStats", "UserStats",
			"Delete a person's stats, if they are as they were read: no answer came meanwhile."),
	)
}

// Owned is what a person owns. The stats, which say that the person is there, go last: only the service knows whether
// an answer has come meanwhile.
func Owned(parts Parts) []schema.Owned {
	owned := []schema.Owned{
		{Name: "answers", Kind: schema.AnonymiseOwned, List: "ListRecentAnswers", From: wire.Time(Never).String(),
			Write:  "ForgetAnswer",
			Fields: []string{"fingerprint_hash", "content_digest", "content_length", "response_time_ms"},
			Key: func(person string, answer map[string]string) []any {
				return []any{answer["question_id"], ResponseID(answer["question_id"], person)}
			}},
		// Each one changes the item of the person's last subscription.
		{Name: "subscriptions", Kind: schema.HookOwned},
		{Name: "last notification", Kind: schema.DeleteOwned, Write: "ForgetNotified", Partition: "NOTIFIED#"},
		{Name: "counts of requests", Kind: schema.LeaveOwned, Table: "Guards", Partition: "RATE#",
			Until: "up to the end of their window"},
	}
	if !parts.WithoutModeration {
		// Others' reports name the person.
		owned = append(owned, schema.Owned{Name: "report of the name", Kind: schema.HookOwned})
	}
	return owned
}

// withOperatedData lets operators export and delete for people who ask them to.
func withOperatedData(p *schema.Platform) {
	all := []schema.AccessPattern{schema.Existing("ListRecentAnswers"), schema.Existing("GetUserStats"),
		schema.Existing("GetSubscription"), schema.Existing("DeleteSubscription")}
	for _, pattern := range ownDataPatterns() {
		all = append(all, schema.Existing(pattern.Name))
	}
	*p = p.Join(schema.Own{AccessPatterns: append(schema.UsedBy("moderationapi", all...),
		schema.UpdateItem.Pattern("ForgetBlocked", "UserStats",
			"Delete a blocked person's stats, if they are as they were read, and keep the block.").
			UsedBy("humanapi", "moderationapi"),
		schema.UpdateItem.Pattern("ForgetNameReport", "Reports",
			"Take the person, the name and what was said out of the report of a person's name, and end its retention.").
			UsedBy("humanapi", "moderationapi"))})
	moderationapi := function(p, "moderationapi")
	moderationapi.Secrets = append(moderationapi.Secrets, "FingerprintSecret")
	p.Routes = append(p.Routes, schema.Routes(ExportDataOf, DeleteDataOf)...)
}

// PersonData is a page of all that the tables keep of a person.
type PersonData struct {
	Person        string               `json:"person" doc:"The keyed hash under which the person is kept: operators see it, too."`
	Stats         *PersonStats         `json:"stats,omitempty" doc:"On the first page, if there are any."`
	Notified      *PersonNotified      `json:"last_notification,omitempty" doc:"On the first page, if it is still kept: for a day."`
	Answers       []PersonAnswer       `json:"answers" nullable:"false" doc:"Newest first."`
	Subscriptions []PersonSubscription `json:"subscriptions" nullable:"false" doc:"Newest first, after the last answer."`
	NextCursor    string               `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// PersonStats are the stats of a person as they are kept.
type PersonStats struct {
	Handle            string               `json:"handle" doc:"The name on leaderboards." example:"Quiet Otter 482"`
	TotalPoints       int                  `json:"total_points"`
	TotalAnswers      int                  `json:"total_answers"`
	StreakDays        int                  `json:"streak_days"`
	StreakLastDate    string               `json:"streak_last_date,omitempty" doc:"The last day that counted, in the person's time zone." example:"2026-02-02"`
	Badges            []Badge              `json:"badges" nullable:"false"`
	AnswersByCategory map[string]int       `json:"answers_by_category"`
	NightAnswers      int                  `json:"night_answers" doc:"From 00:00 to 06:00 in the person's time zone."`
	FastAnswers       int                  `json:"fast_answers" doc:"In under 30 seconds."`
	ConfidentAnswers  int                  `json:"confident_answers" doc:"With confidence 5."`
	Day               string               `json:"day,omitempty" doc:"The UTC day of daily_points and daily_answers." example:"2026-02-02"`
	DailyPoints       int                  `json:"daily_points"`
	DailyAnswers      int                  `json:"daily_answers"`
	Week              string               `json:"week,omitempty" doc:"The Monday of weekly_points and weekly_answers." example:"2026-02-02"`
	WeeklyPoints      int                  `json:"weekly_points"`
	WeeklyAnswers     int                  `json:"weekly_answers"`
	LateAnswers       map[string]wire.Time `json:"late_answers,omitempty" doc:"When answers of the last minutes came after the end of their question, by its id."`
	Version           int64                `json:"version" doc:"Counted up by every change."`
	CreatedAt         wire.Time            `json:"created_at,omitzero" format:"date-time"`
	UpdatedAt         wire.Time            `json:"updated_at,omitzero" format:"date-time" doc:"When the person answered last."`
	BlockedAt         wire.Time            `json:"blocked_at,omitzero" format:"date-time" doc:"When an operator blocked the person."`
	HandleResetAt     wire.Time            `json:"handle_reset_at,omitzero" format:"date-time" doc:"When an operator reset the name."`
}

// PersonAnswer is an answer of a person as it is kept.
type PersonAnswer struct {
	QuestionID     string    `json:"question_id" format:"uuid"`
	ResponseID     string    `json:"response_id" format:"uuid"`
	Answer         *string   `json:"answer,omitempty"`
	SelectedOption *int      `json:"selected_option,omitempty" doc:"The option's index, from 0."`
	Confidence     *int      `json:"confidence,omitempty"`
	ResponseTimeMS *int64    `json:"response_time_ms,omitempty"`
	Points         int       `json:"points_earned"`
	Flags          []string  `json:"flags,omitempty" nullable:"false"`
	ContentDigest  string    `json:"content_digest,omitempty" doc:"Of a text: what tells repeated texts."`
	ContentLength  int       `json:"content_length,omitempty"`
	CreatedAt      wire.Time `json:"created_at" format:"date-time"`
	ExpiresAt      wire.Time `json:"expires_at" format:"date-time" doc:"When it is deleted."`
	HiddenAt       wire.Time `json:"hidden_at,omitzero" format:"date-time" doc:"When an operator hid it."`
}

// PersonSubscription is a subscription of a person as it is kept, with a digest in place of the token.
type PersonSubscription struct {
	SubscriptionID     string    `json:"subscription_id" format:"uuid"`
	TokenDigest        string    `json:"token_sha256" doc:"SHA-256 of the device's token, which is a secret."`
	Minutes            int       `json:"min_interval_minutes"`
	Active             bool      `json:"active"`
	LastNotifiedAt     wire.Time `json:"last_notified_at,omitzero" format:"date-time"`
	NextNotificationAt wire.Time `json:"next_notification_at,omitzero" format:"date-time" doc:"The soonest of the next one; absent: at once."`
	CreatedAt          wire.Time `json:"created_at" format:"date-time"`
	UpdatedAt          wire.Time `json:"updated_at" format:"date-time"`
}

// PersonNotified is the last notification of a person, on any device, as it is kept. A run claims the person in that
// item before it sends anything.
type PersonNotified struct {
	ClaimedAt  wire.Time `json:"claimed_at,omitzero" dynamodbav:"claimed_at" format:"date-time" doc:"When a run of the notifier last chose the person."`
	NotifiedAt wire.Time `json:"notified_at,omitzero" dynamodbav:"notified_at" format:"date-time"`
	QuestionID string    `json:"question_id,omitempty" dynamodbav:"question_id"`
}

// Deleted says how far the deletion of a person's data is.
type Deleted struct {
	Answers int  `json:"answers" doc:"How many answers this request has made nobody's."`
	More    bool `json:"more,omitempty" doc:"true: not all is deleted yet; send the same again."`
	Wait    int  `json:"wait_seconds,omitempty" doc:"Wait as long before that: the person's last answer is so new that a deletion could miss it." example:"7"`
}
