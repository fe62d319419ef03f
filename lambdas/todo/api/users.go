package api

import (
	"context"
	"net/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

type userInput = httpapi.Input[todo.UserBody]

func (s *server) registerUsers() {
	httpapi.Mutate(s.Server, httpapi.Operation{ID: "createUser", Status: http.StatusCreated,
		Location:    "/api/v1/users/me",
		Headers:     map[string]string{"Location": created},
		Description: "Makes the caller a user. Only users can have tasks.",
		Stricter:    httpapi.Forms{"body.name": httpapi.NotBlank},
		Errors:      []error{todo.ErrUserExists, todo.ErrEmailTaken, todo.ErrUserBeingDeleted},
	}, func(ctx context.Context, input *userInput) (todo.User, error) {
		return s.service.CreateUser(ctx, httpapi.CallerFrom(ctx).ID, input.Body)
	}, nil)

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readUser",
		Description: "Returns the caller's user.",
		Errors:      []error{todo.ErrUserNotFound},
	}, func(ctx context.Context, _ *struct{}) (todo.User, error) {
		return s.service.GetUser(ctx, httpapi.CallerFrom(ctx).ID)
	})

	httpapi.Mutate(s.Server, httpapi.Operation{ID: "replaceUser",
		Description: "Replaces name and email address.",
		Errors:      []error{todo.ErrUserNotFound, todo.ErrEmailTaken},
	}, func(ctx context.Context, input *userInput) (todo.User, error) {
		return s.service.UpdateUser(ctx, httpapi.CallerFrom(ctx).ID, input.Body)
	}, nil)

	httpapi.Mutate(s.Server, httpapi.Operation{ID: "deleteUser", Status: http.StatusNoContent,
		Description: "Deletes the caller's user and everything of it: tasks, counts and idempotency keys. When there " +
			"is more of it than one transaction deletes, the answer is 202: the user is gone, and the rest follows " +
			"without another request.",
		OtherAnswers: map[int]any{http.StatusAccepted: ErrorResponse{stillErasing}},
		Errors:       []error{todo.ErrUserNotFound},
	}, func(ctx context.Context, _ *struct{}) (todo.Erased, error) {
		complete, err := s.service.DeleteUser(ctx, httpapi.CallerFrom(ctx).ID)
		return todo.Erased{Complete: complete}, err
	}, func(_ context.Context, _ *struct{}, erased todo.Erased) (int, any) {
		if !erased.Complete {
			return http.StatusAccepted, ErrorResponse{stillErasing}
		}
		return http.StatusNoContent, nil
	})
}

// stillErasing is the detail of 202.
const stillErasing = "the user is deleted; what is left of its tasks is being deleted in the background, until when " +
	"a new user cannot be created"
