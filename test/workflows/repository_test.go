package workflows

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// root is the folder of this repository.
const root = "../.."

// GitHub takes the workflows of this repository. Each tier of tests has a job, and each command is a target of the
// Makefile. Two jobs may write: the one that publishes a release, and the one that publishes the site.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	writes := map[string]map[string][]string{
		"release.yml": {"publish": {"contents", "id-token", "attestations"}},
		"site.yml":    {"publish": {"pages", "id-token"}},
	}
	makefile := string(read(t, filepath.Join(root, "Makefile")))
	var got []string
	for file, workflow := range Read(t, root) {
		CheckPermissions(t, file, workflow, writes[file])
		for id, job := range workflow.Jobs {
			for _, step := range job.Steps {
				run, ok := step.Exec.(*actionlint.ExecRun)
				if !ok {
					continue
				}
				if target, ok := strings.CutPrefix(run.Run.Value, "make "); ok {
					got = append(got, file+" "+id+" "+target)
					if !strings.Contains(makefile, "\n"+target+":") {
						t.Errorf("%s, job %s: the Makefile has no target %s", file, id, target)
					}
				}
				if strings.Contains(run.Run.Value, "${{") {
					t.Errorf("%s, job %s: hand values to the command in its environment: an expression in it is code",
						file, id)
				}
			}
			if strings.HasPrefix(id, "test-aws") && (job.If == nil || job.If.Value != "vars.AWS_TEST_ROLE != ''") {
				t.Errorf("%s, job %s does not wait for the variable that names the role", file, id)
			}
		}
	}
	want := []string{"aws.yml test-aws test-aws", "change.yml test test", "change.yml test-all test-all",
		"night.yml test-release test-release", "night.yml test-repeat test-repeat", "release.yml build binaries",
		"site.yml build site"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got the jobs %q, want %q", got, want)
	}
}

// The targets that CONTRIBUTING.md names are there.
func TestContributing(t *testing.T) {
	t.Parallel()
	makefile := string(read(t, filepath.Join(root, "Makefile")))
	named := regexp.MustCompile("(?m)(?:`|^)make ([a-z-]+)").FindAllStringSubmatch(
		string(read(t, filepath.Join(root, "CONTRIBUTING.md"))), -1)
	if len(named) < 10 {
		t.Errorf("CONTRIBUTING.md: got the targets %v, want those of tests and documents", named)
	}
	for _, target := range named {
		if !strings.Contains(makefile, "\n"+target[1]+":") {
			t.Errorf("CONTRIBUTING.md names make %s: the Makefile has no such target", target[1])
		}
	}
}

// What Dependabot updates here, the projects of onesynth init have, too: nothing else updates that.
func TestActionsOfProjects(t *testing.T) {
	t.Parallel()
	used := regexp.MustCompile(`uses: ([\w.-]+/[\w./-]+)@(\S+)`)
	versions := func(folder string) map[string]string {
		all := map[string]string{}
		err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				for _, found := range used.FindAllStringSubmatch(string(read(t, file)), -1) {
					all[found[1]] = found[2]
				}
			}
			return err
		})
		if err != nil || len(all) < 3 {
			t.Fatalf("%s: got the actions %v, %v", folder, all, err)
		}
		return all
	}
	ours := versions(filepath.Join(root, ".github"))
	for action, version := range versions(filepath.Join(root, "run", "command", "scaffold", "templates")) {
		if own := ours[action]; own != "" && own != version {
			t.Errorf("onesynth init writes %s@%s; this repository uses %s", action, version, own)
		}
	}
}

// A release has the archives, their checksums and the notes. That of a version before another is marked so.
func TestPublish(t *testing.T) {
	t.Parallel()
	commands := map[string]string{}
	for _, step := range Read(t, root)["release.yml"].Jobs["publish"].Steps {
		if run, ok := step.Exec.(*actionlint.ExecRun); ok {
			commands[step.Name.Value] = run.Run.Value
		}
	}
	for tag, kind := range map[string]string{"v0.1.0": "", "v0.2.0-rc.1": " --prerelease"} {
		folder := t.TempDir()
		for name, content := range map[string]string{"onesynth_1_linux_amd64.tar.gz": "linux",
			"onesynth_1_darwin_arm64.tar.gz": "darwin", "notes.md": "notes",
			"gh": "#!/bin/sh\necho \"$*\"\n"} {
			must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o700))
		}
		var printed []byte
		for _, name := range []string{"Write the checksums", "Publish"} {
			command := exec.Command("bash", "-e", "-c", commands[name])
			command.Dir = folder
			command.Env = append(os.Environ(), "PATH="+folder+string(filepath.ListSeparator)+os.Getenv("PATH"),
				"GITHUB_REF_NAME="+tag)
			var err error
			if printed, err = command.CombinedOutput(); err != nil {
				t.Fatalf("%s: %q: %v\n%s", name, commands[name], err, printed)
			}
		}
		want := "release create " + tag + " --verify-tag" + kind + " --title " + tag + " --notes-file notes.md " +
			"onesynth_1_darwin_arm64.tar.gz onesynth_1_linux_amd64.tar.gz checksums.txt\n"
		if string(printed) != want {
			t.Errorf("got gh %s\nwant gh %s", printed, want)
		}
		if sums := string(read(t, filepath.Join(folder, "checksums.txt"))); strings.Count(sums, "\n") != 2 {
			t.Errorf("got the checksums %s; want those of two archives", sums)
		}
	}
}

// Dependabot looks at each file in which this repository says what it uses.
func TestDependabot(t *testing.T) {
	t.Parallel()
	text := read(t, filepath.Join(root, ".github", "dependabot.yml"))
	must.OK(t, conforms("dependabot", string(text)))
	var configuration struct {
		Updates []struct {
			Kind        string `yaml:"package-ecosystem"`
			Directories []string
		}
	}
	must.OK(t, yaml.Unmarshal(text, &configuration))
	folders := map[string][]string{}
	for _, update := range configuration.Updates {
		folders[update.Kind] = append(folders[update.Kind], update.Directories...)
	}
	want := map[string][]string{"github-actions": {"/", "/.github/actions/setup"}}
	kinds := map[string]string{"go.mod": "gomod", "package-lock.json": "npm", "requirements.txt": "pip"}
	must.OK(t, fs.WalkDir(os.DirFS(root), ".", func(file string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err == nil && entry.IsDir() && slices.Contains([]string{".git", "bin", "node_modules", "testdata", "cdk.out",
			".local"}, name) {
			return fs.SkipDir
		}
		if kind := kinds[name]; err == nil && kind != "" {
			folder, _ := strings.CutSuffix("/"+file, "/"+name)
			if folder == "" {
				folder = "/"
			}
			want[kind] = append(want[kind], folder)
		}
		return err
	}))
	for kind := range maps.Keys(want) {
		slices.Sort(want[kind])
		if got := slices.Sorted(slices.Values(folders[kind])); !slices.Equal(got, want[kind]) {
			t.Errorf("dependabot.yml, %s: got the folders %v, want %v", kind, got, want[kind])
		}
	}
}

// GitHub shows the forms, and sends those who found a vulnerability elsewhere.
func TestForms(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(root, ".github", "ISSUE_TEMPLATE")
	files, err := filepath.Glob(filepath.Join(folder, "*.yml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("got the forms %v, %v", files, err)
	}
	for _, file := range files {
		form := "form"
		if filepath.Base(file) == "config.yml" {
			form = "chooser"
		}
		if err := conforms(form, string(read(t, file))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	security := string(read(t, filepath.Join(root, "SECURITY.md")))
	address := regexp.MustCompile(`https://\S+/security/advisories/new`)
	if got := address.FindString(string(read(t, filepath.Join(folder, "config.yml")))); got == "" ||
		!strings.Contains(security, got) {
		t.Errorf("config.yml leads to %q, and SECURITY.md elsewhere", got)
	}
}

// conforms checks a document against testdata/FORM.json, and that no two elements of it have one label or id.
func conforms(form, text string) error {
	rules, err := jsonschema.NewCompiler().Compile("testdata/" + form + ".json")
	if err != nil {
		return err
	}
	var document any
	var named struct {
		Body []struct {
			ID         string
			Attributes struct{ Label string }
		}
	}
	if err := errors.Join(yaml.Unmarshal([]byte(text), &document), yaml.Unmarshal([]byte(text), &named)); err != nil {
		return err
	}
	seen := map[string]bool{"": true}
	for _, element := range named.Body {
		for _, name := range []string{element.ID, element.Attributes.Label} {
			if seen[name] && name != "" {
				err = errors.Join(err, fmt.Errorf("%q is there twice", name))
			}
			seen[name] = true
		}
	}
	return errors.Join(err, rules.Validate(document))
}

// What GitHub refuses is found.
func TestRefused(t *testing.T) {
	t.Parallel()
	const head = "name: Bug\ndescription: It fails\n"
	const text = "body:\n  - type: input\n    attributes:\n      label: Text\n"
	const npm, links = "package-ecosystem: npm", "contact_links:\n  - {name: a, url: 'https://example.com'"
	updates := func(of string) string { return "version: 2\nupdates:\n  - " + of + "\n" }
	for name, test := range map[string]struct{ form, text, want string }{
		"FormOK":             {"form", head + text, ""},
		"FormName":           {"form", "description: It fails\n" + text, "'name'"},
		"FormDescription":    {"form", "name: Bug\n" + text, "'description'"},
		"FormBody":           {"form", head + "body: []\n", "/body"},
		"FormKey":            {"form", head + "hello: you\n" + text, "'hello'"},
		"FormType":           {"form", head + strings.Replace(text, "input", "number", 1), "/body/0/type"},
		"FormLabel":          {"form", head + strings.Replace(text, "Text", `""`, 1), "/body/0/attributes/label"},
		"FormLabels":         {"form", head + text + strings.TrimPrefix(text, "body:\n"), `"Text" is there twice`},
		"FormID":             {"form", head + text + "    id: a b\n", "/body/0/id"},
		"FormText":           {"form", head + text + "  - {type: markdown, attributes: {}}\n", "'value'"},
		"FormOptions":        {"form", head + strings.Replace(text, "input", "dropdown", 1), "'options'"},
		"ChooserOK":          {"chooser", links + ", about: b}\n", ""},
		"ChooserAbout":       {"chooser", links + "}\n", "'about'"},
		"ChooserKey":         {"chooser", "blank_issues: false\n", "'blank_issues'"},
		"DependabotOK":       {"dependabot", updates("{" + npm + ", directory: /, schedule: {interval: daily}}"), ""},
		"DependabotKind":     {"dependabot", updates("package-ecosystem: go"), "/updates/0/package-ecosystem"},
		"DependabotFolder":   {"dependabot", updates("{" + npm + ", schedule: {interval: daily}}"), "'directories'"},
		"DependabotInterval": {"dependabot", updates("{" + npm + ", directory: /}"), "'schedule'"},
		"DependabotVersion":  {"dependabot", "updates: []\n", "'version'"},
		"DependabotKey":      {"dependabot", "version: 2\nupdate: []\n", "'update'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := conforms(test.form, test.text)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// owner matches a person, a team or an email address.
var owner = regexp.MustCompile(`^(@[\w-]+(/[\w.-]+)?|\S+@\S+\.\S+)$`)

// GitHub takes the file of owners, also while it names none ("About code owners").
func TestOwners(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(string(read(t, filepath.Join(root, ".github", "CODEOWNERS")))) {
		rule, _, _ := strings.Cut(line, "#")
		words := strings.Fields(rule)
		for at, word := range words {
			if at == 0 && strings.ContainsAny(word, "![]") || at > 0 && !owner.MatchString(word) {
				t.Errorf("CODEOWNERS: %s: a pattern has no ! and no [ ], and an owner is @person, "+
					"@organisation/team or an email address", line)
			}
		}
	}
}
