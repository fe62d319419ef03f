package todo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// isReplay checks that a reply is the answer that another one was, said to be so.
func isReplay(t testing.TB, again, first onesynthtest.Reply) {
	t.Helper()
	if again.Status != first.Status || !bytes.Equal(again.Body, first.Body) ||
		again.Header.Get("Idempotency-Replayed") != "true" {
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
			return request{http.MethodPost, "/api/v1/users/me", profile{one.Email, "Ann"}, http.StatusCreated}
		},
		func() request {
			return request{http.MethodPut, "/api/v1/users/me", profile{one.Email, "Bea"}, http.StatusOK}
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
			return request{http.MethodPost, "/api/v1/tasks/bulk",
				input{"action": "set_status", "status": "completed", "task_ids": []string{made.TaskID}}, http.StatusOK}
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
			invalid(t, one.MustSend(t, asked.method, asked.path, onesynthtest.Key(asked.key), input{"title": " "}),
				"title")
		}
		asked.reply = one.MustSend(t, asked.method, asked.path, onesynthtest.Key(asked.key), asked.body)
		if asked.reply.Status != asked.status {
			t.Fatalf("got %v; want %d", asked.reply, asked.status)
		}
		if i == 2 {
			made = read[task](t, asked.reply, http.StatusCreated)
		}
		before = append(before, asked)
		for _, earlier := range before {
			isReplay(t, one.MustSend(t, earlier.method, earlier.path, onesynthtest.Key(earlier.key), earlier.body),
				earlier.reply)
		}
	}
	for _, earlier := range before {
		switch earlier.body.(type) {
		case input:
			invalid(t, one.MustSend(t, http.MethodPost, "/api/v1/tasks", onesynthtest.Key(earlier.key),
				input{"title": "another"}), "Idempotency-Key")
		case profile:
			invalid(t, one.MustSend(t, earlier.method, earlier.path, onesynthtest.Key(earlier.key),
				profile{one.Email, "Another"}), "Idempotency-Key")
		}
	}
	// The key is for one method, path and precondition, too.
	invalid(t, one.MustSend(t, http.MethodPut, made.path(), onesynthtest.Key(before[4].key), input{"title": "b"}),
		"Idempotency-Key")
	invalid(t, one.MustSend(t, http.MethodPost, "/api/v1/tasks", onesynthtest.Key(before[0].key), input{"title": "b"}),
		"Idempotency-Key")
	with := ifMatch(1)
	with.Set("Idempotency-Key", before[3].key)
	invalid(t, one.MustSend(t, http.MethodPut, made.path(), with, input{"title": "b"}), "Idempotency-Key")

	// The key is the user's own.
	other := newUser(t, on)
	created := other.MustSend(t, http.MethodPost, "/api/v1/tasks", onesynthtest.Key(before[2].key), input{"title": "a"})
	if got := read[task](t, created, http.StatusCreated); got.TaskID == made.TaskID ||
		created.Header.Get("Idempotency-Replayed") != "" {
		t.Errorf("got %v for another user's key; want another task", created)
	}

	// While the first attempt is running, each repeat is refused.
	for _, earlier := range before {
		on.reopen(t, one.ID, earlier.key)
		again := one.MustSend(t, earlier.method, earlier.path, onesynthtest.Key(earlier.key), earlier.body)
		refused(t, again, http.StatusConflict)
		if _, told := again.RetryAfter(); !told {
			t.Errorf("got %v; want the time of the next attempt", again)
		}
	}

	// The deletion's answer outlives all other items of the user.
	key := onesynthtest.Key(onesynthtest.Unique("key"))
	deleted := other.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil)
	read[struct{}](t, deleted, http.StatusNoContent)
	isReplay(t, other.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil), deleted)
}

// reopen makes a key one whose first attempt is running, for another minute.
func (p *target) reopen(t testing.TB, user, key string) {
	t.Helper()
	sum := sha256.Sum256([]byte(key))
	if _, err := p.Database.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(p.Tables["AppData"]),
		Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "IDEMPOTENCY#" + user},
			"SK": &types.AttributeValueMemberS{Value: "KEY#" + hex.EncodeToString(sum[:])},
		},
		ConditionExpression: aws.String("attribute_exists(request_digest)"),
		UpdateExpression: aws.String("SET claim = :claim, claimed_until = :until REMOVE http_status_code, " +
			"response_data"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":claim": &types.AttributeValueMemberS{Value: "another"},
			":until": &types.AttributeValueMemberN{
				Value: strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10)},
		},
	}); err != nil {
		t.Fatal(err)
	}
}
