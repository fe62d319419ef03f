package release

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
	"golang.org/x/mod/modfile"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/reference"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// allowed are the licences, by SPDX identifier, that require only notices. Code under them
// may be distributed together with code under Apache-2.0.
var allowed = []string{"Apache-2.0", "MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD"}

// coverage is the minimum share of a known licence in a file, in percent: the rest could be
// further conditions.
const coverage = 75

// lambdaSummary is the LICENSE-SUMMARY of github.com/aws/aws-lambda-go.
const lambdaSummary = `Copyright 2017 Amazon.com, Inc. or its affiliates. All Rights Reserved.

Lambda functions are made available under a modified MIT license.
See LICENSE-LAMBDACODE for details.

The remainder of the project is made available under the terms of the
Apache License, version 2.0. See LICENSE for details.
`

// license returns the licences of the module in a folder, separated by commas. It returns an
// error if there is none, if one is not allowed, or if a file is not the text of a known
// licence.
func license(folder string) (string, error) {
	var files []string
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "License*"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return "", err
		}
		files = append(files, found...)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		cover := licensecheck.Scan(text)
		if cover.Percent < coverage {
			if string(text) == lambdaSummary {
				continue
			}
			return "", fmt.Errorf("%s: %.0f %% of it is the text of a known licence, want %d %%", filepath.Base(file),
				cover.Percent, coverage)
		}
		for _, match := range cover.Match {
			if match.IsURL {
				continue
			}
			if !slices.Contains(allowed, match.ID) {
				return "", fmt.Errorf("%s: got %s, allowed are %s: do without the module", filepath.Base(file),
					match.ID, strings.Join(allowed, ", "))
			}
			found[match.ID] = true
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("there is no licence: no one may use the module")
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), ", "), nil
}

// docs/reference/licenses.md lists the licences of all modules that importers fetch, and all are allowed.
func TestLicenses(t *testing.T) {
	t.Parallel()
	if own, err := license("../.."); err != nil || own != "Apache-2.0" {
		t.Errorf("LICENSE: got %q, %v, want Apache-2.0", own, err)
	}
	i := importertest.New(t)
	folder := must.Get(filepath.Abs("../.."))(t)
	i.Replace(t, folder)
	i.Run(t, "go", "get", ".")
	content := must.Get(os.ReadFile(filepath.Join(i.Folder, "go.mod")))(t)
	requirements := must.Get(modfile.Parse("go.mod", content, nil))(t)
	table := reference.Table{{"Module", "Licence"}}
	for _, r := range requirements.Require {
		if r.Mod.Path == importertest.ModulePath {
			continue
		}
		download := exec.Command("go", "mod", "download", "-json", r.Mod.String())
		download.Dir, download.Env = i.Folder, i.Environment
		var module struct{ Dir string }
		must.OK(t, json.Unmarshal([]byte(importertest.Output(t, download)), &module))
		licence, err := license(module.Dir)
		if err != nil {
			t.Errorf("%s: %v", r.Mod, err)
		}
		table = append(table, reference.Row{"`" + r.Mod.Path + "`", licence})
	}

	file := filepath.Join("..", "..", "docs", "reference", "licenses.md")
	document := must.Get(os.ReadFile(file))(t)
	goldentest.Check(t, file, []byte(table.In(t, string(document))))
}

func TestLicenseErr(t *testing.T) {
	t.Parallel()
	const grant = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
	const copyleft = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU Affero General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU Affero General Public License for more details.

You should have received a copy of the GNU Affero General Public License along with this program. If not, see <https://www.gnu.org/licenses/>.
`
	further := strings.Repeat("The Software may be used by companies of up to ten employees only, and not on Mondays. ",
		40)
	tests := map[string]struct {
		name, text string
		// beside is the text of LICENSE-RESTRICTIONS; "": there is none.
		beside string
		// want is part of the error; "": there is none.
		want string
	}{
		"OK":           {"LICENSE.txt", grant, "", ""},
		"British":      {"LICENCE", grant, "", ""},
		"Summary":      {"LICENSE", grant, lambdaSummary, ""},
		"ErrNone":      {"README.md", grant, "", "there is no licence"},
		"ErrAffero":    {"COPYING", copyleft, "", "got AGPL-3.0"},
		"ErrFurther":   {"LICENSE", grant + further, "", "is the text of a known licence"},
		"ErrBoth":      {"LICENSE", grant + "\n" + copyleft, "", "got AGPL-3.0"},
		"ErrOnlyWords": {"LICENSE", "All rights reserved.", "", "LICENSE: 0 % of it is the text of a known licence"},
		"ErrBeside": {"LICENSE", grant, further[:300],
			"LICENSE-RESTRICTIONS: 0 % of it is the text of a known licence"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			must.OK(t, os.WriteFile(filepath.Join(folder, test.name), []byte(test.text), 0o644))
			if test.beside != "" {
				must.OK(t, os.WriteFile(filepath.Join(folder, "LICENSE-RESTRICTIONS"), []byte(test.beside),
					0o644))
			}
			_, err := license(folder)
			if got := fmt.Sprint(err); err == nil && test.want != "" ||
				err != nil && (test.want == "" || !strings.Contains(got, test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
