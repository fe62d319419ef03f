// Package handlersource compares the source of handlers with the contract of their platform. It finds names of
// attributes, tables and access patterns that the contract lacks: the toolchain knows them as texts alone, and DynamoDB
// stores an item under any name.
package handlersource

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// kit ends the import paths of the packages whose calls are read. The library may be published under another path.
const kit = "/lambdas/kit/"

// names says which argument of a call names what, by package and function. Further arguments of Changes are names, too.
var names = map[string]struct {
	argument int
	of       func(*check, token.Pos, string)
}{
	"dynamo.Name": {0, (*check).attribute}, "dynamo.Absent": {0, (*check).attribute},
	"dynamo.Equal": {0, (*check).attribute}, "dynamo.Changes": {1, (*check).attribute},
	"dynamo.Put": {0, (*check).table}, "dynamo.Update": {0, (*check).table}, "dynamo.Delete": {0, (*check).table},
	"dynamo.Check": {0, (*check).table},
	"dynamo.Read":  {2, (*check).pattern}, "dynamo.ReadBatch": {2, (*check).pattern},
	"idempotency.Transact": {2, (*check).keeping}, "idempotency.Claiming": {2, (*check).keeping},
}

// check is what a look at the files needs and finds.
type check struct {
	platform  schema.Platform
	files     *token.FileSet
	constants map[string]map[string]string // texts by folder and name
	expiries  map[string]bool              // fields of structs that are a time to live, as "Link.Expires"
	found     finding.List
}

// Check adds a finding for each name in the Go files that the platform does not declare, for each transaction of a
// request with an idempotency key that has no place for the answer, and for each time to live that is not in seconds. A
// name counts if it is a text, or a constant of its package. The findings' paths are file and line. The error says
// which file cannot be read; the toolchain says better what is wrong within one, so such a file has no findings.
func Check(f *finding.List, platform schema.Platform, files []string) error {
	c := &check{platform: platform, files: token.NewFileSet(), constants: map[string]map[string]string{},
		expiries: map[string]bool{}}
	var calling []*ast.File
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("comparing handlers with the schema: %w", err)
		}
		parsed, err := parser.ParseFile(c.files, name, content, 0)
		if err != nil {
			continue
		}
		c.declarations(filepath.Dir(name), parsed)
		if bytes.Contains(content, []byte(kit)) {
			calling = append(calling, parsed)
		}
	}
	for _, file := range calling {
		c.file(file)
	}
	*f = append(*f, c.found...)
	return nil
}

// declarations notes the constants of a file, and its structs' fields that are a time to live.
func (c *check) declarations(folder string, file *ast.File) {
	if c.constants[folder] == nil {
		c.constants[folder] = map[string]string{}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch declared := node.(type) {
		case *ast.FuncDecl:
			return false
		case *ast.ValueSpec:
			for i, name := range declared.Names {
				if i < len(declared.Values) && name.Obj != nil && name.Obj.Kind == ast.Con {
					if text, ok := literal(declared.Values[i]); ok {
						c.constants[folder][name.Name] = text
					}
				}
			}
		case *ast.TypeSpec:
			if form, ok := declared.Type.(*ast.StructType); ok {
				c.form(declared.Name.Name, form)
			}
		}
		return true
	})
}

func (c *check) form(name string, form *ast.StructType) {
	for _, field := range form.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		stored, _, _ := strings.Cut(reflect.StructTag(tag).Get("dynamodbav"), ",")
		ends := func(t schema.Table) bool { return stored != "" && t.TimeToLive == stored }
		for _, of := range field.Names {
			c.expiries[name+"."+of.Name] = slices.ContainsFunc(c.platform.Database.Tables, ends)
		}
	}
}

func (c *check) file(file *ast.File) {
	imported := map[string]string{} // the name in the file of dynamo and idempotency
	for _, of := range file.Imports {
		path, _ := strconv.Unquote(of.Path.Value)
		if _, name, ok := strings.Cut(path, kit); ok {
			local := name
			if of.Name != nil {
				local = of.Name.Name
			}
			imported[local] = name
		}
	}
	folder := filepath.Dir(c.files.Position(file.Pos()).Filename)
	text := func(value ast.Expr) (string, bool) {
		if name, ok := value.(*ast.Ident); ok && (name.Obj == nil || name.Obj.Kind == ast.Con) {
			text, known := c.constants[folder][name.Name]
			return text, known
		}
		return literal(value)
	}
	within := map[ast.Node]bool{} // names of members within an attribute
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			if selected, ok := node.Fun.(*ast.SelectorExpr); ok && selected.Sel.Name == "AppendName" {
				for _, name := range node.Args {
					within[name] = true
				}
			}
			called := calledName(node.Fun, imported)
			named, ok := names[called]
			for i, argument := range node.Args {
				if ok && !within[node] && (i == named.argument || i > named.argument && called == "dynamo.Changes") {
					if name, known := text(argument); known {
						named.of(c, argument.Pos(), name)
					}
				}
			}
		case *ast.CompositeLit:
			c.literal(node, calledName(node.Type, imported), text)
		}
		return true
	})
}

// literal looks at the fields of a struct's literal.
func (c *check) literal(of *ast.CompositeLit, kitName string, text func(ast.Expr) (string, bool)) {
	form := ""
	switch named := of.Type.(type) {
	case *ast.Ident:
		form = named.Name
	case *ast.SelectorExpr:
		form = named.Sel.Name
	}
	for _, element := range of.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		field, ok := pair.Key.(*ast.Ident)
		if !ok {
			continue
		}
		if c.expiries[form+"."+field.Name] {
			c.expiry(pair.Value)
		}
		if name, known := text(pair.Value); known && (kitName == "dynamo.List" && field.Name == "Pattern" ||
			kitName == "dynamo.Erasure" && (field.Name == "List" || field.Name == "Delete")) {
			c.pattern(pair.Value.Pos(), name)
		}
	}
}

// expiry refuses a moment in another unit than seconds.
func (c *check) expiry(value ast.Expr) {
	ast.Inspect(value, func(node ast.Node) bool {
		called, ok := node.(*ast.SelectorExpr)
		if ok && slices.Contains([]string{"UnixMilli", "UnixMicro", "UnixNano"}, called.Sel.Name) {
			c.add(called.Sel.Pos(), called.Sel.Name, "Unix seconds as a time to live",
				"write dynamo.ExpiryAt of the moment: DynamoDB would never delete the item")
		}
		return true
	})
}

func (c *check) attribute(at token.Pos, name string) {
	var declared []string
	for _, t := range c.platform.Database.Tables {
		for _, a := range t.Attributes {
			declared = append(declared, a.Name)
		}
	}
	c.declared(at, "attribute", name, declared)
}

func (c *check) table(at token.Pos, name string) {
	var declared []string
	for _, t := range c.platform.Database.Tables {
		declared = append(declared, t.Name)
	}
	c.declared(at, "table", name, declared)
}

func (c *check) pattern(at token.Pos, name string) {
	var declared []string
	for _, p := range c.platform.Database.AccessPatterns {
		declared = append(declared, p.Name)
	}
	c.declared(at, "access pattern", name, declared)
}

// keeping checks a pattern whose transaction also writes the item of an idempotency key: its last write may be left
// out.
func (c *check) keeping(at token.Pos, name string) {
	p, ok := c.platform.Database.AccessPattern(name)
	if !ok {
		c.pattern(at, name)
		return
	}
	if n := len(p.Writes); n == 0 || !p.Writes[n-1].Optional || p.Writes[n-1].Action != schema.UpdateItem {
		c.add(at, name, "an access pattern that ends with schema.KeepAnswer or schema.ClaimKey",
			"append the write to the pattern: a request with an idempotency key would fail")
	}
}

// declared refuses a name that is not declared.
func (c *check) declared(at token.Pos, what, name string, declared []string) {
	if slices.Contains(declared, name) {
		return
	}
	slices.Sort(declared)
	c.add(at, name, "one of "+strings.Join(slices.Compact(declared), ", "),
		"spell the "+what+" as in the schema, or declare it there")
}

func (c *check) add(at token.Pos, got, allowed, remedy string) {
	position := c.files.Position(at)
	name := position.Filename
	if folder, err := filepath.Abs("."); err == nil {
		if relative, err := filepath.Rel(folder, name); err == nil && filepath.IsLocal(relative) {
			name = relative
		}
	}
	c.found.Add(fmt.Sprintf("%s:%d", name, position.Line), got, allowed, remedy)
}

// calledName returns what an expression names of the kit, such as "dynamo.Name", or "".
func calledName(of ast.Expr, imported map[string]string) string {
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	selected, ok := of.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	name, ok := selected.X.(*ast.Ident)
	if !ok || imported[name.Name] == "" {
		return ""
	}
	return imported[name.Name] + "." + selected.Sel.Name
}

func literal(value ast.Expr) (string, bool) {
	text, ok := value.(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return "", false
	}
	read, err := strconv.Unquote(text.Value)
	return read, err == nil
}
