package policy_test

import (
	"errors"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// The policies of a queue decide on what a service sends to it.
func TestMaySend(t *testing.T) {
	t.Parallel()
	const (
		rule    = "arn:aws:events:us-east-1:000000000000:rule/own/asked"
		allowed = `{"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Action": "SQS:SendMessage", "Resource": "*"`
		secured = `{"Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": "*",
			"Condition": {"Bool": {"aws:SecureTransport": "false"}}}`
	)
	for name, test := range map[string]struct {
		statements  string
		may         bool
		unsupported bool
	}{
		"allowed":          {allowed + `}`, true, false},
		"of the rule":      {allowed + `, "Condition": {"ArnEquals": {"aws:SourceArn": "` + rule + `"}}}`, true, false},
		"of another rule":  {allowed + `, "Condition": {"ArnEquals": {"aws:SourceArn": "` + rule + `2"}}}`, false, false},
		"of the account":   {allowed + `, "Condition": {"StringEquals": {"aws:SourceAccount": "000000000000"}}}`, true, false},
		"of an account":    {allowed + `, "Condition": {"StringEquals": {"aws:SourceAccount": "1"}}}`, false, false},
		"over TLS":         {`[` + secured + `, ` + allowed + `}]`, true, false},
		"everyone":         {`{"Effect": "Allow", "Principal": "*", "Action": "sqs:*", "Resource": "*"}`, true, false},
		"every principal":  {`{"Effect": "Allow", "Principal": {"AWS": ["*"]}, "Action": "sqs:*", "Resource": "*"}`, true, false},
		"another service":  {`{"Effect": "Allow", "Principal": {"Service": ["sns.amazonaws.com"]}, "Action": "sqs:*", "Resource": "*"}`, false, false},
		"another action":   {`{"Effect": "Allow", "Principal": "*", "Action": "sqs:ReceiveMessage", "Resource": "*"}`, false, false},
		"another resource": {`{"Effect": "Allow", "Principal": "*", "Action": "sqs:*", "Resource": "arn:aws:sqs:us-east-1:1:x"}`, false, false},
		"denied":           {`[` + allowed + `}, {"Effect": "Deny", "Principal": "*", "Action": "sqs:SendMessage", "Resource": "*"}]`, false, false},
		"others' condition": {`[` + allowed + `}, {"Effect": "Allow", "Principal": {"AWS": "x"}, "Action": "sqs:*", "Resource": "*",
			"Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}]`, true, false},
		"unknown condition": {allowed + `, "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}`, false, true},
		"all but one":       {`{"Effect": "Allow", "NotPrincipal": {"AWS": "x"}, "Action": "sqs:*", "Resource": "*"}`, false, true},
	} {
		a := assemblytest.Load(t, `{"Inbox": {"Type": "AWS::SQS::Queue"}, "Other": {"Type": "AWS::SQS::Queue"},
			"Policy": {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": [{"Ref": "Inbox"}], "PolicyDocument": {"Statement": `+
			test.statements+`}}}}`)
		may, err := policy.MaySend(a, "events.amazonaws.com", a.ByName("Stack-Inbox", "AWS::SQS::Queue"), rule)
		if _, unsupported := errors.AsType[*policy.UnsupportedError](err); may != test.may ||
			unsupported != test.unsupported || !unsupported && err != nil {
			t.Errorf("%s: got %v, %v", name, may, err)
		}
		other := a.ByName("Stack-Other", "AWS::SQS::Queue")
		if may, err := policy.MaySend(a, "events.amazonaws.com", other, rule); may || err != nil {
			t.Errorf("%s: another queue: got %v, %v", name, may, err)
		}
	}
}
