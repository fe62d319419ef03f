package gofunction

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"

	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Settings are the settings that all functions of a platform share.
type Settings struct {
	// LogLevel is "debug", "info", "warn" or "error": the function finds it in the variable LOG_LEVEL and logs nothing
	// below it. AWS Lambda itself drops debug lines unless LogLevel is "debug". It filters no higher, because lines
	// without a level, such as those of metrics, would be lost. It keeps its own report of an invocation if that
	// failed, and with "debug" always. Default: "info".
	LogLevel string
	// LogRetention is how long logs are kept. Default: [props.OneMonth].
	LogRetention props.LogRetention
	// Tracing sends traces to AWS X-Ray. AWS cannot limit the permission for this to a resource ("Actions, resources,
	// and condition keys for AWS X-Ray"), so the function's role then has one statement on all resources. Default: off.
	Tracing bool
	// Key is a customer managed key of AWS KMS that encrypts the environment variables
	// and the logs. If the app does not declare it, its policy has to let Amazon
	// CloudWatch Logs use it. Default: keys of AWS.
	Key awskms.IKey
	// Network is where in a VPC the function runs. AWS Lambda needs permissions for this on all resources, so the
	// function's role then has a statement on them, which serves AWS Lambda alone and not the function's code. Default:
	// outside of any VPC.
	Network Network
}

// Check adds a finding for each setting that is invalid. Their paths begin with path, and those of the Network with
// network. region is the functions', or "" while it is not known.
func (s Settings) Check(f *finding.List, path, network, region string) {
	switch s.LogLevel {
	case "", "debug", "info", "warn", "error":
	default:
		f.Add(path+".LogLevel", s.LogLevel, `"debug", "info", "warn" or "error"`, `leave it empty for "info"`)
	}
	s.LogRetention.Check(f, path+".LogRetention")
	key.Check(f, path+".Key", s.Key, region)
	s.Network.check(f, network, region)
}
