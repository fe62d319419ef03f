package engine_test

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/local/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/local/policy"
)

// noted is a table whose sweeper is told of every write through the endpoint.
type noted struct {
	sweeper  *engine.Sweeper
	endpoint *dynamodb.Client // as functions have it
	direct   *dynamodb.Client // past the endpoint

	mutex sync.Mutex
	now   time.Time
}

// opened is when the clock of a noted table begins.
var opened = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func (n *noted) clock() time.Time {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.now
}

func (n *noted) pass(d time.Duration) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.now = n.now.Add(d)
}

func startNoted(t *testing.T) *noted {
	t.Helper()
	source := assemblytest.Load(t, "{"+sessions+`, "Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "writer", "Policies": [{"PolicyName": "all",
		"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}}]}}}`)
	key := enginetest.AccessKey()
	n := &noted{direct: enginetest.Engine(t).Client(key), now: opened}
	if err := engine.CreateTables(t.Context(), n.direct, source); err != nil {
		t.Fatal(err)
	}
	var err error
	if n.sweeper, err = engine.NewSweeper(n.direct, source, engine.SweeperOptions{Now: n.clock}); err != nil {
		t.Fatal(err)
	}
	server, err := awsapi.New(awsapi.Options{Assembly: source, EngineURL: enginetest.Engine(t).URL(), AccessKey: key, Wrote: func(_, operation string, body []byte) { n.sweeper.Wrote(operation, body) }})
	if err != nil {
		t.Fatal(err)
	}
	role, err := policy.ForRole(source, "arn:aws:iam::000000000000:role/writer")
	if err != nil {
		t.Fatal(err)
	}
	server.Register("WRITER", "writer", role)
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	n.endpoint = dynamodb.NewFromConfig(aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(listener.URL), Credentials: credentials.NewStaticCredentialsProvider("WRITER", "secret", ""),
	})
	return n
}

// written is the time to live of each item in the table, by id; nil is none.
type written map[string]*float64

func attribute(ttl *float64) types.AttributeValue {
	if ttl == nil {
		return nil
	}
	return &types.AttributeValueMemberN{Value: strconv.FormatFloat(*ttl, 'f', -1, 64)}
}

// remains returns the ids of the items that have not expired.
func (w written) remains(now time.Time) []string {
	left := []string{}
	for id, ttl := range w {
		if ttl == nil || *ttl > float64(now.Unix()) || *ttl <= float64(now.Add(-5*365*24*time.Hour).Unix()) {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	return left
}

// The sweeper deletes exactly the items that have expired, as soon as they have.
func TestExactlyWhatIsDueGoes(t *testing.T) {
	t.Parallel()
	table := aws.String("sessions")
	rapid.Check(t, func(r *rapid.T) {
		ctx, n, model := t.Context(), startNoted(t), written{}
		must := func(_ any, err error) {
			if err != nil {
				r.Fatal(err)
			}
		}
		known := rapid.SampledFrom([]string{"a", "b é", "c<&>", `d"\`})
		times := rapid.Custom(func(r *rapid.T) *float64 {
			ttl := float64(opened.Unix()) + float64(rapid.IntRange(-20, 60).Draw(r, "half seconds"))/2
			switch rapid.IntRange(0, 7).Draw(r, "kind") {
			case 0:
				return nil
			case 1:
				ttl = float64(opened.UnixMilli())
			case 2:
				ttl = float64(opened.AddDate(-6, 0, 0).Unix())
			}
			return &ttl
		})
		draw := func() (string, *float64) { return known.Draw(r, "id"), times.Draw(r, "expiry") }
		keyOf := func(id string) map[string]types.AttributeValue {
			part := rapid.SampledFrom([]string{"1", "1.0", "0.1e1"}).Draw(r, "part")
			return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}, "part": &types.AttributeValueMemberN{Value: part}}
		}
		itemOf := func(id string, ttl *float64) map[string]types.AttributeValue {
			item := session(id, attribute(ttl))
			maps.Copy(item, keyOf(id))
			return item
		}
		names := map[string]string{"#t": "ttl"}
		// update sets the expiry, if there is one, and removes it otherwise.
		update := func(ttl *float64) (*string, map[string]types.AttributeValue) {
			if ttl == nil {
				return aws.String("REMOVE #t"), nil
			}
			return aws.String("SET #t = :v"), map[string]types.AttributeValue{":v": attribute(ttl)}
		}
		r.Repeat(map[string]func(*rapid.T){
			"put": func(*rapid.T) {
				id, ttl := draw()
				must(n.endpoint.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: itemOf(id, ttl)}))
				model[id] = ttl
			},
			"put what is new": func(*rapid.T) {
				id, ttl := draw()
				_, exists := model[id]
				_, err := n.endpoint.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: itemOf(id, ttl), ConditionExpression: aws.String("attribute_not_exists(id)")})
				if exists != (err != nil) {
					r.Fatalf("got %v", err)
				}
				if !exists {
					model[id] = ttl
				}
			},
			"update": func(*rapid.T) {
				id, ttl := draw()
				expression, values := update(ttl)
				must(n.endpoint.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: keyOf(id), UpdateExpression: expression, ExpressionAttributeNames: names, ExpressionAttributeValues: values}))
				model[id] = ttl
			},
			"update something else": func(*rapid.T) {
				id := known.Draw(r, "id")
				must(n.endpoint.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: keyOf(id), UpdateExpression: aws.String("ADD seen :one"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}}))
				if _, exists := model[id]; !exists {
					model[id] = nil
				}
			},
			"expire earlier": func(*rapid.T) {
				id := known.Draw(r, "id")
				must(n.endpoint.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: keyOf(id), UpdateExpression: aws.String("ADD #t :some"),
					ExpressionAttributeNames: names, ExpressionAttributeValues: map[string]types.AttributeValue{":some": &types.AttributeValueMemberN{Value: "-3"}}}))
				earlier := -3.0
				if model[id] != nil {
					earlier += *model[id]
				}
				model[id] = &earlier
			},
			"update without an expression": func(*rapid.T) {
				id, ttl := known.Draw(r, "id"), float64(opened.Unix())
				must(n.endpoint.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: keyOf(id), AttributeUpdates: map[string]types.AttributeValueUpdate{"ttl": {Value: attribute(&ttl), Action: types.AttributeActionPut}}}))
				model[id] = &ttl
			},
			"delete": func(*rapid.T) {
				id := known.Draw(r, "id")
				must(n.endpoint.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: keyOf(id)}))
				delete(model, id)
			},
			"batch": func(*rapid.T) {
				var requests []types.WriteRequest
				for _, id := range rapid.SliceOfNDistinct(known, 1, 3, rapid.ID).Draw(r, "ids") {
					ttl := times.Draw(r, "expiry")
					requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: itemOf(id, ttl)}})
					model[id] = ttl
				}
				must(n.endpoint.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"sessions": requests}}))
			},
			"transaction": func(*rapid.T) {
				both := rapid.SliceOfNDistinct(known, 2, 2, rapid.ID).Draw(r, "ids")
				put, set := times.Draw(r, "expiry"), times.Draw(r, "expiry")
				expression, values := update(set)
				must(n.endpoint.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
					{Put: &types.Put{TableName: table, Item: itemOf(both[0], put)}},
					{Update: &types.Update{TableName: table, Key: keyOf(both[1]), UpdateExpression: expression, ExpressionAttributeNames: names, ExpressionAttributeValues: values}},
				}}))
				model[both[0]], model[both[1]] = put, set
			},
			"time passes": func(r *rapid.T) { n.pass(time.Duration(rapid.IntRange(1, 8).Draw(r, "seconds")) * time.Second) },
			"look": func(*rapid.T) {
				if err := n.sweeper.LookAtAll(ctx); err != nil {
					r.Fatal(err)
				}
				left := model.remains(n.clock())
				if difference := cmp.Diff(left, append([]string{}, ids(t, n.direct, nil)...)); difference != "" {
					r.Fatalf("at %s: %s", n.clock(), difference)
				}
				maps.DeleteFunc(model, func(id string, _ *float64) bool { return !slices.Contains(left, id) })
			},
		})
	})
}

// Writers that race with the sweeper lose nothing: an item that lives longer now stays, and an expired one goes, in every order.
func TestSweeperRacesWithWriters(t *testing.T) {
	t.Parallel()
	n := startNoted(t)
	var group sync.WaitGroup
	model := written{}
	ends := make(chan struct{})
	looks := make(chan error, 1)
	go func() {
		for {
			if err := n.sweeper.LookAtAll(t.Context()); err != nil {
				looks <- err
				return
			}
			select {
			case <-ends:
				looks <- nil
				return
			default:
			}
		}
	}()
	const writers, rounds = 6, 30
	for w := range writers {
		ttl := float64(opened.Unix())
		if w%2 == 0 {
			ttl += 3600
		}
		id := fmt.Sprint("writer ", w)
		model[id] = &ttl
		group.Go(func() {
			for i := range rounds {
				at := ttl
				if i < rounds-1 && i%2 == 0 {
					at = float64(opened.Unix()) - 1
				}
				if _, err := n.endpoint.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sessions"), Item: session(id, attribute(&at))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	close(ends)
	if err := <-looks; err != nil {
		t.Fatal(err)
	}
	if err := n.sweeper.LookAtAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(model.remains(opened), ids(t, n.direct, nil)); difference != "" {
		t.Error(difference)
	}
}

// A walk finds items that were not written through the endpoint, and those of an earlier run, over several pages.
func TestSweeperFindsWhatItWasNotToldOf(t *testing.T) {
	t.Parallel()
	source, client := assemblytest.Load(t, "{"+sessions+"}"), enginetest.Client(t)
	if err := engine.CreateTables(t.Context(), client, source); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 60 {
		ttl, id := time.Now().Add(time.Hour), fmt.Sprintf("%02d", i)
		if i%3 == 0 {
			ttl = time.Now().Add(-time.Hour)
		} else {
			want = append(want, id)
		}
		put(t, client, "sessions", session(id, seconds(ttl)))
	}
	sweeper, err := engine.NewSweeper(client, source, engine.SweeperOptions{Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	go sweeper.Run(t.Context())
	for {
		left := ids(t, client, nil)
		if len(left) <= len(want) {
			if difference := cmp.Diff(want, left); difference != "" {
				t.Error(difference)
			}
			return
		}
	}
}

// With a negative interval only Sweep deletes items.
func TestSweeperOnDemand(t *testing.T) {
	t.Parallel()
	source, client := assemblytest.Load(t, "{"+sessions+"}"), enginetest.Client(t)
	if err := engine.CreateTables(t.Context(), client, source); err != nil {
		t.Fatal(err)
	}
	put(t, client, "sessions", session("x", seconds(time.Now().Add(-time.Hour))))
	sweeper, err := engine.NewSweeper(client, source, engine.SweeperOptions{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	sweeper.Run(t.Context())
	if left := ids(t, client, nil); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
	if deleted, err := sweeper.Sweep(t.Context()); err != nil || deleted != 1 {
		t.Errorf("deleted %d, %v", deleted, err)
	}
}

// A key that no item of the table can have does not stop the deletion of others.
func TestSweeperSkipsKeysOfNoItem(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"NoKeyType": `{"id": {"BOOL": true}, "part": {"N": "1"}}`, "AnotherType": `{"id": {"N": "1"}, "part": {"N": "1"}}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNoted(t)
			for i := range 5 {
				item := session(fmt.Sprint(i), seconds(opened.Add(-time.Minute)))
				if _, err := n.endpoint.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sessions"), Item: item}); err != nil {
					t.Fatal(err)
				}
			}
			n.sweeper.Wrote("UpdateItem", []byte(`{"TableName": "sessions", "Key": `+key+`, "UpdateExpression": "SET ttl = if_not_exists(a, b)"}`))
			n.pass(time.Minute)
			// The first look may report what the engine refused. Later ones do not repeat it.
			first, second := n.sweeper.LookAtAll(t.Context()), n.sweeper.LookAtAll(t.Context())
			if left := ids(t, n.direct, nil); len(left) != 0 || second != nil {
				t.Errorf("left are %v, after %v and %v", left, first, second)
			}
		})
	}
}
