package handlersource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/handlersource"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

func links() schema.Platform {
	return schema.Platform{Name: "links", Database: schema.Database{
		Tables: []schema.Table{{Name: "Links", TimeToLive: "ends", Attributes: []schema.Attribute{
			{Name: "code", Type: schema.String}, {Name: "ends", Type: schema.Number}}}},
		AccessPatterns: []schema.AccessPattern{
			schema.Transaction("Save", "", schema.PutItem.On("Links", "the link")),
			schema.Transaction("Keep", "", schema.PutItem.On("Links", "the link"), schema.KeepAnswer("Links")),
		},
	}}
}

const beginning = `package links

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
)

const code = "code"

type Link struct {
	Code string ` + "`dynamodbav:\"code\"`" + `
	Ends int64 ` + "`dynamodbav:\"ends\"`" + `
}

func work(given string) {
	`

// What a handler names is compared with the schema, wherever the source says the name.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ line, want string }{
		"OK":         {`dynamo.Put("Links", Link{Ends: dynamo.ExpiryAt(now)}, dynamo.Absent(code))`, ""},
		"OKComputed": {`dynamo.Name(given)`, ""},
		"OKMember":   {`dynamo.Name("code").AppendName(dynamo.Name("within"))`, ""},
		"OKKept":     {`idempotency.Transact(ctx, db, "Keep", nil)`, ""},
		"OKOther":    {`Other{Ends: now.UnixMilli()}`, ""},
		"ErrAttribute": {`expression.Set(dynamo.Name("cod"), expression.Value(1))`,
			`links.go:16: got "cod", allowed is one of code, ends: spell the attribute as in the schema`},
		"ErrCondition": {`dynamo.Equal("cod", 1)`, `got "cod"`},
		"ErrChanges":   {`dynamo.Changes(link, code, "end")`, `got "end"`},
		"ErrTable":     {`dynamo.Delete("Link", nil, none)`, `got "Link", allowed is one of Links`},
		"ErrPattern":   {`dynamo.Read[Link](ctx, db, "Lsit", dynamo.Query{})`, `allowed is one of Keep, Save`},
		"ErrList":      {`dynamo.List{Pattern: "Lsit"}`, `got "Lsit"`},
		"ErrKeepAnswer": {`idempotency.Transact(ctx, db, "Save", nil)`,
			`got "Save", allowed is an access pattern that ends with schema.KeepAnswer`},
		"ErrExpiry": {`use(Link{Ends: now.Add(day).UnixMilli()})`, `got "UnixMilli", allowed is Unix seconds`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "links.go")
			must.OK(t, os.WriteFile(file, []byte(beginning+test.line+"\n}\n"), 0o600))
			var f finding.List
			must.OK(t, handlersource.Check(&f, links(), []string{file}))
			if got := f.Err(); test.want == "" && got != nil ||
				test.want != "" && (len(f) != 1 || !strings.Contains(f[0].String(), test.want)) {
				t.Errorf("got %v, want %q", got, test.want)
			}
		})
	}
}
