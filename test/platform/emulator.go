package platform

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// endpoint is the variable that sends AWS's SDKs, and so the tests, the CDK command and
// the functions, to an emulator ("Service-specific endpoints", AWS SDKs and Tools
// Reference Guide).
const endpoint = "AWS_ENDPOINT_URL"

// lacks lists what an emulator of AWS lacks for one platform, each with the reason. An entry that
// works fails the tests until it is removed.
type lacks struct {
	// Resources are types that the emulator refuses. They are left out of the template.
	Resources map[string]string `json:"resources"`
	// Prod are those of the environment prod, and properties that it refuses, as "AWS::CloudWatch::Alarm Metrics".
	Prod map[string]string `json:"prod"`
	// Checks are the checks that fail on the emulator, by the names that Lacking gets.
	Checks map[string]string `json:"checks"`

	mutex sync.Mutex
	tried map[string]bool
}

// readLacks reads a platform's lacks from a file, a JSON object by platforms. Without a
// file nothing lacks.
func readLacks(file, platform string) (*lacks, error) {
	all := map[string]*lacks{}
	if file != "" {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(strings.NewReader(string(content)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&all); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	if all[platform] == nil {
		return &lacks{}, nil
	}
	return all[platform], nil
}

// judge returns why a known failure is one, or the error that the check has to report.
func (l *lacks) judge(check string, failure error) (known string, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.tried == nil {
		l.tried = map[string]bool{}
	}
	l.tried[check] = true
	reason, listed := l.Checks[check]
	switch {
	case listed && failure == nil:
		return "", fmt.Errorf("the emulator passes the check %q: take it off the list of ONESYNTH_TEST_LACKS", check)
	case listed:
		return reason, nil
	}
	return "", failure
}

// untried are the checks on the list that no test has tried.
func (l *lacks) untried() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.Checks)), func(name string) bool { return l.tried[name] })
}

// Lacking reports a failed check, unless an emulator is known to fail it. It reports the success of
// such a check, because the list of what the emulator lacks is then too long.
func (p *Target) Lacking(t testing.TB, check string, failure error) {
	t.Helper()
	known, err := p.lacks.judge(check, failure)
	switch {
	case err != nil:
		t.Error(err)
	case known != "":
		t.Logf("the emulator fails the check %q, as is known (%s): %v", check, known, failure)
	}
}

// leaveOut returns an assembly whose stack has no resources of the types that lack.
// deploy, which returns what it printed, has refused each of them.
func leaveOut(t testing.TB, assembly, stack string, lack map[string]string,
	deploy func(assembly string) (string, error)) (string, error) {
	types := slices.Sorted(maps.Keys(lack))
	left, err := without(assembly, stack, types)
	if err != nil {
		return "", err
	}
	for _, one := range types {
		with, err := without(assembly, stack, slices.DeleteFunc(slices.Clone(types), func(other string) bool {
			return other == one
		}))
		if err != nil {
			return "", err
		}
		switch output, err := deploy(with); {
		case err == nil:
			return "", fmt.Errorf("the emulator takes %s: take it off the list of ONESYNTH_TEST_LACKS", one)
		case !strings.Contains(output, strings.ReplaceAll(one, " ", " Properties.")):
			return "", fmt.Errorf("deploy %s with %s, which the emulator should refuse by name: %w", stack, one, err)
		default:
			t.Logf("the emulator refuses %s, as is known: %s", one, lack[one])
		}
	}
	return left, nil
}

// without returns an assembly whose stack has no resources of those types, or no properties of those names, beside the
// one that it is a copy of.
func without(assembly, stack string, types []string) (string, error) {
	if len(types) == 0 {
		return assembly, nil
	}
	return edited(assembly, stack, func(template map[string]any) error {
		resources, _ := template["Resources"].(map[string]any)
		for _, one := range types {
			kind, property, _ := strings.Cut(one, " ")
			found := false
			maps.DeleteFunc(resources, func(_ string, resource any) bool {
				object, _ := resource.(map[string]any)
				properties, _ := object["Properties"].(map[string]any)
				_, has := properties[property]
				if object["Type"] != kind || property != "" && !has {
					return false
				}
				found = true
				if property != "" {
					plain(properties, property)
				}
				return property == ""
			})
			if !found {
				return fmt.Errorf("%s has no resource of type %s: take it off the list of ONESYNTH_TEST_LACKS", stack,
					one)
			}
		}
		return nil
	})
}

// plain takes a property away. An alarm on an expression becomes one on the first metric of it.
func plain(properties map[string]any, property string) {
	metrics, _ := properties[property].([]any)
	delete(properties, property)
	for _, metric := range metrics {
		stat, ok := at(metric, "MetricStat").(map[string]any)
		if !ok {
			continue
		}
		for _, name := range []string{"MetricName", "Namespace", "Dimensions"} {
			if v := at(stat, "Metric", name); v != nil {
				properties[name] = v
			}
		}
		properties["Period"], properties["Statistic"] = stat["Period"], "Sum"
		return
	}
}

// at returns what the names of objects lead to.
func at(v any, names ...string) any {
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// edited returns an assembly with another template of a stack, beside the one that it is a copy of.
func edited(assembly, stack string, edit func(template map[string]any) error) (string, error) {
	folder, err := os.MkdirTemp(filepath.Dir(assembly), "edited-")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(folder, os.DirFS(assembly)); err != nil {
		return "", fmt.Errorf("copy the assembly: %w", err)
	}
	file := stack + ".template.json"
	template, err := readObject(filepath.Join(folder, file))
	if err != nil {
		return "", err
	}
	if err := edit(template); err != nil {
		return "", err
	}
	content, err := json.Marshal(template)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
		return "", err
	}
	// The template is uploaded under its hash, unless one of that name is there.
	was, err := templateHash(filepath.Join(folder, stack+".assets.json"), file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	for _, name := range []string{stack + ".assets.json", "manifest.json"} {
		named, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		named = []byte(strings.ReplaceAll(string(named), was, hex.EncodeToString(sum[:])))
		if err := os.WriteFile(filepath.Join(folder, name), named, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// templateHash returns the hash of the template in a manifest of assets.
func templateHash(manifest, template string) (string, error) {
	content, err := os.ReadFile(manifest)
	if err != nil {
		return "", err
	}
	var assets struct {
		Files map[string]struct{ Source struct{ Path string } }
	}
	if err := json.Unmarshal(content, &assets); err != nil {
		return "", fmt.Errorf("read %s: %w", manifest, err)
	}
	for hash, asset := range assets.Files {
		if asset.Source.Path == template {
			return hash, nil
		}
	}
	return "", fmt.Errorf("%s has no template %s: %w", manifest, template, fs.ErrNotExist)
}

func readObject(file string) (map[string]any, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(content, &object); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return object, nil
}

// emulatedURL is where any client reaches an emulator's API. An emulator tells APIs apart
// by host names of its own, which not every machine resolves, and by a path ("API
// Gateway", LocalStack's documentation; others do as it does).
func emulatedURL(emulator, api string) (string, error) {
	named, err := url.Parse(api)
	if err != nil {
		return "", fmt.Errorf("read the API's URL: %w", err)
	}
	id, rest, ok := strings.Cut(named.Hostname(), ".")
	if !ok || !strings.HasPrefix(rest, "execute-api.") {
		return "", fmt.Errorf("got the API's URL %s; want a host that begins with the API's id and execute-api", api)
	}
	return strings.TrimSuffix(emulator, "/") + "/_aws/execute-api/" + id + "/$default", nil
}
