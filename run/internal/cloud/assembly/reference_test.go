package assembly

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/servicestest"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// docs/reference/local-run.md has the types and properties that a run knows, and what its services refuse.
func TestLocalRunReference(t *testing.T) {
	t.Parallel()
	page := &reference.Page{}
	page.Heading(1, "What a local run takes")
	page.Text("", "These are the resource types that a run of `onesynth local` knows. Any other type ends the run, "+
		"which names the resource, unless `--allow-unsupported TYPE` leaves it without effect. docs/guide/run.md says "+
		"how a run behaves.", "")
	entries := maps.Clone(types)
	for kind := range withoutEffect {
		entries[kind] = entryOf(kind)
	}
	for _, of := range []struct {
		support        support
		heading, about string
	}{
		{running, "Types that run", "A run serves these types, or reads them for others."},
		{accepted, "Types without effect", "A run accepts these types, and they do nothing."},
		{neighbour, "Types without effect that the run names", "A run accepts these types, which teams put beside a " +
			"platform. They do nothing, and the run names them in a line at its start."},
	} {
		page.Heading(2, of.heading)
		page.Text("", of.about, "")
		services := map[string][]string{}
		for kind, entry := range entries {
			if entry.support == of.support {
				service, name := kind[:strings.LastIndex(kind, "::")], kind[strings.LastIndex(kind, "::")+2:]
				services[service] = append(services[service], name)
			}
		}
		for i, service := range slices.Sorted(maps.Keys(services)) {
			slices.Sort(services[service])
			page.Item(i == 0, "`"+service+"`:", strings.Join(services[service], ", "), "")
		}
	}
	for _, of := range []struct {
		refused        bool
		heading, about string
	}{
		{true, "Properties that end a run", "A run does not start with these properties, unless " +
			"`--allow-unsupported TYPE.PROPERTY` leaves one without effect."},
		{false, "Properties without effect", "A run goes on with these properties, and says that they have no effect."},
	} {
		page.Heading(2, of.heading)
		page.Text("", of.about, "")
		first := true
		for _, property := range Unhonoured() {
			if property.Refused == of.refused {
				page.Item(first, "`"+property.String()+"`:", property.Instead+".", "")
				first = false
			}
		}
	}
	page.Heading(2, "What services refuse")
	page.Text("", "These are the calls that functions make by lambdas/kit, and what the API reference of each service "+
		"says that AWS refuses in them, for the parameters that lambdas/kit sends. Left out are missing permissions, "+
		"throttling, keys of AWS KMS and faults of AWS. DynamoDB Local itself decides about the calls of DynamoDB.",
		"")
	for i, call := range callsOfKit(t) {
		var here, taken []string
		for _, refusal := range servicestest.Refusals(t) {
			switch {
			case refusal.Call != call:
			case refusal.Code != "":
				here = append(here, refusal.Of)
			default:
				taken = append(taken, refusal.Of)
			}
		}
		if len(here)+len(taken) == 0 {
			t.Errorf("lambdas/kit calls %s: say in refusals.txtar of servicestest what AWS refuses in it", call)
		}
		text := "refused here, too: " + strings.Join(here, "; ") + "."
		if len(taken) > 0 {
			text += " Taken here: " + strings.Join(taken, "; ") + "."
		}
		page.Item(i == 0, "`"+call+"`:", text, "")
	}
	page.Check(t, "local-run")
}

// services are the names that the page has for the packages of AWS's SDK.
var services = map[string]string{"bedrockruntime": "Bedrock", "dynamodb": "DynamoDB", "eventbridge": "EventBridge",
	"s3": "S3", "secretsmanager": "Secrets Manager", "sqs": "SQS"}

// callsOfKit returns the operations of AWS whose input lambdas/kit makes, sorted, by the names of the page. It reads
// the Go files of lambdas/kit without tests and their support, and would miss a call that names no input of the SDK.
// It says nothing of the refusals themselves: the tests of package services send the requests.
func callsOfKit(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir("../../../../lambdas/kit", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasSuffix(entry.Name(), "test"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		packages := map[string]string{} // the packages of services, by their names in the file
		for _, spec := range parsed.Imports {
			of := strings.Trim(spec.Path.Value, `"`)
			if service, ok := strings.CutPrefix(of, "github.com/aws/aws-sdk-go-v2/service/"); ok {
				name := of[strings.LastIndexByte(of, '/')+1:]
				if spec.Name != nil {
					name = spec.Name.Name
				}
				packages[name] = service
			}
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, _ := selector.X.(*ast.Ident)
			operation, input := strings.CutSuffix(selector.Sel.Name, "Input")
			if of == nil || !input || packages[of.Name] == "" {
				return true
			}
			service := services[packages[of.Name]]
			if service == "" {
				t.Errorf("%s makes a %s: give %s a name in services", path, selector.Sel.Name, packages[of.Name])
			}
			found[service+" "+operation] = true
			return true
		})
		return nil
	})
	must.OK(t, err)
	for _, refusal := range servicestest.Refusals(t) {
		if !found[refusal.Call] {
			t.Errorf("lambdas/kit does not call %s: remove it from refusals.txtar of servicestest", refusal.Call)
		}
	}
	return slices.Sorted(maps.Keys(found))
}
