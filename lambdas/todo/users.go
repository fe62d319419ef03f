package todo

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"golang.org/x/sync/errgroup"
)

// CreateUser stores a user under the id, which is the subject of the user's token.
// It returns [ErrUserExists], [ErrUserBeingDeleted] or [ErrEmailTaken].
func (s *Service) CreateUser(ctx context.Context, id string, in UserInput) (User, error) {
	now := s.now()
	user := User{ID: id, Email: in.Email, Name: in.Name, CreatedAt: now, UpdatedAt: now}
	if err := s.Store.CreateUser(ctx, user); err != nil {
		return User{}, err
	}
	return user, nil
}

// GetUser reads a user. It returns [ErrUserNotFound].
func (s *Service) GetUser(ctx context.Context, id string) (User, error) {
	return s.Store.User(ctx, id)
}

// UpdateUser changes a user's name and email address. A user who has them already stays unchanged.
// It returns [ErrUserNotFound] or [ErrEmailTaken].
func (s *Service) UpdateUser(ctx context.Context, id string, in UserInput) (User, error) {
	var user User
	err := retry.Do(ctx, func() error {
		read, err := s.Store.User(ctx, id)
		if err != nil {
			return err
		}
		user = read
		user.Email, user.Name = in.Email, in.Name
		if user == read {
			return nil
		}
		user.UpdatedAt = later(s.now(), read.UpdatedAt)
		return s.Store.ReplaceUser(ctx, read, user)
	})
	if err != nil {
		return User{}, err
	}
	return user, nil
}

// DeleteUser deletes a user and all their items, in one write if they fit into it, or in a few that other requests have
// met. Otherwise one write ends the user, and the background ([Eraser]) deletes the items: then complete is false, as
// for a repeat of the request meanwhile.
//
// It returns [ErrUserNotFound], or [ErrUserBeingDeleted] when another request began the deletion less than 15 minutes
// ago. It carries out an older one, which the background has given up.
func (s *Service) DeleteUser(ctx context.Context, id string) (complete bool, err error) {
	var deletion Deletion
	going := false
	err = retry.Do(ctx, func() error {
		var read User
		var deleted, many bool
		var err error
		if outOfTime(ctx) {
			many = true
			read, err = s.Store.User(ctx, id)
		} else {
			read, deleted, many, err = s.Store.DeleteUser(ctx, id)
		}
		if errors.Is(err, ErrUserNotFound) {
			deletion, going, err = s.resumeDeletion(ctx, id)
			return err
		}
		if err != nil || deleted {
			return err
		}
		begun := Deletion{User: id}
		if begun.ID, err = newID(s.moment()); err != nil {
			return err
		}
		if err := s.Store.BeginDeletion(ctx, read, begun); err != nil {
			return err
		}
		deletion, going = begun, many
		return nil
	})
	if err != nil || going {
		return false, err
	}
	eraser := Eraser{Store: s.Store}
	return eraser.Erase(ctx, deletion)
}

// withUser does read, which reads tasks of a user, and reports whether there is such a
// user. A store may still have tasks of a user who is being deleted: drop what was read
// if there is none. The user is read at the same time, so that no caller waits for it.
func (s *Service) withUser(ctx context.Context, user string, read func() error) (exists bool, err error) {
	var group errgroup.Group
	group.Go(func() error {
		_, err := s.Store.User(ctx, user)
		return err
	})
	readErr := read()
	if err := group.Wait(); errors.Is(err, ErrUserNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, readErr
}

// abandonedAfter is the age from which on no request carries out a deletion any more: no invocation
// of a Lambda function is longer.
const abandonedAfter = 15 * time.Minute

// resumeDeletion finds the deletion of a user who is deleted already. It leaves it to the eraser, until the deletion is
// abandoned: then going is false, and the request has to carry it out. Otherwise it would never be finished, and the
// user could not come back.
func (s *Service) resumeDeletion(ctx context.Context, user string) (deletion Deletion, going bool, err error) {
	deletion, own, err := s.Store.ResumeDeletion(ctx, user)
	if err != nil {
		return Deletion{}, false, err
	}
	id, err := uuid.Parse(deletion.ID)
	going = err == nil && s.moment().Sub(time.Unix(id.Time().UnixTime())) < abandonedAfter
	if going && !own {
		return Deletion{}, false, ErrUserBeingDeleted
	}
	return deletion, going, nil
}
