package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/onesynth-cdk/onesynth/run/command/output"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/initial"
)

type seedCommand struct {
	target.Stack
	output.Format
	Platform string `arg:"" name:"name" optional:"" help:"Platform, by the name in its schema, such as links. Default: all that have initial data."`
	Function string `help:"Function that loads the data, if several stacks have the platform." placeholder:"NAME"`
	Assembly string `help:"Folder of a cloud assembly that is deployed: load into each of its stacks that has initial data." type:"path" placeholder:"DIR"`
}

// Help returns the text of --help below the summary.
func (c *seedCommand) Help() string {
	return `A function of the platform, whose trigger in the schema is OnSeed, has the data and puts it into the tables, some items in each invocation.
Items that are there already stay as they are, so you can repeat the command, also after a failure. A run loads the data itself at its first start.
Without --stack and --assembly, the command loads the data into the running assembly. With one of them, it loads into deployed stacks. Credentials and Region are those of the AWS command line
(AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL), unless --assembly has a stack that is synthesised for a Region. The credentials need ` + seedPermissions + `.`
}

// seedPermissions are the permissions that the command needs in AWS.
const seedPermissions = "cloudformation:DescribeStacks on the stack, and lambda:InvokeFunction on the function"

// source is a run, or a deployed stack, with its loaders.
type source struct {
	// name is for people.
	name    string
	loaders []initial.Loader
	invoke  initial.Invoke
}

// Run loads the data, and says how many items are there now.
func (c *seedCommand) Run(ctx context.Context) error {
	sources, err := c.sources(ctx)
	if err != nil {
		return err
	}
	if len(sources) == 0 && c.Format.Format == "text" {
		fmt.Printf("no stack of %s has initial data\n", c.Assembly)
	}
	var rows []seededRow
	for _, source := range sources {
		chosen, err := c.choose(source)
		if err != nil {
			return err
		}
		for _, loader := range chosen {
			loaded, err := loader.Load(ctx, source.invoke, func(done, total int) {
				fmt.Fprintf(os.Stderr, "onesynth: %s: %d of %d items\n", loader.Platform, done, total)
			})
			if err != nil {
				return fmt.Errorf("%w; repeat the command once this is mended", err)
			}
			rows = append(rows, seededRow{loader.Platform, loader.Function, loaded.Total, loaded.Added})
			if c.Format.Format == "text" {
				fmt.Println(loaded)
			}
		}
	}
	if c.Format.Format == "text" {
		return nil
	}
	return output.Rows(os.Stdout, c.Format, rows)
}

type seededRow struct {
	Platform string `json:"platform"`
	Function string `json:"function"`
	Total    int    `json:"total"`
	Added    int    `json:"added"`
}

// sources returns the run or the deployed stacks that the flags name.
func (c *seedCommand) sources(ctx context.Context) ([]source, error) {
	deployed, err := c.Deployed()
	switch {
	case c.Assembly != "" && (deployed || err != nil):
		return nil, output.Usagef("got --assembly with --stack or --region: the assembly says which stacks it has, " +
			"and where")
	case err != nil:
		return nil, err
	case c.Assembly != "":
		return c.ofAssembly(ctx)
	case deployed:
		one, err := c.inStack(ctx, c.Stack)
		return []source{one}, err
	}
	one, err := c.ofRun(ctx)
	return []source{one}, err
}

// choose returns the loaders of the source that the flags name.
func (c *seedCommand) choose(of source) ([]initial.Loader, error) {
	platforms := map[string][]string{}
	for _, loader := range of.loaders {
		platforms[loader.Platform] = append(platforms[loader.Platform], loader.Function)
	}
	own := platforms[c.Platform]
	switch {
	case len(platforms) == 0:
		return nil, fmt.Errorf("%s has no platform with initial data: a platform has some if a function in its "+
			"schema has the trigger OnSeed", of.name)
	case c.Platform == "" && c.Function == "":
		return of.loaders, nil
	case c.Platform == "":
		return nil, output.Usagef("got --function without a platform: name the platform, too")
	case len(own) == 0:
		return nil, output.Usagef("platform: got %q, and %s has initial data of %s: name one of these", c.Platform,
			of.name, strings.Join(slices.Sorted(maps.Keys(platforms)), ", "))
	case c.Function == "" && len(own) > 1:
		return nil, output.Usagef("%s has several platforms %s: choose with --function %s", of.name, c.Platform,
			strings.Join(own, " or --function "))
	case c.Function != "" && !slices.Contains(own, c.Function):
		return nil, output.Usagef("--function: got %q, allowed are %s", c.Function, strings.Join(own, ", "))
	}
	return slices.DeleteFunc(slices.Clone(of.loaders), func(loader initial.Loader) bool {
		return loader.Platform != c.Platform || c.Function != "" && loader.Function != c.Function
	}), nil
}

// ofRun returns the running assembly.
func (c *seedCommand) ofRun(ctx context.Context) (source, error) {
	stacks, err := c.RunningOutputs(ctx)
	if err != nil {
		return source{}, err
	}
	run := source{name: c.Where(), invoke: func(ctx context.Context, function string, event []byte) ([]byte, string,
		error) {
		var answer console.Invocation
		err := c.Call(ctx, http.MethodPost, "/functions/"+url.PathEscape(function)+"/invoke", json.RawMessage(event),
			&answer)
		return answer.Payload, answer.Error, err
	}}
	for _, stack := range stacks {
		run.loaders = append(run.loaders, initial.Loaders(stack.Stack, stack.Outputs)...)
	}
	return run, nil
}

// ofAssembly returns the deployed stacks of the assembly that have initial data.
func (c *seedCommand) ofAssembly(ctx context.Context) (sources []source, err error) {
	templates, err := assembly.Templates(c.Assembly)
	if err != nil {
		return nil, err
	}
	for _, template := range templates {
		has, err := hasInitialData(template.Path)
		if err != nil {
			return nil, fmt.Errorf("stack %s: %w", template.DisplayID, err)
		}
		if !has {
			continue
		}
		stack, err := c.inStack(ctx, target.Stack{Name: template.Stack, Region: template.Region})
		if err != nil {
			return nil, err
		}
		sources = append(sources, stack)
	}
	return sources, nil
}

// hasInitialData reports whether a template has an output with the name of a loader.
func hasInitialData(path string) (bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var template struct{ Outputs map[string]json.RawMessage }
	if err := json.Unmarshal(text, &template); err != nil {
		return false, fmt.Errorf("template: %w", err)
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(template.Outputs)), initial.Named), nil
}

// inStack returns the deployed stack.
func (c *seedCommand) inStack(ctx context.Context, at target.Stack) (source, error) {
	configuration, outputs, err := at.DeployedOutputs(ctx, seedPermissions)
	if err != nil {
		return source{}, err
	}
	client := lambda.NewFromConfig(configuration)
	return source{at.Where(), initial.Loaders(at.Name, outputs),
		func(ctx context.Context, function string, event []byte) ([]byte, string, error) {
			answer, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &function, Payload: event})
			var missing *types.ResourceNotFoundException
			switch {
			case errors.As(err, &missing):
				return nil, "", fmt.Errorf("%s has no function %s in the Region %s: %w", at.Where(), function,
					configuration.Region, err)
			case err != nil:
				return nil, "", target.Advise(fmt.Errorf("invoke %s: %w", function, err), configuration.Region,
					seedPermissions)
			}
			return answer.Payload, aws.ToString(answer.FunctionError), nil
		}}, nil
}
