package platform

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
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
}

// readLacks reads a platform's lacks from a file, a JSON object by platforms. Without a
// file nothing lacks.
func readLacks(file, platform string) (lacks, error) {
	all := map[string]lacks{}
	if file == "" {
		return lacks{}, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return lacks{}, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return lacks{}, fmt.Errorf("read %s: %w", file, err)
	}
	return all[platform], nil
}

// leaveOut returns an assembly whose stack has no resources of the types that lack.
// deploy, which returns what it printed, has refused each of them.
func leaveOut(t testing.TB, assembly, stack string, lack map[string]string,
	deploy func(assembly string) (string, error)) (string, error) {
	t.Helper()
	types := slices.Sorted(maps.Keys(lack))
	left, err := without(t, assembly, stack, types)
	if err != nil {
		return "", err
	}
	for _, one := range types {
		others := slices.DeleteFunc(slices.Clone(types), func(other string) bool { return other == one })
		with := must.Get(without(t, assembly, stack, others))(t)
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

// object is a JSON object.
type object = map[string]any

// without returns an assembly whose stack has no resources of those types, or no properties of those names, beside the
// one that it is a copy of.
func without(t testing.TB, assembly, stack string, types []string) (string, error) {
	t.Helper()
	if len(types) == 0 {
		return assembly, nil
	}
	left := map[string]bool{}
	copied := edited(t, assembly, stack, func(template object) {
		resources, _ := template["Resources"].(object)
		maps.DeleteFunc(resources, func(_ string, resource any) bool {
			kind, _ := at(resource, "Type").(string)
			properties, _ := at(resource, "Properties").(object)
			for name := range properties {
				if property := kind + " " + name; slices.Contains(types, property) {
					left[property] = true
					plain(properties, name)
				}
			}
			left[kind] = true
			return slices.Contains(types, kind)
		})
	})
	for _, one := range types {
		if !left[one] {
			return "", fmt.Errorf("%s has no resource of type %s: take it off the list of ONESYNTH_TEST_LACKS", stack,
				one)
		}
	}
	return copied, nil
}

// plain takes a property away. An alarm on an expression becomes one on the first metric of it.
func plain(properties object, property string) {
	metrics, _ := properties[property].([]any)
	delete(properties, property)
	for _, metric := range metrics {
		stat, ok := at(metric, "MetricStat").(object)
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
		within, _ := v.(object)
		v = within[name]
	}
	return v
}

// edited returns an assembly with another template of a stack, beside the one that it is a copy of.
func edited(t testing.TB, assembly, stack string, edit func(template object)) string {
	t.Helper()
	folder := must.Get(os.MkdirTemp(filepath.Dir(assembly), "edited-"))(t)
	must.OK(t, os.CopyFS(folder, os.DirFS(assembly)))
	file := filepath.Join(folder, stack+".template.json")
	template := readObject(t, file)
	edit(template)
	content := must.Get(json.Marshal(template))(t)
	must.OK(t, os.WriteFile(file, content, 0o600))
	// The template is uploaded under its hash, unless one of that name is there.
	assets := filepath.Join(folder, stack+".assets.json")
	files, _ := readObject(t, assets)["files"].(object)
	for was, asset := range files {
		if at(asset, "source", "path") != filepath.Base(file) {
			continue
		}
		for _, name := range []string{assets, filepath.Join(folder, "manifest.json")} {
			named := string(must.Get(os.ReadFile(name))(t))
			named = strings.ReplaceAll(named, was, fmt.Sprintf("%x", sha256.Sum256(content)))
			must.OK(t, os.WriteFile(name, []byte(named), 0o600))
		}
		return folder
	}
	t.Fatalf("%s has no template of %s", assets, stack)
	return ""
}

func readObject(t testing.TB, file string) (read object) {
	t.Helper()
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile(file))(t), &read))
	return read
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
