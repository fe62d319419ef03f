package services_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzRequests sends any target and body with a function's access key. The answer is always a result, or an error in
// JSON with a type.
func FuzzRequests(f *testing.F) {
	for _, seed := range [][3]string{
		{"dynamodb", "DynamoDB_20120810.GetItem", `{"TableName":"questions","Key":{"id":{"S":"1"}}}`},
		{"dynamodb", "DynamoDB_20120810.TransactWriteItems",
			`{"TransactItems":[{"Put":null},{"Update":{}}],"ReturnConsumedCapacity":"TOTAL"}`},
		{"dynamodb", "DynamoDB_20120810.BatchWriteItem", `{"RequestItems":{"":[]}}`},
		{"dynamodb", "DynamoDB_20120810.Query", `{"TableName":"arn:x","IndexName":"\u0000"}`},
		{"secretsmanager", "secretsmanager.GetSecretValue", `{"SecretId":""}`},
		{"sqs", "AmazonSQS.SendMessageBatch", `{"QueueUrl":"work","Entries":[{},{"Id":1}]}`},
		{"sqs", "AmazonSQS.ReceiveMessage", `{"QueueUrl":"/work","MaxNumberOfMessages":"x","VisibilityTimeout":-5}`},
		{"sqs", "AmazonSQS.ChangeMessageVisibility",
			`{"QueueUrl":"work","ReceiptHandle":"","VisibilityTimeout":99999999999999999999}`},
		{"events", "AWSEvents.PutEvents", `{"Entries":[{"Source":"s","DetailType":"d","Detail":"{}","Time":-1e300}]}`},
		{"", "", "null"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	fixture := start(f, everything)
	f.Fuzz(func(t *testing.T, service, target, body string) {
		if strings.Contains(body, "WaitTimeSeconds") {
			t.Skip("it would wait")
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		request.Header.Set("Authorization", signed(service))
		request.Header.Set("X-Amz-Target", target)
		answer := httptest.NewRecorder()
		fixture.server.ServeHTTP(answer, request)
		var members map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &members); err != nil {
			t.Fatalf("got %d %q", answer.Code, answer.Body)
		}
		if answer.Code != http.StatusOK && members["__type"] == nil {
			t.Errorf("got %d %v", answer.Code, members)
		}
	})
}
