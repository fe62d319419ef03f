package clarity

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

const (
	// beforeProfiles is the sort key of the item before the first profile. It is written with that
	// one, so that there is one first.
	beforeProfiles = "#"
	// maxLater is how many later profiles fit into the transaction that adds one: it has 100 writes
	// at most.
	maxLater = 99
)

// profile is a profile as stored.
//
// A user's profiles are a chain: each names the one before it, and the last one is marked as the
// latest. Each addition changes the latest profile, whose attempt count grows or whose mark goes, on
// the condition that it is as it was read. So two additions that have read the same chain never both
// succeed. A query may see only a part of what a transaction has written: the names show that a
// profile is missing, and the conditions that one has changed.
type profile struct {
	clarity.Profile
	Key           string `dynamodbav:"timestamp"`
	Previous      string `dynamodbav:"previous"`
	Latest        bool   `dynamodbav:"latest,omitempty"`
	ExpiresAt     int64  `dynamodbav:"expiresAt,omitempty"`
	SchemaVersion string `dynamodbav:"schemaVersion"`
}

// complete reads the part of the profile that is in its key.
func (p *profile) complete() (err error) {
	evaluated, _, _ := strings.Cut(p.Key, "#")
	if err := p.Timestamp.UnmarshalText([]byte(evaluated)); err != nil {
		return fmt.Errorf("read the profile %q: %w", p.Key, err)
	}
	return nil
}

// isAsRead is true of the item as long as no attempt was added before it, and none after the latest.
func (p profile) isAsRead() expression.ConditionBuilder {
	condition := dynamo.Equal("attemptCount", p.AttemptCount)
	if p.Latest {
		condition = condition.And(dynamo.Equal("latest", true))
	}
	return condition
}

// newestFirst reads a user's profiles, as they are now, so many with a request.
func (s *Service) newestFirst(ctx context.Context, user string, pageSize int) iter.Seq2[profile, error] {
	return func(yield func(profile, error) bool) {
		for p, err := range dynamo.Read[profile](ctx, s.DB, "GetLatestProfile",
			dynamo.Query{Values: []any{user, beforeProfiles}, PageSize: pageSize}) {
			if err == nil {
				err = p.complete()
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// LatestProfile reads a user's latest profile as it is now. It returns [clarity.ErrNoProfile].
func (s *Service) LatestProfile(ctx context.Context, user string) (clarity.Profile, error) {
	for p, err := range s.newestFirst(ctx, user, 1) {
		return p.Profile, err
	}
	return clarity.Profile{}, clarity.ErrNoProfile
}

// Profiles reads up to limit of a user's profiles, newest first, from a token of the list on; "" is the beginning. For
// another list's token it returns a *validate.Error.
func (s *Service) Profiles(ctx context.Context, user string, limit int, nextToken string) (list clarity.ProfileList,
	err error) {
	list.Profiles = []clarity.Profile{}
	page, next, err := dynamo.ReadPage[profile](ctx, s.DB, dynamo.List{
		Pattern: "ListProfiles", Values: []any{user, beforeProfiles}, Parameter: "nextToken", Key: s.CursorKey,
		Scope: []string{user},
	}, nextToken, limit)
	if err != nil {
		return list, err
	}
	for _, p := range page {
		if err := p.complete(); err != nil {
			return list, err
		}
		list.Profiles = append(list.Profiles, p.Profile)
	}
	list.NextToken = next
	return list, nil
}

// AddProfile stores the profile of an attempt, which has passed [clarity.Attempt.CheckEvaluated], at
// its place among the user's, and adds the attempt to the later profiles: attempts may come in any
// order. It reports whether it has done so; there is nothing to do for an attempt that it was called
// with before. Each profile but the latest expires a retention after its attempt was evaluated; zero:
// never.
func (s *Service) AddProfile(ctx context.Context, attempt clarity.Attempt, retention time.Duration) (added bool,
	err error) {
	n, err := s.AddProfiles(ctx, []clarity.Attempt{attempt}, retention)
	return n == 1, err
}

// AddProfiles does what AddProfile does with several attempts of one user, all or none in one transaction, and returns
// how many it has added. It adds none of a user who is being deleted.
func (s *Service) AddProfiles(ctx context.Context, attempts []clarity.Attempt, retention time.Duration) (added int,
	err error) {
	if attempts, err = s.kept(ctx, slices.Clone(attempts)); err != nil {
		return 0, err
	}
	slices.SortFunc(attempts, func(a, b clarity.Attempt) int {
		return strings.Compare(clarity.ProfileKey(a), clarity.ProfileKey(b))
	})
	err = retry.Do(ctx, func() (err error) {
		added, err = s.addProfiles(ctx, attempts, retention)
		return err
	})
	return added, err
}

// link is a profile of the chain that a transaction writes; asRead is what it was, or nil if it is new.
type link struct {
	profile
	asRead *profile
}

func (s *Service) addProfiles(ctx context.Context, attempts []clarity.Attempt, retention time.Duration) (added int,
	err error) {
	var preceding profile
	var later []profile
	for known := true; known; {
		if len(attempts) == 0 {
			return 0, nil
		}
		preceding, later, known, err = s.around(ctx, attempts[0].UserID, clarity.ProfileKey(attempts[0]))
		if err != nil {
			return 0, err
		}
		if known {
			attempts = attempts[1:]
		}
	}
	chain, added, err := chainOf(attempts, preceding, later)
	if err != nil {
		return 0, err
	}
	writes := writesOf(chain, preceding, later, retention)
	if len(writes) > maxLater+1 {
		return 0, fmt.Errorf("adding %d profiles writes %d items, which is more than one transaction changes", added,
			len(writes))
	}
	if err = dynamo.UnlessStale(s.DB.Transact(ctx, "AddProfile", writes...)); err != nil {
		return 0, err
	}
	return added, nil
}

// chainOf returns the later profiles with those of the attempts among them, which are sorted. The first attempt's comes
// first.
func chainOf(attempts []clarity.Attempt, preceding profile, later []profile) (chain []link, added int, err error) {
	for _, p := range later {
		chain = append(chain, link{p, &p})
	}
	for _, attempt := range attempts {
		key := clarity.ProfileKey(attempt)
		at, known := slices.BinarySearchFunc(chain, key, func(l link, key string) int {
			return strings.Compare(l.Key, key)
		})
		if known {
			continue
		}
		before := preceding.Profile
		if at > 0 {
			before = chain[at-1].Profile
		}
		var following []clarity.Profile
		for _, l := range chain[at:] {
			following = append(following, l.Profile)
		}
		made, err := clarity.AddAttempt(attempt, before, following)
		if err != nil {
			return nil, 0, err
		}
		for i := range following {
			chain[at+i].Profile = made[i+1]
		}
		own := profile{Profile: made[0], Key: key, SchemaVersion: clarity.SchemaVersion}
		chain = slices.Insert(chain, at, link{profile: own})
		added++
	}
	return chain, added, nil
}

// writesOf returns the writes that store a chain.
func writesOf(chain []link, preceding profile, later []profile, retention time.Duration) (writes []dynamo.Write) {
	expiry := func(p clarity.Profile) int64 {
		if retention == 0 {
			return 0
		}
		return dynamo.ExpiryAt(time.Time(p.Timestamp).Add(retention))
	}
	user, previous := chain[0].UserID, beforeProfiles
	switch {
	case len(later) > 0:
		previous = later[0].Previous
	case preceding.Key != "":
		previous = preceding.Key
		update := expression.Remove(dynamo.Name("latest"))
		if retention > 0 {
			update = update.Set(dynamo.Name("expiresAt"), expression.Value(expiry(preceding.Profile)))
		}
		writes = append(writes, dynamo.Update("Profiles", []any{user, preceding.Key}, update, preceding.isAsRead()))
	default:
		update := expression.Set(dynamo.Name("schemaVersion"), expression.Value(clarity.SchemaVersion))
		writes = append(writes, dynamo.Update("Profiles", []any{user, beforeProfiles}, update,
			dynamo.Absent("schemaVersion")))
	}
	for i, l := range chain {
		condition := dynamo.Absent("attemptId")
		if l.asRead != nil {
			condition = l.asRead.isAsRead()
		}
		isLatest := i == len(chain)-1
		if !isLatest && (l.asRead == nil || l.Latest) {
			l.ExpiresAt = expiry(l.Profile)
		}
		l.Previous, l.Latest = previous, isLatest
		previous = l.Key
		writes = append(writes, dynamo.Put("Profiles", l.profile, condition))
	}
	return writes
}

// around reads the profiles after a key, oldest first, or, when there are none, the one before it.
// known says that the key's own was added before. It returns [retry.ErrStale] when it sees another
// addition in part.
func (s *Service) around(ctx context.Context, user, key string) (preceding profile, later []profile, known bool,
	err error) {
	// Normally the latest profile precedes, and no second request is needed.
	for p, err := range s.newestFirst(ctx, user, 2) {
		isNext := len(later) == 0 && p.Latest || len(later) > 0 && later[0].Previous == p.Key
		switch {
		case err != nil:
			return preceding, nil, false, err
		case p.Key == key:
			return preceding, nil, true, nil
		case !isNext:
			return preceding, nil, false, retry.ErrStale
		case p.Key < key:
			return p, nil, false, nil
		case len(later) == maxLater:
			return preceding, nil, false, fmt.Errorf(
				"more than %d profiles are later than %s, which is more than one transaction changes", maxLater, key)
		}
		later = slices.Insert(later, 0, p)
		if p.Previous <= key {
			return preceding, later, p.Previous == key, nil
		}
	}
	if len(later) > 0 {
		err = retry.ErrStale
	}
	return preceding, later, false, err
}
