package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is a changed file.
type mutant struct {
	of   pkg
	file string
	// id names the change without its place in the file, which other changes move.
	id     string
	line   int
	what   string
	source []byte
}

func (m mutant) at(module string) string {
	file := m.file
	if root, err := filepath.Abs(module); err == nil {
		if below, err := filepath.Rel(root, m.file); err == nil {
			file = below
		}
	}
	return fmt.Sprintf("%s:%d", file, m.line)
}

func (m mutant) rank(seed uint64) uint64 {
	sum := fnv.New64a()
	fmt.Fprint(sum, seed, " ", m.id)
	// FNV alone leaves the names of one function beside each other.
	n := sum.Sum64()
	n ^= n >> 33
	n *= 0xff51afd7ed558ccd
	return n ^ n>>33
}

// swapped are the operators that take each other's place.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// mutants returns the changes of a file: a comparison or an operator is another one, a condition is negated, a whole
// number is one more, a statement is left out, or a function returns zero values. Some do not compile.
func mutants(of pkg, path string) ([]mutant, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var all []mutant
	times := map[string]int{}
	offset := func(at token.Pos) int { return files.Position(at).Offset }
	text := func(n ast.Node) string { return string(source[offset(n.Pos()):offset(n.End())]) }
	name := ""
	change := func(from, to token.Pos, with string) {
		was := string(source[offset(from):offset(to)])
		what := fmt.Sprintf("%s: %s becomes %s", name, short(was), short(with))
		if with == "" {
			what = fmt.Sprintf("%s: %s is left out", name, short(was))
		}
		id := strings.Join([]string{of.ImportPath, filepath.Base(path), name, was, with}, " ")
		times[id]++
		all = append(all, mutant{of: of, file: path, id: fmt.Sprint(id, " ", times[id]),
			line: files.Position(from).Line, what: what,
			source: slices.Concat(source[:offset(from)], []byte(with), source[offset(to):])})
	}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		name = function.Name.Name
		// The results of the functions that the walk is in, from the outermost on.
		within := []*ast.FuncType{function.Type}
		var nodes []ast.Node
		ast.Inspect(function.Body, func(n ast.Node) bool {
			if n == nil {
				if _, ok := nodes[len(nodes)-1].(*ast.FuncLit); ok {
					within = within[:len(within)-1]
				}
				nodes = nodes[:len(nodes)-1]
				return true
			}
			nodes = append(nodes, n)
			switch n := n.(type) {
			case *ast.FuncLit:
				within = append(within, n.Type)
			case *ast.BinaryExpr:
				if other, ok := swapped[n.Op]; ok {
					change(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
				}
			case *ast.IfStmt:
				change(n.Cond.Pos(), n.Cond.End(), "!("+text(n.Cond)+")")
			case *ast.BasicLit:
				if number, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
					change(n.Pos(), n.End(), strconv.Itoa(number+1))
				}
			case *ast.ExprStmt, *ast.IncDecStmt:
				change(n.Pos(), n.End(), "")
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					change(n.Pos(), n.End(), "")
				}
			case *ast.ReturnStmt:
				if len(n.Results) == 0 {
					break
				}
				if zero := "return " + zeros(within[len(within)-1].Results, text); text(n) != zero {
					change(n.Pos(), n.End(), zero)
				}
			}
			return true
		})
	}
	return all, nil
}

// zeros are the zero values of results.
func zeros(results *ast.FieldList, text func(ast.Node) string) string {
	var all []string
	for _, field := range results.List {
		zero := "*new(" + text(field.Type) + ")"
		switch name := text(field.Type); {
		case name == "error" || strings.HasPrefix(name, "*") || strings.HasPrefix(name, "[]"):
			zero = "nil"
		case name == "string":
			zero = `""`
		case name == "bool":
			zero = "false"
		case name == "int":
			zero = "0"
		}
		all = append(all, slices.Repeat([]string{zero}, max(1, len(field.Names)))...)
	}
	return strings.Join(all, ", ")
}

// short is a text on one line of a report.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 70 {
		text = text[:70] + "…"
	}
	return "`" + text + "`"
}
