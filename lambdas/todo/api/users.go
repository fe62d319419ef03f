package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

type userInput struct{ Body UserBody }

// UserBody is what users say about themselves.
type UserBody struct {
	Email string `json:"email" format:"email" maxLength:"254" doc:"Email address, kept as written. No two users have one that differs in case alone." example:"ann@example.com"`
	Name  string `json:"name" minLength:"1" maxLength:"100" doc:"Name to be shown: more than white space. It is kept as written, and white space around it counts." example:"Ann"`
}

// Resolve holds the input to the rules.
func (i *userInput) Resolve(huma.Context) []error { return broken(i.domain().Validate()) }

func (i *userInput) domain() todo.UserInput {
	return todo.UserInput{Email: i.Body.Email, Name: i.Body.Name}
}

type userOutput struct{ Body User }

// User is a user.
type User struct {
	UserID    string `json:"user_id" doc:"The subject of the user's token."`
	Email     string `json:"email" format:"email" example:"ann@example.com"`
	Name      string `json:"name" example:"Ann"`
	CreatedAt string `json:"created_at" format:"date-time" example:"2026-02-02T09:30:00Z"`
	UpdatedAt string `json:"updated_at" format:"date-time" example:"2026-02-02T09:30:00Z"`
}

func user(u todo.User) User {
	return User{UserID: u.ID, Email: u.Email, Name: u.Name, CreatedAt: timestamp(u.CreatedAt), UpdatedAt: timestamp(u.UpdatedAt)}
}

func (s *server) registerUsers() {
	mutate(s, operation{
		method: http.MethodPost, path: "/api/v1/users/me", id: "createUser", status: http.StatusCreated, form: User{},
		description: "Makes the caller a user. Only users can have tasks.",
		errors:      []error{todo.ErrUserExists, todo.ErrEmailTaken, todo.ErrUserBeingDeleted},
	}, func(ctx context.Context, r request, input *userInput) (todo.User, error) {
		return s.service.CreateUser(ctx, r.user, input.domain())
	}, func(_ *userInput, u todo.User) (int, any) { return http.StatusCreated, user(u) })

	httpapi.Register(s.Server, s.describe(operation{
		method: http.MethodGet, path: "/api/v1/users/me", id: "readUser", status: http.StatusOK,
		description: "Returns the caller's user.",
		errors:      []error{todo.ErrUserNotFound},
	}), func(ctx context.Context, _ *struct{}) (*userOutput, error) {
		u, err := s.service.GetUser(ctx, requestFrom(ctx).user)
		if err != nil {
			return nil, err
		}
		return &userOutput{user(u)}, nil
	})

	mutate(s, operation{
		method: http.MethodPut, path: "/api/v1/users/me", id: "replaceUser", status: http.StatusOK, form: User{},
		description: "Replaces name and email address.",
		errors:      []error{todo.ErrUserNotFound, todo.ErrEmailTaken},
	}, func(ctx context.Context, r request, input *userInput) (todo.User, error) {
		return s.service.UpdateUser(ctx, r.user, input.domain())
	}, func(_ *userInput, u todo.User) (int, any) { return http.StatusOK, user(u) })

	mutate(s, operation{
		method: http.MethodDelete, path: "/api/v1/users/me", id: "deleteUser", status: http.StatusNoContent,
		description: "Deletes the caller's user and everything of it: tasks, counts and idempotency keys. When there is so much of it that it takes longer than a request may, the answer is 202, the user is gone, and the rest follows without another request.",
		also:        map[int]string{http.StatusAccepted: stillErasing},
		errors:      []error{todo.ErrUserNotFound},
	}, func(ctx context.Context, r request, _ *struct{}) (todo.Erased, error) {
		complete, err := s.service.DeleteUser(ctx, r.user)
		return todo.Erased{Complete: complete}, err
	}, func(_ *struct{}, erased todo.Erased) (int, any) {
		if !erased.Complete {
			return http.StatusAccepted, ErrorResponse{stillErasing}
		}
		return http.StatusNoContent, nil
	})
}

// stillErasing is the detail of 202.
const stillErasing = "the user is deleted; what is left of its tasks is being deleted in the background, until when a new user cannot be created"
