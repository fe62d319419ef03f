package platform_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/handlersource"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// untagged and halfTagged are stored in a table whose attributes their tags describe.
type untagged struct {
	Code string `dynamodbav:"code"`
}

type halfTagged struct {
	Code string `dynamodbav:"code" attribute:"The link's code"`
	Hits int    `dynamodbav:"hits"`
}

// planted returns a contract without a mistake, changed.
func planted(change func(*schema.Platform)) schema.Platform {
	p := schema.Platform{Name: "links", Database: schema.Database{
		Tables: []schema.Table{{Name: "Links", PhysicalName: "links", TimeToLive: "ends",
			Key: schema.Key{Partition: "code"},
			Attributes: append(schema.IdempotencyAttributes(), schema.String.Attribute("code", "Code"),
				schema.Boolean.Attribute("open", "Whether it is open"), schema.String.Attribute("owner", "Whose it is"),
				schema.Number.Attribute("ends", "When it ends")),
			Indexes: []schema.Index{{Name: "ByOwner", Key: schema.Key{Partition: "owner"},
				Projection: schema.ProjectKeysOnly}},
		}},
		AccessPatterns: []schema.AccessPattern{
			schema.Query.Pattern("List", "Links", "").By("ByOwner", schema.Where("owner", schema.Equal)).UsedBy("api"),
			schema.Transaction("Save", "", schema.PutItem.On("Links", "the link"), schema.KeepAnswer("Links")).
				UsedBy("api"),
		}},
		Functions: []schema.Function{{Name: "api", Description: "serves"}},
		Routes: []schema.Route{{Method: "GET", Path: "/links", Function: "api",
			Caller: schema.CallerAnyone}},
	}
	if change != nil {
		change(&p)
	}
	return p
}

// validated finds a mistake in a contract.
func validated(change func(*schema.Platform)) func(*testing.T) string {
	return func(*testing.T) string { return fmt.Sprint(planted(change).Validate()) }
}

// described finds a mistake in the tags of a struct.
func described(item any) func(*testing.T) string {
	return func(*testing.T) (got string) {
		defer func() { got = fmt.Sprint(recover()) }()
		schema.AttributesOf(item)
		return ""
	}
}

// compared finds a mistake in a line of a handler.
func compared(line string, change func(*schema.Platform)) func(*testing.T) string {
	return func(t *testing.T) string {
		file := filepath.Join(t.TempDir(), "links.go")
		source := "package links\n\nimport (\n\t\"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo\"\n" +
			"\t\"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency\"\n)\n\n" +
			"type Link struct {\n\tEnds int64 `dynamodbav:\"ends\"`\n}\n\nfunc save() {\n\t" + line + "\n}\n"
		must.OK(t, os.WriteFile(file, []byte(source), 0o600))
		var f finding.List
		must.OK(t, handlersource.Check(&f, planted(change), []string{file}))
		return fmt.Sprint(f.Err())
	}
}

// started builds and starts a function, and finds what the toolchain or the function says.
func started(function string, variables ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		binary := filepath.Join(t.TempDir(), "bootstrap")
		build := exec.Command("go", "build", "-o", binary, "./testdata/planted/"+function)
		if output, err := build.CombinedOutput(); err != nil {
			return string(output)
		}
		start := exec.Command(binary)
		start.Env = append(variables, "AWS_REGION=eu-west-1", "AWS_LAMBDA_FUNCTION_NAME="+function)
		output, err := start.CombinedOutput()
		if err == nil {
			t.Error("the function has started")
		}
		return string(output)
	}
}

// A mistake in a contract, its structs or its handlers is found at the synth or at the start: no caller meets it.
func TestPlanted(t *testing.T) {
	t.Parallel()
	if err := planted(nil).Validate(); err != nil {
		t.Fatalf("without a mistake: %v", err)
	}
	for name, test := range map[string]struct {
		found func(*testing.T) string
		want  string
	}{
		"StructWithoutTags": {described(untagged{}),
			"no tag attribute describes what is stored in platform_test.untagged.Code"},
		"FieldWithoutTag": {described(halfTagged{}), "stored in platform_test.halfTagged.Hits: add the tag"},
		"FlagAsKey": {validated(func(p *schema.Platform) { p.Database.Tables[0].Indexes[0].Key.Partition = "open" }),
			`got "open", a Boolean`},
		"AttributeNotProjected": {validated(func(p *schema.Platform) {
			p.Database.AccessPatterns[0] = p.Database.AccessPatterns[0].Returning("ends")
		}), "ByOwner does not project it"},
		"RouteWithoutFunction": {validated(func(p *schema.Platform) { p.Routes[0].Function = "page" }),
			`got "page"`},
		"UpdateOfUndeclared": {compared(`expression.Set(dynamo.Name("owned"), expression.Value(1))`, nil),
			`got "owned", allowed is one of claim, `},
		"NoKeepAnswer": {compared(`idempotency.Transact(ctx, db, "Save", nil)`, func(p *schema.Platform) {
			p.Database.AccessPatterns[1].Writes = slices.Delete(p.Database.AccessPatterns[1].Writes, 1, 2)
		}), `got "Save", allowed is an access pattern that ends with schema.KeepAnswer`},
		"ExpiryInMilliseconds": {compared(`dynamo.Put("Links", Link{Ends: now.UnixMilli()}, none)`, nil),
			`got "UnixMilli", allowed is Unix seconds`},
		"CursorWithoutOwner": {started("cursor"), "not enough arguments in call to"},
		"UnknownVariable": {started("variable", "LINKS_TABLE=acme-links", "LIMIT=5"),
			`variable LINK_TABLE is not set: the construct sets it; set it when you run the function by other means\n` +
				`the function has the variables LIMIT, LINKS_TABLE`},
		"PanicAtStart": {started("start"), "panic: assignment to entry in nil map"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.found(t); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
		})
	}
}
