// Package shortener has the rules of links, and their store in DynamoDB.
package shortener

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"example.com/shortener/links"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Service makes and follows links.
type Service struct {
	DB        *dynamo.DB
	CursorKey dynamo.CursorKey // signs the cursors of lists
}

// Create stores a link of the owner. It returns [links.ErrTaken], or a [*validate.Error].
func (s *Service) Create(ctx context.Context, owner string, link links.Link) (links.Link, error) {
	if last, err := time.Parse(time.DateOnly, link.ExpiresOn); err == nil {
		if first := day(0); link.ExpiresOn < first {
			return link, validate.Errorf("expires_on", validate.RuleRange,
				"is %s, but at least %s, which is today, is needed", link.ExpiresOn, first)
		}
		link.ExpiresAt = dynamo.ExpiryAt(last.AddDate(0, 0, days))
	}
	link.Owner, link.CreatedAt, link.Code = owner, time.Now().UTC().Truncate(time.Second),
		cmp.Or(link.Code, rand.Text()[:8])
	err := dynamo.Unless(idempotency.Transact(ctx, s.DB, "CreateLink", link,
		dynamo.Put("Links", link, dynamo.Absent("code"))), links.ErrTaken)
	return link, err
}

// Get returns a link of the owner, or [links.ErrNotFound].
func (s *Service) Get(ctx context.Context, owner, code string) (link links.Link, err error) {
	found, err := s.DB.Get(ctx, "GetLink", &link, code)
	if err == nil && (!found || link.Owner != owner) {
		err = links.ErrNotFound
	}
	return link, err
}

// List returns links of the owner, the newest first, from a cursor on.
func (s *Service) List(ctx context.Context, owner, from string, most int) (page links.Page, err error) {
	list := dynamo.List{Pattern: "ListLinks", Values: []any{owner}, Key: s.CursorKey, Scope: []string{owner}}
	page.Links, page.NextCursor, err = dynamo.ReadPage[links.Link](ctx, s.DB, list, from, most)
	return page, err
}

// Delete deletes a link of the owner. It returns [links.ErrNotFound].
func (s *Service) Delete(ctx context.Context, owner, code string) error {
	return dynamo.Unless(s.DB.Delete(ctx, "DeleteLink", []any{code}, dynamo.Equal("owner", owner)), links.ErrNotFound)
}

// Follow returns where a link leads, and stores that it was used. It returns [links.ErrNotFound].
func (s *Service) Follow(ctx context.Context, code string) (url string, err error) {
	var link links.Link
	if found, err := s.DB.Get(ctx, "GetLink", &link, code); err != nil || !found {
		return "", cmp.Or(err, links.ErrNotFound)
	}
	now := time.Now()
	return link.URL, s.DB.Put(ctx, "RecordClick", links.Click{
		Code: code, ID: uuid.Must(uuid.NewV7()).String(), Owner: link.Owner, ClickedAt: now,
		ExpiresAt: dynamo.ExpiryAt(now.AddDate(0, 0, 30)),
	}, expression.ConditionBuilder{})
}

// days is how many days Expire looks back, to make up for missed runs.
const days = 7

// Expire deletes the links whose last day is over, and returns how many it found.
func (s *Service) Expire(ctx context.Context) (expired int, err error) {
	for back := 1; back <= days; back++ {
		for item, err := range s.DB.Items(ctx, "ListExpired", dynamo.Query{Values: []any{day(-back)}}) {
			if err == nil {
				_, err = dynamo.Satisfied(s.DB.Delete(ctx, "ExpireLink", []any{item["code"]},
					dynamo.Equal("expires_on", day(-back))))
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
