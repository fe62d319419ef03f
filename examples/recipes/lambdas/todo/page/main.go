// Command page is the function of the recipe Page: it serves the files beside it.
package main

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/site"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

//go:embed files
var files embed.FS

func main() {
	kit.StartHTTP("todo", func(_ context.Context, e kit.Environment) (*kit.API, error) {
		root, err := fs.Sub(files, "files")
		if err != nil {
			return nil, err
		}
		page, err := site.New(site.Config{
			Files: root, Documents: map[string]string{"/": "index.html"},
			Header: http.Header{"Content-Security-Policy": {
				"default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}},
		})
		if err != nil {
			return nil, err
		}
		routes := http.NewServeMux()
		page.Register(routes)
		return &kit.API{Routes: routes, Error: failure, Log: e.Log, Binary: true}, nil
	})
}

// failure is what a request gets that no file answers.
func failure(_ context.Context, err error) (status int, body any) {
	var refused *validate.Error
	if errors.As(err, &refused) {
		return refused.Status, map[string]string{"error": refused.Error()}
	}
	return http.StatusInternalServerError, map[string]string{"error": "something went wrong here: try again"}
}
