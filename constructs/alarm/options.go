package alarm

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Options change an alarm that another construct declares. A zero field leaves that
// construct's value.
type Options struct {
	// Off leaves the alarm out. Default: it is there.
	Off bool
	// Threshold is as in [Props], above 0. Default: the alarm's own.
	Threshold float64
	// Periods and Period are as in [Props]. In JSON, Period is in nanoseconds. Default: the alarm's
	// own.
	Periods int
	Period  time.Duration
	// Topic is as in [Props]; TopicARN is the ARN of an existing one, in the region of the alarm. Default: the topic of
	// all alarms.
	Topic    awssns.ITopic `json:"-"`
	TopicARN string
}

// Check adds a finding for each option that is invalid. Their paths begin with path. region is the alarm's, or "" while
// it is not known.
func (o Options) Check(f *finding.List, path, region string) {
	if o.Off && o != (Options{Off: true}) {
		f.Add(path+".Off", true, "false with other options", "choose: an alarm that is left out has no options")
	}
	if o.Threshold < 0 || math.IsNaN(o.Threshold) || math.IsInf(o.Threshold, 0) {
		f.Add(path+".Threshold", o.Threshold, "a number above 0", "leave it 0 for the alarm's own")
	}
	checkPeriods(f, path, o.Period, o.Periods)
	if props.CheckResource(f, path+".Topic", o.Topic, region) && o.TopicARN != "" {
		f.Add(path+".TopicARN", o.TopicARN, "empty with a Topic", "choose one of both")
	}
	CheckTopicARN(f, path+".TopicARN", o.TopicARN, region)
}

// Changes says in words what the options change, such as "threshold 5, period 10m0s", or "" if they
// change nothing that the alarm's description mentions.
func (o Options) Changes() string {
	var words []string
	if o.Threshold != 0 {
		words = append(words, fmt.Sprint("threshold ", o.Threshold))
	}
	if o.Periods != 0 {
		words = append(words, fmt.Sprint("periods ", o.Periods))
	}
	if o.Period != 0 {
		words = append(words, fmt.Sprint("period ", o.Period))
	}
	return strings.Join(words, ", ")
}

// With returns the props with the options applied. scope and id are the alarm's: the topic of a TopicARN is imported
// into scope as id and "Topic".
func (p Props) With(scope constructs.Construct, id string, o Options) Props {
	p.Threshold = cmp.Or(o.Threshold, p.Threshold)
	p.Periods = cmp.Or(o.Periods, p.Periods)
	p.Period = cmp.Or(o.Period, p.Period)
	p.Topic = cmp.Or(o.Topic, p.Topic)
	if o.TopicARN != "" {
		p.Topic = awssns.Topic_FromTopicArn(scope, jsii.String(id+"Topic"), &o.TopicARN)
	}
	return p
}

// topicARN matches the ARN of a topic that alarms can notify, which excludes FIFO topics ("Actions
// defined by Amazon SNS", service authorization reference).
var topicARN = regexp.MustCompile(`^arn:aws[a-z-]*:sns:([a-z0-9-]+):[0-9]{12}:[A-Za-z0-9_-]{1,256}$`)

// CheckTopicARN adds a finding at path unless alarms of the region can notify a topic with the ARN;
// "" is valid. The region is "" while it is not known.
func CheckTopicARN(f *finding.List, path, arn, region string) {
	if arn != "" {
		props.CheckARN(f, path, arn, region, topicARN, "the ARN of a standard topic of Amazon SNS",
			`copy it from the topic, such as "arn:aws:sns:eu-west-1:111122223333:alerts"`)
	}
}
