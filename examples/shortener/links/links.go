// Package links is the contract of the shortener, which its construct and its handlers read:
// tables, access patterns, functions, routes and lake.
package links

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Zone is the time zone in which the last day of a link ends.
const Zone = "Europe/Vienna"

// Platform returns the contract.
func Platform() schema.Platform {
	return schema.Platform{
		Name: "shortener", Title: "Shortener", Description: "Users make short links, and see who follows them",
		Database: schema.Database{Prefix: "shortener", Tables: tables(), AccessPatterns: accessPatterns()},
		// A role may do exactly what these patterns need.
		Functions: []schema.Function{
			{
				Name: "linksapi", Description: "Serves the routes of links", Secrets: []string{"CursorSecret"},
				AccessPatterns: []string{"CreateLink", "GetLink", "ListLinks", "DeleteLink", "RecordClick", schema.CountRequest, schema.ClaimIdempotencyKey, schema.SettleIdempotencyKey},
			},
			{
				Name: "expirer", Description: "Deletes the links whose last day is over", Timeout: 5 * time.Minute,
				Trigger:        schema.OnSchedule{Cron: "0 3 * * ? *", TimeZone: Zone},
				AccessPatterns: []string{"ListExpired", "ExpireLink"},
			},
		},
		Secrets:    []schema.Secret{schema.CursorSecret()},
		RateLimits: []schema.RateLimit{{Name: "create", Requests: 60, Window: time.Hour, Per: schema.PerUser}},
		Routes: []schema.Route{
			{Method: "POST", Path: "/links", Function: "linksapi", Caller: schema.CallerUser, RateLimit: "create", Summary: "Make a link"},
			{Method: "GET", Path: "/links", Function: "linksapi", Caller: schema.CallerUser, Summary: "List one's own links, the newest first"},
			{Method: "GET", Path: "/links/{code}", Function: "linksapi", Caller: schema.CallerUser, Summary: "Read one of one's own links"},
			{Method: "DELETE", Path: "/links/{code}", Function: "linksapi", Caller: schema.CallerUser, Summary: "Delete one of one's own links"},
			{Method: "GET", Path: "/{code}", Function: "linksapi", Caller: schema.CallerAnyone, Summary: "Follow a link"},
		},
		RequestHeaders:  []string{"Authorization", "Content-Type", "Idempotency-Key"},
		ResponseHeaders: []string{"Idempotency-Replayed", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics:         []schema.Metric{{Name: "LinksExpired", Function: "expirer", Unit: schema.Count, Description: "links deleted after their last day"}},
		Lakes:           []schema.Lake{lake()},
	}
}

func tables() []schema.Table {
	const expiry = "Unix seconds after which the item may be deleted (TTL attribute)"
	return []schema.Table{
		{
			Name: "Links", PhysicalName: "links", Description: "Links, by code.", Key: schema.Key{Partition: "code"}, TimeToLive: "expires_at",
			Attributes: []schema.Attribute{
				{Name: "code", Type: schema.String, Description: "What follows the host in the short address"},
				{Name: "owner", Type: schema.String, Description: "User who made it"},
				{Name: "url", Type: schema.String, Description: "Where it leads"},
				{Name: "created_at", Type: schema.Number, Description: "Unix seconds"},
				{Name: "expires_on", Type: schema.String, Description: "YYYY-MM-DD: its last day; absent when it has none"},
				{Name: "expires_at", Type: schema.Number, Description: expiry + ": a week after the last day, should the expirer not have run"},
			},
			Indexes: []schema.Index{
				{Name: "ByOwner", Key: schema.Key{Partition: "owner", Sort: "created_at"}, Description: "A user's links."},
				{Name: "ByLastDay", Key: schema.Key{Partition: "expires_on"}, Projection: schema.ProjectKeysOnly, Description: "Links by their last day. Sparse: only links that have one."},
			},
		},
		{
			Name: "Clicks", PhysicalName: "clicks", Description: "Uses of links, for 30 days; the lake keeps them.",
			Key: schema.Key{Partition: "code", Sort: "id"}, TimeToLive: "expires_at", Stream: schema.StreamNewAndOldImages,
			Attributes: []schema.Attribute{
				{Name: "code", Type: schema.String, Description: "Code of the link"},
				{Name: "id", Type: schema.String, Description: "UUIDv7: in the order of time"},
				{Name: "owner", Type: schema.String, Description: "User whose link it is"},
				{Name: "clicked_at", Type: schema.Number, Description: "Unix seconds"},
				{Name: "expires_at", Type: schema.Number, Description: expiry},
			},
		},
		{
			Name: "Requests", PhysicalName: "requests", Description: "Idempotency keys, and counters of rate limits.",
			Key: schema.Key{Partition: "id"}, TimeToLive: "expires_at",
			Attributes: append(append(schema.IdempotencyAttributes(), schema.RateLimitAttributes()...),
				schema.Attribute{Name: "id", Type: schema.String, Description: "KEY# or COUNT#, and what it is of"},
				schema.Attribute{Name: "expires_at", Type: schema.Number, Description: expiry},
			),
		},
	}
}

func accessPatterns() []schema.AccessPattern {
	return append([]schema.AccessPattern{
		{
			Name: "CreateLink", Description: "Store a link under a new code, with the answer to the request.", Operation: schema.TransactWriteItems,
			Writes: []schema.Write{{Table: "Links", Operation: schema.PutItem, Description: "the link, unless its code is taken"}, schema.KeepAnswer("Requests")},
		},
		{Name: "GetLink", Description: "A link as it is now.", Operation: schema.GetItem, Table: "Links", Consistent: true},
		{Name: "ListLinks", Description: "A user's links, the newest first.", Operation: schema.Query, Table: "Links", Index: "ByOwner", Descending: true, KeyConditions: []schema.KeyCondition{{Attribute: "owner", Comparison: schema.Equal}}},
		{Name: "RecordClick", Description: "Store the use of a link.", Operation: schema.PutItem, Table: "Clicks"},
		{Name: "DeleteLink", Description: "Delete a link, if it is the caller's.", Operation: schema.DeleteItem, Table: "Links"},
		{Name: "ListExpired", Description: "The links of one last day.", Operation: schema.Query, Table: "Links", Index: "ByLastDay", KeyConditions: []schema.KeyCondition{{Attribute: "expires_on", Comparison: schema.Equal}}},
		{Name: "ExpireLink", Description: "Delete a link, if it still has the last day.", Operation: schema.DeleteItem, Table: "Links"},
	}, append(schema.IdempotencyPatterns("Requests"), schema.RateLimitPatterns("Requests")...)...)
}

func lake() schema.Lake {
	return schema.Lake{
		Name: "shortener", Table: "Clicks",
		Entities: []schema.Entity{{
			Name: "click", Description: "The use of a link", Omit: []string{"id", "expires_at"},
			Columns: []schema.Column{{Name: "clicked_at", Type: schema.ColumnTimestamp, Description: "When it was used"}},
		}},
		Queries: []schema.SavedQuery{{
			Name: "Most used links of the last 30 days", Description: "Clicks by link. Reads 30 days",
			// A removal is the time to live at work.
			SQL: `SELECT code, owner, count(DISTINCT event_id) AS clicks
FROM click_changes
WHERE event_name = 'INSERT' AND event_date >= current_date - INTERVAL '30' DAY
GROUP BY code, owner
ORDER BY clicks DESC, code`,
		}},
	}
}
