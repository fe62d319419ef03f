package run_test

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// handlerSource is the source of a handler, of the package SOURCE.
//
//go:embed testdata/handler/main.go
var handlerSource string

// otherProcessor is Go's and Lambda's name of a processor that this machine does not have.
func otherProcessor() (processor, architecture string) {
	if runtime.GOARCH == "arm64" {
		return "amd64", "x86_64"
	}
	return "arm64", "arm64"
}

// app is a module with handlers, and the assembly of an app beside them whose functions are for another machine.
type app struct {
	fixture
	assembly string
	template object
}

// writeApp writes the app with a function for each of the packages, by the packages' names.
func writeApp(t *testing.T, packages ...string) app {
	t.Helper()
	a := app{fixture: fixture{folder: t.TempDir()}}
	files := map[string]string{"go.mod": "module example.com/orders\n\ngo 1.24\n"}
	for _, p := range packages {
		files[p+"/main.go"] = strings.ReplaceAll(handlerSource, "SOURCE", p)
	}
	for name, content := range files {
		a.save(t, name, content)
	}
	a.assembly = filepath.Join(a.folder, "cdk.out")
	processor, architecture := otherProcessor()
	a.template = read(`{"Resources": {"Role": {"Type": "AWS::IAM::Role", "Properties": {
		"AssumeRolePolicyDocument": {"Statement": [
			{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}]},
		"Policies": [{"PolicyName": "p", "PolicyDocument": {"Statement": [
			{"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "*"}]}}]}}}}`)
	assets := []string{"0", "1", "2"}[:len(packages)]
	must.OK(t, os.Rename(assemblytest.Write(t, assemblytest.Anywhere, map[string]string{"Orders": "{}"}, assets...),
		a.assembly))
	for i, p := range packages {
		source := gobuild.Source{Directory: a.folder, Packages: []string{p}}
		binaries := must.Get(gobuild.Build(t.Context(), source, gobuild.Target{System: "linux",
			Processor: processor}))(t)
		binary := binaries[gobuild.Folder(p)]
		must.OK(t, os.CopyFS(filepath.Join(a.assembly, "asset."+assets[i]), os.DirFS(binary.Directory)))
		key, recipe := gobuild.Recipe{Module: binary.Module, Package: binary.Package, Flags: gobuild.Flags()}.Metadata()
		a.template["Resources"].(object)["Function"+assets[i]] = object{"Type": "AWS::Lambda::Function",
			"Metadata": object{key: recipe}, "Properties": object{
				"FunctionName": strings.ReplaceAll(p, "/", "-"), "Runtime": "provided.al2023", "Handler": "bootstrap",
				"Role": object{"Fn::GetAtt": []string{"Role", "Arn"}}, "Timeout": 900,
				"Code": object{"S3Key": assets[i] + ".zip"}, "Architectures": []string{architecture},
			}}
	}
	return a
}

// build is what a function's metadata says.
func (a app) build(function string) object {
	metadata := a.template["Resources"].(object)[function].(object)["Metadata"].(object)
	return metadata["onesynth"].(map[string]any)["build"].(map[string]any)
}

func (a app) start(t *testing.T) (*run.Runner, *wait.Output, error) {
	t.Helper()
	text := must.Get(json.Marshal(a.template))(t)
	must.OK(t, os.WriteFile(filepath.Join(a.assembly, "Orders.template.json"), text, 0o600))
	printed := &wait.Output{}
	r, err := run.Start(t.Context(), run.Options{
		Assembly: a.assembly, DynamoDB: enginetest.Engine(t).URL(), AccessKey: enginetest.AccessKey(),
		NoSchedules: true, Log: printed,
	})
	if err == nil {
		t.Cleanup(r.Close)
	}
	return r, printed, err
}

// Functions of another machine's assembly run here, built of the same source.
func TestBuiltForThisMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the toolchain: go test without -short does")
	}
	t.Parallel()
	processor, _ := otherProcessor()
	host, template := gobuild.Host().String(), "linux/"+processor
	answers := func(t *testing.T, r *run.Runner, function, want string) {
		t.Helper()
		result, err := r.Invoke(t.Context(), function, []byte("{}"))
		if err != nil || string(result.Payload) != `"`+host+" "+want+`"` {
			t.Errorf("%s: got %s, %v, want %s of %s", function, result.Payload, err, host, want)
		}
	}
	says := func(t *testing.T, printed *wait.Output, functions string, changed string) {
		t.Helper()
		if line := `(?m)^built ` + functions + ` for ` + host + ` \(template: ` + template +
			`\) in \d+\.\d s$`; !regexp.MustCompile(line).MatchString(printed.String()) {
			t.Errorf("got %s\nwant a line %s", printed, line)
		}
		if warning := "other binaries of " + changed +
			";"; strings.Contains(printed.String(), "warning: ") != (changed != "") ||
			changed != "" && !strings.Contains(printed.String(), warning) {
			t.Errorf("got %s\nwant a warning of %q", printed, changed)
		}
	}
	// The folder above the assembly has the module; the test's own module does not require it.
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		a := writeApp(t, "hello", "bye", "other/hello")
		r, printed, err := a.start(t)
		must.OK(t, err)
		for _, p := range []string{"hello", "bye", "other/hello"} {
			answers(t, r, strings.ReplaceAll(p, "/", "-"), p)
		}
		says(t, printed, "3 functions", "")
	})
	t.Run("ModuleElsewhere", func(t *testing.T) {
		t.Parallel()
		a := writeApp(t, "hello")
		elsewhere := filepath.Join(t.TempDir(), "app", "cdk.out")
		must.OK(t, os.CopyFS(elsewhere, os.DirFS(a.assembly)))
		relative := must.Get(filepath.Rel(filepath.Dir(elsewhere), a.folder))(t)
		a.assembly, a.build("Function0")["directory"] = elsewhere, filepath.ToSlash(relative)
		r, printed, err := a.start(t)
		must.OK(t, err)
		answers(t, r, "hello", "hello")
		says(t, printed, "1 function", "")
	})
	t.Run("SourceChanged", func(t *testing.T) {
		t.Parallel()
		a := writeApp(t, "hello", "bye")
		a.save(t, "bye/main.go", strings.ReplaceAll(handlerSource, "SOURCE", "later"))
		r, printed, err := a.start(t)
		must.OK(t, err)
		answers(t, r, "hello", "hello")
		answers(t, r, "bye", "later")
		says(t, printed, "2 functions", "bye")
	})

	for name, test := range map[string]struct {
		change func(*testing.T, app)
		err    error
		want   string
	}{
		"ErrSomebodyElses": {func(_ *testing.T, a app) {
			delete(a.template["Resources"].(object)["Function0"].(object), "Metadata")
		}, lambda.ErrArchitecture, "it runs on " + template},
		"ErrUnknownModule": {func(_ *testing.T, a app) {
			a.build("Function0")["module"] = "example.com/nowhere"
		}, gobuild.ErrUnknownModule, "run onesynth in the folder of the app"},
		"ErrRecipe": {func(_ *testing.T, a app) {
			a.build("Function0")["flags"] = []any{"std"}
		}, nil, "Metadata.onesynth.build"},
		"ErrCompile": {func(t *testing.T, a app) {
			a.save(t, "hello/main.go", "package main\n\nfunc main() { missing() }\n")
		}, nil, "hello/main.go:3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := writeApp(t, "hello")
			test.change(t, a)
			_, _, err := a.start(t)
			if err == nil || !strings.Contains(err.Error(), test.want) || test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("got %v, want %v with %q", err, test.err, test.want)
			}
		})
	}
}

func TestBuiltForThisMachineErrNoToolchain(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the toolchain: go test without -short does")
	}
	a := writeApp(t, "hello")
	enginetest.Engine(t)
	t.Setenv("PATH", t.TempDir())
	if _, _, err := a.start(t); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("got %v, want one that says to install Go", err)
	}
}
