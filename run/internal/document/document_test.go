package document_test

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/document"
)

// withAPI is a template of the API of a name, with the routes GET / and GET /items.
//
//go:embed testdata/api.json
var withAPI string

// write writes the assembly of stacks, each with the API of its name, whose document, if it has one, describes
// GET /items.
func write(t *testing.T, documents map[string]string) string {
	t.Helper()
	templates := map[string]string{}
	for name, content := range documents {
		if templates[name] = strings.ReplaceAll(withAPI, "NAME", name); content == "no API" {
			templates[name] = `{"Resources": {}}`
		}
	}
	folder := assemblytest.Write(t, assemblytest.Anywhere, templates)
	for name, content := range documents {
		if content != "" {
			must.OK(t, os.WriteFile(filepath.Join(folder, name+".Api.openapi.json"), []byte(content), 0o600))
		}
	}
	return folder
}

func TestRead(t *testing.T) {
	t.Parallel()
	const content = `{"openapi":"3.1.0","paths":{"/items":{"get":{}}}}`
	one := map[string]string{"Links": content, "Jobs": ""}
	two := map[string]string{"Links": content, "Orders": content}
	for name, test := range map[string]struct {
		documents map[string]string
		options   document.Options
		// want is the name of the API, or part of the error.
		want string
		err  error
	}{
		"OK":         {one, document.Options{}, "Links API", nil},
		"Stack":      {two, document.Options{Stacks: []string{"Orders"}}, "Orders API", nil},
		"API":        {two, document.Options{API: "Links API"}, "Links API", nil},
		"ErrSeveral": {two, document.Options{}, "Links Links API, Orders Orders API: choose", document.ErrAmbiguous},
		"ErrStack":   {two, document.Options{Stacks: []string{"Order"}}, "the assembly has Links, Orders", nil},
		"ErrAPI": {two, document.Options{API: "Order"}, "none for Links Links API, Orders Orders API: declare",
			document.ErrNotFound},
		"ErrNone": {map[string]string{"Jobs": ""}, document.Options{}, "none for Jobs Jobs API: declare",
			document.ErrNotFound},
		"ErrNoAPI": {map[string]string{"Links": "no API"}, document.Options{}, "no HTTP API", document.ErrNotFound},
		"ErrJSON":  {map[string]string{"Links": "{"}, document.Options{}, "reading its OpenAPI document", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := test.options
			options.Assembly = write(t, test.documents)
			got, err := document.Read(options)
			if strings.HasPrefix(name, "Err") {
				if err == nil || !strings.Contains(err.Error(), test.want) ||
					test.err != nil && !errors.Is(err, test.err) {
					t.Errorf("got %v; want %q", err, test.want)
				}
				return
			}
			if err != nil || string(got.Content) != content || got.API != test.want || got.Stack+" API" != got.API ||
				fmt.Sprint(got.Undescribed) != "[GET / of items]" {
				t.Errorf("got %+v %s, %v; want that of %s", got, got.Content, err, test.want)
			}
		})
	}
}

func TestReadErrNoAssembly(t *testing.T) {
	t.Parallel()
	if _, err := document.Read(document.Options{Assembly: t.TempDir()}); !errors.Is(err, assembly.ErrNoAssembly) {
		t.Errorf("got %v; want %v", err, assembly.ErrNoAssembly)
	}
}
