package platform

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// checkProd deploys prod as an earlier version made it, updates it to today's, and checks that all of it is there
// then. It does so on an emulator alone: tables of prod have names and outlive their stack.
func (s *Suite) checkProd(t *testing.T) {
	if !OnAWS() || os.Getenv(endpoint) == "" {
		t.Skip("skipped: prod is deployed to an emulator alone")
	}
	if os.Getenv("ONESYNTH_TEST_DEPLOY") == "false" {
		t.Skip("skipped: these tests deploy nothing")
	}
	lack := s.Shared(t).lacks.Prod
	stack := s.stack("prod")
	d := synthesise(t, t.Context(), t.TempDir(), stack, "prod")
	before := must.Get(without(t, s.earlier(t, d.assembly, stack), stack, slices.Sorted(maps.Keys(lack))))(t)
	if output, err := d.deploy(before); err != nil {
		t.Fatalf("deploy %s of the earlier version: %v\n%s", stack, err, output)
	}
	// A first deployment that is refused leaves a stack that is protected against its end. An update is rolled back.
	today := must.Get(leaveOut(t, d.assembly, stack, lack, d.deploy))(t)
	says := func(text string) {
		t.Helper()
		if output, err := check(t, today, stack); err != nil || !strings.Contains(output, text) {
			t.Errorf("check %s: %v\n%s", stack, err, output)
		}
	}
	says(stack + ":")
	if output, err := d.deploy(today); err != nil {
		t.Fatalf("update %s: %v\n%s", stack, err, output)
	}
	says("nothing speaks against the deployment")
	template := readObject(t, filepath.Join(today, stack+".template.json"))
	there := resourcesOf(t, stack)
	resources, _ := template["Resources"].(object)
	for id, resource := range resources {
		if status := there[id]; status != "CREATE_COMPLETE" && status != "UPDATE_COMPLETE" {
			t.Errorf("%s (%v) is %q", id, at(resource, "Type"), status)
		}
	}
	t.Logf("%s has %d resources of the template's %d", stack, len(there), len(resources))
}

// earlier returns an assembly whose stack is as an earlier version made it. Each function has the code of another one
// of today, so that the update changes it: the emulator runs none of it.
func (s *Suite) earlier(t testing.TB, assembly, stack string) string {
	t.Helper()
	file := must.Get(os.Open(filepath.Join(Root(t), "internal", "platforms", "testdata", "deployed",
		s.Platform.Name+".template.json.gz")))(t)
	defer file.Close()
	var kept object
	must.OK(t, json.NewDecoder(must.Get(gzip.NewReader(file))(t)).Decode(&kept))
	return edited(t, assembly, stack, func(template object) {
		built := functions(template)
		ids := slices.Sorted(maps.Keys(built))
		for id, properties := range functions(kept) {
			other := built[ids[(slices.Index(ids, id)+1)%len(ids)]]
			properties["Code"], properties["Architectures"] = other["Code"], other["Architectures"]
		}
		clear(template)
		maps.Copy(template, kept)
	})
}

// functions returns the properties of the functions of a template, by their logical ids.
func functions(template map[string]any) map[string]map[string]any {
	all := map[string]map[string]any{}
	resources, _ := template["Resources"].(object)
	for id, resource := range resources {
		if properties, ok := at(resource, "Properties").(map[string]any); ok &&
			at(resource, "Type") == "AWS::Lambda::Function" {
			all[id] = properties
		}
	}
	return all
}

// resourcesOf returns the state of each resource of a stack, by its logical id.
func resourcesOf(t testing.TB, stack string) map[string]string {
	t.Helper()
	configuration := must.Get(config.LoadDefaultConfig(t.Context()))(t)
	states := map[string]string{}
	pages := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(configuration),
		&cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page := must.Get(pages.NextPage(t.Context()))(t)
		for _, r := range page.StackResourceSummaries {
			states[aws.ToString(r.LogicalResourceId)] = string(r.ResourceStatus)
		}
	}
	return states
}
