package askahuman_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

var keyForm = regexp.MustCompile(`^aah_[A-Z2-7]{52}$`)

func TestAgentKeys(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)
	keys := &askahuman.AgentKeys{Store: &inmem.Store{}, Now: func() time.Time { return now }}
	issue := func(agent string) (string, askahuman.AgentKey) {
		t.Helper()
		key, kept, err := keys.Issue(ctx, agent)
		if err != nil {
			t.Fatal(err)
		}
		if !keyForm.MatchString(key) || kept.Hash != askahuman.HashAgentKey(key) || len(kept.ID()) != 12 || len(key) > askahuman.MaxAgentIDLength {
			t.Fatalf("got key %q, kept as %+v", key, kept)
		}
		storetest.OK(t, askahuman.CheckAgentID("X-Agent-Id", key))
		return key, kept
	}
	names := func(key, want string) {
		t.Helper()
		got, err := keys.Agent(ctx, key)
		if got != want || (want == "") != errors.Is(err, askahuman.ErrUnknownAgentKey) {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	mine, kept := issue("ann")
	now = now.Add(time.Second)
	next, keptNext := issue("ann") // to rotate
	other, _ := issue("Bob's agent (β)")
	if mine == next || kept.ID() == keptNext.ID() {
		t.Fatal("two keys are the same")
	}
	names(mine, "ann")
	names(next, "ann")
	names(other, "Bob's agent (β)")
	// A text that resembles or names a key is no key.
	for _, wrong := range []string{"", "ann", kept.Hash, kept.ID(), mine[:len(mine)-1], mine + "A", strings.ToLower(mine), " " + mine, strings.Repeat("k", 9000), "\xff"} {
		names(wrong, "")
	}

	revoked, err := keys.Revoke(ctx, kept.ID())
	if err != nil || revoked.Hash != kept.Hash || !revoked.RevokedAt.Equal(now) {
		t.Fatalf("got %+v, %v", revoked, err)
	}
	names(mine, "")
	names(next, "ann")
	now = now.Add(time.Minute)
	if again, err := keys.Revoke(ctx, kept.ID()); err != nil || again != revoked {
		t.Errorf("revoked again: got %+v, %v; want %+v", again, err, revoked)
	}
	// A leaked key identifies itself.
	if found, err := keys.Revoke(ctx, next); err != nil || found.Hash != keptNext.Hash {
		t.Errorf("got %+v, %v", found, err)
	}
	names(next, "")

	list := storetest.Must(keys.List(ctx))(t)
	var got []string
	for _, k := range list {
		line := k.AgentID
		if !k.LastUsedAt.IsZero() {
			line += " used"
		}
		if !k.RevokedAt.IsZero() {
			line += " revoked"
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"Bob's agent (β) used", "ann used revoked", "ann used revoked"}, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestIssueErr(t *testing.T) {
	t.Parallel()
	keys := &askahuman.AgentKeys{Store: &inmem.Store{}}
	for name, agent := range map[string]string{
		"Empty": "", "Long": strings.Repeat("é", 129), "Control": "a\nb", "NotUTF8": "a\xff", "Key": "aah_" + strings.Repeat("A", 52),
	} {
		key, _, err := keys.Issue(t.Context(), agent)
		if wrong, ok := errors.AsType[*validate.Error](err); !ok || wrong.Problems[0].Field != "name" || key != "" {
			t.Errorf("%s: got %q, %v", name, key, err)
		}
	}
	if list, err := keys.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v; want no keys", list, err)
	}
}

func TestRevokeErr(t *testing.T) {
	t.Parallel()
	store := &inmem.Store{}
	keys := &askahuman.AgentKeys{Store: store}
	for _, hash := range []string{strings.Repeat("a", 64), strings.Repeat("a", 12) + strings.Repeat("b", 52)} {
		storetest.OK(t, store.CreateAgentKey(t.Context(), askahuman.AgentKey{Hash: hash, AgentID: "ann"}))
	}
	for _, id := range []string{"", "a", strings.Repeat("a", 11), strings.Repeat("c", 12), "ann", "aah_unknown"} {
		if _, err := keys.Revoke(t.Context(), id); !errors.Is(err, askahuman.ErrAgentKeyNotFound) {
			t.Errorf("%q: got %v", id, err)
		}
	}
	_, err := keys.Revoke(t.Context(), strings.Repeat("a", 12))
	if _, ok := errors.AsType[*validate.Error](err); !ok || !strings.Contains(err.Error(), strings.Repeat("a", 12)+"b") {
		t.Errorf("an id of two keys: got %v", err)
	}
	if key, err := keys.Revoke(t.Context(), strings.Repeat("a", 12)+"b"); err != nil || !strings.HasPrefix(key.Hash, strings.Repeat("a", 12)+"b") {
		t.Errorf("got %+v, %v", key, err)
	}
}

// unmarkable is a store that cannot keep the use of a key.
type unmarkable struct {
	askahuman.AgentKeyStore
	err   error
	waits bool
}

func (s unmarkable) MarkAgentKeyUsed(ctx context.Context, _ string, _, _ time.Time) (bool, error) {
	if s.waits {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return false, s.err
}

// A failure to store the use of a key does not stop the agent.
func TestMarkFails(t *testing.T) {
	t.Parallel()
	reason := errors.New("no capacity")
	for name, test := range map[string]struct {
		store unmarkable
		want  error
	}{
		"Fails": {unmarkable{err: reason}, reason},
		"Hangs": {unmarkable{waits: true}, context.DeadlineExceeded},
		"Loses": {unmarkable{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.store.AgentKeyStore = &inmem.Store{}
			var told error
			keys := &askahuman.AgentKeys{Store: test.store, Unmarked: func(_ context.Context, err error) { told = err }}
			key, _, err := keys.Issue(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			if agent, err := keys.Agent(t.Context(), key); agent != "ann" || err != nil || !errors.Is(told, test.want) {
				t.Errorf("got %q, %v, told %v", agent, err, told)
			}
			keys.Unmarked = nil
			if agent, err := keys.Agent(t.Context(), key); agent != "ann" || err != nil {
				t.Errorf("with no one to tell: got %q, %v", agent, err)
			}
		})
	}
}
