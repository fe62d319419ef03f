package todo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run"
)

// The longest event that Lambda gives a function at once is written in time.
func TestLakeTakesTheLongestBatch(t *testing.T) {
	t.Parallel()
	l := lakeOf(t, suite.OwnRun(t, run.Options{}))
	const most = 6 << 20 // "Lambda quotas": invocation payload
	const record = `{"eventID":"%032[1]x","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-central-1","dynamodb":{
		"ApproximateCreationDateTime":1767225600,"SequenceNumber":"%[1]d","SizeBytes":100,"StreamViewType":"NEW_AND_OLD_IMAGES","Keys":{"PK":{"S":"TASK#ann"},"SK":{"S":"TASK#%[1]d"}},
		"NewImage":{"PK":{"S":"TASK#ann"},"SK":{"S":"TASK#%[1]d"},"title":{"S":"a"},"description":{"S":"%[2]s"},"status":{"S":"pending"},"version":{"N":"1"},"created_at":{"N":"1767225600"},"updated_at":{"N":"1767225600"}}}}`
	var event strings.Builder
	records := 0
	for separator := `{"Records":[`; event.Len() < most-5000; separator = "," {
		records++
		fmt.Fprintf(&event, separator+record, records, strings.Repeat("ü", 1000))
	}
	event.WriteString("]}")
	begun := time.Now()
	result, err := l.Run.Invoke(t.Context(), l.writer, []byte(event.String()))
	if err != nil || result.FunctionError != "" {
		t.Fatalf("the writer failed: %s, %v", result.Payload, err)
	}
	t.Logf("%d records of %d bytes took %v", records, event.Len(), time.Since(begun).Round(time.Millisecond))
	if n := count(t, l.copied(t), "SELECT count(*) AS n FROM tasks_current WHERE length(description) = 1000"); n !=
		records || len(l.failed(t)) != 0 {
		t.Errorf("got %d tasks of %d, and the failures %v", n, records, l.failed(t))
	}
}
