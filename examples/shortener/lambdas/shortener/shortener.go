// Package shortener has the rules of links, and their store in DynamoDB.
package shortener

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"
	_ "time/tzdata" // provided.al2023 has no time zones of its own

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"example.com/shortener/links"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/cursor"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// The errors that callers see.
var (
	ErrNotFound = errors.New("there is no such link")
	ErrTaken    = errors.New("the code is taken: choose another one, or leave it out")
)

// Link is a link, in the form of both the table and the API.
type Link struct {
	Code      string    `json:"code,omitempty" dynamodbav:"code" pattern:"^[A-Za-z0-9_-]{3,40}$" doc:"What follows the host in the short address. Default: a random one." example:"home"`
	URL       string    `json:"url" dynamodbav:"url" pattern:"^https?://[^/]" maxLength:"2000" doc:"Where it leads." example:"https://example.com/"`
	ExpiresOn string    `json:"expires_on,omitempty" dynamodbav:"expires_on,omitempty" format:"date" doc:"Its last day, in Vienna. Default: none."`
	Owner     string    `json:"-" dynamodbav:"owner"`
	CreatedAt time.Time `json:"created_at,omitzero" dynamodbav:"created_at,unixtime" readOnly:"true"`
	ExpiresAt int64     `json:"-" dynamodbav:"expires_at,omitempty"`
}

// Page is a part of a list.
type Page struct {
	Links      []Link `json:"links" nullable:"false"`
	NextCursor string `json:"next_cursor,omitempty" doc:"Where the list goes on; absent at its end."`
}

// Service makes and follows links.
type Service struct {
	DB        *dynamo.DB
	CursorKey cursor.Key // signs the cursors of lists
}

// Create stores a link of the owner. It returns [ErrTaken], or a [*validate.Error].
func (s *Service) Create(ctx context.Context, owner string, link Link) (Link, error) {
	if last, err := time.Parse(time.DateOnly, link.ExpiresOn); err == nil {
		if first := day(0); link.ExpiresOn < first {
			return link, validate.Errorf("expires_on", validate.RuleRange, "is %s, but at least %s, which is today, is needed", link.ExpiresOn, first)
		}
		link.ExpiresAt = dynamo.ExpiryAt(last.AddDate(0, 0, days))
	}
	link.Owner, link.CreatedAt, link.Code = owner, time.Now().UTC().Truncate(time.Second), cmp.Or(link.Code, rand.Text()[:8])
	held, err := dynamo.Held(idempotency.Transact(ctx, s.DB, "CreateLink", link, dynamo.Put("Links", link, dynamo.Absent("code"))))
	if err == nil && !held {
		err = ErrTaken
	}
	return link, err
}

// Get returns a link of the owner, or [ErrNotFound].
func (s *Service) Get(ctx context.Context, owner, code string) (link Link, err error) {
	found, err := s.DB.Get(ctx, "GetLink", &link, code)
	if err == nil && (!found || link.Owner != owner) {
		err = ErrNotFound
	}
	return link, err
}

// List returns links of the owner, the newest first, from a cursor on.
func (s *Service) List(ctx context.Context, owner, from string, most int) (page Page, err error) {
	list := dynamo.List{Pattern: "ListLinks", Values: []any{owner}, Key: s.CursorKey, Scope: []string{owner}}
	page.Links, page.NextCursor, err = dynamo.ReadPage[Link](ctx, s.DB, list, from, most)
	return page, err
}

// Delete deletes a link of the owner. It returns [ErrNotFound].
func (s *Service) Delete(ctx context.Context, owner, code string) error {
	held, err := dynamo.Held(s.DB.Delete(ctx, "DeleteLink", []any{code}, dynamo.Equal("owner", owner)))
	if err == nil && !held {
		err = ErrNotFound
	}
	return err
}

// Follow returns where a link leads, and stores that it was used. It returns [ErrNotFound].
func (s *Service) Follow(ctx context.Context, code string) (url string, err error) {
	var link Link
	if found, err := s.DB.Get(ctx, "GetLink", &link, code); err != nil || !found {
		return "", cmp.Or(err, ErrNotFound)
	}
	now := time.Now()
	return link.URL, s.DB.Put(ctx, "RecordClick", map[string]any{
		"code": code, "id": uuid.Must(uuid.NewV7()).String(), "owner": link.Owner, "clicked_at": now.Unix(), "expires_at": dynamo.ExpiryAt(now.AddDate(0, 0, 30)),
	}, expression.ConditionBuilder{})
}

// days is how many days Expire looks back, to make up for missed runs.
const days = 7

// Expire deletes the links whose last day is over, and returns how many it found.
func (s *Service) Expire(ctx context.Context) (expired int, err error) {
	for back := 1; back <= days; back++ {
		for item, err := range s.DB.Items(ctx, "ListExpired", dynamo.Query{Values: []any{day(-back)}}) {
			if err == nil {
				_, err = dynamo.Held(s.DB.Delete(ctx, "ExpireLink", []any{item["code"]}, dynamo.Equal("expires_on", day(-back))))
			}
			if err != nil {
				return expired, err
			}
			expired++
		}
	}
	return expired, nil
}

// day is today in the zone in which days end, or so many days later, as YYYY-MM-DD.
func day(later int) string {
	zone, err := time.LoadLocation(links.Zone)
	if err != nil {
		panic(err) // The binary has all zones.
	}
	return time.Now().In(zone).AddDate(0, 0, later).Format(time.DateOnly)
}
