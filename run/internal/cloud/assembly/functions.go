package assembly

import (
	"fmt"
	"slices"
	"strings"
)

// functionVersion is the number that a run gives to every version of a function.
const functionVersion = "1"

// qualified gives the ARN of a version or an alias of the function that FunctionName names.
func qualified(qualifier give) give {
	return func(r *Resource) (string, error) {
		text, err := qualifier(r)
		function, _ := SplitFunction(r.naming["FunctionName"])
		return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s:%s", r.Stack.Region, r.Stack.Account, function, text), err
	}
}

// AccountOf is the account in an ARN, and the default one if it has none.
func AccountOf(arn string) string {
	if parts := strings.Split(arn, ":"); len(parts) > 4 {
		return parts[4]
	}
	return DefaultAccount
}

// SplitFunction reads the name of a function, or its ARN or a part of it, with or without a version or an alias. The
// qualifier is empty for $LATEST.
func SplitFunction(text string) (name, qualifier string) {
	parts := strings.Split(text, ":")
	if at := slices.Index(parts, "function"); at >= 0 && at+1 < len(parts) {
		parts = parts[at+1:]
	}
	if len(parts) > 1 && parts[1] != "$LATEST" {
		qualifier = parts[1]
	}
	return parts[0], qualifier
}

// Function returns the function that a name or an ARN means, with or without a version or an alias; nil when there is
// none.
func (a *Assembly) Function(id string) *Resource {
	if name, _ := SplitFunction(id); name != "" {
		return a.ByName(name, "AWS::Lambda::Function")
	}
	return nil
}

// IsQueue reports whether the ARN names a queue of the assembly.
func (a *Assembly) IsQueue(arn string) bool {
	resource := a.ByARN(arn)
	return resource != nil && resource.Type == "AWS::SQS::Queue"
}
