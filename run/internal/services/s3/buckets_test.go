package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
)

const resources = `{"Events": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "events"}}, "Other": {"Type": "AWS::S3::Bucket"}}`

func open(t testing.TB, dir string) *s3.Store {
	t.Helper()
	return must.Get(s3.New(dir, assemblytest.Load(t, resources)))(t)
}

func put(t testing.TB, store *s3.Store, key, content string) {
	t.Helper()
	must.Get(store.Backend().PutObject("events", key, map[string]string{"Content-Type": "text/plain"},
		strings.NewReader(content), int64(len(content)), nil))(t)
}

func read(t testing.TB, store *s3.Store, key string) string {
	t.Helper()
	_, content, err := store.Open("events", key)
	must.OK(t, err)
	defer content.Close()
	text := must.Get(io.ReadAll(content))(t)
	return string(text)
}

func keys(t testing.TB, store *s3.Store, prefix string) []string {
	t.Helper()
	objects := must.Get(store.Objects("events", prefix))(t)
	names := []string{}
	for _, object := range objects {
		names = append(names, object.Key)
	}
	return names
}

// awkward are keys that a file system would refuse, or confuse with each other.
var awkward = []string{"a", "a/b", "a//b", "/a", "a/", "../a", ".", "A", "é", "e\u0301", strings.Repeat("k", 1024),
	"entity=task/event_date=2026-01-31/x.parquet", "%2F", "a b+c", "put-1"}

func TestKeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, dir)
	for _, key := range awkward {
		put(t, store, key, "content of "+key)
	}
	put(t, store, "empty", "")
	sorted := append(slices.Sorted(slices.Values(awkward)), "empty")
	slices.Sort(sorted)
	for name, store := range map[string]*s3.Store{"the same run": store, "the next run": open(t, dir)} {
		if difference := cmp.Diff(sorted, keys(t, store, "")); difference != "" {
			t.Errorf("%s: %s", name, difference)
		}
		for _, key := range awkward {
			if got := read(t, store, key); got != "content of "+key {
				t.Errorf("%s: %q holds %q", name, key, got)
			}
		}
		if got := read(t, store, "empty"); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
		if got := keys(t, store, "a/"); !slices.Equal(got, []string{"a/", "a//b", "a/b"}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds more than the buckets: %v, %v", entries, err)
	}
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir())
	put(t, store, "a", "123")
	put(t, store, "a", "12345")
	put(t, store, "b", "1")
	want := []s3.Bucket{{Name: "events", ARN: "arn:aws:s3:::events", Objects: 2, Bytes: 6},
		{Name: "stack-other", ARN: "arn:aws:s3:::stack-other"}}
	if difference := cmp.Diff(want, store.Buckets()); difference != "" {
		t.Error(difference)
	}
	if _, err := store.Backend().DeleteObject("events", "a"); err != nil {
		t.Error(err)
	}
	if _, err := store.Backend().DeleteObject("events", "a"); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
	if _, _, err := store.Open("events", "a"); !errors.Is(err, s3.ErrNoObject) {
		t.Errorf("got %v", err)
	}
	if _, _, err := store.Open("nowhere", "a"); !errors.Is(err, s3.ErrNoBucket) {
		t.Errorf("got %v", err)
	}
	if _, err := store.Objects("nowhere", ""); !errors.Is(err, s3.ErrNoBucket) {
		t.Errorf("got %v", err)
	}
	if store.Exists("events", "a") || !store.Exists("events", "b") || store.Exists("nowhere", "b") {
		t.Error("Exists is wrong")
	}
}

func TestReadersKeepWhatTheyBegan(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir())
	put(t, store, "a", "before")
	_, content, err := store.Open("events", "a")
	must.OK(t, err)
	defer content.Close()
	put(t, store, "a", "afterwards, and longer")
	must.Get(store.Backend().DeleteObject("events", "a"))(t)
	if text, err := io.ReadAll(content); err != nil || string(text) != "before" {
		t.Errorf("got %q, %v", text, err)
	}
}

// The file of an object holds its content and nothing else, and no later object changes it.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, dir)
	put(t, store, "a", "before")
	objects, err := store.Objects("events", "")
	if err != nil || len(objects) != 1 {
		t.Fatalf("got %v, %v", objects, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	must.OK(t, os.Link(objects[0].File, link))
	put(t, store, "a", "afterwards, and longer")
	must.Get(store.Backend().DeleteObject("events", "a"))(t)
	if text, err := os.ReadFile(link); err != nil || string(text) != "before" {
		t.Errorf("got %q, %v", text, err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "events")); err != nil || len(entries) > 0 {
		t.Errorf("left over are %v, %v", entries, err)
	}
}

func TestHalfAnObjectIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, dir)
	put(t, store, "a", "whole")
	half := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("the connection broke")))
	if _, err := store.Backend().PutObject("events", "a", nil, half, 8, nil); err == nil {
		t.Error("a broken request was taken")
	}
	if _, err := store.Backend().PutObject("events", "a", nil, strings.NewReader("short"), 8, nil); !errors.Is(err,
		gofakes3.ErrIncompleteBody) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"put-of-a-run-that-died", "content-of-a-run-that-died"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, "events", name), []byte("half"), 0o600))
	}
	next := open(t, dir)
	if got := read(t, next, "a"); got != "whole" || len(keys(t, next, "")) != 1 {
		t.Errorf("got %q, %v", got, keys(t, next, ""))
	}
	entries, err := os.ReadDir(filepath.Join(dir, "events"))
	if err != nil || len(entries) != 2 {
		t.Errorf("left over are %v, %v", entries, err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ resources, file, says string }{
		"Damaged": {resources, "short", "is not an object of an earlier run"},
		"Foreign": {resources, strings.Repeat("x", 100), "remove it and start again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if test.file != "" {
				must.OK(t, os.Mkdir(filepath.Join(dir, "events"), 0o700))
				must.OK(t, os.WriteFile(filepath.Join(dir, "events", "file"), []byte(test.file), 0o600))
			}
			_, err := s3.New(dir, assemblytest.Load(t, test.resources))
			if err == nil || !strings.Contains(err.Error(), test.says) ||
				!strings.Contains(err.Error(), "AWS::S3::Bucket Events") {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

func TestWritersAtOnce(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir())
	var group sync.WaitGroup
	for writer := range 8 {
		group.Go(func() {
			for n := range 20 {
				content := bytes.Repeat([]byte{byte('a' + writer)}, 10+writer)
				if _, err := store.Backend().PutObject("events", "shared", nil, bytes.NewReader(content),
					int64(len(content)), nil); err != nil {
					t.Error(err)
				}
				put(t, store, fmt.Sprintf("own/%d/%d", writer, n), "x")
				text := read(t, store, "shared")
				if strings.Trim(text, text[:1]) != "" || len(text) != 10+int(text[0]-'a') {
					t.Errorf("got a mixture: %q", text)
				}
			}
		})
	}
	group.Wait()
	if got := len(keys(t, store, "own/")); got != 160 {
		t.Errorf("got %d objects", got)
	}
}

// TestPagesEqualTheListing: the pages of every size together equal the listing without pages, for every prefix and
// delimiter.
func TestPagesEqualTheListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(r *rapid.T) {
		run++
		store := open(t, filepath.Join(dir, fmt.Sprint(run)))
		for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[ab/]{1,4}`), 0, 12, rapid.ID[string]).Draw(r,
			"keys") {
			put(t, store, key, key)
		}
		start := rapid.SampledFrom([]string{"", "a", "a/", "b", "/"}).Draw(r, "prefix")
		delimiter := rapid.SampledFrom([]string{"", "/"}).Draw(r, "delimiter")
		size := rapid.Int64Range(1, 5).Draw(r, "page size")
		prefix := gofakes3.NewPrefix(&start, &delimiter)

		var want []string
		for _, key := range keys(t, store, start) {
			if before, _, found := strings.Cut(key[len(start):], delimiter); delimiter != "" && found {
				key = start + before + delimiter + " (common)"
			}
			if !slices.Contains(want, key) {
				want = append(want, key)
			}
		}
		var got []string
		page := gofakes3.ListBucketPage{MaxKeys: size}
		for {
			list, err := store.Backend().ListBucket("events", &prefix, page)
			if err != nil {
				r.Fatal(err)
			}
			part := []string{}
			for _, object := range list.Contents {
				part = append(part, object.Key)
			}
			for _, common := range list.CommonPrefixes {
				part = append(part, common.Prefix+" (common)")
			}
			if int64(len(part)) > size || list.IsTruncated && int64(len(part)) != size ||
				list.IsTruncated != (list.NextMarker != "") {
				r.Fatalf("got a page of %v, truncated %v, next %q", part, list.IsTruncated, list.NextMarker)
			}
			got = append(got, part...)
			if !list.IsTruncated {
				break
			}
			page.Marker, page.HasMarker = list.NextMarker, true
		}
		// A page lists its keys before its common prefixes.
		slices.Sort(got)
		slices.Sort(want)
		if difference := cmp.Diff(want, got); difference != "" {
			r.Fatal(difference)
		}
	})
}
