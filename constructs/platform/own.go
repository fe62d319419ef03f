package platform

import (
	"maps"
	"slices"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Own is what a team adds to a platform.
type Own struct {
	schema.Own
	// Build is the build of the functions. Default: the construct builds them from Module.
	Build *gofunction.Build
}

func (o Own) check(f *finding.List, path string, described schema.Platform, architecture gofunction.Architecture) {
	if len(o.Functions) > 0 && o.Module == "" && o.Build == nil {
		f.Add(path+".Module", o.Module, "the path of the Go module with the functions' packages",
			"set it, such as \"example.com/ours\": each function is the package lambdas/PLATFORM/FUNCTION of it")
	}
	own := names(o.Functions)
	for _, r := range o.Routes {
		if !slices.Contains(own, r.Function) {
			f.Add(path+".Routes["+r.Key()+"].Function", r.Function, "a function of "+path+".Functions",
				"the platform's functions serve its own routes alone: declare a function for this one")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Callers)) {
		at := path + ".Callers[" + key + "]"
		if !slices.ContainsFunc(described.Routes, func(r schema.Route) bool { return r.Key() == key }) {
			f.Add(at, key, "method and path of a route of the platform", `write it as in "GET /openapi.json"`)
		}
		if c := o.Callers[key]; c.Authenticated() || !c.Verified() {
			f.Add(at, c.Name, "a Caller with an Authorizer or with IAM", "leave it out to keep the platform's callers")
		}
	}
	o.Build.Check(f, path+".Build", architecture, namesIn(o.Build, described.Name, own...)...)
}
