package todo

import (
	"context"
	"errors"
	"fmt"
)

// Deletion is a deletion of a user in progress.
type Deletion struct {
	// User is the user's id.
	User string
	// ID distinguishes the deletions of a user who came back, and says when each began: a UUID
	// (version 7). Empty: the deletion is complete.
	ID string
}

// ErrDeletionOver says that the deletion has been completed meanwhile. The user's present items are
// new, and stay.
var ErrDeletionOver = errors.New("the deletion is complete already")

// EraserStore is the storage that [Eraser] needs.
type EraserStore interface {
	// EraseItems deletes what is the user's, if the deletion is still going on; otherwise it
	// returns [ErrDeletionOver]. It ends before the context does, and reports whether it has
	// deleted everything.
	EraseItems(ctx context.Context, deletion Deletion) (complete bool, err error)
	// FinishDeletion ends the deletion, if it is still going on.
	FinishDeletion(ctx context.Context, deletion Deletion) error
}

// Eraser completes deletions of users. Several may work on the same deletion. If one
// dies at any point, another can continue.
type Eraser struct {
	// Store keeps everything.
	Store EraserStore
}

// Erase deletes the user's remaining items. It reports whether that is complete;
// otherwise the context's deadline is near: call it again.
func (e *Eraser) Erase(ctx context.Context, deletion Deletion) (complete bool, err error) {
	if deletion.ID == "" {
		return true, nil
	}
	switch complete, err = e.Store.EraseItems(ctx, deletion); {
	case errors.Is(err, ErrDeletionOver):
	case err != nil:
		return false, fmt.Errorf("erase what is the user's: %w", err)
	case !complete:
		return false, nil
	}
	if err := e.Store.FinishDeletion(ctx, deletion); err != nil {
		return false, fmt.Errorf("finish the deletion of the user: %w", err)
	}
	return true, nil
}
