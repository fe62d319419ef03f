package main

import (
	"bytes"
	"go/ast"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Lines end at this column; a tab fills up to the next fourth.
const (
	lastColumn = 120
	tabWidth   = 4
)

// lines reports lines that are too long. One with a raw string may go beyond, because a break would change the string:
// it is a document that a test sends, or the tag of a field. So may a directive, and what has no space at which to
// break.
var lines = &analysis.Analyzer{
	Name: "lines",
	Doc:  "lines end at column 120\n\nLines with raw strings, directives, printed output, and words without a space may go beyond.",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			if ast.IsGenerated(file) {
				continue
			}
			of := pass.Fset.File(file.FileStart)
			text, err := os.ReadFile(of.Name())
			if err != nil {
				return nil, err
			}
			raw, test := linesOfRawStrings(of, file), strings.HasSuffix(of.Name(), "_test.go")
			for i, line := range bytes.Split(text, []byte("\n")) {
				if i >= of.LineCount() {
					break
				}
				if test && bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
					continue // it may say what an example prints
				}
				if over := beyond(string(line)); over >= 0 && !raw[i+1] && breakable(string(line), over) {
					pass.Reportf(of.LineStart(i+1)+token.Pos(over), "the line ends beyond column %d: break it",
						lastColumn)
				}
			}
		}
		return nil, nil
	},
}

// beyond returns the offset of what is beyond the last column; -1: nothing is.
func beyond(line string) int {
	column := 0
	for offset, r := range line {
		if r == '\t' {
			column += tabWidth - column%tabWidth
		} else {
			column++
		}
		if column > lastColumn {
			return offset
		}
	}
	return -1
}

// breakable reports whether the line is no directive, and has a space before the offset, after its first word.
func breakable(line string, over int) bool {
	words := strings.TrimPrefix(strings.TrimLeft(line[:over], "\t "), "// ")
	return !strings.HasPrefix(words, "//go:") && strings.Contains(words, " ")
}

// linesOfRawStrings returns the numbers of the lines that hold a raw string, or a part of it.
func linesOfRawStrings(of *token.File, file *ast.File) map[int]bool {
	all := map[int]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && strings.HasPrefix(literal.Value, "`") {
			for line := of.Line(literal.Pos()); line <= of.Line(literal.End()); line++ {
				all[line] = true
			}
		}
		return true
	})
	return all
}
