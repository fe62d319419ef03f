package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/rapidtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/platforms/clarity/profiletest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// A history adds up to 30 attempts, twice some, and then all once more.
func TestMain(m *testing.M) { rapidtest.Main(m.Run, 12) }

const (
	day  = 24 * time.Hour
	week = 7 * day
)

var noon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// set is the function, as several processes have it, on tables of its test's own.
type set struct {
	tables    *worldtest.World
	service   *service.Service
	retention time.Duration
	now       time.Time
	failures  triggertest.Queue
	written   wait.Output // of all processes
	read      int         // bytes of it
}

func newSet(t *testing.T, retention time.Duration) *set {
	t.Helper()
	tables := worldtest.New(t, clarity.Platform(), noon)
	return &set{tables: tables, retention: retention, now: noon.Add(time.Hour),
		service: &service.Service{DB: tables.As(t, "profiler")}}
}

// process returns a handler with nothing in common with others but the tables.
func (s *set) process(t *testing.T) lambda.Handler {
	t.Helper()
	log := must.Get(kit.NewLogger(&s.written, "", "profiler"))(t)
	f := &function{
		service: s.service, retention: s.retention, clock: func() time.Time { return s.now }, log: log,
		batch:   &trigger.Stream{Failures: &s.failures, Log: log},
		metrics: &kit.Metrics{Namespace: "Onesynth/clarity", Function: "profiler", Writer: &s.written},
	}
	return kit.NewResponder(log, f.handle)
}

// handle lets a new process handle one batch, and returns the sequence numbers that failed.
func (s *set) handle(t *testing.T, records ...string) []string {
	t.Helper()
	return must.Get(deliver(t.Context(), s.process(t), records))(t)
}

func deliver(ctx context.Context, process lambda.Handler, records []string) (failed []string, err error) {
	answer, err := process.Invoke(ctx, []byte(`{"Records":[`+strings.Join(records, ",")+`]}`))
	if err != nil {
		return nil, err
	}
	var response events.DynamoDBEventResponse
	err = json.Unmarshal(answer, &response)
	for _, failure := range response.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	return failed, err
}

// output is what processes have written since the last call.
func (s *set) output() string {
	text := s.written.String()[s.read:]
	s.read += len(text)
	return text
}

// added is how many profiles processes have added since the last call.
func (s *set) added(t *testing.T) int {
	t.Helper()
	return int(metricstest.Sums(t, s.output())["ProfilesAdded"])
}

// attemptsOf are a user's attempts, one a minute.
func attemptsOf(user string, n int) (attempts []clarity.Attempt) {
	for i := range n {
		attempts = append(attempts, profiletest.Attempt(user, fmt.Sprint(i), noon.Add(time.Duration(i)*time.Minute),
			i%5, 4-i%5))
	}
	return attempts
}

// image is an attempt as the table has it.
func image(attempt clarity.Attempt) dynamo.Item {
	item, err := dynamo.Marshal(attempt)
	if err != nil {
		panic(err)
	}
	return item
}

// record is one of the stream as Lambda delivers it.
func record(sequence string, item dynamo.Item) string {
	text, err := attributevalue.MarshalMapJSON(item)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(
		`{"eventID":"e%[1]s","eventName":"MODIFY","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-central-1",
		"dynamodb":{"ApproximateCreationDateTime":1774737000,"NewImage":%[2]s,"SequenceNumber":"%[1]s","SizeBytes":1,"StreamViewType":"NEW_IMAGE"}}`, sequence, text)
}

// done is the record of an evaluated attempt.
func done(attempt clarity.Attempt) string {
	return record(attempt.ID, image(attempt))
}

// stored is a profile in the table.
type stored struct {
	clarity.Profile
	Key           string `dynamodbav:"timestamp"`
	Previous      string `dynamodbav:"previous"`
	Latest        bool   `dynamodbav:"latest,omitempty"`
	ExpiresAt     int64  `dynamodbav:"expiresAt,omitempty"`
	SchemaVersion string `dynamodbav:"schemaVersion"`
}

// stored reads a user's items, oldest first.
func (s *set) stored(t *testing.T, user string) (all []stored) {
	t.Helper()
	for _, p := range dynamotest.All[stored](t, s.tables.Tables, "Profiles") {
		if p.UserID == user {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b stored) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// wantItems are the items of a user with these attempts.
func wantItems(attempts []clarity.Attempt, retention time.Duration) []stored {
	all := []stored{{Key: "#", SchemaVersion: "1.0"}}
	all[0].UserID = attempts[0].UserID
	profiles := profiletest.Profiles(attempts)
	for i, p := range profiles {
		item := stored{Profile: p, Key: p.Timestamp.String() + "#" + p.AttemptID, Previous: all[i].Key,
			Latest: i == len(profiles)-1, SchemaVersion: "1.0"}
		if retention > 0 && !item.Latest {
			item.ExpiresAt = dynamo.ExpiryAt(time.Time(p.Timestamp).Add(retention))
		}
		item.Timestamp = wire.Time{} // in Key
		all = append(all, item)
	}
	return all
}

func different(want, got []stored) string {
	return cmp.Diff(want, got, cmpopts.IgnoreFields(clarity.Profile{}, "Recommendations"))
}

// Whatever the order, the repetitions and the batches in which several processes get the records, all
// profiles equal a recomputation, and replays add none.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	s := newSet(t, 0)
	histories := 0
	rapid.Check(t, func(r *rapid.T) {
		histories++
		s.retention = rapid.SampledFrom([]time.Duration{0, week, 365 * day}).Draw(r, "retention")
		users := rapid.IntRange(1, 3).Draw(r, "users")
		attempts := map[string][]clarity.Attempt{}
		var once, again []string
		n := rapid.IntRange(1, 30).Draw(r, "attempts")
		for i := range n {
			user := fmt.Sprintf("%d's user#%d", histories, rapid.IntRange(1, users).Draw(r, "user"))
			// Few moments, so that some attempts share one.
			at := noon.Add(time.Duration(rapid.IntRange(0, 20).Draw(r, "at")) * 500 * time.Microsecond)
			attempt := profiletest.Attempt(user, fmt.Sprintf("%d-%d", rapid.IntRange(0, 9).Draw(r, "id"), i), at,
				rapid.SliceOfN(rapid.IntRange(0, 4), 8, 8).Draw(r, "scores")...)
			attempts[user] = append(attempts[user], attempt)
			once = append(once, done(attempt))
			if rapid.Bool().Draw(r, "twice") {
				again = append(again, done(attempt))
			}
			if rapid.Bool().Draw(r, "unfinished") {
				other := profiletest.Attempt(user, "unfinished", at, 4, 4, 4)
				other.Status = rapid.SampledFrom([]clarity.Status{clarity.Completed, clarity.InProgress,
					clarity.Abandoned}).Draw(r, "status")
				other.EvaluationStatus = rapid.SampledFrom(
					[]clarity.EvaluationStatus{"", clarity.EvaluationPending, clarity.EvaluationRunning,
						clarity.EvaluationFailed}).Draw(r, "evaluation status")
				again = append(again, done(other))
			}
		}
		run := func(records []string, want int) {
			batches := make(chan []string)
			group, ctx := errgroup.WithContext(t.Context())
			for range rapid.IntRange(1, 4).Draw(r, "processes") {
				process := s.process(t)
				group.Go(func() error {
					for batch := range batches {
						if failed, err := deliver(ctx, process, batch); err != nil || failed != nil {
							return fmt.Errorf("failed are %v: %v", failed, err)
						}
					}
					return nil
				})
			}
			group.Go(func() error {
				defer close(batches)
				for len(records) > 0 {
					size := min(rapid.IntRange(1, 10).Draw(r, "batch"), len(records))
					select {
					case batches <- records[:size]:
						records = records[size:]
					case <-ctx.Done():
						return nil
					}
				}
				return nil
			})
			must.OK(r, group.Wait())
			if got := s.added(t); got != want {
				r.Fatalf("%d profiles were added; want %d", got, want)
			}
			for user, all := range attempts {
				if diff := different(wantItems(all, s.retention), s.stored(t, user)); diff != "" {
					r.Fatalf("%s (-defined +stored):\n%s", user, diff)
				}
			}
		}
		run(rapid.Permutation(slices.Concat(once, again)).Draw(r, "order"), n)
		run(rapid.Permutation(once).Draw(r, "replay"), 0)
	})
}

// Two hundred evaluations of one user, some of which come late, need few requests: a read or two and a transaction for
// each batch, so that the profile is up to date seconds after the last one.
func TestManyEvaluationsOfOneUser(t *testing.T) {
	t.Parallel()
	const n, batch = 200, 10
	s := newSet(t, week)
	attempts := attemptsOf("ada", n)
	for i := 0; i+5 < n; i += 7 {
		attempts[i], attempts[i+5] = attempts[i+5], attempts[i]
	}
	process := s.process(t)
	s.tables.Recorder.Requests()
	began := time.Now()
	for batch := range slices.Chunk(attempts, batch) {
		var records []string
		for _, attempt := range batch {
			records = append(records, done(attempt))
		}
		if failed, err := deliver(t.Context(), process, records); err != nil || failed != nil {
			t.Fatalf("failed are %v: %v", failed, err)
		}
	}
	requests := len(s.tables.Recorder.Requests())
	t.Logf("%d profiles took %v and %d requests", n, time.Since(began), requests)
	if requests > 4*n/batch {
		t.Errorf("got %d requests, want %d at most", requests, 4*n/batch)
	}
	if diff := different(wantItems(attempts, week), s.stored(t, "ada")); diff != "" {
		t.Errorf("(-defined +stored):\n%s", diff)
	}
	if added := s.added(t); added != n {
		t.Errorf("%d profiles were added, want %d", added, n)
	}
}

// remove does what time to live does.
func (s *set) remove(t *testing.T, p stored) {
	t.Helper()
	if p.ExpiresAt == 0 {
		t.Fatalf("%s never expires", p.Key)
	}
	s.tables.Remove(t, "Profiles", p.UserID, p.Key)
}

// An attempt out of order needs no profile before it: after a long pause that has expired as soon as
// it was no longer the latest.
func TestPredecessorExpires(t *testing.T) {
	t.Parallel()
	s := newSet(t, week)
	attempts := attemptsOf("ada", 12)
	for _, attempt := range attempts {
		s.handle(t, done(attempt))
	}
	s.now = noon.Add(100 * day)
	first := profiletest.Attempt("ada", "first after the pause", s.now.Add(-2*time.Second), 1, 2, 3, 4)
	second := profiletest.Attempt("ada", "second after the pause", s.now.Add(-time.Second), 4, 3, 2, 1)
	s.handle(t, done(second))
	for i, p := range s.stored(t, "ada")[1:13] {
		if i%2 == 1 { // in no order
			s.remove(t, p)
		}
	}
	if failed := s.handle(t, done(first), done(second)); failed != nil {
		t.Fatalf("failed are %v", failed)
	}
	want := wantItems(append(attempts, first, second), week)
	got := s.stored(t, "ada")
	if diff := different(want[13:], got[len(got)-2:]); diff != "" {
		t.Errorf("(-defined +stored):\n%s", diff)
	}
}

// A record that comes again when its profile has expired adds none, whether time to live has removed
// the profile or not. One that comes while it is kept is known.
func TestReplayAfterRetention(t *testing.T) {
	t.Parallel()
	s := newSet(t, week)
	attempts := attemptsOf("ada", 3)
	all := []string{done(attempts[0]), done(attempts[1]), done(attempts[2])}
	s.handle(t, all...)
	before := s.stored(t, "ada")
	s.output()
	for _, s.now = range []time.Time{noon.Add(week - time.Millisecond), noon.Add(week), noon.Add(100 * week)} {
		if failed := s.handle(t, all...); failed != nil || s.added(t) != 0 {
			t.Errorf("%v: failed are %v, or some were added", s.now, failed)
		}
	}
	if diff := different(before, s.stored(t, "ada")); diff != "" {
		t.Errorf("replays have changed profiles:\n%s", diff)
	}
	for i, p := range before[1:3] {
		s.remove(t, p)
		if failed := s.handle(t, all...); failed != nil || s.added(t) != 0 || len(s.stored(t, "ada")) != 3-i {
			t.Errorf("failed are %v, or a removed profile came back", failed)
		}
	}
}

// Images that do not decode are in the queue of failures, each with its record, and the others' profiles are
// added. No log line has an answer in it.
func TestPoisonedRecords(t *testing.T) {
	t.Parallel()
	s := newSet(t, 0)
	spoiled := func(sequence string, spoil func(item, evaluation dynamo.Item)) string {
		item := image(profiletest.Attempt("ada", sequence, noon, 3))
		spoil(item, item["evaluation"].(*types.AttributeValueMemberM).Value)
		return record(sequence, item)
	}
	number := func(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	good := profiletest.Attempt("ada", "good", noon, 3)
	failed := s.handle(t,
		spoiled("1", func(item, _ dynamo.Item) { delete(item, "evaluation") }),
		spoiled("2", func(item, _ dynamo.Item) { item["evaluation"] = text("a private text") }),
		spoiled("3", func(item, _ dynamo.Item) { delete(item, "attemptId") }),
		spoiled("4", func(item, _ dynamo.Item) { item["userId"] = text("") }),
		spoiled("5", func(_, evaluation dynamo.Item) { evaluation["evaluatedAt"] = text("yesterday") }),
		spoiled("6", func(_, evaluation dynamo.Item) { evaluation["overallScore"] = number("77.5") }),
		spoiled("7", func(_, evaluation dynamo.Item) { evaluation["dimensions"] = &types.AttributeValueMemberL{} }),
		spoiled("8", func(_, evaluation dynamo.Item) { delete(evaluation, "evaluatedAt") }),
		done(good),
		// These are not evaluated attempts at all.
		spoiled("9", func(item, _ dynamo.Item) { item["status"] = number("1") }),
		spoiled("10", func(item, _ dynamo.Item) { delete(item, "evaluationStatus") }),
		`{"eventID":"e11","eventName":"REMOVE","dynamodb":{"Keys":{"attemptId":{"S":"1"}},"SequenceNumber":"11"}}`)
	failures := s.failures.Failures()
	if diff := cmp.Diff([]string{"1", "2", "3", "4", "5", "6", "7", "8"},
		slices.Sorted(maps.Keys(failures))); diff != "" || failed != nil {
		t.Errorf("%v come again, in the queue of failures are (- want, + got):\n%s", failed, diff)
	}
	if !strings.Contains(failures["2"].Cause, "read the attempt") ||
		!bytes.Contains(failures["1"].Record, []byte(`"attemptId":{"S":"1"}`)) {
		t.Errorf("got %+v", failures["1"])
	}
	if diff := different(wantItems([]clarity.Attempt{good}, 0), s.stored(t, "ada")); diff != "" {
		t.Errorf("(-defined +stored):\n%s", diff)
	}
	output := s.output()
	metricstest.Complete(t, output, schema.MetricsOf("profiler", clarity.Platform().Metrics))
	if metricstest.Sums(t, output)["ProfilesAdded"] != 1 ||
		strings.Count(output, "a change of a table is not handled") != 8 || strings.Contains(output, "private") {
		t.Errorf("wrote %s", output)
	}
}

// An attempt that comes after 99 later ones is added; one that comes after more is in the queue of failures.
func TestTooManyLaterProfiles(t *testing.T) {
	t.Parallel()
	s := newSet(t, week)
	attempts := attemptsOf("ada", 99)
	for _, item := range wantItems(attempts, week) {
		s.tables.Store(t, "Profiles", item)
	}
	late := profiletest.Attempt("ada", "late", noon.Add(-time.Minute), 4)
	later := profiletest.Attempt("ada", "later", noon.Add(-2*time.Minute), 4)
	if failed := s.handle(t, done(late), done(later), done(late)); failed != nil ||
		!strings.Contains(s.failures.Failures()["later"].Cause, "more than 99 profiles") {
		t.Errorf("%v come again, in the queue of failures are %v", failed, s.failures.Failures())
	}
	if diff := different(wantItems(append(attempts, late), week), s.stored(t, "ada")); diff != "" {
		t.Errorf("(-defined +stored):\n%s", diff)
	}
	if output := s.output(); !strings.Contains(output,
		"more than 99 profiles are later than 2026-03-28T11:58:00.000Z#later") {
		t.Errorf("wrote %s", output)
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	for value, test := range map[string]struct {
		want time.Duration
		ok   bool
	}{
		"": {0, true}, "0": {0, true}, "7": {week, true}, "365": {365 * day, true}, "36500": {36500 * day, true},
		"1": {}, "6": {}, "-7": {}, "36501": {}, "a year": {},
	} {
		got, err := retentionOf(kit.Environment{Getenv: func(name string) string {
			if name != "PROFILE_RETENTION_DAYS" {
				t.Errorf("reads %s", name)
			}
			return value
		}})
		if (err == nil) != test.ok || err == nil && got != test.want ||
			err != nil && !strings.Contains(err.Error(), "PROFILE_RETENTION_DAYS") {
			t.Errorf("%q: got %v, %v; want %v", value, got, err, test.want)
		}
	}
}

// No image makes the function panic.
func FuzzImage(f *testing.F) {
	text := must.Get(attributevalue.MarshalMapJSON(image(profiletest.Attempt("ada", "1", noon, 3))))(f)
	f.Add(text)
	for _, image := range []string{`{}`, `null`, `{"status":{}}`, `{"status":{"M":{}},"evaluationStatus":{"L":[]}}`,
		`{"status":{"S":"completed"},"evaluationStatus":{"S":"done"},"evaluation":{"NULL":true}}`,
		`{"a":{"SS":[]},"b":{"B":"AA=="},"c":{"N":"x"}}`} {
		f.Add([]byte(image))
	}
	f.Fuzz(func(t *testing.T, image []byte) {
		if !json.Valid(image) {
			return
		}
		db, _ := dynamotest.Refused(t, clarity.Platform().Database, nil)
		s := &set{service: &service.Service{DB: db}, now: noon, retention: week}
		event := fmt.Sprintf(`{"dynamodb":{"NewImage":%s,"SequenceNumber":"1"}}`, image)
		_, err := deliver(t.Context(), s.process(t), []string{event})
		if output := s.output(); strings.Contains(output, `"message":"panic"`) {
			t.Errorf("%v\n%s", err, output)
		}
	})
}
