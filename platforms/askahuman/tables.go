package askahuman

import (
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
)

// timestamps are stored in one width, so that they sort by time as text, too.
const timestampFormat = "ISO 8601 in UTC with milliseconds, such as 2026-02-02T09:30:00.000Z"

func tables() []schema.Table {
	return []schema.Table{questionsTable(), responsesTable(), subscriptionsTable(), userStatsTable(), guardsTable()}
}

func questionsTable() schema.Table {
	return schema.Table{
		Name:         "Questions",
		PhysicalName: "questions",
		Description:  "Question metadata and status.",
		Key:          schema.Key{Partition: "question_id"},
		TimeToLive:   "expires_at",
		Attributes:   attributesOf(Question{}),
		Indexes: []schema.Index{
			{Name: "ByStatus", Key: schema.Key{Partition: "status", Sort: "created_at"},
				Description: "Fetch open questions for humans."},
			{Name: "ByAgentId", Key: schema.Key{Partition: "agent_id", Sort: "created_at"},
				Description: "Agent fetches their questions."},
			{Name: "ByDue", Key: schema.Key{Partition: "due", Sort: "due_at"}, Projection: schema.ProjectKeysOnly,
				Description: "Questions that people have to be notified of. Sparse: only open and partial ones " +
					"have due."},
			{Name: "ByDeadline", Key: schema.Key{Partition: "due", Sort: "deadline"},
				Projection: schema.ProjectKeysOnly,
				Description: "Questions to mark expired. Sparse, as ByDue is. Questions that wait for people cost " +
					"the notifier nothing until their deadline."},
		},
	}
}

func responsesTable() schema.Table {
	return schema.Table{
		Name:         "Responses",
		PhysicalName: "responses",
		Description:  "Individual human responses.",
		Key:          schema.Key{Partition: "question_id", Sort: "response_id"},
		TimeToLive:   "expires_at",
		Attributes:   attributesOf(Response{}),
		Indexes: []schema.Index{
			{Name: "ByFingerprint", Key: schema.Key{Partition: "fingerprint_hash", Sort: "created_at"},
				Projection: schema.ProjectInclude, Include: []string{"content_digest", "content_length"},
				Description: "A person's recent answers."},
		},
	}
}

func subscriptionsTable() schema.Table {
	return schema.Table{
		Name:         "Subscriptions",
		PhysicalName: "subscriptions",
		Description: "Push notification subscriptions, for each token in use an item TOKEN#digest that makes it " +
			"unique, and for each known person an item PERSON#hash that names their last one.",
		Key:        schema.Key{Partition: "subscription_id"},
		Attributes: attributesOf(Subscription{}),
		Indexes: []schema.Index{
			{Name: "ByLastNotified", Key: schema.Key{Partition: "active", Sort: "last_notified_at"},
				Description: "Users by last notification. Sparse: only active subscriptions."},
			{Name: "ByFingerprint", Key: schema.Key{Partition: "fingerprint_hash", Sort: "created_at"},
				Projection:  schema.ProjectKeysOnly,
				Description: "A person's subscriptions, to export and delete. Sparse: only known people."},
			{Name: "ByNextNotification", Key: schema.Key{Partition: "active", Sort: "next_notification_at"},
				Projection: schema.ProjectInclude, Include: []string{"fcm_token", "min_interval_minutes",
					"last_notified_at", "fingerprint_hash"}, Description: "Find users eligible for notification " +
					"by their own interval. Sparse: only active subscriptions."},
		},
	}
}

func userStatsTable() schema.Table {
	return schema.Table{
		Name:         "UserStats",
		PhysicalName: "user-stats",
		Description:  "Gamification data, anonymous, keyed by fingerprint.",
		Key:          schema.Key{Partition: "fingerprint_hash"},
		Attributes:   attributesOf(Stats{}),
		Indexes: []schema.Index{
			{Name: "ByTotalPoints", Key: schema.Key{Partition: "_leaderboard", Sort: "total_points"},
				Projection: schema.ProjectInclude, Include: []string{"total_answers"},
				Description: "All-time leaderboard queries."},
			{Name: "ByDailyPoints", Key: schema.Key{Partition: "daily_board", Sort: "daily_points"},
				Projection: schema.ProjectInclude, Include: []string{"daily_answers"},
				Description: "Leaderboard of one day."},
			{Name: "ByWeeklyPoints", Key: schema.Key{Partition: "weekly_board", Sort: "weekly_points"},
				Projection: schema.ProjectInclude, Include: []string{"weekly_answers"},
				Description: "Leaderboard of one week."},
		},
	}
}

func guardsTable() schema.Table {
	return schema.Table{
		Name:         "Guards",
		PhysicalName: "guards",
		Description: "Short-lived items that guard the other tables: rate limit counters, agents' open " +
			"questions, idempotency keys, people's last notifications. No index, so that counting throttles " +
			"nothing else.",
		Key:        schema.Key{Partition: "guard_key"},
		TimeToLive: "expires_at",
		Attributes: slices.Concat([]schema.Attribute{
			schema.String.Attribute("guard_key",
				"Partition key: RATE#limit#caller#window, OPEN#agent, IDEMPOTENCY#digest, "+
					"NOTIFIED#person, WEBHOOKS#agent or DELIVERY#question"),
			schema.StringSet.Attribute("open_question_ids",
				"OPEN#: the agent's questions that are open or partial, each with a place of the agent's quota"),
			schema.Number.Attribute("counted_since",
				"OPEN#: the beginning of the window in which requests counts the agent's "+
					"asks, in Unix seconds"),
			schema.String.Attribute("claimed_at",
				"NOTIFIED#: when a run last claimed the person, for any device, and kept the claim: "+
					timestampFormat+"; claim is the random token of that write"),
			schema.String.Attribute("claimed_before",
				"NOTIFIED#: what claimed_at was before that claim, the Unix epoch if there "+
					"was none: "+timestampFormat),
			schema.String.Attribute("notified_at",
				"NOTIFIED#: when the claim was made of the last notification that was sent to "+
					"the person: "+timestampFormat),
			schema.String.Attribute("question_id", "NOTIFIED#: the question of that notification"),
			schema.Number.Attribute("expires_at", "End of use in Unix seconds (TTL attribute)"),
		}, schema.RateLimitAttributes(), schema.IdempotencyAttributes()),
	}
}

// attributesOf returns the attributes of the fields of items. {time} in a description is the form of a moment.
func attributesOf(items ...any) []schema.Attribute {
	attributes := schema.AttributesOf(items...)
	for i := range attributes {
		attributes[i].Description = strings.ReplaceAll(attributes[i].Description, "{time}", timestampFormat)
	}
	return attributes
}
