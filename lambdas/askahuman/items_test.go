package askahuman

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Items have the form that earlier versions wrote, and are read as they were written.
func TestItems(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 2, 9, 30, 0, 5e6, time.UTC)
	store := &Service{Shards: Shards{Write: 8}}
	q := askahuman.Question{
		ID: "q", Status: askahuman.StatusOpen, Prompt: "p", Type: askahuman.TypeText, Audience: []string{"general"},
		RequiredResponses: 3,
		AgentID:           "a", CreatedAt: wire.Time(at), Deadline: wire.Time(at.Add(time.Hour)),
		ExpiresAt: time.Unix(1770114601, 0), DueAt: at,
	}
	closed := q
	closed.Status, closed.Type, closed.Options, closed.CurrentResponses, closed.IdempotencyKey = askahuman.StatusClosed,
		askahuman.TypeMultipleChoice, []string{"x", "y"}, 3, "k"
	closed.ClosedAt, closed.NotifiedAt, closed.DueAt = wire.Time(at), at.Add(time.Second), time.Time{}
	r := askahuman.Response{
		ID: "r", QuestionID: "q", PersonHash: "p", Answer: new("yes"), Confidence: new(4),
		ResponseTimeMS: new(int64(0)), CreatedAt: at, ExpiresAt: time.Unix(1772616601, 0),
		Points: 12, Flags: []string{"f"}, ContentDigest: "d", ContentLength: 3,
	}
	choice := askahuman.Response{ID: "r", QuestionID: "q", PersonHash: "p", SelectedOption: new(0), CreatedAt: at,
		ExpiresAt: time.Unix(1772616601, 0)}
	stats := askahuman.Stats{
		PersonHash: "p", TotalPoints: 12, TotalAnswers: 1, StreakDays: 1, StreakLastDate: "2026-02-02",
		Badges: []string{"b"}, BadgesEarnedAt: map[string]time.Time{"b": at},
		AnswersByCategory: map[string]int{"general": 1}, NightAnswers: 1, FastAnswers: 2, ConfidentAnswers: 3,
		CreatedAt: at, UpdatedAt: at, Version: 4,
		Day: "2026-02-02", DailyPoints: 5, DailyAnswers: 6, Week: "2026-02-02", WeeklyPoints: 7, WeeklyAnswers: 8,
	}
	sub := askahuman.Subscription{ID: "s", Token: "t", Minutes: 30, LastNotifiedAt: askahuman.Never,
		NextNotificationAt: askahuman.Never,
		Active:             askahuman.SubscriptionActive, CreatedAt: at, UpdatedAt: at}
	notified := sub
	notified.LastNotifiedAt, notified.NextNotificationAt = at, at.Add(30*time.Minute)
	notified.PersonHash, notified.Active = "p", ""
	for name, test := range map[string]struct {
		item any
		want string
	}{
		"Subscription": {sub,
			`{"active":"true","created_at":"2026-02-02T09:30:00.005Z","fcm_token":"t","last_notified_at":"1970-01-01T00:00:00.000Z","min_interval_minutes":30,"next_notification_at":"1970-01-01T00:00:00.000Z","subscription_id":"s","updated_at":"2026-02-02T09:30:00.005Z"}`},
		"Notified": {notified,
			`{"created_at":"2026-02-02T09:30:00.005Z","fcm_token":"t","fingerprint_hash":"p","last_notified_at":"2026-02-02T09:30:00.005Z","min_interval_minutes":30,"next_notification_at":"2026-02-02T10:00:00.005Z","subscription_id":"s","updated_at":"2026-02-02T09:30:00.005Z"}`},
		"Token": {named("TOKEN#t", "s"), `{"subscription_id":"TOKEN#t","token_owner":"s"}`},
		"Question": {store.stored(q),
			`{"agent_id":"a","audience":["general"],"created_at":"2026-02-02T09:30:00.005Z","current_responses":0,"deadline":"2026-02-02T10:30:00.005Z","due":"DUE#4","due_at":"2026-02-02T09:30:00.005Z","expires_at":1770114601,"prompt":"p","question_id":"q","required_responses":3,"status":"OPEN#4","type":"text"}`},
		"Closed": {store.stored(closed),
			`{"agent_id":"a","audience":["general"],"closed_at":"2026-02-02T09:30:00.005Z","created_at":"2026-02-02T09:30:00.005Z","current_responses":3,"deadline":"2026-02-02T10:30:00.005Z","expires_at":1770114601,"idempotency_key":"k","notified_at":"2026-02-02T09:30:01.005Z","options":["x","y"],"prompt":"p","question_id":"q","required_responses":3,"status":"CLOSED#4","type":"multiple_choice"}`},
		"Text": {r,
			`{"answer":"yes","confidence":4,"content_digest":"d","content_length":3,"created_at":"2026-02-02T09:30:00.005Z","expires_at":1772616601,"fingerprint_hash":"p","flags":["f"],"points_earned":12,"question_id":"q","response_id":"r","response_time_ms":0}`},
		"Choice": {choice,
			`{"created_at":"2026-02-02T09:30:00.005Z","expires_at":1772616601,"fingerprint_hash":"p","points_earned":0,"question_id":"q","response_id":"r","selected_option":0}`},
		"Stats": {store.storedStats(stats),
			`{"_leaderboard":"_leaderboard#7","answers_by_category":{"general":1},"badges":["b"],"badges_earned_at":{"b":"2026-02-02T09:30:00.005Z"},"confident_answers":3,"created_at":"2026-02-02T09:30:00.005Z","daily_answers":6,"daily_board":"2026-02-02#7","daily_points":5,"fast_answers":2,"fingerprint_hash":"p","night_answers":1,"streak_days":1,"streak_last_date":"2026-02-02","total_answers":1,"total_points":12,"updated_at":"2026-02-02T09:30:00.005Z","version":5,"weekly_answers":8,"weekly_board":"2026-02-02#7","weekly_points":7}`},
	} {
		item, err := dynamo.Marshal(test.item)
		var values map[string]any
		if err == nil {
			err = attributevalue.UnmarshalMap(item, &values)
		}
		got, jsonErr := json.Marshal(values)
		if err != nil || jsonErr != nil || string(got) != test.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, test.want)
		}
	}
}
