package dynamodb_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema"
)

func TestAgentKeys(t *testing.T) {
	t.Parallel()
	storetest.RunAgentKeys(t, func(t *testing.T) askahuman.AgentKeyStore {
		return dynamodb.NewAgentKeys(dynamotest.Open(t, schema.AgentKeys()).DB)
	})
}

// TestEveryAccessPatternOfAgentKeys is TestEveryAccessPattern for the table of keys.
func TestEveryAccessPatternOfAgentKeys(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, schema.AgentKeys())
	store := dynamodb.NewAgentKeys(tables.DB)
	issued := 0
	create := func() (hash string, err error) {
		issued++
		key := askahuman.AgentKey{Hash: askahuman.HashAgentKey(fmt.Sprint("key ", issued)), AgentID: "agent", CreatedAt: start}
		return key.Hash, store.CreateAgentKey(ctx, key)
	}
	must := func(hash string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	tables.Measure(t, schema.AgentKeys().AccessPatterns, dynamotest.Cases{
		"GetAgentKey": func() func() error {
			hash := must(create())
			return func() error { _, err := store.AgentKey(ctx, hash); return err }
		},
		"MarkAgentKeyUsed": func() func() error {
			hash := must(create())
			return func() error { return held(store.MarkAgentKeyUsed(ctx, hash, start, start.Add(time.Hour))) }
		},
		"CreateAgentKey": func() func() error { return func() error { _, err := create(); return err } },
		"ListAgentKeys":  func() func() error { return func() error { _, err := store.AgentKeys(ctx); return err } },
		"RevokeAgentKey": func() func() error {
			hash := must(create())
			return func() error { return store.RevokeAgentKey(ctx, hash, start) }
		},
	}, nil)
}

// A key, an unknown one and a revoked one cost the same read; the hour's first use of
// a key costs one write more.
func TestAgentKeyReads(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, schema.AgentKeys())
	now := start
	keys := &askahuman.AgentKeys{Store: dynamodb.NewAgentKeys(tables.DB), Now: func() time.Time { return now }}
	good, _, err := keys.Issue(ctx, "agent")
	if err != nil {
		t.Fatal(err)
	}
	revoked, kept, err := keys.Issue(ctx, "agent")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Must(keys.Revoke(ctx, kept.ID()))(t)
	read := []schema.Operation{schema.GetItem}
	for _, test := range []struct {
		name, key string
		after     time.Duration
		want      []schema.Operation
	}{
		{"First", good, 0, []schema.Operation{schema.GetItem, schema.UpdateItem}},
		{"Again", good, 59 * time.Minute, read},
		{"NextHour", good, time.Hour, []schema.Operation{schema.GetItem, schema.UpdateItem}},
		{"Revoked", revoked, time.Hour, read},
		{"Unknown", askahuman.AgentKeyPrefix + good[4:50] + "AAAAAAAAAA", time.Hour, read},
		{"Malformed", "me", time.Hour, read},
		{"None", "", time.Hour, read},
	} {
		now = start.Add(test.after)
		tables.Recorder.Requests()
		agent, err := keys.Agent(ctx, test.key)
		if (err == nil) != (agent == "agent") || (test.key == good) != (err == nil) {
			t.Errorf("%s: got %q, %v", test.name, agent, err)
		}
		var made []schema.Operation
		for _, r := range tables.Recorder.Requests() {
			made = append(made, r.Operation)
			if r.Operation == schema.GetItem && r.Units != 1 && test.name != "None" {
				t.Errorf("%s: the read cost %g units; want 1", test.name, r.Units)
			}
		}
		if !slices.Equal(made, test.want) {
			t.Errorf("%s: got requests %v; want %v", test.name, made, test.want)
		}
	}
}

// A function has the store if its environment names the table.
func TestOpenAgentKeys(t *testing.T) {
	for name, want := range map[string]bool{"": false, "aah-agent-keys": true} {
		environment := kit.Environment{AWS: aws.Config{Region: "eu-west-1"}, Getenv: func(string) string { return name }}
		store, err := dynamodb.OpenAgentKeys(environment, "agentapi")
		if err != nil || (store != nil) != want {
			t.Errorf("table %q: got %v, %v", name, store, err)
		}
	}
}
