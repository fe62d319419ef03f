package reference

import (
	"cmp"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// module begins the import paths of this module.
const module = "github.com/onesynth-cdk/onesynth/"

// Type is a type of the module, as its source declares it.
type Type struct {
	// Name is that of the package and the type's, such as table.Options.
	Name, Package, Doc string
	// Underlying is what the type is declared as; "struct" has the Fields.
	Underlying string
	Fields     []Field
	// Of are the types that Underlying names, as in Field.
	Of []string
	// Values are the constants of the type.
	Values []Value
}

// Field is an exported field of a struct.
type Field struct {
	Name, Doc string
	// Type is the type as Go writes it, with the package of each name.
	Type string
	// JSON is its name in JSON; "-" if it has none. Optional says that JSON leaves out its zero value.
	JSON     string
	Optional bool
	Embedded bool
	// Of are the types of the packages that were read and that Type names.
	Of []string
}

// Described returns the fields that are not embedded, in groups: one comment describes all of a group.
func (t Type) Described() (groups [][]Field) {
	for i, field := range t.Fields {
		switch {
		case field.Embedded:
		case i > 0 && field.Doc != "" && field.Doc == t.Fields[i-1].Doc:
			groups[len(groups)-1] = append(groups[len(groups)-1], field)
		default:
			groups = append(groups, []Field{field})
		}
	}
	return groups
}

// Value is a constant.
type Value struct{ Name, Value, Doc string }

// Source is types by name.
type Source map[string]Type

// Read parses the packages of the folders, which are patterns below the root of the module, such as "constructs/*". It
// compiles nothing, and so needs no CDK.
func Read(t testing.TB, folders ...string) Source {
	t.Helper()
	root, source, read := Root(t), Source{}, map[string]*doc.Package{}
	for _, pattern := range folders {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern), "*.go"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: got %d files, %v", pattern, len(found), err)
		}
		byFolder := map[string][]*ast.File{}
		set := token.NewFileSet()
		for _, file := range found {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			folder, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			byFolder[filepath.ToSlash(folder)] = append(byFolder[filepath.ToSlash(folder)], parsed)
		}
		for folder, files := range byFolder {
			described, err := doc.NewFromFiles(set, files, module+folder, doc.AllDecls|doc.PreserveAST)
			if err != nil {
				t.Fatal(err)
			}
			read[module+folder] = described
		}
	}
	for _, described := range read {
		imports := map[string]bool{}
		for _, path := range described.Imports {
			imports[path] = true
		}
		for _, declared := range described.Types {
			for _, specification := range declared.Decl.Specs {
				one := specification.(*ast.TypeSpec)
				source[described.Name+"."+declared.Name] = reader{described, read, imports}.typeOf(declared, one)
			}
		}
	}
	return source
}

// reader reads the types of a package.
type reader struct {
	described *doc.Package
	read      map[string]*doc.Package
	imports   map[string]bool
}

func (r reader) typeOf(declared *doc.Type, one *ast.TypeSpec) Type {
	found := Type{Name: r.described.Name + "." + declared.Name, Package: r.described.Name, Doc: declared.Doc}
	for _, constants := range declared.Consts {
		for _, specification := range constants.Decl.Specs {
			constant := specification.(*ast.ValueSpec)
			for i, name := range constant.Names {
				if !name.IsExported() {
					continue
				}
				value := Value{Name: name.Name, Doc: constant.Doc.Text()}
				if i < len(constant.Values) {
					value.Value = types.ExprString(constant.Values[i])
				}
				found.Values = append(found.Values, value)
			}
		}
	}
	structure, ok := one.Type.(*ast.StructType)
	if !ok {
		found.Underlying = r.print(one.Type, &found.Of)
		return found
	}
	found.Underlying = "struct"
	text := ""
	for _, field := range structure.Fields.List {
		switch {
		case field.Doc != nil:
			text = field.Doc.Text()
		case field.Comment != nil:
			text = field.Comment.Text()
		case len(field.Names) == 0 || !strings.Contains(text, field.Names[0].Name):
			// A comment of several fields names each.
			text = ""
		}
		one := Field{Doc: text, Embedded: len(field.Names) == 0}
		one.Type = r.print(field.Type, &one.Of)
		tag, options := "", ""
		if field.Tag != nil {
			tag, options, _ = strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
		}
		one.Optional = strings.HasPrefix(options, "omit")
		if one.Embedded {
			one.Name, one.JSON = strings.TrimLeft(one.Type, "*"), tag
			found.Fields = append(found.Fields, one)
		}
		for _, name := range field.Names {
			if name.IsExported() {
				one.Name, one.JSON = name.Name, cmp.Or(tag, name.Name)
				found.Fields = append(found.Fields, one)
			}
		}
	}
	return found
}

// print returns a type as Go writes it, and adds the names of types that were read.
func (r reader) print(of ast.Expr, names *[]string) string {
	switch of := of.(type) {
	case *ast.Ident:
		if slices.ContainsFunc(r.described.Types, func(t *doc.Type) bool { return t.Name == of.Name }) {
			name := r.described.Name + "." + of.Name
			*names = append(*names, name)
			return name
		}
		return of.Name
	case *ast.SelectorExpr:
		name := types.ExprString(of)
		for imported, described := range r.read {
			if r.imports[imported] && path.Base(imported) == types.ExprString(of.X) &&
				slices.ContainsFunc(described.Types, func(t *doc.Type) bool { return t.Name == of.Sel.Name }) {
				*names = append(*names, name)
			}
		}
		return name
	case *ast.StarExpr:
		// Constructs are passed so. They are nothing to set.
		return "*" + r.print(of.X, new([]string))
	case *ast.ArrayType:
		return "[]" + r.print(of.Elt, names)
	case *ast.InterfaceType:
		return "interface"
	case *ast.MapType:
		return "map[" + r.print(of.Key, names) + "]" + r.print(of.Value, names)
	}
	return types.ExprString(of)
}

// Reach returns the names, and those of all types that these need, each after the one that needs it first.
func (s Source) Reach(names ...string) (all []string) {
	seen := map[string]bool{}
	var visit func(names []string)
	visit = func(names []string) {
		for _, name := range names {
			if _, ok := s[name]; !ok || seen[name] {
				continue
			}
			seen[name] = true
			all = append(all, name)
			visit(s[name].Of)
			for _, field := range s[name].Fields {
				visit(field.Of)
			}
		}
	}
	visit(names)
	return all
}
