package site_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing/fstest"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/site"
)

// A set of files becomes a page: its documents have paths, and its assets the hashes of their contents.
func ExampleNew() {
	page, err := site.New(site.Config{
		Files:     fstest.MapFS{"index.html": {Data: []byte("<title>Seats</title>")}},
		Documents: map[string]string{"/seats": "index.html"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	page.Register(mux)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest("GET", "/seats", nil))
	fmt.Println(answer.Code, answer.Header().Get("Cache-Control"), answer.Body)
	// Output: 200 no-cache <title>Seats</title>
}
