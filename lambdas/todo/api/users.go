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
func (i *userInput) Resolve(huma.Context) []error { return httpapi.Broken(i.domain().Validate()) }

func (i *userInput) domain() todo.UserInput {
	return todo.UserInput{Email: i.Body.Email, Name: i.Body.Name}
}

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
	httpapi.Mutate(s.Server, httpapi.Operation{
		Method: http.MethodPost, Path: "/api/v1/users/me", ID: "createUser", Status: http.StatusCreated, Form: User{}, Headers: location(),
		Description: "Makes the caller a user. Only users can have tasks.",
		Precisely:   httpapi.Forms{"body.name": httpapi.NotBlank},
		Errors:      []error{todo.ErrUserExists, todo.ErrEmailTaken, todo.ErrUserBeingDeleted},
	}, func(ctx context.Context, input *userInput) (todo.User, error) {
		return s.service.CreateUser(ctx, httpapi.CallerFrom(ctx).ID, input.domain())
	}, func(_ context.Context, _ *userInput, u todo.User) (int, any) { return http.StatusCreated, user(u) })

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodGet, Path: "/api/v1/users/me", ID: "readUser", Status: http.StatusOK,
		Description: "Returns the caller's user.",
		Errors:      []error{todo.ErrUserNotFound},
	}, func(ctx context.Context, _ *struct{}) (User, error) {
		u, err := s.service.GetUser(ctx, httpapi.CallerFrom(ctx).ID)
		return user(u), err
	})

	httpapi.Mutate(s.Server, httpapi.Operation{
		Method: http.MethodPut, Path: "/api/v1/users/me", ID: "replaceUser", Status: http.StatusOK, Form: User{},
		Description: "Replaces name and email address.",
		Errors:      []error{todo.ErrUserNotFound, todo.ErrEmailTaken},
	}, func(ctx context.Context, input *userInput) (todo.User, error) {
		return s.service.UpdateUser(ctx, httpapi.CallerFrom(ctx).ID, input.domain())
	}, func(_ context.Context, _ *userInput, u todo.User) (int, any) { return http.StatusOK, user(u) })

	httpapi.Mutate(s.Server, httpapi.Operation{
		Method: http.MethodDelete, Path: "/api/v1/users/me", ID: "deleteUser", Status: http.StatusNoContent,
		Description: "Deletes the caller's user and everything of it: tasks, counts and idempotency keys. When there is so much of it that it takes longer than a request may, the answer is 202, the user is gone, and the rest follows without another request.",
		Also:        map[int]any{http.StatusAccepted: ErrorResponse{stillErasing}},
		Errors:      []error{todo.ErrUserNotFound},
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
const stillErasing = "the user is deleted; what is left of its tasks is being deleted in the background, until when a new user cannot be created"
