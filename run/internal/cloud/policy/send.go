package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// MaySend reports whether the policies of the queue let the service, such as "events.amazonaws.com", send messages to
// it from the source. Errors: *UnsupportedError.
func MaySend(a *assembly.Assembly, service string, queue *assembly.Resource, sourceARN string) (bool, error) {
	request := Request{Action: "sqs:SendMessage", Resource: queue.ARN, Context: map[string]string{
		SourceARN: sourceARN, SecureTransport: "true", RequestedRegion: queue.Stack.Region,
	}}
	if parts := strings.Split(sourceARN, ":"); len(parts) > 4 {
		request.Context[SourceAccount] = parts[4]
	}
	var rules []rule
	for _, resource := range a.Resources("AWS::SQS::QueuePolicy") {
		var declared struct {
			Queues         []string
			PolicyDocument document
		}
		if err := resource.Decode(&declared); err != nil {
			return false, err
		}
		if !slices.Contains(declared.Queues, queue.Ref) {
			continue
		}
		for i, statement := range declared.PolicyDocument.Statement {
			if len(statement.NotPrincipal) > 0 {
				return false, &UnsupportedError{Source: resource.LogicalID, Element: "NotPrincipal"}
			}
			if !statement.isFor(service) {
				continue
			}
			read, err := statement.rules(resource.LogicalID, i)
			if err != nil {
				return false, err
			}
			rules = append(rules, read...)
		}
	}
	decision, _ := decide(rules, request)
	return decision == Allowed, nil
}

// isFor reports whether the statement's principal is the service, or everyone.
func (s statement) isFor(service string) bool {
	var everyone string
	if json.Unmarshal(s.Principal, &everyone) == nil {
		return everyone == "*"
	}
	var principal struct{ Service, AWS oneOrMany[string] }
	return json.Unmarshal(s.Principal, &principal) == nil &&
		(slices.Contains(principal.Service, service) || slices.Contains(principal.AWS, "*"))
}
