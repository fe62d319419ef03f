package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// served returns a bucket of a server that speaks S3. refuse answers in its stead
// when it returns true.
func served(t *testing.T, refuse func(http.ResponseWriter, *http.Request) bool) *Bucket {
	t.Helper()
	backend := s3mem.New()
	must.OK(t, backend.CreateBucket("lake"))
	handler := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse != nil && refuse(w, r) {
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return New(aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: &server.URL, Retryer: kit.Retryer,
	}, "lake", "application/json")
}

func list(t *testing.T, b *Bucket, prefix string) []Object {
	t.Helper()
	var all []Object
	for o, err := range b.List(t.Context(), prefix) {
		must.OK(t, err)
		all = append(all, o)
	}
	return all
}

func TestBucket(t *testing.T) {
	t.Parallel()
	b := served(t, nil)
	const key = "events/entity=task/event_date=2026-11-20/1.parquet"
	content := make([]byte, 100_000)
	_, _ = rand.Read(content)
	for _, body := range [][]byte{[]byte("before"), content} {
		must.OK(t, b.Put(t.Context(), key, bytes.NewReader(body)))
	}
	for _, part := range [][2]int64{{0, 100_000}, {0, 1}, {99_992, 8}, {5000, 0}} {
		got, err := b.Get(t.Context(), key, part[0], part[1])
		if err != nil || !bytes.Equal(got, content[part[0]:part[0]+part[1]]) {
			t.Errorf("%d bytes from %d: got %d bytes, %v", part[1], part[0], len(got), err)
		}
	}
	if got, found, err := b.Read(t.Context(), key); err != nil || !found || !bytes.Equal(got, content) {
		t.Errorf("the whole: got %d bytes, %v, %v", len(got), found, err)
	}
	if _, found, err := b.Read(t.Context(), "other"); found || err != nil {
		t.Errorf("the whole of an object that is not there: %v, %v", found, err)
	}
	if _, err := b.Get(t.Context(), key, 99_999, 2); err == nil {
		t.Error("reading beyond the end is no error")
	}
	if got := list(t, b, "events/entity=task/"); len(got) != 1 || got[0] != (Object{Key: key, Size: 100_000}) {
		t.Errorf("listed %v", got)
	}
	if got := list(t, b, "events/entity=user/"); len(got) != 0 {
		t.Errorf("listed %v", got)
	}
	for range 2 {
		must.OK(t, b.Delete(t.Context(), key))
	}
	if _, err := b.Get(t.Context(), key, 0, 1); !errors.Is(err, ErrNoObject) {
		t.Errorf("an object that is not there: %v", err)
	}
}

// A listing has all pages.
func TestListPages(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	b := served(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			requests.Add(1)
		}
		return false
	})
	const n = 1100
	for i := range n {
		must.OK(t, b.Put(t.Context(), fmt.Sprintf("events/%04d", i), strings.NewReader("x")))
	}
	got := list(t, b, "events/")
	for i, o := range got {
		if o.Key != fmt.Sprintf("events/%04d", i) {
			t.Fatalf("object %d is %s", i, o.Key)
		}
	}
	if len(got) != n || requests.Load() != 2 {
		t.Errorf("%d objects in %d requests", len(got), requests.Load())
	}
	for range b.List(t.Context(), "events/") {
		break
	}
}

// A bucket that is busy is asked again; one that refuses is an error.
func TestBucketFails(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	busy := served(t, func(w http.ResponseWriter, _ *http.Request) bool {
		if calls.Add(1)%2 == 0 {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
		return true
	})
	must.OK(t, busy.Put(t.Context(), "k", strings.NewReader("body")))
	if got, err := busy.Get(t.Context(), "k", 0, 4); err != nil || string(got) != "body" {
		t.Errorf("got %s, %v", got, err)
	}

	refusing := served(t, func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`)
		return true
	})
	check := func(operation string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "S3 "+operation) ||
			!strings.Contains(err.Error(), "AccessDenied") || errors.Is(err, ErrNoObject) {
			t.Errorf("%s: got %v", operation, err)
		}
	}
	_, err := refusing.Get(t.Context(), "k", 0, 4)
	check("GetObject", err)
	_, _, err = refusing.Read(t.Context(), "k")
	check("GetObject", err)
	check("PutObject", refusing.Put(t.Context(), "k", strings.NewReader("body")))
	check("DeleteObject", refusing.Delete(t.Context(), "k"))
	for _, err := range refusing.List(t.Context(), "") {
		check("ListObjectsV2", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := busy.Put(ended, "k", strings.NewReader("body")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its time: %v", err)
	}
}
