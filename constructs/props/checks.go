package props

import (
	"math"
	"net/mail"
	"reflect"
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// LargestNumber is the largest whole number that every service takes.
const LargestNumber = math.MaxInt32

// IsNil reports whether a value is nil, or an interface with a nil pointer, which Go does not take for nil.
func IsNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// CheckResource adds a finding at path if a resource that the caller passes is a nil pointer, or is in another region
// than its user; region is "" while it is not known. It reports whether there is a resource to check; nil is the
// default.
func CheckResource(f *finding.List, path string, resource interfaces.IEnvironmentAware, region string) bool {
	if resource == nil {
		return false
	}
	if IsNil(resource) {
		f.Add(path, resource, "a resource, or nil",
			"leave it out for the default: in an interface, a nil pointer is not nil")
		return false
	}
	if region == "" || IsToken(region) {
		return true
	}
	if other := *resource.Env().Region; other != region && !IsToken(other) {
		f.Add(path, "one in "+other, "one in "+region+", as the stack", "pass one of the stack's region")
	}
	return true
}

// prefix begins physical names. Its length leaves space for the rest within the limits
// of the services.
var prefix = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}[a-z0-9]$`)

// CheckPrefix adds a finding at path if physical names cannot begin with the prefix; the
// empty prefix is the default.
func CheckPrefix(f *finding.List, path, value string) {
	if value != "" && !prefix.MatchString(value) {
		f.Add(path, value, "2 to 32 lower-case letters, digits and hyphens, beginning with a letter and not ending "+
			"with a hyphen", `write something like "aah"`)
	}
}

// metricNamespace leaves space for what follows it within the 255 characters that Amazon
// CloudWatch takes ("PutMetricData", API reference).
var metricNamespace = regexp.MustCompile(`^[A-Za-z0-9._#-]+(/[A-Za-z0-9._#-]+)*$`)

const longestMetricNamespace = 200

// CheckMetricNamespace adds a finding at path if the namespaces of metrics cannot begin so; "" is the default.
func CheckMetricNamespace(f *finding.List, path, namespace string) {
	if namespace == "" {
		return
	}
	if !metricNamespace.MatchString(namespace) || len(namespace) > longestMetricNamespace ||
		strings.EqualFold(namespace, "AWS") || strings.HasPrefix(strings.ToUpper(namespace), "AWS/") {
		f.Add(path, namespace,
			`up to 200 letters, digits and . _ # -, with single slashes between them, that do not begin with "AWS/"`,
			`write something like "Acme"`)
	}
}

// LongestEmail is the length of an email address in bytes (RFC 5321, section 4.5.3.1.3,
// without the angle brackets).
const LongestEmail = 254

// CheckEmail adds a finding at path unless the text is one email address without a name,
// of up to [LongestEmail] bytes; "" is the default.
func CheckEmail(f *finding.List, path, address string) {
	if address == "" || IsToken(address) {
		return
	}
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || len(address) > LongestEmail {
		f.Add(path, address, "one email address of up to 254 bytes",
			`write it without a name, such as "ops@example.com"`)
	}
}

// RemovalPolicy returns the removal policy of resources that hold data.
func RemovalPolicy(removeWithStack bool) awscdk.RemovalPolicy {
	if removeWithStack {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN
}

// CheckARN adds a finding at path unless the ARN has the form and is in the region, or becomes known only at
// deployment. The first group of form is the ARN's region. region is "" while it is not known.
func CheckARN(f *finding.List, path, arn, region string, form *regexp.Regexp, allowed, remedy string) {
	if IsToken(arn) {
		return
	}
	match := form.FindStringSubmatch(arn)
	switch {
	case match == nil:
		f.Add(path, arn, allowed, remedy)
	case region != "" && !IsToken(region) && match[1] != region:
		f.Add(path, arn, "one in "+region+", where it is used", "name one of that region")
	}
}

// CheckRemoval adds a finding at path if both are set: a protected resource cannot go with its stack.
func CheckRemoval(f *finding.List, path string, removeWithStack, deletionProtection bool) {
	if removeWithStack && deletionProtection {
		f.Add(path, true, "false with RemoveWithStack",
			"protected tables cannot be removed with their stack: set one of the two")
	}
}
