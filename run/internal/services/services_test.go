package services_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	endpoint "github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	tables "github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
)

const everything = `[{"Effect": "Allow", "Action": "*", "Resource": "*"}]`

type fixture struct {
	server   *services.Services
	url      string
	database string
	assembly *assembly.Assembly
	dynamodb *dynamodb.Client
}

// start serves the resources to a function named asker. The statements are its role's.
func start(t testing.TB, statements string, change ...func(*services.Options)) *fixture {
	t.Helper()
	loaded := assemblytest.LoadFile(t, "testdata/resources.json", "STATEMENTS", statements)
	engine, key := enginetest.Engine(t), enginetest.AccessKey()
	databases := must.Get(tables.OpenDatabases(engine, loaded, tables.DatabasesOptions{AccessKey: key}))(t)
	must.OK(t, databases.CreateTables(t.Context(), func(string) {}))
	options := services.Options{Assembly: loaded,
		DynamoDB: tables.ServiceOptions{EngineURL: engine.URL(), AccessKey: key}}
	for _, apply := range change {
		apply(&options)
	}
	server := must.Get(services.New(options))(t)
	config := awstest.Listen(t, server.Server, loaded)
	return &fixture{
		server: server, url: *config.BaseEndpoint, database: key, assembly: loaded,
		dynamodb: dynamodb.NewFromConfig(config),
	}
}

func key(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
}

func allow(action, resource string) string {
	return fmt.Sprintf(`{"Effect": "Allow", "Action": %q, "Resource": %q}`, action,
		"arn:aws:dynamodb:us-east-1:000000000000:table/"+resource)
}

// call is one request of a function to DynamoDB.
type call struct {
	// Needs are the actions and resources that it needs, such as "dynamodb:GetItem questions".
	Needs     []string
	Operation string
	Input     json.RawMessage
}

// calls returns the requests of testdata/calls.json by their names.
func calls(t testing.TB) (named map[string]call) {
	t.Helper()
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile("testdata/calls.json"))(t), &named))
	return named
}

func (c call) do(t *testing.T, f *fixture) error {
	t.Helper()
	_, err := f.send(t, "DynamoDB "+c.Operation, string(c.Input))
	return err
}

func TestEveryActionNeedsItsGrant(t *testing.T) {
	t.Parallel()
	for name, test := range calls(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var statements []string
			for _, need := range test.Needs {
				action, resource, _ := strings.Cut(need, " ")
				statements = append(statements, allow(action, resource))
			}
			f := start(t, "["+strings.Join(statements, ",")+"]")
			if err := test.do(t, f); err != nil {
				t.Fatalf("with its grants: %v", err)
			}
			if got := len(f.server.Used()); got != len(test.Needs) {
				t.Errorf("got used %v, want %v", f.server.Used(), test.Needs)
			}
			if unused := f.server.UnusedGrants("asker"); len(unused) > 0 {
				t.Errorf("got unused grants %v", unused)
			}
			if unneeded := f.server.UnneededGrants("asker"); len(unneeded) > 0 {
				t.Errorf("got unneeded grants %v", unneeded)
			}
			role := must.Get(policy.ForRole(f.assembly, "arn:aws:iam::000000000000:role/reader"))(t)
			for i, grant := range role.Grants() {
				f.server.Register("ASKERKEY", "asker", role.Without(grant))
				err := test.do(t, f)
				want := "User: arn:aws:sts::000000000000:assumed-role/reader/asker is not authorized to perform: " +
					grant.Action +
					" on resource: " + grant.Resource + " because no identity-based policy allows the " + grant.Action +
					" action"
				if got, ok := errors.AsType[*failure](err); !ok || got.Type != "AccessDeniedException" ||
					got.Message != want {
					t.Errorf("without %v: got %v", grant, err)
				}
				if refused := f.server.Refused(); len(refused) != i+1 {
					t.Errorf("got refused %v", refused)
				}
			}
		})
	}
}

// A grant is needed if a recorded request, with its condition keys, is denied without it.
func TestUnneededGrants(t *testing.T) {
	t.Parallel()
	scan, elsewhere := allow("dynamodb:Scan", "questions"), allow("dynamodb:Scan", "questions")
	elsewhere = strings.TrimSuffix(elsewhere, "}") +
		`, "Condition": {"StringEquals": {"aws:RequestedRegion": "eu-west-1"}}}`
	for name, test := range map[string]struct {
		statements []string
		unneeded   []int
	}{
		"Needed":     {[]string{scan}, nil},
		"Unused":     {[]string{scan, allow("dynamodb:Query", "questions")}, []int{1}},
		"Twice":      {[]string{scan, scan}, []int{0, 1}},
		"WiderAfter": {[]string{scan, allow("dynamodb:*", "questions")}, []int{0, 1}},
		"Elsewhere":  {[]string{elsewhere, scan}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, "["+strings.Join(test.statements, ",")+"]")
			must.OK(t, calls(t)["scan"].do(t, f))
			var got []int
			for _, grant := range f.server.UnneededGrants("asker") {
				got = append(got, grant.Statement)
			}
			if !slices.Equal(got, test.unneeded) {
				t.Errorf("got unneeded statements %v, want %v", got, test.unneeded)
			}
			requests := f.server.Allowed("asker")
			if len(requests) != 1 || requests[0].Context[policy.RequestedRegion] != "us-east-1" {
				t.Errorf("got allowed %+v", requests)
			}
		})
	}
}

// Newer code of a function has a role of its own. A changed role is that of all its code, and of no other function's.
func TestChangeRole(t *testing.T) {
	t.Parallel()
	f := start(t, "["+allow("dynamodb:Scan", "questions")+"]")
	role := must.Get(policy.ForRole(f.assembly, "arn:aws:iam::000000000000:role/reader"))(t)
	without := role.Without(role.Grants()[0])
	allowed := func() bool { return calls(t)["scan"].do(t, f) == nil }
	f.server.Register("NEWERKEY", "asker", without)
	if !allowed() {
		t.Error("the former code lost the role with which it began")
	}
	f.server.ChangeRole("other", without)
	if !allowed() {
		t.Error("another function's role counts")
	}
	f.server.ChangeRole("asker", without)
	if allowed() {
		t.Error("the former code kept a role that has changed")
	}
	f.server.ChangeRole("asker", role)
	if !allowed() {
		t.Error("the role does not come back")
	}
}

func TestGrantOnTableIsNoneOnIndex(t *testing.T) {
	t.Parallel()
	f := start(t, "["+allow("dynamodb:Query", "questions")+"]")
	if err := calls(t)["query an index"].do(t, f); err == nil {
		t.Error("an index was queried with a grant on its table only")
	}
}

func TestExplicitDeny(t *testing.T) {
	t.Parallel()
	f := start(t,
		`[{"Effect": "Allow", "Action": "*", "Resource": "*"}, {"Effect": "Deny", "Action": "dynamodb:Scan", "Resource": "*"}]`)
	err := calls(t)["scan"].do(t, f)
	if err == nil || !strings.Contains(err.Error(), "with an explicit deny in an identity-based policy") {
		t.Errorf("got %v", err)
	}
}

func TestCapacity(t *testing.T) {
	t.Parallel()
	f := start(t, everything)
	for _, name := range []string{"put", "query an index", "get", "get"} {
		must.OK(t, calls(t)[name].do(t, f))
	}
	must.OK(t, calls(t)["transact write"].do(t, f))
	type row struct {
		Requests    int
		Read, Write float64
	}
	got := map[string]row{}
	for _, r := range f.server.Capacity() {
		if r.Function != "asker" || r.Index == "" && r.Operation != "TransactWriteItems" && r.Time <= 0 {
			t.Errorf("got row %+v", r)
		}
		got[strings.TrimSpace(r.Operation+" "+r.Table+" "+r.Index)] = row{r.Requests, r.ReadUnits, r.WriteUnits}
	}
	want := map[string]row{
		"PutItem questions":                    {1, 0, 1},
		"PutItem questions by-status":          {1, 0, 1},
		"Query questions by-status":            {1, 0.5, 0},
		"GetItem questions":                    {2, 1, 0},
		"TransactWriteItems answers":           {1, 0, 4},
		"TransactWriteItems answers by-status": {1, 0, 2},
	}
	for name, expected := range want {
		if difference := cmp.Diff(expected, got[name]); difference != "" {
			t.Errorf("%s: %s\nall: %+v", name, difference, got)
		}
	}
	f.server.ResetCapacity()
	if rows := f.server.Capacity(); len(rows) != 0 {
		t.Errorf("after the reset: got %v", rows)
	}
}

func TestCapacityAskedForIsGiven(t *testing.T) {
	t.Parallel()
	f := start(t, everything)
	for _, asked := range []types.ReturnConsumedCapacity{"", types.ReturnConsumedCapacityNone,
		types.ReturnConsumedCapacityTotal, types.ReturnConsumedCapacityIndexes} {
		f.server.ResetCapacity()
		must.Get(f.dynamodb.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("questions"), ReturnConsumedCapacity: asked,
				Item: map[string]types.AttributeValue{
					"id":     &types.AttributeValueMemberS{Value: `"ReturnConsumedCapacity":"NONE"`},
					"status": &types.AttributeValueMemberS{Value: "x" + string(asked)}}}))(t)
		if rows := f.server.Capacity(); len(rows) != 2 {
			t.Errorf("asked %q: got %v, want the table and its index", asked, rows)
		}
	}
	got, err := f.dynamodb.GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: aws.String("questions"), Key: key(`"ReturnConsumedCapacity":"NONE"`)})
	if err != nil || len(got.Item) == 0 {
		t.Errorf("the item's text was changed: %v %v", got, err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	f := start(t, everything)
	set := func(faults endpoint.Faults) {
		t.Helper()
		must.OK(t, f.server.SetFaults(faults))
	}
	put := func() error { return calls(t)["put"].do(t, f) }

	set(endpoint.Faults{Throttle: 1, Seed: 1})
	codes := map[string]bool{}
	for range 20 {
		err := put()
		refused, ok := errors.AsType[*failure](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		codes[refused.Type] = true
	}
	if !codes["ProvisionedThroughputExceededException"] || !codes["ThrottlingException"] || len(codes) != 2 {
		t.Errorf("got %v", codes)
	}

	set(endpoint.Faults{TransactionConflict: 1})
	if err := put(); err == nil || err.(*failure).Type != "TransactionConflictException" {
		t.Errorf("put: got %v", err)
	}
	if err := calls(t)["get"].do(t, f); err != nil {
		t.Errorf("a read met a conflict: %v", err)
	}
	err := calls(t)["transact write"].do(t, f)
	if cancelled, ok := errors.AsType[*failure](err); !ok || cancelled.Type != "TransactionCanceledException" {
		t.Errorf("transaction: got %v", err)
	} else {
		conflicts := 0
		for _, reason := range cancelled.CancellationReasons {
			switch reason.Code {
			case "TransactionConflict":
				conflicts++
			case "None":
			default:
				t.Errorf("got reason %v", reason.Code)
			}
		}
		if conflicts != 1 || len(cancelled.CancellationReasons) != 4 ||
			!strings.Contains(cancelled.Message, "[") {
			t.Errorf("got %v %q", cancelled.CancellationReasons, cancelled.Message)
		}
	}

	set(endpoint.Faults{})
	stored := func() bool {
		got := must.Get(f.dynamodb.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("questions"),
			Key: key("1"), ConsistentRead: aws.Bool(true)}))(t)
		return len(got.Item) > 0
	}
	if stored() {
		t.Error("a refused request was done")
	}
	set(endpoint.Faults{DropResponse: 1})
	if err := put(); err == nil {
		t.Error("the answer was not lost")
	}
	set(endpoint.Faults{})
	if !stored() {
		t.Error("a request whose answer was lost was not done")
	}

	hangs := func(id string) (done bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		item := key(id)
		item["status"] = &types.AttributeValueMemberS{Value: "OPEN"}
		_, err := f.dynamodb.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("questions"), Item: item})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a request that is never answered: %v", err)
		}
		output := must.Get(enginetest.Engine(t).Client(f.database).GetItem(t.Context(),
			&dynamodb.GetItemInput{TableName: aws.String("questions"), Key: key(id)}))(t)
		return output.Item != nil
	}
	set(endpoint.Faults{Hang: 1, Seed: 1})
	done := map[bool]int{}
	for i := 0; i < 100 && len(done) < 2; i++ {
		done[hangs(fmt.Sprint("hanging ", i))]++
	}
	if done[true] == 0 || done[false] == 0 {
		t.Errorf("requests that were never answered were done or not: %v", done)
	}
	set(endpoint.Faults{})
	for _, wrong := range []float64{-0.1, 1.1} {
		if err := f.server.SetFaults(endpoint.Faults{Throttle: wrong}); err == nil {
			t.Errorf("probability %v was taken", wrong)
		}
	}
}

func TestFaultsCanBeRepeated(t *testing.T) {
	t.Parallel()
	f := start(t, everything)
	run := func() (outcome []bool) {
		must.OK(t, f.server.SetFaults(endpoint.Faults{Throttle: 0.5, Seed: 7}))
		for range 30 {
			outcome = append(outcome, calls(t)["get"].do(t, f) == nil)
		}
		return outcome
	}
	first := run()
	if difference := cmp.Diff(first, run()); difference != "" {
		t.Error(difference)
	}
}

// signed is an Authorization header of the function asker.
func signed(service string) string { return awstest.Signed(awstest.AccessKey, "us-east-1", service) }

// failure is the error of an answer of a service.
type failure struct {
	Type                string `json:"__type"`
	Message             string
	CancellationReasons []struct{ Code string }
}

func (f *failure) Error() string { return f.Type + ": " + f.Message }

// signatures are the names of services in signatures, and what begins their targets. S3 and Bedrock have paths instead.
var signatures = map[string][2]string{"Bedrock": {"bedrock"}, "DynamoDB": {"dynamodb", "DynamoDB_20120810."},
	"EventBridge": {"events", "AWSEvents."}, "S3": {"s3"}, "SQS": {"sqs", "AmazonSQS."},
	"Secrets Manager": {"secretsmanager", "secretsmanager."}}

// send sends a request of the function asker, and returns the answer, or a *failure. A call is a service and an
// operation, such as "SQS SendMessage"; a request is its input, or a method, a path and a header or a body, as of "PUT /lake/a".
func (f *fixture) send(t *testing.T, call, request string) (string, error) {
	t.Helper()
	i := strings.LastIndexByte(call, ' ')
	service, method, path, body := signatures[call[:i]], http.MethodPost, "/", request
	header := http.Header{"Authorization": {signed(service[0])}, "X-Amz-Target": {service[1] + call[i+1:]}}
	if service[1] == "" {
		words := strings.SplitN(request, " ", 3)
		method, path, body = words[0], words[1], map[bool]string{true: "x"}[words[0] == http.MethodPut]
		header.Del("X-Amz-Target")
		if name, value, ok := strings.Cut(words[len(words)-1], ": "); ok {
			header.Set(name, value)
		} else if len(words) == 3 {
			body = words[2]
		}
	}
	response, text, err := awstest.Exchange(t, method, f.url+path, body, header)
	if err != nil {
		return "", err
	}
	failed, entries := &failure{}, struct{ Entries []struct{ ErrorCode string } }{}
	if json.Unmarshal([]byte(text), failed) != nil {
		if _, after, ok := strings.Cut(text, "<Code>"); ok {
			failed.Type, failed.Message, _ = strings.Cut(after, "</Code>")
		}
	} else if _, code, ok := strings.Cut(failed.Type, "#"); ok {
		failed.Type = code
	}
	if code, _, ok := strings.Cut(response.Header.Get("X-Amzn-Query-Error"), ";"); ok {
		failed.Type = code
	}
	if json.Unmarshal([]byte(text), &entries) == nil && len(entries.Entries) > 0 {
		failed.Type = entries.Entries[0].ErrorCode
	}
	if response.StatusCode < http.StatusMultipleChoices && failed.Type == "" {
		return text, nil
	}
	return text, failed
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	f := start(t, everything)
	for name, test := range map[string]struct{ authorization, target, body, want string }{
		"no signature":     {"", "DynamoDB_20120810.GetItem", "{}", "MissingAuthenticationTokenException"},
		"broken signature": {"Credential=", "DynamoDB_20120810.GetItem", "{}", "MissingAuthenticationTokenException"},
		"unknown key": {awstest.Signed("OTHER", "us-east-1", "dynamodb"), "DynamoDB_20120810.GetItem", "{}",
			"UnrecognizedClientException"},
		"unknown operation": {signed("dynamodb"), "DynamoDB_20120810.DeleteTable", "{}",
			"does not serve DeleteTable of dynamodb"},
		"PartiQL": {signed("dynamodb"), "DynamoDB_20120810.ExecuteStatement", "{}",
			"UnknownOperationException"},
		"unknown service": {signed("kms"), "TrentService.Encrypt", "{}",
			"does not serve Encrypt of kms"},
		"no operation": {signed("s3"), "", "{}", "does not serve POST / of s3"},
		"no scope":     {"Credential=ASKERKEY", "DynamoDB_20120810.GetItem", "{}", "an unnamed service"},
		"no JSON": {signed("dynamodb"), "DynamoDB_20120810.GetItem", "\xff",
			"SerializationException"},
		"a list": {signed("dynamodb"), "DynamoDB_20120810.GetItem", "[]",
			"SerializationException"},
		"null": {signed("dynamodb"), "DynamoDB_20120810.GetItem", "null",
			"SerializationException"},
		"empty object": {signed("dynamodb"), "DynamoDB_20120810.GetItem", " { } ", "Exception"},
		"secrets, no JSON": {signed("secretsmanager"), "secretsmanager.GetSecretValue", "",
			"SerializationException"},
		"secrets, operation": {signed("secretsmanager"), "secretsmanager.PutSecretValue", "{}",
			"does not serve PutSecretValue"},
		"queue, operation": {signed("sqs"), "AmazonSQS.CreateQueue", "{}", "does not serve CreateQueue"},
		"queue, empty URL": {signed("sqs"), "AmazonSQS.SendMessage", "{}", "QueueDoesNotExist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, text, err := awstest.Exchange(t, http.MethodPost, f.url, test.body,
				http.Header{"Authorization": {test.authorization}, "X-Amz-Target": {test.target}})
			must.OK(t, err)
			if response.StatusCode != http.StatusBadRequest || !strings.Contains(text, test.want) {
				t.Errorf("got %d %s, want %q", response.StatusCode, text, test.want)
			}
			if want := strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(text))),
				10); response.Header.Get("X-Amz-Crc32") != want {
				t.Errorf("got checksum %s, want %s", response.Header.Get("X-Amz-Crc32"), want)
			}
		})
	}
}

func TestAuthorise(t *testing.T) {
	t.Parallel()
	f := start(t, `[{"Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": "group"}]`)
	if err := f.server.Authorise("asker", "logs:PutLogEvents", "group"); err != nil {
		t.Error(err)
	}
	var denied *endpoint.DeniedError
	if err := f.server.Authorise("asker", "logs:CreateLogStream", "group"); !errors.As(err, &denied) {
		t.Errorf("got %v", err)
	}
	if err := f.server.Authorise("nobody", "a:b", "c"); !errors.Is(err, endpoint.ErrUnknownFunction) {
		t.Errorf("got %v", err)
	}
}

func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	f := start(t, everything)
	must.OK(t, calls(t)["put"].do(t, f))
	f.server.ResetCapacity()
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 10 {
				if err := calls(t)["get"].do(t, f); err != nil {
					t.Error(err)
				}
				_, _ = f.server.Used(), f.server.Capacity()
			}
		})
	}
	group.Wait()
	if rows := f.server.Capacity(); len(rows) != 1 || rows[0].Requests != 160 || rows[0].ReadUnits != 80 {
		t.Errorf("got %+v", rows)
	}
}

// BenchmarkGetItem compares reading through the endpoint with reading from the engine directly.
func BenchmarkGetItem(b *testing.B) {
	f := start(b, everything)
	direct := enginetest.Engine(b)
	body := []byte(`{"ReturnConsumedCapacity":"INDEXES","TableName":"questions","Key":{"id":{"S":"1"}}}`)
	get := func(b *testing.B, client *http.Client, url, authorization string) {
		request := must.Get(http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/", bytes.NewReader(body)))(b)
		request.Header.Set("Authorization", authorization)
		request.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
		request.Header.Set("Content-Type", "application/x-amz-json-1.0")
		response := must.Get(client.Do(request))(b)
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	for name, to := range map[string]struct{ url, key string }{"direct": {direct.URL(), f.database},
		"endpoint": {f.url, "ASKERKEY"}} {
		b.Run(name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
			for b.Loop() {
				get(b, client, to.url, awstest.Signed(to.key, "us-east-1", "dynamodb"))
			}
		})
	}
}
