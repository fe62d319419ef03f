package command

import (
	"cmp"
	"errors"
	"runtime/debug"
	"slices"

	"golang.org/x/mod/module"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/command/scaffold"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/document"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakecommand"
)

// troubleshooting is the page that explains errors.
const troubleshooting = "docs/guide/troubleshooting.md"

// explained are the errors that headings of the page explain, by the headings' anchors.
var explained = []struct {
	anchor string
	is     func(error) bool
}{
	{"no-java", one(run.ErrNoJava)},
	{"old-java", one(run.ErrJava)},
	{"no-dynamodb-local", one(run.ErrNoJar)},
	{"no-c-compiler", a[*lakecommand.MissingError]},
	{"no-cloud-assembly", one(run.ErrNoAssembly)},
	{"port-in-use", one(run.ErrPort)},
	{"nothing-runs", one(target.ErrNoRun)},
	{"which-stack", func(err error) bool {
		lakes, ok := errors.AsType[*catalog.DatabaseError](err)
		return ok && len(lakes.Known) > 0 || a[*assembly.StackError](err) || errors.Is(err, document.ErrAmbiguous)
	}},
	{"not-emulated", one(run.ErrUnsupported)},
	{"another-processor", one(run.ErrArchitecture, gobuild.ErrUnknownModule)},
	{"no-value", one(assembly.ErrNoParameter)},
	{"no-aws-credentials", one(target.ErrNoCredentials, target.ErrNoProfile, target.ErrCredentials)},
	{"access-denied", one(target.ErrPermission)},
	{"refused-by-the-check", func(err error) bool {
		ended, ok := errors.AsType[*exitError](err)
		return ok && ended.code == exitRefused
	}},
}

// one returns what reports whether an error is one of these.
func one(of ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(of, func(each error) bool { return errors.Is(err, each) })
	}
}

// a reports whether an error is one of the type.
func a[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// explanations returns the addresses where the page explains the error, of the version of this command. Without a
// version that others could look up, the addresses lead to the main branch.
func explanations(err error) (addresses []string) {
	revision := "main"
	if info, ok := debug.ReadBuildInfo(); ok {
		revision = revisionOf(publishedVersion(info))
	}
	for _, heading := range explained {
		if heading.is(err) {
			addresses = append(addresses, scaffold.Documents+"/"+revision+"/"+troubleshooting+"#"+heading.anchor)
		}
	}
	return addresses
}

// revisionOf returns the tag or commit of a version of this library, or the main branch without a version.
func revisionOf(version string) string {
	if commit, err := module.PseudoVersionRev(version); err == nil {
		return commit
	}
	return cmp.Or(version, "main")
}
