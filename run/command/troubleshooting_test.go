package command

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/internal/loopback"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/scaffold"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/document"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda/lambdatest"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// entry matches a heading of the page, with the text that it shows as printed.
var entry = regexp.MustCompile("(?ms)^## ([^\n]+)\n\n```[a-z]+\n(.*?)^```$")

// printedByOthers are the headings whose texts AWS, the CDK and API Gateway print, and those that other tests compare.
var printedByOthers = map[string]string{
	"a-line-of-jsii":       "jsii",
	"401-unauthorized":     "Amazon API Gateway",
	"not-bootstrapped":     "the CDK",
	"reserved-concurrency": "AWS Lambda",
	"skipped-tests":        "TestFind of test/browser",
}

// textsOfPage returns the texts of the page by the anchors of their headings.
func textsOfPage(t *testing.T) map[string]string {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join("..", "..", troubleshooting)))(t)
	texts := map[string]string{}
	for _, found := range entry.FindAllStringSubmatch(string(content), -1) {
		texts[strings.TrimPrefix(reference.Anchor(found[1]), "#")] = found[2]
	}
	if headings := strings.Count(string(content), "\n## "); headings != len(texts) {
		t.Errorf("%d headings, %d of them with a text", headings, len(texts))
	}
	return texts
}

// The page shows what is printed, and what onesynth and make print ends with the address of the heading.
func TestTroubleshooting(t *testing.T) {
	t.Parallel()
	texts := textsOfPage(t)
	const place = "aws://111122223333/eu-west-1"
	queue := assemblytest.Write(t, place, map[string]string{"shop": `{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}`})
	// run returns what a command prints to standard error, its usage left out.
	run := func(t *testing.T, folder, path string, arguments ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), command, arguments...)
		c.Dir, c.Env = folder, append(os.Environ(), "PATH="+path, "XDG_CACHE_HOME="+t.TempDir())
		_, _, stderr := finish(t, c)
		return stderr[max(0, strings.LastIndex(stderr, "onesynth: ")):]
	}
	local := func(t *testing.T, folder, path, assembly string, flags ...string) string {
		t.Helper()
		return run(t, folder, path, append([]string{"local", "--assembly", assembly, "--port", "auto", "--console-port",
			"auto"}, flags...)...)
	}
	// with returns a folder with scripts, and with links to commands of this machine.
	with := func(t *testing.T, scripts map[string]string, commands ...string) string {
		t.Helper()
		folder := t.TempDir()
		for name, script := range scripts {
			must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script), 0o755))
		}
		for _, name := range commands {
			path := must.Get(exec.LookPath(name))(t)
			must.OK(t, os.Symlink(path, filepath.Join(folder, name)))
		}
		return folder
	}
	makeNode := func(t *testing.T, scripts map[string]string) string {
		t.Helper()
		path, err := exec.LookPath("make")
		if err != nil {
			t.Skip("make is not here")
		}
		c := exec.CommandContext(t.Context(), path, "node")
		c.Dir, c.Env = filepath.Join("..", ".."), []string{"PATH=" + with(t, scripts, "sed", "uname")}
		_, stdout, stderr := finish(t, c)
		printed, _, _ := strings.Cut(stdout+stderr, "make: ")
		return printed
	}
	denied := func(action string, decision policy.Decision) string {
		return (&aws.DeniedError{
			Use:       aws.Use{Action: action, Resource: "arn:aws:dynamodb:eu-west-1:111122223333:table/Orders"},
			Principal: "arn:aws:sts::111122223333:assumed-role/orders/orders", Decision: decision,
		}).Error() + "\n"
	}
	// replaced puts what the page has in the place of what varies.
	replaced := func(printed string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(printed) }

	printed := map[string]func(*testing.T) string{
		"no-nodejs": func(t *testing.T) string { return makeNode(t, nil) },
		"old-nodejs": func(t *testing.T) string {
			return makeNode(t, map[string]string{"node": `[ "$1" = --version ] && echo v20.20.2`})
		},
		"no-java": func(t *testing.T) string { return local(t, "", "", queue) },
		"old-java": func(t *testing.T) string {
			_, printed, _ := strings.Cut(texts["old-java"], "\n")
			script := "cat >&2 <<'END'\n" + printed + "END\nexit 1\n"
			return local(t, "", with(t, map[string]string{"java": script}, "cat"), queue)
		},
		"no-dynamodb-local": func(t *testing.T) string {
			folder := t.TempDir()
			return replaced(local(t, folder, "", queue), folder, "/home/me/app")
		},
		"no-c-compiler": func(t *testing.T) string {
			skipWithoutLake(t)
			return withoutCompiler(t, with(t, nil, "go"))
		},
		"an-old-onesynth": func(t *testing.T) string { return run(t, "", "", "local", "--newer") },
		"no-cloud-assembly": func(t *testing.T) string {
			folder := t.TempDir()
			return replaced(run(t, folder, "", "local"), folder, "/home/me/app")
		},
		"port-in-use": func(t *testing.T) string {
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			defer listener.Close()
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			return replaced(local(t, "", "", queue, "--console-port", port), port, "8079")
		},
		"nothing-runs": func(t *testing.T) string {
			return replaced(run(t, "", "", "push", "--console", "http://127.0.0.1:1"), "127.0.0.1:1", "127.0.0.1:8079")
		},
		"which-stack": func(t *testing.T) string {
			return local(t, "", "", assemblytest.Write(t, place, map[string]string{"shop-dev": `{}`, "shop-prod": `{}`}),
				"--stack", "shop")
		},
		"not-emulated": func(t *testing.T) string {
			return local(t, "", "", assemblytest.Write(t, place, map[string]string{"shop": `{"Resources": {
				"Cluster": {"Type": "AWS::EKS::Cluster"},
				"Pages": {"Type": "AWS::S3::Bucket", "Properties": {"WebsiteConfiguration": {"IndexDocument": "index.html"}}}}}`}))
		},
		"another-processor": func(t *testing.T) string {
			printed := regexp.MustCompile(`/\S*/onesynth-local-\d+/worker`).ReplaceAllString(
				local(t, "", "", builtElsewhere(t)), "/tmp/onesynth-local-1/orders")
			foreign := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
			return replaced(printed, "worker", "orders", "linux/"+foreign, "linux/arm64",
				runtime.GOOS+"/"+runtime.GOARCH, "linux/amd64")
		},
		"no-value": func(t *testing.T) string {
			return local(t, "", "", assemblytest.Write(t, place, map[string]string{"shop": `{
				"Parameters": {"Name": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/company/name"}},
				"Resources": {"Orders": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Ref": "Name"}}}}}`}))
		},
		"cors": func(t *testing.T) string {
			answer, request := httptest.NewRecorder(), httptest.NewRequest("GET", "http://localhost:8081/orders", nil)
			request.Header.Set("Origin", "http://localhost:3000")
			loopback.Guard{Listener: "the API of stack shop", Pages: true,
				Allows: func(*http.Request, string) bool { return false }}.Handler(nil).ServeHTTP(answer, request)
			return answer.Body.String()
		},
		"empty-lake": func(t *testing.T) string {
			skipWithoutLake(t)
			_, stdout, stderr := invoke(t, "lake", "--console", lakes(t, "shop"),
				"SELECT shop AS title FROM sales WHERE false")
			return stdout + stderr
		},
		"access-denied":        func(*testing.T) string { return denied("dynamodb:Scan", policy.NotAllowed) },
		"permissions-boundary": func(*testing.T) string { return denied("dynamodb:Query", policy.OutsideBoundary) },
		"no-aws-credentials": func(t *testing.T) string {
			_, _, stderr := invokeIn(t, nil, "check", "--assembly", queue)
			return regexp.MustCompile(`(list-profiles shows them\): ).*`).ReplaceAllString(stderr, "${1}…")
		},
		"refused-by-the-check": func(t *testing.T) string {
			deployed := filepath.Join(t.TempDir(), "deployed.json")
			must.OK(t, os.WriteFile(deployed, []byte(`{"Resources": {"B": {"Type": "AWS::S3::Bucket"}}}`),
				0o600))
			return run(t, "", "", "check", "--assembly", queue, "--against", deployed)
		},
	}
	for anchor, text := range texts {
		t.Run(anchor, func(t *testing.T) {
			t.Parallel()
			provoke := printed[anchor]
			if provoke == nil {
				if printedByOthers[anchor] == "" {
					t.Error("no test provokes this")
				}
				return
			}
			// Only a newer page could explain a flag that the command does not know.
			ours := strings.HasPrefix(text, "onesynth: ") || strings.HasPrefix(text, "Node.js ")
			if ours && anchor != "an-old-onesynth" {
				text += fmt.Sprintf("see %s/main/%s#%s\n", scaffold.Documents, troubleshooting,
					anchor)
			}
			if diff := cmp.Diff(text, provoke(t)); diff != "" {
				t.Errorf("(-page +printed):\n%s", diff)
			}
		})
	}
	for anchor := range printed {
		if texts[anchor] == "" {
			t.Errorf("the page has no heading %s with a text", anchor)
		}
	}
}

// withoutCompiler returns what a query prints where nothing but Go is on the path.
func withoutCompiler(t *testing.T, path string) string {
	t.Helper()
	caches := must.Get(exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output())(t)
	found := strings.Fields(string(caches))
	alone, cache := filepath.Join(t.TempDir(), "onesynth"), t.TempDir()
	must.OK(t, os.Link(command, alone))
	c := exec.CommandContext(t.Context(), alone, "lake", "--console", lakes(t, "shop"), "SELECT 1")
	c.Env = append(os.Environ(), "PATH="+path, "CC=", "GOCACHE="+found[0], "GOMODCACHE="+found[1],
		"XDG_CACHE_HOME="+cache, "HOME="+cache)
	_, _, stderr := finish(t, c)
	stderr = stderr[max(0, strings.Index(stderr, "onesynth: ")):]
	// What was built from a commit has a version, and macOS has another compiler.
	stderr = regexp.MustCompile(`build (-buildvcs=false )?-o \S+`).ReplaceAllString(stderr,
		"build -buildvcs=false -o /home/me/.cache/onesynth/lake/devel/onesynth-lake")
	return strings.ReplaceAll(stderr, `"clang"`, `"gcc"`)
}

// builtElsewhere writes an assembly whose function has a program for another processor than this machine's.
func builtElsewhere(t *testing.T) string {
	t.Helper()
	processor := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	dir := writeAssembly(t, "../../run/testdata/function", "{}")
	template := must.Get(os.ReadFile(filepath.Join(dir, "S.template.json")))(t)
	other := map[string]string{"x86_64": "arm64", "arm64": "x86_64"}[architecture]
	for name, content := range map[string]string{
		"S.template.json":      strings.Replace(string(template), architecture, other, 1),
		"asset.code/bootstrap": string(lambdatest.Executable(t, "linux", processor)),
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755))
	}
	return dir
}

// The address stands also below errors that the page explains in words, however they are wrapped.
func TestExplanations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		anchor string
	}{
		{target.ErrPermission, "access-denied"},
		{target.ErrNoProfile, "no-aws-credentials"},
		{target.ErrCredentials, "no-aws-credentials"},
		{gobuild.ErrUnknownModule, "another-processor"},
		{document.ErrAmbiguous, "which-stack"},
		{&catalog.DatabaseError{Known: []string{"shop"}}, "which-stack"},
		{&catalog.DatabaseError{}, ""},
		{&exitError{errors.New("could not check"), exitUnchecked}, ""},
	} {
		got := explanations(errors.Join(errors.New("another"), fmt.Errorf("shop: %w", test.err)))
		if len(got) == 1 != (test.anchor != "") || test.anchor != "" && !strings.HasSuffix(got[0], "#"+test.anchor) {
			t.Errorf("%v: got %v, want %q", test.err, got, test.anchor)
		}
	}
	texts := textsOfPage(t)
	for _, heading := range explained {
		if texts[heading.anchor] == "" {
			t.Errorf("the page has no heading %s with a text", heading.anchor)
		}
	}
}

// An address names the tag or the commit of the command's version.
func TestRevisionOf(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"": "main", "v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1",
		"v0.0.0-20261123050000-0123456789ab": "0123456789ab",
	} {
		if got := revisionOf(version); got != want {
			t.Errorf("%q: got %q, want %q", version, got, want)
		}
	}
}
