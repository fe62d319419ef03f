package askahuman

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

var keyForm = regexp.MustCompile(`^aah_[A-Z2-7]{52}$`)

func TestAgentKeys(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)
	keys := &AgentKeys{DB: dynamotest.Open(t, askahuman.AgentKeys()).DB, Clock: func() time.Time { return now }}
	issue := func(agent string) (string, askahuman.AgentKey) {
		t.Helper()
		key, kept, err := keys.Issue(ctx, agent)
		must.OK(t, err)
		if !keyForm.MatchString(key) || kept.Hash != askahuman.HashAgentKey(key) || len(kept.ID()) != 12 ||
			len(key) > askahuman.MaxAgentIDLength {
			t.Fatalf("got key %q, kept as %+v", key, kept)
		}
		if err := CheckAgentID("X-Agent-Id", key); err != nil {
			t.Error(err)
		}
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
	for _, wrong := range []string{"", "ann", kept.Hash, kept.ID(), mine[:len(mine)-1], mine + "A",
		strings.ToLower(mine), " " + mine, strings.Repeat("k", 9000), "\xff"} {
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

	list := must.Get(keys.List(ctx))(t)
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
	keys := &AgentKeys{DB: dynamotest.Open(t, askahuman.AgentKeys()).DB}
	for name, agent := range map[string]string{
		"Empty": "", "Long": strings.Repeat("é", 129), "Control": "a\nb", "NotUTF8": "a\xff",
		"Key": "aah_" + strings.Repeat("A", 52),
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
	keys := &AgentKeys{DB: dynamotest.Open(t, askahuman.AgentKeys()).DB}
	for _, hash := range []string{strings.Repeat("a", 64), strings.Repeat("a", 12) + strings.Repeat("b", 52)} {
		must.OK(t, keys.DB.Update(t.Context(), "CreateAgentKey", []any{hash},
			expression.Set(dynamo.Name("agent_id"), expression.Value("ann")).Set(dynamo.Name("listed"),
				expression.Value(listedKey)),
			expression.ConditionBuilder{}, nil))
	}
	for _, id := range []string{"", "a", strings.Repeat("a", 11), strings.Repeat("c", 12), "ann", "aah_unknown"} {
		if _, err := keys.Revoke(t.Context(), id); !errors.Is(err, askahuman.ErrAgentKeyNotFound) {
			t.Errorf("%q: got %v", id, err)
		}
	}
	_, err := keys.Revoke(t.Context(), strings.Repeat("a", 12))
	if _, ok := errors.AsType[*validate.Error](err); !ok ||
		!strings.Contains(err.Error(), strings.Repeat("a", 12)+"b") {
		t.Errorf("an id of two keys: got %v", err)
	}
	if key, err := keys.Revoke(t.Context(), strings.Repeat("a", 12)+"b"); err != nil ||
		!strings.HasPrefix(key.Hash, strings.Repeat("a", 12)+"b") {
		t.Errorf("got %+v, %v", key, err)
	}
}

// A failure to keep the use of a key does not stop the agent, and neither does one that takes long.
func TestMarkFails(t *testing.T) {
	t.Parallel()
	reason := errors.New("no capacity")
	for name, test := range map[string]struct {
		fails error
		takes time.Duration
		want  error
	}{
		"Fails": {reason, 0, reason},
		"Hangs": {nil, 2 * markTimeout, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tables := dynamotest.Open(t, askahuman.AgentKeys())
			var told error
			keys := &AgentKeys{DB: tables.DB, Unmarked: func(_ context.Context, err error) { told = err }}
			key, _, err := keys.Issue(t.Context(), "ann")
			must.OK(t, err)
			tables.Recorder.Faults(func(operation schema.Action) error {
				if operation != schema.UpdateItem {
					return nil
				}
				time.Sleep(test.takes)
				return test.fails
			}, nil)
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

// A key whose write was done, and its answer lost, is issued once: the repeat of the write is no other key.
func TestIssueAfterLostAnswer(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, askahuman.AgentKeys())
	keys := &AgentKeys{DB: tables.DB}
	tables.Wire.Lose(1)
	key, kept, err := keys.Issue(t.Context(), "ann")
	if err != nil || tables.Wire.Attempts() != 2 {
		t.Fatalf("got %v after %d attempts; want a key after 2", err, tables.Wire.Attempts())
	}
	if agent, err := keys.Agent(t.Context(), key); agent != "ann" || err != nil {
		t.Errorf("the key names %q, %v", agent, err)
	}
	if list, err := keys.List(t.Context()); err != nil || len(list) != 1 || list[0].Hash != kept.Hash {
		t.Errorf("got the keys %+v, %v; want the one", list, err)
	}
}

// Of requests at once, one keeps the use of a key. No use of a revoked or an unknown key is kept, and a revocation
// stays as it was.
func TestMarkAndRevokeAtOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	keys := &AgentKeys{DB: dynamotest.Open(t, askahuman.AgentKeys()).DB, Clock: func() time.Time { return noon }}
	_, key, err := keys.Issue(ctx, "ann")
	must.OK(t, err)
	var marks atomic.Int32
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			marked, err := keys.mark(ctx, key.Hash, noon.Add(-markEvery), noon)
			if err != nil {
				t.Error(err)
			}
			if marked {
				marks.Add(1)
			}
		})
	}
	group.Wait()
	if marks.Load() != 1 {
		t.Errorf("%d requests kept the use, want one", marks.Load())
	}
	for _, at := range []time.Duration{time.Minute, time.Hour} {
		must.OK(t, keys.revoke(ctx, key.Hash, noon.Add(at)))
	}
	unknown := askahuman.HashAgentKey("another")
	if err := keys.revoke(ctx, unknown, noon); !errors.Is(err, askahuman.ErrAgentKeyNotFound) {
		t.Errorf("revoked an unknown key: %v", err)
	}
	for _, hash := range []string{key.Hash, unknown} {
		if marked, err := keys.mark(ctx, hash, noon.Add(2*markEvery), noon.Add(3*markEvery)); marked || err != nil {
			t.Errorf("marked %s: %v, %v", hash, marked, err)
		}
	}
	key.LastUsedAt, key.RevokedAt = noon, noon.Add(time.Minute)
	list, err := keys.List(ctx)
	if diff := cmp.Diff([]askahuman.AgentKey{key}, list); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Each operation ends with its context.
func TestAgentKeysCancelled(t *testing.T) {
	t.Parallel()
	keys := &AgentKeys{DB: dynamotest.Open(t, askahuman.AgentKeys()).DB}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, issued := keys.Issue(ctx, "ann")
	_, named := keys.Agent(ctx, "key")
	_, listed := keys.List(ctx)
	_, marked := keys.mark(ctx, "hash", noon, noon)
	for name, err := range map[string]error{"Issue": issued, "Agent": named, "List": listed, "mark": marked,
		"revoke": keys.revoke(ctx, "hash", noon)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v; want context.Canceled", name, err)
		}
	}
}

// A key, an unknown one and a revoked one cost the same read; the hour's first use of
// a key costs one write more.
func TestAgentKeyReads(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, askahuman.AgentKeys())
	now := noon
	keys := &AgentKeys{DB: tables.DB, Clock: func() time.Time { return now }}
	good, _, err := keys.Issue(ctx, "agent")
	must.OK(t, err)
	revoked, kept, err := keys.Issue(ctx, "agent")
	must.OK(t, err)
	must.Get(keys.Revoke(ctx, kept.ID()))(t)
	read := []schema.Action{schema.GetItem}
	for _, test := range []struct {
		name, key string
		after     time.Duration
		want      []schema.Action
	}{
		{"First", good, 0, []schema.Action{schema.GetItem, schema.UpdateItem}},
		{"Again", good, 59 * time.Minute, read},
		{"NextHour", good, time.Hour, []schema.Action{schema.GetItem, schema.UpdateItem}},
		{"Revoked", revoked, time.Hour, read},
		{"Unknown", AgentKeyPrefix + good[4:50] + "AAAAAAAAAA", time.Hour, read},
		{"Malformed", "me", time.Hour, read},
		{"None", "", time.Hour, read},
	} {
		now = noon.Add(test.after)
		tables.Recorder.Requests()
		agent, err := keys.Agent(ctx, test.key)
		if (err == nil) != (agent == "agent") || (test.key == good) != (err == nil) {
			t.Errorf("%s: got %q, %v", test.name, agent, err)
		}
		var made []schema.Action
		for _, r := range tables.Recorder.Requests() {
			made = append(made, r.Action)
			if r.Action == schema.GetItem && r.Units != 1 && test.name != "None" {
				t.Errorf("%s: the read cost %g units; want 1", test.name, r.Units)
			}
		}
		if !slices.Equal(made, test.want) {
			t.Errorf("%s: got requests %v; want %v", test.name, made, test.want)
		}
	}
}

// A function has keys if its environment names the table.
func TestOpenAgentKeys(t *testing.T) {
	for name, want := range map[string]bool{"": false, "aah-agent-keys": true} {
		environment := kit.Environment{AWS: aws.Config{Region: "eu-west-1"}, Getenv: func(asked string) string {
			if !strings.HasSuffix(asked, "_TABLE") {
				return ""
			}
			return name
		}}
		store, err := OpenAgentKeys(environment, "agentapi")
		if err != nil || (store != nil) != want {
			t.Errorf("table %q: got %v, %v", name, store, err)
		}
	}
}
