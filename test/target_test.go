package test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/gruntwork-io/terratest/modules/retry"
	"github.com/gruntwork-io/terratest/modules/shell"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/engine"
)

// target is a platform that runs somewhere.
type target struct {
	// url is where its API is.
	url string
	// tables are the physical names of its tables, by the names of the schema.
	tables map[string]string
	// database reaches the tables, past the platform.
	database *dynamodb.Client
	// run is the local run; nil on AWS.
	run *local.Runner
}

// onAWS tells whether the checks are to go to AWS.
func onAWS() bool { return os.Getenv("ONESYNTH_TEST_TARGET") == "aws" }

var sharedTarget struct {
	once sync.Once
	*target
	err error
}

// shared returns the target that all tests use that leave it in order for others.
func shared(t testing.TB) *target {
	t.Helper()
	sharedTarget.once.Do(func() {
		switch os.Getenv("ONESYNTH_TEST_TARGET") {
		case "", "local":
			sharedTarget.target, sharedTarget.err = startRun(t, "dev", local.Options{})
		case "aws":
			sharedTarget.target, sharedTarget.err = deployedTarget(t)
		default:
			sharedTarget.err = errors.New(`ONESYNTH_TEST_TARGET: allowed are "local", the default, and "aws"`)
		}
	})
	if sharedTarget.err != nil {
		t.Fatal(sharedTarget.err)
	}
	return sharedTarget.target
}

// ownRun returns a local run that no other test uses, for tests that inject faults,
// kill, or look at everything. Its schedules run by name only.
func ownRun(t testing.TB, options local.Options) *target {
	t.Helper()
	return ownRunOf(t, "dev", options)
}

// ownRunOf is ownRun of another environment.
func ownRunOf(t testing.TB, environment string, options local.Options) *target {
	t.Helper()
	if onAWS() {
		t.Skip("skipped on AWS: it needs a local run of its own")
	}
	options.NoSchedules = true
	platform, err := startRun(t, environment, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(platform.run.Close)
	return platform
}

// localOnly skips the test on AWS.
func (p *target) localOnly(t testing.TB, because string) {
	t.Helper()
	if p.run == nil {
		t.Skip("skipped on AWS: " + because)
	}
}

// database of all runs: each has an access key, which is a database of its own.
var sharedEngine struct {
	once sync.Once
	*engine.Engine
	err error
}

// assemblies that runs run, by environment.
var assemblies struct {
	mutex  sync.Mutex
	byName map[string]func() (string, error)
	made   []string // folders to remove
}

// startRun runs the assembly of an environment of cdk.json on this machine.
func startRun(t testing.TB, environment string, options local.Options) (*target, error) {
	sharedEngine.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		sharedEngine.Engine, sharedEngine.err = engine.Start(ctx, engine.Options{})
	})
	folder, err := assemblyOf(t, environment)
	if err := errors.Join(sharedEngine.err, err); err != nil {
		return nil, err
	}
	options.Assembly = folder
	options.DynamoDB = sharedEngine.URL()
	options.AccessKey = "TEST" + rand.Text()[:12]
	run, err := local.Start(context.Background(), options)
	if err != nil {
		return nil, err
	}
	outputs := map[string]string{}
	for name, output := range run.Assembly().Stacks[0].Outputs {
		outputs[name] = fmt.Sprint(output.Value)
	}
	platform, err := newTarget(outputs, run.DynamoDB())
	if err != nil {
		run.Close()
		return nil, err
	}
	platform.run = run
	return platform, nil
}

// assemblyOf returns the assembly of an environment for this machine's processor. It
// is made once.
func assemblyOf(t testing.TB, environment string) (string, error) {
	assemblies.mutex.Lock()
	if assemblies.byName == nil {
		assemblies.byName = map[string]func() (string, error){}
	}
	if assemblies.byName[environment] == nil {
		assemblies.byName[environment] = sync.OnceValues(func() (string, error) { return synthesise(t, environment) })
	}
	made := assemblies.byName[environment]
	assemblies.mutex.Unlock()
	return made()
}

func synthesise(t testing.TB, environment string) (string, error) {
	if folder := os.Getenv("ONESYNTH_TEST_ASSEMBLY"); folder != "" && environment == "dev" {
		return folder, nil
	}
	folder, err := os.MkdirTemp("", "onesynth-test-")
	if err != nil {
		return "", err
	}
	assemblies.mutex.Lock()
	assemblies.made = append(assemblies.made, folder)
	assemblies.mutex.Unlock()
	for _, command := range []shell.Command{
		{Command: "make", Args: []string{"bin/cdk-app"}},
		{Command: "bin/cdk-app", Args: []string{"-c", "env=" + environment, "-c", "arch=local"}, Env: map[string]string{
			"CDK_OUTDIR": folder, "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
		}},
	} {
		command.WorkingDir = ".."
		if _, err := shell.RunCommandContextAndGetOutputE(t, context.Background(), &command); err != nil {
			return "", fmt.Errorf("synthesise %s with %s: %w", environment, command.Command, err)
		}
	}
	return folder, nil
}

// closeTargets ends what the tests started and share.
func closeTargets() {
	if sharedTarget.target != nil && sharedTarget.run != nil {
		sharedTarget.run.Close()
	}
	if sharedEngine.Engine != nil {
		if err := sharedEngine.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	for _, folder := range assemblies.made {
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// newTarget reads the stack's outputs.
func newTarget(outputs map[string]string, database *dynamodb.Client) (*target, error) {
	platform := &target{url: strings.TrimSuffix(outputs["AskAHumanApiUrl"], "/"), tables: map[string]string{}, database: database}
	if platform.url == "" {
		return nil, fmt.Errorf("the stack has no output AskAHumanApiUrl; it has %v", outputs)
	}
	for name, value := range outputs {
		if table, ok := strings.CutSuffix(strings.TrimPrefix(name, "AskAHuman"), "TableName"); ok {
			platform.tables[table] = value
		}
	}
	return platform, nil
}

// item reads an item of a table by its key, given as name and value by turns, as
// plain values; nil if there is none.
func (p *target) item(t testing.TB, table string, key ...string) map[string]any {
	t.Helper()
	keys := map[string]types.AttributeValue{}
	for i := 0; i+1 < len(key); i += 2 {
		keys[key[i]] = &types.AttributeValueMemberS{Value: key[i+1]}
	}
	got, err := p.database.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(p.tables[table]), ConsistentRead: aws.Bool(true), Key: keys,
	})
	if err != nil {
		t.Fatalf("read %s %s: %v", table, key, err)
	}
	if got.Item == nil {
		return nil
	}
	var item map[string]any
	if err := attributevalue.UnmarshalMap(got.Item, &item); err != nil {
		t.Fatalf("read %s %s: %v", table, key, err)
	}
	return item
}

// set changes attributes of an item, past the platform.
func (p *target) set(t testing.TB, table, key, value string, attributes map[string]any) {
	t.Helper()
	changes := map[string]types.AttributeValueUpdate{}
	for name, value := range attributes {
		encoded, err := attributevalue.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		changes[name] = types.AttributeValueUpdate{Action: types.AttributeActionPut, Value: encoded}
	}
	if _, err := p.database.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(p.tables[table]), AttributeUpdates: changes,
		Key: map[string]types.AttributeValue{key: &types.AttributeValueMemberS{Value: value}},
	}); err != nil {
		t.Fatalf("change %s %s: %v", table, value, err)
	}
}

// items reads a whole table.
func (p *target) items(t testing.TB, table string) []map[string]any {
	t.Helper()
	var all []map[string]any
	pages := dynamodb.NewScanPaginator(p.database, &dynamodb.ScanInput{TableName: aws.String(p.tables[table]), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatalf("scan %s: %v", table, err)
		}
		for _, read := range page.Items {
			var item map[string]any
			if err := attributevalue.UnmarshalMap(read, &item); err != nil {
				t.Fatalf("scan %s: %v", table, err)
			}
			all = append(all, item)
		}
	}
	return all
}

// timeToLive is the TTL attribute of a table; empty when it has none.
func (p *target) timeToLive(t testing.TB, table string) string {
	t.Helper()
	if p.run != nil {
		described, err := p.run.Tables(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range described {
			if one.Name == p.tables[table] {
				return one.TimeToLive
			}
		}
		t.Fatalf("the run has no table %s", table)
	}
	described, err := p.database.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(p.tables[table])})
	if err != nil {
		t.Fatal(err)
	}
	if status := described.TimeToLiveDescription.TimeToLiveStatus; status != types.TimeToLiveStatusEnabled && status != types.TimeToLiveStatusEnabling {
		return ""
	}
	return aws.ToString(described.TimeToLiveDescription.AttributeName)
}

// forgetRateLimit lets an agent's count of this hour begin anew, as the next hour
// would.
func (p *target) forgetRateLimit(t testing.TB, limit, agentID string) {
	t.Helper()
	digest := sha256.Sum256([]byte(agentID))
	hour := time.Now().Truncate(time.Hour)
	for _, window := range []time.Time{hour.Add(-time.Hour), hour, hour.Add(time.Hour)} {
		key := fmt.Sprintf("RATE#%s#%s#%d", limit, hex.EncodeToString(digest[:]), window.Unix())
		if _, err := p.database.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: aws.String(p.tables["Guards"]),
			Key:       map[string]types.AttributeValue{"guard_key": &types.AttributeValueMemberS{Value: key}},
		}); err != nil {
			t.Fatalf("forget rate limit: %v", err)
		}
	}
}

// function is the name of the local run's function: AgentAPI, HumanAPI or Notifier.
func (p *target) function(t testing.TB, name string) string {
	t.Helper()
	for _, f := range p.run.Functions().Functions() {
		if strings.Contains(f.Name, name) {
			return f.Name
		}
	}
	t.Fatalf("the run has no function %s", name)
	return ""
}

// schedule is the name of the local run's schedule.
func (p *target) schedule(t testing.TB) string {
	t.Helper()
	schedules := p.run.Schedules().Schedules()
	if len(schedules) != 1 {
		t.Fatalf("got %d schedules; want 1", len(schedules))
	}
	return schedules[0].Name
}

// runNotifier runs the notifier by its schedule and waits for its end. On AWS it
// runs every minute by itself.
func (p *target) runNotifier(t testing.TB) {
	t.Helper()
	if p.run == nil {
		return
	}
	if err := p.run.RunSchedule(t.Context(), p.schedule(t)); err != nil {
		t.Fatal(err)
	}
}

// settled waits until something holds that becomes true by itself: an index that
// catches up, a schedule that comes round.
func settled(t testing.TB, what string, holds func() bool) {
	t.Helper()
	settledEvery(t, 250*time.Millisecond, what, holds)
}

// settledSoon is settled for what passes by quickly.
func settledSoon(t testing.TB, what string, holds func() bool) {
	t.Helper()
	settledEvery(t, time.Millisecond, what, holds)
}

func settledEvery(t testing.TB, pause time.Duration, what string, holds func() bool) {
	t.Helper()
	const patience = 150 * time.Second
	if _, err := retry.DoWithRetryContextE(t, t.Context(), what, int(patience/pause), pause, func() (string, error) {
		if !holds() {
			return "", errors.New("not yet")
		}
		return "", nil
	}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// root is the folder of the repository.
func root(t testing.TB) string {
	t.Helper()
	folder, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// sorted returns the values in order.
func sorted[S ~[]string](values S) S {
	values = slices.Clone(values)
	slices.Sort(values)
	return values
}
