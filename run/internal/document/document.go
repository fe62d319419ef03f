// Package document gets the OpenAPI document of an HTTP API of an assembly from the function that serves it, without a
// run.
//
// It starts that function alone. The function gets the secrets, parameters and queues that the assembly declares, and
// no tables: a request to DynamoDB fails.
package document

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
)

// fileName is how the path of a document ends, unless the options name the path.
const fileName = "openapi.json"

// ErrNotFound says that no API of the assembly has a route for a document.
var ErrNotFound = errors.New("no OpenAPI document")

// ErrAmbiguous says that several APIs of the assembly serve a document.
var ErrAmbiguous = errors.New("several OpenAPI documents")

// Options choose a document. The zero value reads the only one of the assembly in cdk.out.
type Options struct {
	// Assembly is the folder of the cloud assembly. Default: cdk.out.
	Assembly string
	// Stacks choose stacks, as [assembly.Choose] does. Default: all.
	Stacks []string
	// Path is the path of the document's route, such as /docs/v1.json. Default: any that ends in /openapi.json.
	Path string
	// SSMParameters are values of parameters of AWS Systems Manager that the assembly does not declare, by name.
	SSMParameters map[string]string
	// Folders are those whose Go modules may require the function's, if it has to be built for this machine.
	Folders []string
	// Log gets lines of progress. Default: none.
	Log func(line string)
}

// Document is an OpenAPI document.
type Document struct {
	// Stack and API are the names of the stack and of its API.
	Stack, API string
	// Path is where the API serves the document, the first if its functions serve several.
	Path string
	// Content is the document in JSON, as the function writes it. Of several functions, each with a document of its own
	// operations, it is one with all of these.
	Content []byte
}

// Read returns the document that the options choose. It fails with assembly.ErrNoAssembly, [ErrNotFound],
// [ErrAmbiguous], or an error that says why the function does not answer.
func Read(ctx context.Context, options Options) (Document, error) {
	if options.Assembly == "" {
		options.Assembly = "cdk.out"
	}
	if options.Log == nil {
		options.Log = func(string) {}
	}
	loaded, err := assembly.Load(options.Assembly,
		assembly.Options{Stacks: options.Stacks, SSMParameters: options.SSMParameters})
	if err != nil {
		return Document{}, err
	}
	found, err := find(loaded, options.Path)
	if err != nil {
		return Document{}, err
	}
	first := found[0]
	var contents [][]byte
	for _, one := range found {
		content, err := one.ask(ctx, loaded, options)
		if err != nil {
			return Document{}, fmt.Errorf("stack %s: GET %s of API %s: %w", one.stack, one.path(), one.api.Name, err)
		}
		contents = append(contents, content)
	}
	read := Document{Stack: first.stack, API: first.api.Name, Path: first.path(), Content: contents[0]}
	if len(contents) > 1 {
		if read.Content, err = join(contents); err != nil {
			return Document{}, fmt.Errorf("stack %s: API %s: %w", first.stack, first.api.Name, err)
		}
	}
	return read, nil
}

// served is a route that serves a document.
type served struct {
	stack string
	// api has that route alone.
	api apigateway.API
}

func (s served) path() string { return s.api.Routes[0].Key[len(prefix)-1:] }

// prefix begins the keys of routes that can serve a document.
const prefix = "GET /"

// find returns the routes that serve a document, of the only API that has one.
func find(loaded *assembly.Assembly, wanted string) ([]served, error) {
	var found []served
	var has []string
	var problems []error
	for _, resource := range loaded.Resources("AWS::ApiGatewayV2::Api") {
		// A route that cannot be run here does not keep the document's from being asked.
		api, err := apigateway.Read(loaded, resource, apigateway.NewIssuer(""))
		problems = append(problems, err)
		for _, route := range api.Routes {
			at, isGet := strings.CutPrefix(route.Key, prefix)
			if !isGet || strings.Contains(at, "{") {
				continue
			}
			has = append(has, fmt.Sprintf("%s /%s", resource.Stack.DisplayID, at))
			if "/"+at != wanted && (wanted != "" || path.Base(at) != fileName) {
				continue
			}
			one := api
			route.Authorizer, route.Scopes = nil, nil
			one.Stage, one.AccessLogFormat, one.RouteThrottles, one.Routes = "", "", nil, []apigateway.Route{route}
			one.BasePaths, one.OnlyMapped = nil, false
			found = append(found, served{resource.Stack.DisplayID, one})
		}
	}
	switch {
	case len(found) > 0 && !slices.ContainsFunc(found, func(s served) bool {
		return s.stack != found[0].stack || s.api.ID != found[0].api.ID
	}):
		return found, nil
	case len(found) > 1:
		var all []string
		for _, one := range found {
			all = append(all, one.stack+" "+one.path())
		}
		return nil, fmt.Errorf("%w: the assembly has %s: choose one by its stack, or by its path", ErrAmbiguous,
			strings.Join(all, ", "))
	}
	err := errors.Join(problems...)
	switch {
	case err != nil:
	case len(has) == 0:
		err = errors.New("no HTTP API of the assembly has a route GET without parameters")
	default:
		err = fmt.Errorf("the routes that could serve one are %s", strings.Join(has, ", "))
	}
	looked := "no route GET …/" + fileName
	if wanted != "" {
		looked = "no route GET " + wanted
	}
	return nil, fmt.Errorf("%w: %s: %w: add the route to the schema and declare its operation with "+
		"httpapi.RegisterDocument, or name another path", ErrNotFound, looked, err)
}
