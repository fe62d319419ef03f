// Package document reads the OpenAPI document of an HTTP API, which the synth has written into the assembly.
package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
)

// ErrNotFound says that no API of the assembly has a document.
var ErrNotFound = errors.New("no OpenAPI document")

// ErrAmbiguous says that several APIs of the assembly have a document.
var ErrAmbiguous = errors.New("several OpenAPI documents")

// Options choose a document. The zero value reads the only one of the assembly in cdk.out.
type Options struct {
	// Assembly is the folder of the cloud assembly. Default: cdk.out.
	Assembly string
	// Stacks choose stacks, as [assembly.Choose] does. Default: all.
	Stacks []string
	// API is the name of the API. Default: the only one with a document.
	API string
	// SSMParameters are values of parameters of AWS Systems Manager that the assembly does not declare, by name.
	SSMParameters map[string]string
}

// Document is an OpenAPI document.
type Document struct {
	// Stack and API are the names of the stack and of its API.
	Stack, API string
	// Content is the document in JSON.
	Content []byte
	// Undescribed are the routes of the API that are not in it, each with its function: no operation of the contract is
	// behind them.
	Undescribed []string
}

// Read returns the document that the options choose. It fails with assembly.ErrNoAssembly, [ErrNotFound] or
// [ErrAmbiguous], or an error that says what cannot be read.
func Read(options Options) (Document, error) {
	if options.Assembly == "" {
		options.Assembly = "cdk.out"
	}
	loaded, err := assembly.Load(options.Assembly,
		assembly.Options{Stacks: options.Stacks, SSMParameters: options.SSMParameters})
	if err != nil {
		return Document{}, err
	}
	var found []Document
	var names, without []string
	for _, resource := range loaded.Resources("AWS::ApiGatewayV2::Api") {
		api, problem := apigateway.Read(loaded, resource, nil)
		one := Document{Stack: resource.Stack.DisplayID, API: api.Name}
		if options.API != "" && options.API != one.API {
			without = append(without, one.Stack+" "+one.API)
			continue
		}
		if one.Content, err = os.ReadFile(fileOf(resource)); errors.Is(err, fs.ErrNotExist) {
			without = append(without, strings.TrimSpace(one.Stack+" "+one.API))
			continue
		}
		if err = errors.Join(err, problem); err != nil {
			return Document{}, fmt.Errorf("stack %s: API %s: %w", one.Stack, one.API, err)
		}
		if one.Undescribed, err = undescribed(one.Content, api); err != nil {
			return Document{}, fmt.Errorf("stack %s: API %s: %w", one.Stack, one.API, err)
		}
		found, names = append(found, one), append(names, one.Stack+" "+one.API)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Document{}, fmt.Errorf("%w: the assembly has %s: choose one by its stack, or by its API", ErrAmbiguous,
			strings.Join(names, ", "))
	case len(without) == 0:
		return Document{}, fmt.Errorf("%w: the assembly has no HTTP API", ErrNotFound)
	}
	slices.Sort(without)
	return Document{}, fmt.Errorf("%w: the synth has written none for %s: declare the API by platform.Declare, with "+
		"the operations of a contract, or name another one", ErrNotFound, strings.Join(without, ", "))
}

// fileOf names the file with an API's document. It stands beside the template and has the API's logical id in its name.
func fileOf(api *assembly.Resource) string {
	return strings.TrimSuffix(api.Stack.Path, ".template.json") + "." + api.LogicalID + ".openapi.json"
}

// undescribed are the routes that a document lacks, each with its function.
func undescribed(content []byte, api apigateway.API) (routes []string, err error) {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("reading its OpenAPI document: %w", err)
	}
	for _, route := range api.Routes {
		method, path, _ := strings.Cut(route.Key, " ")
		if _, ok := document.Paths[path][strings.ToLower(method)]; !ok {
			routes = append(routes, route.Key+" of "+route.Function)
		}
	}
	slices.Sort(routes)
	return routes, nil
}
