package props

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/regioninfo"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Fatal ends the program because its author made a mistake: it prints the error to standard error, and exits with
// status 1. In a test, where [testing.Testing] is true, it panics with the error instead, so that the test can recover
// it.
//
// The CDK for Go panics instead of returning errors, but the stack of a panic hides its message and does not lead to
// the mistake.
func Fatal(err error) {
	if testing.Testing() {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, err)
	Close()
	os.Exit(1)
}

// Accept returns the location of a construct. It ends the program, by [Fatal], if one of the errors is not nil,
// if its id is empty, or if its scope is nil, in no stack, in a stack of a region that the CDK does not know, or has a
// construct of that id already. One error says all that is wrong; [errors.As] finds a [finding.List] in it. kind names
// the construct, such as "table".
func Accept(kind string, scope constructs.Construct, id string, errs ...error) Location {
	var f finding.List
	location := checkLocation(&f, scope, id)
	if id == "" {
		f.Add("id", id, "the name of the construct in its scope",
			"choose one and keep it: logical ids, and with them what is deployed, depend on it")
	} else {
		kind += " " + id
	}
	var others []error
	for _, err := range errs {
		var invalid finding.List
		if errors.As(err, &invalid) {
			f = append(f, invalid...)
		} else {
			others = append(others, err)
		}
	}
	if err := errors.Join(append([]error{f.Err()}, others...)...); err != nil {
		Fatal(fmt.Errorf("%s: %w", kind, err))
	}
	return location.below(id)
}

// Region returns the region of the stack that a scope is in, or "" if the scope is
// nil or in no stack.
func Region(scope constructs.Construct) string {
	return LocationOf(scope).region
}

func stackOf(scope constructs.Construct) (stack awscdk.Stack) {
	// The CDK throws if there is none.
	defer func() {
		if recover() != nil {
			stack = nil
		}
	}()
	return awscdk.Stack_Of(scope)
}

// checkLocation adds a finding for each thing that is wrong with the location of a construct, and returns
// the location of the scope. The caller checks for an empty id.
func checkLocation(f *finding.List, scope constructs.Construct, id string) Location {
	if IsNil(scope) {
		f.Append(finding.Finding{Path: "scope", Got: "nil", Allowed: "a construct within a stack",
			Remedy: "pass the stack"})
		return Location{}
	}
	location := LocationOf(scope)
	if location.stack == nil {
		f.Append(finding.Finding{Path: "scope", Got: "a construct of no stack",
			Allowed: "a stack, or a construct within one", Remedy: "pass the stack"})
		return location
	}
	CheckRegion(f, "scope: Env.Region of the stack", location.region)
	if id != "" && scope.Node().TryFindChild(&id) != nil {
		f.Add("id", id, "one that no other construct of the scope has", "choose another")
	}
	return location
}

// CheckRegion adds a finding at path if the CDK knows no region of that name. It accepts a region that becomes known
// only at deployment.
func CheckRegion(f *finding.List, path, region string) {
	if region == "" || IsToken(region) || regioninfo.RegionInfo_Get(&region).Partition() != nil {
		return
	}
	f.Add(path, region, "a region of AWS",
		`write something like "eu-west-1"; a region that is newer than this version of the CDK needs a newer one`)
}
