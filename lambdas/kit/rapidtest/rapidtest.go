// Package rapidtest bounds how many long histories the random tests of a package make.
package rapidtest

import (
	"flag"
	"os"
	"strconv"
)

// Main is for TestMain: it runs the tests, with that many histories of rapid instead of 100, and exits. A flag
// overrides the number, for one package at a time:
//
//	go test ./lambdas/todo -run TestRandomHistories -rapid.checks 1000
func Main(run func() (code int), histories int) {
	flag.Parse()
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "rapid.checks" })
	if !told {
		if err := flag.Set("rapid.checks", strconv.Itoa(histories)); err != nil {
			panic(err) // the package has no test that uses rapid
		}
	}
	os.Exit(run())
}
