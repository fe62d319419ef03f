package sqs

// The operations of the API.

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// entry is one message to send: of SendMessage or of a batch.
type entry struct {
	Id                string
	MessageBody       string
	DelaySeconds      *number
	MessageAttributes map[string]MessageAttribute
}

type input struct {
	entry
	QueueUrl              string
	QueueName             string
	Entries               []json.RawMessage
	ReceiptHandle         string
	MaxNumberOfMessages   *number
	VisibilityTimeout     *number
	WaitTimeSeconds       *number
	MessageAttributeNames []string
	AttributeNames        []string
}

func (s *Service) operations() aws.Operations {
	all := aws.Operations{}
	for name, serve := range map[string]func(context.Context, *Queue, input) (any, error){
		"SendMessage":             sendMessage,
		"SendMessageBatch":        sendMessageBatch,
		"ReceiveMessage":          receiveMessage,
		"DeleteMessage":           deleteMessage,
		"DeleteMessageBatch":      deleteMessageBatch,
		"ChangeMessageVisibility": changeMessageVisibility,
		"GetQueueAttributes":      getQueueAttributes,
		"GetQueueUrl": func(_ context.Context, q *Queue, _ input) (any, error) {
			return map[string]string{"QueueUrl": q.URL}, nil
		},
		"PurgeQueue": func(_ context.Context, q *Queue, _ input) (any, error) { q.Purge(); return struct{}{}, nil },
	} {
		all[name] = aws.Typed(s.needs, func(call *aws.Call, in input) (any, error) {
			queue := s.Queue(in.queue())
			if queue == nil {
				return nil, &aws.Failure{Type: "com.amazonaws.sqs#QueueDoesNotExist",
					Message:    "The specified queue does not exist.",
					QueryError: "AWS.SimpleQueueService.NonExistentQueue"}
			}
			return serve(call.Request.Context(), queue, in)
		})
	}
	return all
}

// queue is the URL or name of the queue that the input is for.
func (in input) queue() string { return cmp.Or(in.QueueUrl, in.QueueName) }

func (s *Service) needs(call *aws.Call, in input) ([]aws.Permission, error) {
	// Batches are authorised as the operation they repeat ("Actions, resources, and condition keys for Amazon SQS").
	needed := aws.Permission{Action: "sqs:" + strings.TrimSuffix(call.Operation, "Batch")}
	if queue := s.Queue(in.queue()); queue != nil {
		needed.Resource = queue.ARN
	} else {
		id := in.queue()
		needed.Resource = fmt.Sprintf("arn:aws:sqs:%s:%s:%s", cmp.Or(call.Region, assembly.DefaultRegion), call.Account,
			id[strings.LastIndexByte(id, '/')+1:])
	}
	return []aws.Permission{needed}, nil
}

// Longest is SQS's limit on a message, body and attributes together, in bytes: 1 MiB.
const Longest = 1 << 20

// allowed is what SQS takes in a message: anything else is InvalidMessageContents ("SendMessage", Amazon SQS API
// Reference).
const allowed = "#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"

func isRefused(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
}

// maxAttributes is SQS's limit on the attributes of a message.
const maxAttributes = 10

// attributeName is what a name of an attribute consists of, up to its limit in characters. It has neither two periods
// in a row, nor one of the reserved beginnings ("Message attribute components", Amazon SQS Developer Guide).
var (
	attributeName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	reservedName  = regexp.MustCompile(`(?i)^(aws|amazon)\.`)
	attributeType = regexp.MustCompile(`^(String|Number|Binary)(\..+)?$`)
)

// longestName is SQS's limit on the name and on the type of an attribute, in characters.
const longestName = 256

// check returns what SQS says of an attribute that it refuses.
func (a MessageAttribute) check(name string) (problem string) {
	binary := strings.HasPrefix(a.DataType, "Binary")
	switch {
	case len(name) > longestName || !attributeName.MatchString(name) || reservedName.MatchString(name):
		return fmt.Sprintf("Message (user) attribute name '%s' is invalid. It can contain A-Z, a-z, 0-9, underscore "+
			"(_), hyphen (-), and period (.) characters, and must not begin with AWS. or Amazon.", name)
	case len(a.DataType) > longestName || !attributeType.MatchString(a.DataType):
		return fmt.Sprintf("The message (user) attribute '%s' has an invalid message (user) attribute type, the set "+
			"of supported type prefixes is Binary, Number, and String.", name)
	case binary && len(a.BinaryValue) == 0, !binary && a.StringValue == "":
		return fmt.Sprintf("Message (user) attribute '%s' must contain a non-empty value of type '%s'.", name,
			a.DataType)
	}
	return ""
}

func (e entry) check() error {
	refused := strings.ContainsFunc(e.MessageBody, isRefused)
	size := len(e.MessageBody)
	for name, attribute := range e.MessageAttributes {
		size += len(name) + len(attribute.DataType) + len(attribute.StringValue) + len(attribute.BinaryValue)
		refused = refused || strings.ContainsFunc(attribute.StringValue, isRefused)
		if problem := attribute.check(name); problem != "" {
			return &aws.Failure{Type: "com.amazonaws.sqs#InvalidParameterValue", QueryError: "InvalidParameterValue",
				Message: problem}
		}
	}
	switch {
	case len(e.MessageAttributes) > maxAttributes:
		return &aws.Failure{Type: "com.amazonaws.sqs#InvalidParameterValue", QueryError: "InvalidParameterValue",
			Message: fmt.Sprintf("Number of message attributes [%d] exceeds the allowed maximum [%d].",
				len(e.MessageAttributes), maxAttributes)}
	case refused:
		return &aws.Failure{Type: "com.amazonaws.sqs#InvalidMessageContents", QueryError: "InvalidMessageContents",
			Message: "Invalid characters found. Valid unicode characters are " + allowed}
	case e.MessageBody == "":
		return &aws.Failure{Type: "com.amazonaws.sqs#MissingParameter",
			Message: "The request must contain the parameter MessageBody.", QueryError: "MissingParameter"}
	case size > Longest:
		return &aws.Failure{Type: "com.amazonaws.sqs#InvalidParameterValue", QueryError: "InvalidParameterValue",
			Message: fmt.Sprintf("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.",
				Longest)}
	case e.DelaySeconds != nil && (*e.DelaySeconds < 0 || *e.DelaySeconds > 900):
		return &aws.Failure{Type: "com.amazonaws.sqs#InvalidParameterValue", QueryError: "InvalidParameterValue",
			Message: fmt.Sprintf("Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 "+
				"and <= 900.", *e.DelaySeconds)}
	}
	return nil
}

func (e entry) sendTo(queue *Queue) map[string]string {
	delay := queue.settings().delay
	if e.DelaySeconds != nil {
		delay = time.Duration(*e.DelaySeconds) * time.Second
	}
	answer := map[string]string{"MessageId": queue.send(e.MessageBody, e.MessageAttributes, delay),
		"MD5OfMessageBody": digest([]byte(e.MessageBody))}
	if len(e.MessageAttributes) > 0 {
		answer["MD5OfMessageAttributes"] = attributesDigest(e.MessageAttributes)
	}
	return answer
}

func sendMessage(_ context.Context, queue *Queue, in input) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return in.sendTo(queue), nil
}

// batch decodes the entries of a batch request: 1 to 10 with different ids.
func batch[Entry any](in input, id func(Entry) string) ([]Entry, error) {
	if len(in.Entries) == 0 {
		return nil, &aws.Failure{Type: "com.amazonaws.sqs#EmptyBatchRequest",
			Message:    "There should be at least one entry in the request.",
			QueryError: "AWS.SimpleQueueService.EmptyBatchRequest"}
	}
	if len(in.Entries) > 10 {
		return nil, &aws.Failure{Type: "com.amazonaws.sqs#TooManyEntriesInBatchRequest",
			QueryError: "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
			Message:    fmt.Sprintf("Maximum number of entries per request are 10. You have sent %d.", len(in.Entries))}
	}
	entries, ids := make([]Entry, len(in.Entries)), map[string]bool{}
	for i, raw := range in.Entries {
		if err := json.Unmarshal(raw, &entries[i]); err != nil {
			return nil, &aws.Failure{Type: aws.Serialization, Message: err.Error()}
		}
		if ids[id(entries[i])] {
			return nil, &aws.Failure{Type: "com.amazonaws.sqs#BatchEntryIdsNotDistinct",
				QueryError: "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
				Message:    fmt.Sprintf("Id %s repeated.", id(entries[i]))}
		}
		ids[id(entries[i])] = true
	}
	return entries, nil
}

type batchFailure struct {
	Id, Code, Message string
	SenderFault       bool
}

func sendMessageBatch(_ context.Context, queue *Queue, in input) (any, error) {
	entries, err := batch(in, func(e entry) string { return e.Id })
	if err != nil {
		return nil, err
	}
	sent, failed := []map[string]string{}, []batchFailure{}
	for _, entry := range entries {
		if err := entry.check(); err != nil {
			code := "InvalidParameterValue"
			if failure, ok := errors.AsType[*aws.Failure](err); ok {
				code = failure.QueryError
			}
			failed = append(failed, batchFailure{Id: entry.Id, Code: code, Message: err.Error(), SenderFault: true})
			continue
		}
		answer := entry.sendTo(queue)
		answer["Id"] = entry.Id
		sent = append(sent, answer)
	}
	return map[string]any{"Successful": sent, "Failed": failed}, nil
}

func receiveMessage(ctx context.Context, queue *Queue, in input) (any, error) {
	set := queue.settings()
	most, visibility, wait := 1, set.visibility, set.wait
	if in.MaxNumberOfMessages != nil {
		if most = int(*in.MaxNumberOfMessages); most < 1 || most > 10 {
			return nil, &aws.Failure{Type: "com.amazonaws.sqs#InvalidParameterValue",
				QueryError: "InvalidParameterValue",
				Message: fmt.Sprintf("Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be "+
					"between 1 and 10, if provided.", most)}
		}
	}
	if in.VisibilityTimeout != nil {
		visibility = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	if in.WaitTimeSeconds != nil {
		wait = time.Duration(*in.WaitTimeSeconds) * time.Second
	}
	messages := []map[string]any{}
	for _, message := range queue.receive(ctx, most, visibility, min(wait, 20*time.Second)) {
		answer := map[string]any{"MessageId": message.ID, "ReceiptHandle": message.receipt, "Body": message.Body,
			"MD5OfBody":  digest([]byte(message.Body)),
			"Attributes": Received{Message: message, First: message.first}.attributes()}
		wanted := map[string]MessageAttribute{}
		for name, attribute := range message.Attributes {
			if slices.ContainsFunc(in.MessageAttributeNames, func(want string) bool {
				prefix, wildcard := strings.CutSuffix(want, ".*")
				return want == "All" || want == name || wildcard && strings.HasPrefix(name, prefix)
			}) {
				wanted[name] = attribute
			}
		}
		if len(wanted) > 0 {
			answer["MessageAttributes"], answer["MD5OfMessageAttributes"] = wanted, attributesDigest(wanted)
		}
		messages = append(messages, answer)
	}
	return map[string]any{"Messages": messages}, nil
}

func deleteMessage(_ context.Context, queue *Queue, in input) (any, error) {
	// Deleting a missing message succeeds, as in AWS.
	queue.remove(in.ReceiptHandle)
	return struct{}{}, nil
}

func deleteMessageBatch(_ context.Context, queue *Queue, in input) (any, error) {
	type deletion struct{ Id, ReceiptHandle string }
	entries, err := batch(in, func(d deletion) string { return d.Id })
	if err != nil {
		return nil, err
	}
	deleted := []map[string]string{}
	for _, entry := range entries {
		queue.remove(entry.ReceiptHandle)
		deleted = append(deleted, map[string]string{"Id": entry.Id})
	}
	return map[string]any{"Successful": deleted, "Failed": []batchFailure{}}, nil
}

// longestVisibility is SQS's limit on a visibility time-out, 12 hours in seconds.
const longestVisibility = 43200

func changeMessageVisibility(_ context.Context, queue *Queue, in input) (any, error) {
	if in.VisibilityTimeout == nil {
		return nil, &aws.Failure{Type: "com.amazonaws.sqs#MissingParameter",
			Message: "The request must contain the parameter VisibilityTimeout.", QueryError: "MissingParameter"}
	}
	if seconds := *in.VisibilityTimeout; seconds < 0 || seconds > longestVisibility {
		return nil, &aws.Failure{Type: "com.amazonaws.sqs#InvalidParameterValue", QueryError: "InvalidParameterValue",
			Message: fmt.Sprintf("Value %d for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout "+
				"must be an integer between 0 and %d.", seconds, longestVisibility)}
	}
	found := queue.find(in.ReceiptHandle, func(at int) {
		queue.messages[at].VisibleAt = time.Now().Add(time.Duration(*in.VisibilityTimeout) * time.Second)
		close(queue.arrived)
		queue.arrived = make(chan struct{})
	})
	if !found {
		return nil, &aws.Failure{Type: "com.amazonaws.sqs#ReceiptHandleIsInvalid",
			Message: "The input receipt handle is invalid.", QueryError: "ReceiptHandleIsInvalid"}
	}
	return struct{}{}, nil
}

func getQueueAttributes(_ context.Context, queue *Queue, in input) (any, error) {
	set := queue.settings()
	waiting, working, delayed := 0, 0, 0
	now := time.Now()
	for _, message := range queue.Messages() {
		switch {
		case !message.VisibleAt.After(now):
			waiting++
		case message.Received > 0:
			working++
		default:
			delayed++
		}
	}
	attributes := map[string]string{
		"QueueArn":                              queue.ARN,
		"ApproximateNumberOfMessages":           strconv.Itoa(waiting),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(working),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(delayed),
		"VisibilityTimeout":                     strconv.Itoa(int(set.visibility / time.Second)),
		"MessageRetentionPeriod":                strconv.Itoa(int(set.retention / time.Second)),
	}
	if set.dead != nil {
		attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, set.dead.ARN,
			set.most)
	}
	if !slices.Contains(in.AttributeNames, "All") {
		maps.DeleteFunc(attributes, func(name, _ string) bool { return !slices.Contains(in.AttributeNames, name) })
	}
	return map[string]any{"Attributes": attributes}, nil
}

func digest(text []byte) string {
	sum := md5.Sum(text)
	return hex.EncodeToString(sum[:])
}

// attributesDigest is described in "Calculating the MD5 message digest for message attributes" (AWS).
func attributesDigest(attributes map[string]MessageAttribute) string {
	var encoded []byte
	add := func(part []byte) {
		encoded = binary.BigEndian.AppendUint32(encoded, uint32(len(part)))
		encoded = append(encoded, part...)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		attribute := attributes[name]
		add([]byte(name))
		add([]byte(attribute.DataType))
		if strings.HasPrefix(attribute.DataType, "Binary") {
			encoded = append(encoded, 2)
			add(attribute.BinaryValue)
		} else {
			encoded = append(encoded, 1)
			add([]byte(attribute.StringValue))
		}
	}
	return digest(encoded)
}
