// The handler has no dependencies. Its answer has the platform that it was built for, and its package: SOURCE.
package main

import (
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
)

func main() {
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/"
	for {
		next, err := http.Get(api + "next")
		if err != nil {
			return
		}
		io.Copy(io.Discard, next.Body)
		next.Body.Close()
		answer, err := http.Post(api+next.Header.Get("Lambda-Runtime-Aws-Request-Id")+"/response", "application/json",
			strings.NewReader("\""+runtime.GOOS+"/"+runtime.GOARCH+" SOURCE\""))
		if err != nil {
			return
		}
		answer.Body.Close()
	}
}
