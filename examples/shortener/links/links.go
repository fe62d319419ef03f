// Package links is the contract of the shortener, which its construct and its handlers read: what it keeps, the errors
// that callers see, tables, access patterns, functions, routes and lake.
package links

import (
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// Zone is the time zone in which the last day of a link ends.
const Zone = "Europe/Vienna"

// The errors that callers see.
var (
	ErrNotFound = problem.New(http.StatusNotFound, "", "there is no such link")
	ErrTaken    = problem.New(http.StatusConflict, "", "the code is taken: choose another one, or leave it out")
)

// Link is a link, in the form of both the table and the API.
type Link struct {
	Code      string    `json:"code,omitempty" dynamodbav:"code" attribute:"What follows the host in the short address" pattern:"^[A-Za-z0-9_-]{3,40}$" doc:"What follows the host in the short address. Default: a random one." example:"home"`
	Owner     string    `json:"-" dynamodbav:"owner" attribute:"User who made it"`
	URL       string    `json:"url" dynamodbav:"url" attribute:"Where it leads" pattern:"^https?://[^/]" maxLength:"2000" doc:"Where it leads." example:"https://example.com/"`
	CreatedAt time.Time `json:"created_at,omitzero" dynamodbav:"created_at,unixtime" attribute:"Unix seconds" readOnly:"true"`
	ExpiresOn string    `json:"expires_on,omitempty" dynamodbav:"expires_on,omitempty" attribute:"YYYY-MM-DD: its last day; absent when it has none" format:"date" doc:"Its last day, in Vienna. Default: none."`
	ExpiresAt int64     `json:"-" dynamodbav:"expires_at,omitempty" attribute:"Unix seconds after which the item may be deleted (TTL attribute): a week after the last day, should the expirer not have run"`
}

// Click is one use of a link, in the form of the table; the lake has it, too.
type Click struct {
	Code      string    `dynamodbav:"code" attribute:"Code of the link"`
	ID        string    `dynamodbav:"id" attribute:"UUIDv7: in the order of time"`
	Owner     string    `dynamodbav:"owner" attribute:"User whose link it is"`
	ClickedAt time.Time `dynamodbav:"clicked_at,unixtime" attribute:"Unix seconds" column:"When it was used" columntype:"timestamp"`
	ExpiresAt int64     `dynamodbav:"expires_at" attribute:"Unix seconds after which the item may be deleted (TTL attribute)"`
}

// Platform returns the contract.
func Platform() schema.Platform {
	return schema.Platform{
		Name: "shortener", Title: "Shortener", Description: "Users make short links, and see who follows them",
		Database: schema.Database{Prefix: "shortener", Tables: tables(), AccessPatterns: accessPatterns()},
		// A role may do exactly what these patterns need.
		Functions: []schema.Function{
			{
				Name: "linksapi", Description: "Serves the routes of links", Secrets: []string{"CursorSecret"},
			},
			{
				Name: "expirer", Description: "Deletes the links whose last day is over", Timeout: 5 * time.Minute,
				Trigger: schema.OnSchedule{Cron: "0 3 * * ? *", TimeZone: Zone},
			},
		},
		Secrets:    []schema.Secret{schema.CursorSecret()},
		RateLimits: []schema.RateLimit{{Name: "create", Requests: 60, Window: time.Hour, Per: schema.PerUser}},
		Routes:     schema.Routes(CreateLink, ListLinks, GetLink, DeleteLink, FollowLink),
		API: schema.API{Strict: true, Key: "A key of the caller's choice: a repeat with it makes no second link.",
			Credentials: map[schema.Caller]schema.Credential{
				schema.CallerUser: schema.BearerToken("userToken", "The user is the token's subject.")}},
		RequestHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key"},
		ResponseHeaders: []string{"Idempotency-Replayed", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
			"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics: []schema.Metric{{Name: "LinksExpired", Function: "expirer", Unit: schema.Count,
			Description: "links deleted after their last day"}},
		Lakes: []schema.Lake{lake()},
	}
}

func tables() []schema.Table {
	return []schema.Table{
		{
			Name: "Links", PhysicalName: "links", Description: "Links, by code.", Key: schema.Key{Partition: "code"},
			TimeToLive: "expires_at",
			Attributes: schema.AttributesOf(Link{}),
			Indexes: []schema.Index{
				{Name: "ByOwner", Key: schema.Key{Partition: "owner", Sort: "created_at"},
					Description: "A user's links."},
				{Name: "ByLastDay", Key: schema.Key{Partition: "expires_on"}, Projection: schema.ProjectKeysOnly,
					Description: "Links by their last day. Sparse: only links that have one."},
			},
		},
		{
			Name: "Clicks", PhysicalName: "clicks", Description: "Uses of links, for 30 days; the lake keeps them.",
			Key: schema.Key{Partition: "code", Sort: "id"}, TimeToLive: "expires_at",
			Stream:     schema.StreamNewAndOldImages,
			Attributes: schema.AttributesOf(Click{}),
		},
		{
			Name: "Requests", PhysicalName: "requests", Description: "Idempotency keys, and counters of rate limits.",
			Key: schema.Key{Partition: "id"}, TimeToLive: "expires_at",
			Attributes: append(append(schema.IdempotencyAttributes(), schema.RateLimitAttributes()...),
				schema.String.Attribute("id", "KEY# or COUNT#, and what it is of"),
				schema.Number.Attribute("expires_at",
					"Unix seconds after which the item may be deleted (TTL attribute)"),
			),
		},
	}
}

func accessPatterns() []schema.AccessPattern {
	return schema.UsedBy("linksapi", append([]schema.AccessPattern{
		schema.Transaction("CreateLink", "Store a link under a new code, with the answer to the request.",
			schema.PutItem.On("Links", "the link, unless its code is taken"), schema.KeepAnswer("Requests")),
		schema.GetItem.Pattern("GetLink", "Links", "A link as it is now."),
		schema.Query.Pattern("ListLinks", "Links", "A user's links, the newest first.").
			By("ByOwner", schema.Where("owner", schema.Equal)).Downwards(),
		schema.PutItem.Pattern("RecordClick", "Clicks", "Store the use of a link."),
		schema.DeleteItem.Pattern("DeleteLink", "Links", "Delete a link, if it is the caller's."),
		schema.Query.Pattern("ListExpired", "Links", "The links of one last day.").
			By("ByLastDay", schema.Where("expires_on", schema.Equal)).UsedBy("expirer"),
		schema.DeleteItem.Pattern("ExpireLink", "Links", "Delete a link, if it still has the last day.").
			UsedBy("expirer"),
	}, append(schema.IdempotencyPatterns("Requests"), schema.RateLimitPatterns("Requests")...)...)...)
}

func lake() schema.Lake {
	return schema.Lake{
		Name: "shortener", Table: "Clicks",
		Entities: []schema.Entity{{
			Name: "click", Description: "The use of a link", Omit: []string{"id", "expires_at"},
			Columns: schema.ColumnsOf(Click{}),
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
