package assembly

import (
	"encoding/json"
	"slices"
	"strings"
)

// Property is a property that a local run does not honour. Others of a type that a run serves are honoured, or have an
// effect in AWS alone, such as tags.
type Property struct {
	// Type has it, and Name is its name, with points.
	Type, Name string
	// Refused says that a run does not start with it, unless it is allowed. Otherwise the run says that it has no
	// effect.
	Refused bool
	// Instead says what to do, or why it has no effect.
	Instead string
}

// String is how --allow-unsupported names the property.
func (p Property) String() string { return p.Type + "." + p.Name }

// Unhonoured returns the properties that a local run does not honour.
func Unhonoured() []Property {
	return []Property{
		{"AWS::Events::EventBus", "EventSourceName", false, "no partner of AWS sends events to this machine"},
		{"AWS::Lambda::Function", "FileSystemConfigs", true, "keep files in a bucket"},
		{"AWS::Lambda::Function", "Layers", true, "put what the layers hold into the function's code"},
		{"AWS::Lambda::Function", "VpcConfig", false, "functions reach the addresses of this machine"},
		{"AWS::Lambda::EventInvokeConfig", "DestinationConfig.OnSuccess", true, "let the function send its results"},
		{"AWS::Lambda::EventSourceMapping", "TumblingWindowInSeconds", true,
			"let the function keep its sums in a table"},
		{"AWS::S3::Bucket", "NotificationConfiguration.LambdaConfigurations", true, events},
		{"AWS::S3::Bucket", "NotificationConfiguration.QueueConfigurations", true, events},
		{"AWS::S3::Bucket", "NotificationConfiguration.TopicConfigurations", true, events},
		{"AWS::S3::Bucket", "ReplicationConfiguration", true, "set it in stages that are deployed alone"},
		{"AWS::S3::Bucket", "WebsiteConfiguration", true, "serve pages by a function (lambdas/kit/site)"},
		{"AWS::SQS::Queue", "FifoQueue", true, "use a standard queue, and let the function order what it gets"},
	}
}

const events = "send events to Amazon EventBridge, and make a rule for them"

// Unserved is a resource with a property that a local run does not honour.
type Unserved struct {
	Property Property
	Resource *Resource
}

// Unserved returns the resources with properties that a local run does not honour.
func (a *Assembly) Unserved() (all []Unserved) {
	for _, property := range Unhonoured() {
		for _, resource := range a.Resources(property.Type) {
			if isSet(resource.Properties, strings.Split(property.Name, ".")) {
				all = append(all, Unserved{property, resource})
			}
		}
	}
	return all
}

// isSet reports whether a property has a value that asks for something.
func isSet(properties map[string]any, path []string) bool {
	var value any = properties
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	switch value := value.(type) {
	case map[string]any:
		return len(value) > 0
	case []any:
		return len(value) > 0
	}
	return value != nil && !slices.Contains([]any{false, "false", "", json.Number("0")}, value)
}
