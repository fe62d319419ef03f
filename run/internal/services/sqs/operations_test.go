package sqs

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
)

// SQS takes no message with another character than those of its reference, in the body or an attribute.
func TestLetters(t *testing.T) {
	t.Parallel()
	for text, taken := range map[string]bool{
		"hello": true, "a\tb\nc\rd": true, "\ufffd": true, "😀": true, "\x7f": true, "\ue000": true,
		"a\x00b": false, "\x01": false, "\x08": false, "\x0b": false, "\x0c": false, "\x0e": false, "\x1f": false,
		"\ufffe": false, "\uffff": false,
	} {
		attribute := map[string]MessageAttribute{"cause": {DataType: "String", StringValue: text}}
		for _, e := range []entry{{MessageBody: text}, {MessageBody: "x", MessageAttributes: attribute}} {
			failure, _ := errors.AsType[*aws.Failure](e.check())
			if taken != (failure == nil) || !taken && failure.QueryError != "InvalidMessageContents" {
				t.Errorf("%q: got %v of %+v", text, failure, e)
			}
		}
		if taken {
			continue
		}
		one := must.Get(json.Marshal(entry{Id: "1", MessageBody: text}))(t)
		answer, err := sendMessageBatch(t.Context(), nil, input{Entries: []json.RawMessage{one}})
		said, _ := json.Marshal(answer)
		if err != nil || !strings.Contains(string(said), `"Code":"InvalidMessageContents"`) {
			t.Errorf("%q in a batch: got %s, %v", text, said, err)
		}
	}
	empty := entry{MessageBody: "x", MessageAttributes: map[string]MessageAttribute{"cause": {DataType: "String"}}}
	if err := empty.check(); err == nil || !strings.Contains(err.Error(), "must contain a non-empty value") {
		t.Errorf("an empty attribute: got %v", err)
	}
}
