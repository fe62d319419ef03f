package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/local/assembly"
)

type checkCommand struct {
	Assembly string   `help:"Folder of the cloud assembly that is about to be deployed." default:"cdk.out" type:"path"`
	Stack    []string `help:"Stack to check; may be repeated. Default: all." placeholder:"NAME"`
	Against  string   `help:"Template in JSON to compare with, instead of the deployed one; for one stack." type:"path" placeholder:"FILE"`
	Accept   []string `help:"Id of a refused finding to go on with all the same; may be repeated." placeholder:"ID"`
	Format   string   `help:"Form of the findings: ${enum}." enum:"text,json" default:"text"`
}

// Help is what --help says below the summary.
func (c *checkCommand) Help() string {
	return `Exit codes: 0 when nothing speaks against the deployment, also when it is the first of a stack; 1 when it is refused; 2 when it could not be checked.
Credentials and Region are those of the AWS command line (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL); they need cloudformation:DescribeStacks and cloudformation:GetTemplate.`
}

// The exit codes besides 0.
const (
	exitRefused   = 1
	exitUnchecked = 2
)

// exitError ends the command with a code of its own.
type exitError struct {
	error
	code int
}

// ExitCode is the code.
func (e *exitError) ExitCode() int { return e.code }

// Unwrap is the error without the code.
func (e *exitError) Unwrap() error { return e.error }

// checkedStack is what came of one stack.
type checkedStack struct {
	Stack  string `json:"stack"`
	Region string `json:"region,omitempty"`
	// New is true when there is nothing deployed to compare with.
	New      bool           `json:"new"`
	Findings []checkFinding `json:"findings"`
}

type checkFinding struct {
	check.Finding
	// Accepted is true when --accept names the finding.
	Accepted bool `json:"accepted"`
}

// Run prints the findings.
func (c *checkCommand) Run(ctx context.Context) error {
	stacks, err := c.check(ctx)
	if err == nil {
		err = c.print(os.Stdout, stacks)
	}
	if err != nil {
		return &exitError{fmt.Errorf("could not check: %w", err), exitUnchecked}
	}
	refused := 0
	for _, stack := range stacks {
		for _, finding := range stack.Findings {
			if finding.Severity == check.Refusal && !finding.Accepted {
				refused++
			}
		}
	}
	if refused > 0 {
		return &exitError{fmt.Errorf("refused, with %d of the changes: follow the steps, or name what is meant all the same with --accept ID", refused), exitRefused}
	}
	return nil
}

func (c *checkCommand) check(ctx context.Context) ([]checkedStack, error) {
	templates, err := c.templates()
	if err != nil {
		return nil, err
	}
	var checked []checkedStack
	for _, template := range templates {
		stack, err := c.stack(ctx, template)
		if err != nil {
			return nil, fmt.Errorf("stack %s: %w", template.Stack, err)
		}
		checked = append(checked, stack)
	}
	return checked, nil
}

// templates returns those of the chosen stacks.
func (c *checkCommand) templates() ([]assembly.Template, error) {
	all, err := assembly.Templates(c.Assembly)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, template := range all {
		names = append(names, template.Stack)
	}
	for _, name := range c.Stack {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--stack: got %q, allowed are %s", name, strings.Join(names, ", "))
		}
	}
	chosen := slices.DeleteFunc(all, func(t assembly.Template) bool { return len(c.Stack) > 0 && !slices.Contains(c.Stack, t.Stack) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the cloud assembly %s holds no stack: synthesise an app with at least one", c.Assembly)
	}
	if c.Against != "" && len(chosen) > 1 {
		return nil, fmt.Errorf("--against is for one stack: choose with --stack %s", strings.Join(names, " or --stack "))
	}
	return chosen, nil
}

func (c *checkCommand) stack(ctx context.Context, template assembly.Template) (checkedStack, error) {
	proposed, err := readTemplate(template.Path)
	if err != nil {
		return checkedStack{}, err
	}
	environment := check.Environment{Stack: template.Stack, Region: template.Region, Account: template.Account, Parameters: template.Parameters}
	var deployed *check.Template
	if c.Against != "" {
		deployed, err = readTemplate(c.Against)
	} else {
		deployed, err = fetch(ctx, &environment)
	}
	if err != nil {
		return checkedStack{}, err
	}
	result := checkedStack{Stack: template.Stack, Region: environment.Region, New: deployed == nil, Findings: []checkFinding{}}
	if deployed == nil {
		return result, nil
	}
	for _, finding := range check.Compare(deployed, proposed, environment) {
		// Two stacks may have a logical id in common.
		finding.ID = template.Stack + "/" + finding.ID
		result.Findings = append(result.Findings, checkFinding{finding, slices.Contains(c.Accept, finding.ID)})
	}
	return result, nil
}

func readTemplate(path string) (*check.Template, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	template, err := check.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return template, nil
}

// fetch returns the template of the deployed stack, or nil if there is none, and completes the environment.
func fetch(ctx context.Context, environment *check.Environment) (*check.Template, error) {
	var options []func(*config.LoadOptions) error
	if environment.Region != "" {
		options = append(options, config.WithRegion(environment.Region))
	}
	configuration, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	if configuration.Region == "" {
		return nil, errors.New("got no Region: set AWS_REGION, or compare with a file by --against")
	}
	environment.Region = configuration.Region
	client := cloudformation.NewFromConfig(configuration)
	described, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &environment.Stack})
	var refusal smithy.APIError
	switch {
	case errors.As(err, &refusal) && refusal.ErrorCode() == "ValidationError" && strings.Contains(refusal.ErrorMessage(), "does not exist"):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("ask CloudFormation: %w", err)
	case len(described.Stacks) != 1:
		return nil, fmt.Errorf("CloudFormation described %d stacks of that name", len(described.Stacks))
	}
	stack := described.Stacks[0]
	if empty, err := state(stack.StackStatus); empty || err != nil {
		return nil, err
	}
	if err := complete(environment, stack); err != nil {
		return nil, err
	}
	got, err := client.GetTemplate(ctx, &cloudformation.GetTemplateInput{StackName: &environment.Stack, TemplateStage: types.TemplateStageOriginal})
	if err != nil {
		return nil, fmt.Errorf("ask CloudFormation for the deployed template: %w", err)
	}
	if got.TemplateBody == nil {
		return nil, errors.New("CloudFormation gave no template")
	}
	template, err := check.Parse([]byte(*got.TemplateBody))
	if err != nil {
		return nil, fmt.Errorf("deployed template: %w", err)
	}
	return template, nil
}

// state reports whether a stack with the status has nothing deployed. Errors: the status is one in which the stack's
// template does not say what is deployed.
func state(status types.StackStatus) (empty bool, err error) {
	switch status {
	case types.StackStatusReviewInProgress, types.StackStatusRollbackComplete, types.StackStatusDeleteComplete:
		return true, nil
	case types.StackStatusUpdateFailed, types.StackStatusUpdateRollbackFailed:
		return false, fmt.Errorf("the stack is %s, so that its template is not what is deployed: let CloudFormation roll it back first (aws cloudformation continue-update-rollback, or rollback-stack)", status)
	}
	if strings.HasSuffix(string(status), "_IN_PROGRESS") && !strings.HasSuffix(string(status), "_CLEANUP_IN_PROGRESS") {
		return false, fmt.Errorf("the stack is %s: wait until that is over", status)
	}
	return false, nil
}

// complete adds what CloudFormation says of the stack. Errors: it is another account's.
func complete(environment *check.Environment, stack types.Stack) error {
	if stack.StackId != nil {
		id, err := arn.Parse(*stack.StackId)
		if err != nil {
			return fmt.Errorf("stack id: %w", err)
		}
		if environment.Account != "" && environment.Account != id.AccountID {
			return fmt.Errorf("the stack is for account %s, and the credentials are for %s", environment.Account, id.AccountID)
		}
		environment.Account = id.AccountID
	}
	parameters := map[string]string{}
	for _, parameter := range stack.Parameters {
		value := parameter.ParameterValue
		if parameter.ResolvedValue != nil {
			value = parameter.ResolvedValue
		}
		if parameter.ParameterKey != nil && value != nil {
			parameters[*parameter.ParameterKey] = *value
		}
	}
	environment.Parameters = parameters
	return nil
}

func (c *checkCommand) print(out io.Writer, stacks []checkedStack) error {
	known := map[string]bool{}
	for _, stack := range stacks {
		for _, finding := range stack.Findings {
			known[finding.ID] = true
		}
	}
	for _, id := range c.Accept {
		if !known[id] {
			fmt.Fprintf(os.Stderr, "onesynth: --accept %s: there is no such finding\n", id)
		}
	}
	if c.Format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(struct {
			Stacks []checkedStack `json:"stacks"`
		}{stacks}); err != nil {
			return fmt.Errorf("print findings: %w", err)
		}
		return nil
	}
	var text strings.Builder
	for _, stack := range stacks {
		switch {
		case stack.New:
			fmt.Fprintf(&text, "%s: not deployed yet in %s: a first deployment has nothing to lose\n", stack.Stack, stack.Region)
		case len(stack.Findings) == 0:
			fmt.Fprintf(&text, "%s: nothing speaks against the deployment\n", stack.Stack)
		default:
			fmt.Fprintf(&text, "%s:\n", stack.Stack)
		}
		for _, finding := range stack.Findings {
			verdict := string(finding.Severity)
			if finding.Accepted {
				verdict = "accepted " + verdict
			}
			fmt.Fprintf(&text, "\n%s %s\n  what: %s (%s)\n  got:  %s\n  why:  %s\n  do:\n", verdict, finding.ID, finding.Path, finding.Type, finding.Got, finding.Why)
			for n, step := range finding.Steps {
				fmt.Fprintf(&text, "    %d. %s\n", n+1, step)
			}
		}
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("print findings: %w", err)
	}
	return nil
}
