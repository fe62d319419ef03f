package workflows

import (
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
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o700); err != nil {
				t.Fatal(err)
			}
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
	folders, problems := checkDependabot(read(t, filepath.Join(root, ".github", "dependabot.yml")))
	for _, problem := range problems {
		t.Error("dependabot.yml:", problem)
	}
	want := map[string][]string{"github-actions": {"/", "/.github/actions/setup"}}
	kinds := map[string]string{"go.mod": "gomod", "package-lock.json": "npm", "requirements.txt": "pip"}
	if err := fs.WalkDir(os.DirFS(root), ".", func(file string, entry fs.DirEntry, err error) error {
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
	}); err != nil {
		t.Fatal(err)
	}
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
		check := checkForm
		if filepath.Base(file) == "config.yml" {
			check = checkChooser
		}
		for _, problem := range check(read(t, file)) {
			t.Errorf("%s: %s", file, problem)
		}
	}
	security := string(read(t, filepath.Join(root, "SECURITY.md")))
	address := regexp.MustCompile(`https://\S+/security/advisories/new`)
	if got := address.FindString(string(read(t, filepath.Join(folder, "config.yml")))); got == "" ||
		!strings.Contains(security, got) {
		t.Errorf("config.yml leads to %q, and SECURITY.md elsewhere", got)
	}
}

// What GitHub refuses is found.
func TestRefused(t *testing.T) {
	t.Parallel()
	const text = "\nbody:\n  - type: input\n    attributes:\n      label: Text\n"
	const npm = "package-ecosystem: npm"
	const links = "contact_links:\n  - {name: a, url: 'https://example.com'"
	updates := func(of string) string { return "version: 2\nupdates:\n  - " + of + "\n" }
	dependabot := func(content []byte) findings {
		_, problems := checkDependabot(content)
		return problems
	}
	for name, test := range map[string]struct {
		check         func([]byte) findings
		content, want string
	}{
		"FormOK":          {checkForm, "name: Bug\ndescription: It fails" + text, ""},
		"FormName":        {checkForm, "description: It fails" + text, "name is missing"},
		"FormDescription": {checkForm, "name: Bug" + text, "description is missing"},
		"FormBody":        {checkForm, "name: Bug\ndescription: It fails\n", "body asks nothing"},
		"FormKey":         {checkForm, "name: Bug\ndescription: It fails\nhello: you" + text, "field hello not found"},
		"FormType": {checkForm, "name: Bug\ndescription: It fails" + strings.Replace(text, "input", "number", 1),
			`body[0]: type "number"`},
		"FormLabel": {checkForm, "name: Bug\ndescription: It fails" + strings.Replace(text, "Text", `""`, 1),
			"body[0]: label is missing"},
		"FormLabels": {checkForm, "name: Bug\ndescription: It fails" + text + strings.TrimPrefix(text, "\nbody:\n"),
			`body[1]: label "Text" is there twice`},
		"FormID": {checkForm, "name: Bug\ndescription: It fails" + text + "    id: a b\n", `body[0]: id "a b"`},
		"FormText": {checkForm, "name: Bug\ndescription: It fails" + text + "  - type: markdown\n",
			"body[1]: value is missing"},
		"FormOptions": {checkForm, "name: Bug\ndescription: It fails" + strings.Replace(text, "input", "dropdown", 1),
			"body[0]: options are missing"},
		"ChooserOK":    {checkChooser, links + ", about: b}\n", ""},
		"ChooserAbout": {checkChooser, links + "}\n", "about is missing"},
		"ChooserKey":   {checkChooser, "blank_issues: false\n", "field blank_issues not found"},
		"DependabotOK": {dependabot, updates("{" + npm + ", directory: /, schedule: {interval: daily}}"), ""},
		"DependabotKind": {dependabot, updates("{package-ecosystem: go, directory: /, schedule: {interval: daily}}"),
			`package-ecosystem "go"`},
		"DependabotFolder": {dependabot, updates("{" + npm + ", schedule: {interval: daily}}"),
			"directories are missing"},
		"DependabotInterval": {dependabot, updates("{" + npm + ", directory: /}"), `interval ""`},
		"DependabotVersion":  {dependabot, "updates: []\n", "version 0"},
		"DependabotKey":      {dependabot, "version: 2\nupdate: []\n", "field update not found"},
		"OwnersOK":           {checkOwners, "# who\n*.go @you @you/team you@example.com\n", ""},
		"OwnersNone":         {checkOwners, "/schema/ maintainers\n", `line 1: owner "maintainers"`},
		"OwnersPattern":      {checkOwners, "\n!/schema/ @you\n", `line 2: pattern "!/schema/"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fmt.Sprint(test.check([]byte(test.content)))
			if test.want == "" && got != "[]" || !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
		})
	}
}

// GitHub takes the file of owners, also while it names none.
func TestOwners(t *testing.T) {
	t.Parallel()
	for _, problem := range checkOwners(read(t, filepath.Join(root, ".github", "CODEOWNERS"))) {
		t.Error("CODEOWNERS:", problem)
	}
}
