package httpapi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

var template synthtest.Template

func TestMain(m *testing.M) {
	synthtest.Main(m, declare, func(folder string) (err error) {
		template, err = synthtest.Load(folder, "stack")
		return err
	})
}

// routesOf are how many routes the functions under test have.
var routesOf = map[string]int{"Some": 20, "Many": 60}

func declare(app awscdk.App) {
	build := gofunction.Start(context.Background(),
		gofunction.Source{Directory: "../todo/testdata/handlers", Packages: []string{"todoapi"}})
	stack := awscdk.NewStack(app, jsii.String("stack"), nil)
	p := httpapi.Props{Name: "API", Functions: map[string]*gofunction.Function{}}
	for id, routes := range routesOf {
		p.Functions[id] = gofunction.New(stack, id, gofunction.Props{Build: build, Name: "todoapi"})
		for i := range routes {
			p.Routes = append(p.Routes, schema.Route{Method: "GET", Path: fmt.Sprintf("/%s/%d", id, i), Function: id,
				Caller: schema.CallerAnyone, Summary: "Get"})
		}
	}
	httpapi.New(stack, "API", p)
}

// AWS Lambda takes 20 KB of permissions of a function, about half a kilobyte each: a
// function of some routes is called by these alone, one of many by the whole API.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]struct {
		permissions int
		source      string
	}{"Some": {20, "/*/*/Some/"}, "Many": {1, "/*/*/*"}} {
		function, _ := template.One(t, "AWS::Lambda::Function", id)
		got := 0
		for _, p := range template.OfType("AWS::Lambda::Permission") {
			if !strings.Contains(synthtest.Text(p.Properties["FunctionName"]), function) {
				continue
			}
			got++
			if source := synthtest.Text(p.Properties["SourceArn"]); !strings.Contains(source, want.source) {
				t.Errorf("%s: got a permission for %s, want %s", id, source, want.source)
			}
		}
		if got != want.permissions {
			t.Errorf("%s: got %d permissions, want %d", id, got, want.permissions)
		}
	}
}
