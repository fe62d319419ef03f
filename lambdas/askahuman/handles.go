package askahuman

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// handles returns the names that the people of a board chose, up to boardAge old: of all whom any request shows, so
// that one read serves each limit.
func (s *Service) handles(ctx context.Context, period askahuman.Period, now time.Time,
	board []askahuman.BoardEntry) (map[string]string, error) {
	if len(board) == 0 {
		return nil, nil
	}
	chosen, err := s.boards.handles.Get(ctx, string(period)+period.Day(now),
		func(ctx context.Context) (map[string]string, error) {
			var keys [][]any
			for _, entry := range board[:min(askahuman.MaxBoardLimit, len(board))] {
				keys = append(keys, []any{entry.PersonHash})
			}
			chosen := map[string]string{}
			people, err := dynamo.ReadBatch[askahuman.Stats](ctx, s.DB, "GetHandles", keys...)
			for _, person := range people {
				if person != nil && person.Handle != "" {
					chosen[person.PersonHash] = person.Handle
				}
			}
			return chosen, err
		})
	return chosen, wrap(err, "read the names of the leaderboard")
}

// ChooseHandle gives a person the name on leaderboards that they chose, and returns it as it is kept. Others see it
// within a minute. It returns an [*validate.Error], an error of [askahuman.Handle.Allow], [askahuman.ErrHandleTaken],
// [askahuman.ErrNeverAnswered] or [askahuman.ErrHandleReset].
func (s *Service) ChooseHandle(ctx context.Context, personHash string, chosen askahuman.Handle) (askahuman.Handle,
	error) {
	chosen = chosen.Normalised()
	if err := validate.Check(chosen); err != nil {
		return askahuman.Handle{}, err
	}
	if err := chosen.Allow(); err != nil {
		return askahuman.Handle{}, err
	}
	if err := s.isFree(ctx, personHash, chosen); err != nil {
		return askahuman.Handle{}, err
	}
	return chosen, s.keepHandle(ctx, personHash, expression.Set(dynamo.Name("handle"), expression.Value(chosen.Handle)))
}

// onBoards calls found with each person on a leaderboard, as it is shown, and their name, until it returns an error.
// Calls may be at the same time.
func (s *Service) onBoards(ctx context.Context, now time.Time, found func(personHash, name string) error) error {
	group, reading := errgroup.WithContext(ctx)
	for _, period := range []askahuman.Period{askahuman.PeriodDaily, askahuman.PeriodWeekly,
		askahuman.PeriodAllTime} {
		group.Go(func() error {
			top, _, err := s.standings(reading, "", period, now)
			if err != nil {
				return err
			}
			names, err := s.handles(reading, period, now, top)
			if err != nil {
				return err
			}
			for _, entry := range top[:min(askahuman.MaxBoardLimit, len(top))] {
				if err := found(entry.PersonHash, askahuman.HandleOf(entry.PersonHash,
					names[entry.PersonHash])); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return wrap(group.Wait(), "read the names on the leaderboards")
}

// isFree returns [askahuman.ErrHandleTaken] if someone else on a leaderboard has a name that people could take for the
// chosen one.
func (s *Service) isFree(ctx context.Context, personHash string, chosen askahuman.Handle) error {
	return s.onBoards(ctx, s.Clock.Now(), func(other, name string) error {
		if other != personHash && chosen.Resembles(askahuman.Handle{Handle: name}) {
			return askahuman.ErrHandleTaken
		}
		return nil
	})
}

// named returns the person who has a name on a leaderboard. If several have it, it is the first of those by their hash.
// It returns [askahuman.ErrHandleNotFound].
func (s *Service) named(ctx context.Context, handle string, now time.Time) (personHash string, err error) {
	var mu sync.Mutex
	err = s.onBoards(ctx, now, func(person, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if name == handle && (personHash == "" || person < personHash) {
			personHash = person
		}
		return nil
	})
	if err == nil && personHash == "" {
		err = askahuman.ErrHandleNotFound
	}
	return personHash, err
}

// DropHandle gives a person the name back that is made for them, and returns it. It returns
// [askahuman.ErrNeverAnswered] or [askahuman.ErrHandleReset].
func (s *Service) DropHandle(ctx context.Context, personHash string) (askahuman.Handle, error) {
	err := s.keepHandle(ctx, personHash, expression.Remove(dynamo.Name("handle")))
	return askahuman.Handle{Handle: askahuman.HandleOf(personHash, "")}, err
}

func (s *Service) keepHandle(ctx context.Context, personHash string, update expression.UpdateBuilder) error {
	kept, err := dynamo.Satisfied(s.DB.Update(ctx, "ChooseHandle", []any{personHash},
		update.Add(dynamo.Name("version"), expression.Value(1)),
		expression.AttributeExists(dynamo.Name("fingerprint_hash")).And(dynamo.Absent("handle_reset_at")), nil))
	if err != nil || kept {
		return wrap(err, "keep the person's name")
	}
	stats, err := s.stats(ctx, personHash)
	switch {
	case err != nil:
		return wrap(err, "read the person's stats")
	case stats.Version == 0:
		return askahuman.ErrNeverAnswered
	}
	return askahuman.ErrHandleReset
}

// Board reads the highest points of a period with the people, as many as a leaderboard shows, and what operators
// decided about them until now.
func (s *Service) Board(ctx context.Context, period askahuman.Period) ([]askahuman.OperatorEntry, error) {
	now := s.Clock.Now()
	top, _, err := s.standings(ctx, "", period, now)
	if err != nil {
		return nil, err
	}
	top = top[:min(askahuman.MaxBoardLimit, len(top))]
	keys := make([][]any, len(top))
	for i, entry := range top {
		keys[i] = []any{entry.PersonHash}
	}
	people, err := dynamo.ReadBatch[askahuman.Stats](ctx, s.DB, "GetPeople", keys...)
	if err != nil {
		return nil, wrap(err, "read the people of the leaderboard")
	}
	entries := make([]askahuman.OperatorEntry, len(top))
	for i, entry := range top {
		entries[i] = askahuman.OperatorEntry{Person: entry.PersonHash, Points: entry.Points,
			Handle: askahuman.HandleOf(entry.PersonHash, "")}
		if p := people[i]; p != nil {
			entries[i].Handle = askahuman.HandleOf(entry.PersonHash, p.Handle)
			entries[i].Reset, entries[i].Blocked = !p.HandleResetAt.IsZero(), !p.BlockedAt.IsZero()
			entries[i].Version = p.LastDecision.Version
		}
	}
	return entries, nil
}

// ResetHandle takes the name that a person chose, who cannot choose another then, or lets them choose again. It returns
// [askahuman.ErrPersonNotFound] or a [askahuman.DecidedError].
func (s *Service) ResetHandle(ctx context.Context, by askahuman.Decision, personHash string, reset bool) error {
	by.At = s.Clock.Now()
	update, what := since(expression.UpdateBuilder{}, "handle_reset_at", reset, by.At), askahuman.DecidedFree
	if reset {
		update, what = update.Remove(dynamo.Name("handle")), askahuman.DecidedReset
	}
	return wrap(s.changePerson(ctx, "ResetHandle", personHash, update, what, by), "reset the name of a person")
}
