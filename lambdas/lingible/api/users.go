package api

import (
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// AccountDeletion confirms the deletion of an account.
type AccountDeletion struct {
	Confirmation string `json:"confirmation" enum:"DELETE"`
}

// AccountStatus says what becomes of an account.
type AccountStatus struct {
	Status lingible.UserStatus `json:"status" enum:"deleting"`
}

// deleteUser is the operation that callers have also when their account is deleted, and its answer was lost.
const deleteUser = "deleteUser"

func (s *server) registerUsers() {
	httpapi.Serve(s.Server, httpapi.Operation{ID: "readUser",
		Description: "Returns the caller's profile.",
	}, func(ctx context.Context, _ *struct{}) (lingible.User, error) {
		return s.api.Service.Profile(ctx, callerFrom(ctx))
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readUsage",
		Description: "Returns what the caller's tier allows, and what is left of it.",
	}, func(ctx context.Context, _ *struct{}) (lingible.Balance, error) {
		return s.api.Service.Balance(ctx, callerFrom(ctx))
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "upgradeUser",
		Description: "Makes the caller a premium user. What is used today stays used. A premium user stays one.",
	}, func(ctx context.Context, _ *struct{}) (lingible.User, error) {
		return s.api.Service.Upgrade(ctx, callerFrom(ctx))
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: deleteUser, Status: http.StatusAccepted,
		Description: "Deletes the caller's account. From then on it can do nothing, and everything of it is removed " +
			"within minutes, in the background: translations, submissions, votes, quizzes and the profile. Approved " +
			"terms stay in the lexicon, which names no user. A repeat has the same answer.",
	}, func(ctx context.Context, _ *httpapi.Input[AccountDeletion]) (AccountStatus, error) {
		return AccountStatus{lingible.Deleting}, s.api.Service.DeleteAccount(ctx, callerFrom(ctx))
	})
}

// userKeys are the idempotency keys of users alone: nothing is written for a caller whose account is
// deleted. The account cleaner begins when the requests that were admitted before have ended.
type userKeys struct{ idempotency.Claims }

// Begin implements [idempotency.Claims].
func (k userKeys) Begin(ctx context.Context, user, key string, request []byte, lease time.Duration) (*idempotency.Claim,
	*idempotency.Response, error) {
	if err := callerFrom(ctx).Admitted(ctx); err != nil {
		return nil, nil, err
	}
	return k.Claims.Begin(ctx, user, key, request, lease)
}
