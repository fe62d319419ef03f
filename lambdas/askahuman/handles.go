package askahuman

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

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
// within a minute. It returns an [*validate.Error], [askahuman.ErrNeverAnswered] or [askahuman.ErrHandleReset].
func (s *Service) ChooseHandle(ctx context.Context, personHash string, chosen askahuman.Handle) (askahuman.Handle,
	error) {
	chosen = chosen.Normalised()
	if err := validate.Form(chosen); err != nil {
		return askahuman.Handle{}, err
	}
	return chosen, s.keepHandle(ctx, personHash, expression.Set(dynamo.Name("handle"), expression.Value(chosen.Handle)))
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

// OperatorEntry is one person on a leaderboard, as operators see them.
type OperatorEntry struct {
	Person string `json:"person" doc:"A keyed hash, to block the person or to reset the name by."`
	Handle string `json:"handle" doc:"The person's name." example:"Quiet Otter 482"`
	Points int    `json:"points" example:"990"`
}

// Board reads the highest points of a period with the people, as many as a leaderboard shows.
func (s *Service) Board(ctx context.Context, period askahuman.Period) ([]OperatorEntry, error) {
	now := s.Clock.Now()
	top, _, err := s.standings(ctx, "", period, now)
	if err != nil {
		return nil, err
	}
	chosen, err := s.handles(ctx, period, now, top)
	top = top[:min(askahuman.MaxBoardLimit, len(top))]
	entries := make([]OperatorEntry, len(top))
	for i, entry := range top {
		entries[i] = OperatorEntry{Person: entry.PersonHash, Points: entry.Points,
			Handle: askahuman.HandleOf(entry.PersonHash, chosen[entry.PersonHash])}
	}
	return entries, err
}

// ResetHandle takes the name that a person chose, who cannot choose another then, or lets them choose again. It returns
// [askahuman.ErrPersonNotFound].
func (s *Service) ResetHandle(ctx context.Context, personHash string, reset bool) error {
	update := since(expression.UpdateBuilder{}, "handle_reset_at", reset, s.Clock.Now())
	if reset {
		update = update.Remove(dynamo.Name("handle"))
	}
	return wrap(s.changePerson(ctx, "ResetHandle", personHash, update), "reset the name of a person")
}
