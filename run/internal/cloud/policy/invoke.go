package policy

import "github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"

// MayInvoke reports whether a resource-based permission lets the service, such as "events.amazonaws.com", invoke the
// function from the source. A permission is for the function, or for one of its versions or aliases.
func MayInvoke(a *assembly.Assembly, service, function, sourceARN string) bool {
	name, qualifier := assembly.SplitFunction(function)
	for _, resource := range a.Resources("AWS::Lambda::Permission") {
		allowed, _ := resource.Properties["FunctionName"].(string)
		if of, qualified := assembly.SplitFunction(allowed); of != name || qualified != qualifier {
			continue
		}
		var p struct{ Action, Principal, SourceArn string }
		if err := resource.Decode(&p); err != nil || p.Principal != service {
			continue
		}
		if p.SourceArn == "" {
			p.SourceArn = "*"
		}
		if (Grant{Action: p.Action, Resource: p.SourceArn}).Matches("lambda:InvokeFunction", sourceARN) {
			return true
		}
	}
	return false
}
