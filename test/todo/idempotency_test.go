package todo

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// isReplay checks that a reply is the answer that another one was, said to be so.
func isReplay(t testing.TB, again, first onesynthtest.Reply) {
	t.Helper()
	if again.Status != first.Status || !bytes.Equal(again.Body, first.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %v, replayed %q; want %v", again, again.Header.Get("Idempotency-Replayed"), first)
	}
	for _, name := range []string{"ETag", "Location", "Content-Type"} {
		if again.Header.Get(name) != first.Header.Get(name) {
			t.Errorf("%s: got %s %q; want %q", again.Request, name, again.Header.Get(name), first.Header.Get(name))
		}
	}
}

// Every repeated mutation has the first answer, to the byte, also after later changes, and its key
// is refused with another request.
func TestRepeats(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newCaller(t, on)
	type request struct {
		method, path string
		body         any
		status       int
	}
	var made task
	requests := []func() request{
		func() request {
			return request{http.MethodPost, "/api/v1/users/me", profile{one.email, "Ann"}, http.StatusCreated}
		},
		func() request {
			return request{http.MethodPut, "/api/v1/users/me", profile{one.email, "Bea"}, http.StatusOK}
		},
		func() request {
			return request{http.MethodPost, "/api/v1/tasks", input{"title": "a"}, http.StatusCreated}
		},
		func() request { return request{http.MethodPut, made.path(), input{"title": "b"}, http.StatusOK} },
		func() request {
			return request{http.MethodPatch, made.path(), input{"status": "completed"}, http.StatusOK}
		},
		func() request {
			return request{http.MethodPatch, made.path(), input{"status": "pending"}, http.StatusBadRequest}
		},
		func() request {
			return request{http.MethodPost, "/api/v1/tasks/bulk", input{"action": "set_status", "status": "completed", "task_ids": []string{made.TaskID}}, http.StatusOK}
		},
		func() request { return request{http.MethodDelete, made.path(), nil, http.StatusNoContent} },
		func() request { return request{http.MethodDelete, made.path(), nil, http.StatusNotFound} },
		func() request {
			return request{http.MethodPost, "/api/v1/tasks/bulk", input{"action": "delete_completed"}, http.StatusOK}
		},
	}
	type answered struct {
		request
		key   string
		reply onesynthtest.Reply
	}
	var before []answered
	for i, next := range requests {
		asked := answered{request: next(), key: onesynthtest.Unique("key")}
		if asked.path == "/api/v1/tasks" {
			// A refused request does not use up the key.
			invalid(t, one.tryWith(t, asked.method, asked.path, withKey(asked.key), input{"title": " "}), "title")
		}
		asked.reply = one.tryWith(t, asked.method, asked.path, withKey(asked.key), asked.body)
		if asked.reply.Status != asked.status {
			t.Fatalf("got %v; want %d", asked.reply, asked.status)
		}
		if i == 2 {
			made = read[task](t, asked.reply, http.StatusCreated)
		}
		before = append(before, asked)
		for _, earlier := range before {
			isReplay(t, one.tryWith(t, earlier.method, earlier.path, withKey(earlier.key), earlier.body), earlier.reply)
		}
	}
	for _, earlier := range before {
		switch earlier.body.(type) {
		case input:
			invalid(t, one.tryWith(t, http.MethodPost, "/api/v1/tasks", withKey(earlier.key), input{"title": "another"}), "Idempotency-Key")
		case profile:
			invalid(t, one.tryWith(t, earlier.method, earlier.path, withKey(earlier.key), profile{one.email, "Another"}), "Idempotency-Key")
		}
	}
	// The key is for one method, path and precondition, too.
	invalid(t, one.tryWith(t, http.MethodPut, made.path(), withKey(before[4].key), input{"title": "b"}), "Idempotency-Key")
	invalid(t, one.tryWith(t, http.MethodPost, "/api/v1/tasks", withKey(before[0].key), input{"title": "b"}), "Idempotency-Key")
	with := ifMatch(1)
	with.Set("Idempotency-Key", before[3].key)
	invalid(t, one.tryWith(t, http.MethodPut, made.path(), with, input{"title": "b"}), "Idempotency-Key")

	// The key is the user's own.
	other := newUser(t, on)
	created := other.tryWith(t, http.MethodPost, "/api/v1/tasks", withKey(before[2].key), input{"title": "a"})
	if got := read[task](t, created, http.StatusCreated); got.TaskID == made.TaskID || created.Header.Get("Idempotency-Replayed") != "" {
		t.Errorf("got %v for another user's key; want another task", created)
	}

	// The deletion's answer outlives all other items of the user.
	key := withKey(onesynthtest.Unique("key"))
	deleted := other.tryWith(t, http.MethodDelete, "/api/v1/users/me", key, nil)
	read[struct{}](t, deleted, http.StatusNoContent)
	isReplay(t, other.tryWith(t, http.MethodDelete, "/api/v1/users/me", key, nil), deleted)
}

// Of several changes of the same version, one succeeds.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	one.Retry = onesynthtest.Busy
	made := one.create(t, input{"title": "0"})
	const rounds, rivals = 4, 8
	for round := range rounds {
		version := round + 1
		replies := make([]onesynthtest.Reply, rivals)
		if err := onesynthtest.Together(rivals, func(i int) (err error) {
			method := []string{http.MethodPatch, http.MethodPut}[i%2]
			replies[i], err = one.send(t.Context(), method, made.path(), ifMatch(version), input{"title": fmt.Sprint(round, " ", i)})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var winner task
		won := 0
		for _, r := range replies {
			switch r.Status {
			case http.StatusOK:
				won++
				winner = read[task](t, r, http.StatusOK)
				if r.Header.Get("ETag") != fmt.Sprintf(`"%d"`, version+1) {
					t.Errorf("got %v with ETag %s", r, r.Header.Get("ETag"))
				}
			case http.StatusPreconditionFailed:
				refused(t, r, http.StatusPreconditionFailed)
			default:
				t.Errorf("got %v; want 200 or 412", r)
			}
		}
		if got := one.task(t, made.TaskID); won != 1 || !same(got, winner) || got.Version != version+1 {
			t.Errorf("got %+v with %d winners; want one, and %+v", got, won, winner)
		}
	}
	refused(t, one.tryWith(t, http.MethodDelete, made.path(), ifMatch(1), nil), http.StatusPreconditionFailed)
	refused(t, one.tryWith(t, http.MethodPatch, made.path(), http.Header{"If-Match": {"5"}}, input{"title": "x"}), http.StatusBadRequest)
	// Without a precondition all changes are made, each on the one before.
	if err := onesynthtest.Together(rivals, func(i int) error {
		r, err := one.send(t.Context(), http.MethodPatch, made.path(), nil, []input{{"description": "d"}, {"category": "c"}, {"priority": "low"}, {"due_date": "2026-02-14"}}[i%4])
		if err == nil && r.Status != http.StatusOK {
			err = fmt.Errorf("got %v; want 200", r)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got := one.task(t, made.TaskID)
	if text(got.Description) != "d" || text(got.Category) != "c" || text(got.Priority) != "low" || text(got.DueDate) != "2026-02-14" {
		t.Errorf("got %+v; want all changes", got)
	}
	read[struct{}](t, one.tryWith(t, http.MethodDelete, made.path(), ifMatch(got.Version), nil), http.StatusNoContent)
}
