package run_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// A route with IAM lets in users, and roles of the assembly and functions as far as their policies allow.
func TestPrincipals(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template("callers"), nil)
	url := r.URL("Items")
	var environment struct{ Key string }
	if _, body := call(t, "GET", url+"/environment", ""); json.Unmarshal([]byte(body), &environment) != nil ||
		environment.Key == "" {
		t.Fatalf("got %s", body)
	}
	for key, status := range map[string]int{"billing": 200, "caller": 200, "other": 403, environment.Key: 403,
		"": 403} {
		signed := must.Get(http.NewRequestWithContext(t.Context(), "GET", url+"/secret", nil))(t)
		empty := sha256.Sum256(nil)
		by := aws.Credentials{AccessKeyID: key, SecretAccessKey: "local"}
		must.OK(t, v4.NewSigner().SignHTTP(t.Context(), by, signed, hex.EncodeToString(empty[:]), "execute-api",
			"us-east-1", time.Now()))
		headers := []string{"X-Amz-Date", signed.Header.Get("X-Amz-Date")}
		if key != "" {
			headers = append(headers, "Authorization", signed.Header.Get("Authorization"))
		}
		if got, body := call(t, "GET", url+"/secret", "", headers...); got != status {
			t.Errorf("%s: got %d %s; want %d", key, got, body, status)
		}
	}
	refused := runtest.Of(r).Refused()
	if len(refused) != 1 || refused[0].Action != "execute-api:Invoke" {
		t.Errorf("roles of functions refused %v", refused)
	}
}

// The command aws, and SDKs, call all at the run's endpoint with the operator's credentials, and the console sends
// messages as Amazon SQS takes them.
func TestOperator(t *testing.T) {
	t.Parallel()
	r, printed := start(t, template(), nil)
	var index struct {
		Endpoint string `json:"aws_endpoint"`
	}
	if _, body := call(t, "GET", r.ConsoleURL()+"/", "", "Accept", "application/json"); json.Unmarshal([]byte(body),
		&index) != nil || !strings.Contains(printed.String(), "\nAWS        "+index.Endpoint+"  (") {
		t.Fatalf("got %s, printed %s", body, printed)
	}
	config := aws.Config{Region: "us-east-1", BaseEndpoint: &index.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(run.Operator, "local", "")}
	table := r.Parts().Assembly.Tables()[0].Name
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "by hand"}}
	tables := dynamodb.NewFromConfig(config)
	must.Get(tables.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: key}))(t)
	got, err := tables.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
	if err != nil || len(got.Item) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	queue := r.Parts().AWS.Queues()[0]
	if _, err := sqs.NewFromConfig(config).SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &queue.URL,
		MessageBody: aws.String("by the SDK")}); err != nil {
		t.Error(err)
	}
	messages := r.ConsoleURL() + "/queues/" + queue.Name + "/messages"
	want(t, 200, `"id"`)(call(t, "POST", messages, `{"body":"by the console","attributes":{"kind":"test"}}`))
	want(t, 400, "Invalid characters found")(call(t, "POST", messages, `{"body":"\u0001"}`))
	want(t, 400, "MessageBody")(call(t, "POST", messages, `{}`))
	want(t, 404, "no queue")(call(t, "POST", r.ConsoleURL()+"/queues/none/messages", `{"body":"x"}`))
	var bodies []string
	for _, message := range queue.Messages() {
		bodies = append(bodies, message.Body)
	}
	if diff := cmp.Diff([]string{"by the SDK", "by the console"}, bodies); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
