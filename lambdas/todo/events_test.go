package todo_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// TestEventSchemas compares the schemas of the events with those that receivers read.
func TestEventSchemas(t *testing.T) {
	t.Parallel()
	triggertest.CheckSchemas(t, todo.Platform(), "../../docs/reference/events/todo")
}

// A deletion is in the new image of a user's counts alone.
func TestDeletionOf(t *testing.T) {
	t.Parallel()
	for partition, images := range map[string]map[string]bool{
		"COUNTS#b#ob": {`{"deletion":{"S":"id"},"pending":{"N":"3"}}`: true, `{"pending":{"N":"3"}}`: false,
			`{"deletion":{"N":"1"}}`: false, `{"deletion":{"S":""}}`: false, `{}`: false},
		"TASK#b#ob": {`{"deletion":{"S":"id"}}`: false},
	} {
		for image, want := range images {
			var change events.DynamoDBStreamRecord
			must.OK(t, json.Unmarshal(fmt.Appendf(nil, `{"Keys":{"PK":{"S":%q}},"OldImage":{"deletion":{"S":"old"}},
				"NewImage":%s}`, partition, image), &change))
			deletion, err := service.DeletionOf(change)
			var expected service.Deletion
			if want {
				expected = service.Deletion{User: "b#ob", ID: "id"}
			}
			if err != nil || deletion != expected {
				t.Errorf("%s %s: got %+v, %v", partition, image, deletion, err)
			}
		}
	}
}
