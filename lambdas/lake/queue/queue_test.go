package queue

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func TestSend(t *testing.T) {
	t.Parallel()
	const url = "https://sqs.eu-central-1.amazonaws.com/000000000000/failures"
	var bodies []string
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var input struct{ QueueUrl, MessageBody string }
		if err := json.NewDecoder(r.Body).Decode(&input); err != nil || input.QueueUrl != url || r.Header.Get("X-Amz-Target") != "AmazonSQS.SendMessage" {
			t.Errorf("got %+v, %v, %v", input, err, r.Header)
		}
		if input.MessageBody == "refuse" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"com.amazonaws.sqs#InvalidMessageContents","message":"no"}`)
			return
		}
		bodies = append(bodies, input.MessageBody)
		sum := md5.Sum([]byte(input.MessageBody))
		fmt.Fprintf(w, `{"MessageId":"1","MD5OfMessageBody":%q}`, hex.EncodeToString(sum[:]))
	}))
	t.Cleanup(server.Close)
	q := New(aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: &server.URL, Retryer: kit.Retryer,
	}, url)
	if err := q.Send(t.Context(), `{"cause":"ü"}`); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 1 || bodies[0] != `{"cause":"ü"}` || calls != 2 {
		t.Errorf("got %q in %d calls", bodies, calls)
	}
	if err := q.Send(t.Context(), "refuse"); err == nil || !strings.Contains(err.Error(), "SQS SendMessage") {
		t.Errorf("got %v", err)
	}
}
