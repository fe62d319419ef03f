package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/local/console"
)

type seedCommand struct {
	target
	Name     string `arg:"" help:"Platform, by the name in its schema, such as links."`
	Function string `help:"Function that loads the data, where several stacks have the platform." placeholder:"NAME"`
}

// Help returns the text of --help below the summary.
func (c *seedCommand) Help() string {
	return `The platform's own function has the data and puts it into the tables, some items in each invocation: the trigger of the function is OnSeed in the platform's schema.
Items that are there already stay as they are, so the command can be repeated, also after a failure.
Without --stack the data is loaded into the running assembly. With --stack it is loaded into a deployed stack: credentials and Region are those of the AWS command line
(AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL); they need ` + seedPermissions + `.`
}

// seedPermissions are the permissions that the command needs in AWS.
const seedPermissions = "cloudformation:DescribeStacks on the stack, and lambda:InvokeFunction on the function"

// seedOutput matches the outputs with names of functions that load initial data (schema.Platform.SeedOutput), with the platform.
// If a platform is not directly below its stack, the CDK ends the output's name with a hash.
var seedOutput = regexp.MustCompile(`Seed([A-Z][a-z0-9]*)FunctionName([0-9A-F]{8})?$`)

// invoker invokes a function with a request.
type invoker func(ctx context.Context, function string, request seed.Request) (seed.Progress, error)

// Run loads the data, and says how many items are there now.
func (c *seedCommand) Run(ctx context.Context) error {
	find := c.local
	if deployed, err := c.deployed(); err != nil {
		return err
	} else if deployed {
		find = c.inStack
	}
	functions, invoke, err := find(ctx)
	if err != nil {
		return err
	}
	function, err := c.choose(functions)
	if err != nil {
		return err
	}
	total, added := 0, 0
	for request := (seed.Request{}); request.Next < total || total == 0; {
		progress, err := invoke(ctx, function, request)
		switch {
		case err != nil:
			return fmt.Errorf("%s: loaded %d of %s items: %w: what is loaded stays; repeat the command once this is mended", c.Name, request.Next, orUnknown(total), err)
		case progress.Total < 1 || progress.Next <= request.Next || progress.Next > progress.Total:
			return fmt.Errorf("function %s answered %+v to %+v, which is not the next step of loading: answer as seed.Load of lambdas/kit/seed does", function, progress, request)
		}
		total, added, request.Next = progress.Total, added+progress.Added, progress.Next
		fmt.Fprintf(os.Stderr, "onesynth: %s: %d of %d items\n", c.Name, request.Next, total)
	}
	fmt.Printf("%s has its %d items of initial data, %d of them new\n", c.Name, total, added)
	return nil
}

func orUnknown(total int) string {
	if total == 0 {
		return "an unknown number of"
	}
	return fmt.Sprint(total)
}

// seeders returns the functions in outputs that load initial data, by platform.
func seeders(outputs ...map[string]string) map[string][]string {
	functions := map[string][]string{}
	for _, of := range outputs {
		for output, function := range of {
			if match := seedOutput.FindStringSubmatch(output); match != nil {
				platform := strings.ToLower(match[1])
				functions[platform] = append(functions[platform], function)
			}
		}
	}
	for _, names := range functions {
		slices.Sort(names)
	}
	return functions
}

// choose returns the platform's function, of those that its platforms have.
func (c *seedCommand) choose(functions map[string][]string) (string, error) {
	own := functions[c.Name]
	switch {
	case len(functions) == 0:
		return "", fmt.Errorf("%s has no platform with initial data: a platform has some if a function in its schema has the trigger OnSeed", c.where())
	case len(own) == 0:
		return "", fmt.Errorf("platform: got %q, and %s has initial data of %s: name one of these", c.Name, c.where(), strings.Join(slices.Sorted(maps.Keys(functions)), ", "))
	case c.Function == "" && len(own) > 1:
		return "", fmt.Errorf("%s has several platforms %s: choose with --function %s", c.where(), c.Name, strings.Join(own, " or --function "))
	case c.Function != "" && !slices.Contains(own, c.Function):
		return "", fmt.Errorf("--function: got %q, allowed are %s", c.Function, strings.Join(own, ", "))
	case c.Function != "":
		return c.Function, nil
	}
	return own[0], nil
}

// local returns the functions of the running assembly.
func (c *seedCommand) local(ctx context.Context) (map[string][]string, invoker, error) {
	stacks, err := c.runningOutputs(ctx)
	if err != nil {
		return nil, nil, err
	}
	var outputs []map[string]string
	for _, stack := range stacks {
		outputs = append(outputs, stack.Outputs)
	}
	return seeders(outputs...), func(ctx context.Context, function string, request seed.Request) (seed.Progress, error) {
		var answer console.Invocation
		if err := c.call(ctx, http.MethodPost, "/functions/"+url.PathEscape(function)+"/invoke", request, &answer); err != nil {
			return seed.Progress{}, err
		}
		return progressOf(function, answer.Error, answer.Payload)
	}, nil
}

// inStack returns the functions of the deployed stack.
func (c *seedCommand) inStack(ctx context.Context) (map[string][]string, invoker, error) {
	configuration, outputs, err := c.deployedOutputs(ctx, seedPermissions)
	if err != nil {
		return nil, nil, err
	}
	client := lambda.NewFromConfig(configuration)
	return seeders(outputs), func(ctx context.Context, function string, request seed.Request) (seed.Progress, error) {
		event, err := json.Marshal(request)
		if err != nil {
			return seed.Progress{}, fmt.Errorf("request: %w", err)
		}
		answer, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &function, Payload: event})
		var missing *types.ResourceNotFoundException
		switch {
		case errors.As(err, &missing):
			return seed.Progress{}, fmt.Errorf("%s has no function %s in the Region %s: %w", c.where(), function, configuration.Region, err)
		case err != nil:
			return seed.Progress{}, advise(fmt.Errorf("invoke %s: %w", function, err), configuration.Region, seedPermissions)
		}
		return progressOf(function, aws.ToString(answer.FunctionError), answer.Payload)
	}, nil
}

// progressOf reads a function's answer, or its failure.
func progressOf(function, failure string, payload []byte) (progress seed.Progress, err error) {
	if failure != "" {
		var told struct{ ErrorMessage string }
		if err := json.Unmarshal(payload, &told); err != nil || told.ErrorMessage == "" {
			told.ErrorMessage = string(payload)
		}
		return progress, fmt.Errorf("function %s failed: %s", function, told.ErrorMessage)
	}
	if err := json.Unmarshal(payload, &progress); err != nil {
		return progress, fmt.Errorf("function %s answered %s, which is no progress: answer as seed.Load of lambdas/kit/seed does", function, payload)
	}
	return progress, nil
}
