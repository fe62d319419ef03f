package seed_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
)

// store is a table, and how often it has been asked for each item.
type store struct {
	kept  map[int]bool
	asked map[int]int
}

func (s *store) put(_ context.Context, item int) (bool, error) {
	added := !s.kept[item]
	s.kept[item] = true
	s.asked[item]++
	return added, nil
}

// Invocations that follow Progress.Next put each item once, and say how many are new.
func TestLoad(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := make([]int, rapid.IntRange(1, 4*seed.Chunk).Draw(t, "items"))
		there := rapid.SliceOfDistinct(rapid.IntRange(0, len(items)-1), rapid.ID).Draw(t, "there")
		s := &store{kept: map[int]bool{}, asked: map[int]int{}}
		for i := range items {
			items[i] = i
		}
		for _, i := range there {
			s.kept[i] = true
		}
		load := seed.Load(items, s.put)
		added, request := 0, seed.Request{}
		for request.Next < len(items) {
			progress, err := load(context.Background(), request)
			if err != nil || progress.Total != len(items) || progress.Next != min(request.Next+seed.Chunk, len(items)) {
				t.Fatalf("got %+v, %v for %+v", progress, err, request)
			}
			added += progress.Added
			request.Next = progress.Next
		}
		for i := range items {
			if s.asked[i] != 1 || !s.kept[i] {
				t.Errorf("item %d was put %d times, want once", i, s.asked[i])
			}
		}
		if added != len(items)-len(there) {
			t.Errorf("got %d added, want %d", added, len(items)-len(there))
		}
		if progress, err := load(context.Background(), request); err != nil ||
			progress != (seed.Progress{Next: len(items), Total: len(items)}) {
			t.Errorf("after the last item: got %+v, %v", progress, err)
		}
	})
}

// An invocation leaves half of its time unused, and loads an item at least.
func TestLoadEndsInTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		each time.Duration
		want int
	}{"Slow": {time.Second, 5}, "Slower": {9 * time.Second, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				defer cancel()
				load := seed.Load(make([]int, seed.Chunk), func(context.Context, int) (bool, error) {
					time.Sleep(test.each)
					return true, nil
				})
				if progress, err := load(ctx, seed.Request{}); err != nil || progress.Next != test.want ||
					progress.Added != test.want {
					t.Errorf("got %+v, %v, want %d", progress, err, test.want)
				}
			})
		})
	}
}

func TestLoadErr(t *testing.T) {
	t.Parallel()
	refusal := errors.New("refused")
	put := func(_ context.Context, item string) (bool, error) {
		if item == "bad" {
			return false, refusal
		}
		return true, nil
	}
	for name, test := range map[string]struct {
		items []string
		next  int
		says  string
	}{
		"NoItems":  {nil, 0, "no initial data"},
		"Negative": {[]string{"a"}, -1, "got -1, allowed is 0 to 1"},
		"TooFar":   {[]string{"a"}, 2, "got 2, allowed is 0 to 1"},
		"Put":      {[]string{"a", "bad", "c"}, 0, "item 2 of 3: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := seed.Load(test.items, put)(t.Context(), seed.Request{Next: test.next})
			if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, refusal) != (name == "Put") {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for data, says := range map[string]string{
		`{"name":"a"}` + "\n":   "",
		`{"name":"a","size":1}`: `unknown field "size"`,
		`{"name":1}`:            "cannot unmarshal number",
		`{"name":"a"} {}`:       "more after the value",
		`{"name":"a"`:           "unexpected EOF",
		``:                      "EOF",
	} {
		var value struct{ Name string }
		err := seed.Decode([]byte(data), &value)
		if says == "" && (err != nil || value.Name != "a") ||
			says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: got %v, %v; want %q", data, value, err, says)
		}
	}
}
