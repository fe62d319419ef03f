package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/run/command/output"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

type checkCommand struct {
	Assembly string   `help:"Folder of the cloud assembly that is about to be deployed." default:"cdk.out" type:"path"`
	Stack    []string `help:"Stack to check, by name, by display id (Dev/Ask) or by a pattern (Dev/*); may be repeated. Default: all." placeholder:"STACK"`
	Against  string   `help:"Template in JSON to compare with, instead of the deployed one; for one stack." type:"path" placeholder:"FILE"`
	Accept   []string `help:"Id of a refused finding to accept; may be repeated." placeholder:"ID"`
	Strict   bool     `help:"Refuse warnings, too: changes that open something, stop something, or have an effect that you may not expect."`
	output.Format
}

// Help returns the text of --help below the summary.
func (c *checkCommand) Help() string {
	return `Exit codes: 0 if nothing speaks against the deployment, also if the stack is not deployed yet; 1 if the deployment is refused; 2 if a stack could not be checked.
Credentials and Region are those of the AWS command line (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL); they need cloudformation:DescribeStacks and cloudformation:GetTemplate.
With cloudformation:DescribeStackResource nested stacks are compared, too, and with cloudformation:ListImports it is known which exports other stacks import. Without them warnings say what was not looked at.
A stack that is synthesised for a Region is checked in that Region.`
}

// Exit codes other than 0.
const (
	exitRefused   = 1
	exitUnchecked = 2
)

// exitError is an error with an exit code.
type exitError struct {
	error
	code int
}

// Unwrap returns the error.
func (e *exitError) Unwrap() error { return e.error }

// checkedStack is the outcome for one stack.
type checkedStack struct {
	Stack string `json:"stack"`
	// DisplayID is the CDK's name for the stack: its name, or its path through stages, such as Dev/Ask.
	DisplayID string `json:"display_id"`
	Region    string `json:"region,omitempty"`
	// Account is empty if it is unknown.
	Account string `json:"account,omitempty"`
	// New is true if no stack of that name is deployed.
	New      bool            `json:"new"`
	Findings []checkedChange `json:"findings"`
	// Notes are no reason against a deployment: alarms that notify no one, and changes about which there is no finding.
	Notes []string `json:"notes,omitempty"`
	// Error says why the stack could not be checked.
	Error string `json:"error,omitempty"`
	// assumed is true if the Region comes only from the environment of the command.
	assumed bool
}

type checkedChange struct {
	check.Change
	// Accepted is true if --accept names the finding.
	Accepted bool `json:"accepted"`
}

// Run prints the findings.
func (c *checkCommand) Run(ctx context.Context) error {
	stacks, unchecked := c.check(ctx)
	if len(stacks) > 0 {
		unchecked = errors.Join(unchecked, c.print(os.Stdout, stacks))
	}
	if unchecked != nil {
		return &exitError{fmt.Errorf("could not check: %w", unchecked), exitUnchecked}
	}
	refused := 0
	for _, stack := range stacks {
		for _, finding := range stack.Findings {
			if (c.Strict || finding.Severity == check.Refusal) && !finding.Accepted {
				refused++
			}
		}
	}
	if refused > 0 {
		return &exitError{fmt.Errorf("refused, with %d of the changes: follow the steps, or accept a change that you "+
			"mean with --accept ID", refused), exitRefused}
	}
	return nil
}

// check returns the outcome for each stack. It returns an error if no stack could be checked, or the joined errors of
// those that could not.
func (c *checkCommand) check(ctx context.Context) ([]checkedStack, error) {
	templates, err := c.templates()
	if err != nil {
		return nil, err
	}
	var checked []checkedStack
	var unchecked []error
	for _, template := range templates {
		var configuration aws.Config
		if c.Against == "" {
			// Missing credentials concern all stacks.
			if configuration, err = target.Connect(ctx, template.Region); err != nil {
				return nil, fmt.Errorf("%w. --against FILE needs no AWS", err)
			}
		}
		stack, err := c.stack(ctx, configuration, template)
		if err != nil {
			stack = checkedStack{Stack: template.Stack, DisplayID: template.DisplayID, Region: template.Region,
				Account: template.Account, Findings: []checkedChange{}, Error: err.Error()}
			unchecked = append(unchecked, fmt.Errorf("stack %s: %w", template.DisplayID, err))
		}
		checked = append(checked, stack)
	}
	return checked, errors.Join(unchecked...)
}

// templates returns the templates of the chosen stacks.
func (c *checkCommand) templates() ([]assembly.Template, error) {
	all, err := assembly.Templates(c.Assembly)
	if errors.Is(err, assembly.ErrNoAssembly) {
		return nil, fmt.Errorf("%w, or cdk synth in an app of your own; --assembly names another folder", err)
	}
	if err != nil {
		return nil, err
	}
	chosen, err := assembly.Choose(all, c.Stack, func(t assembly.Template) (name, displayID string) {
		return t.Stack, t.DisplayID
	})
	if err != nil {
		return nil, output.Usagef("--stack: %w", err)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the cloud assembly %s holds no stack: synthesise an app with at least one", c.Assembly)
	}
	if c.Against != "" && len(chosen) > 1 {
		var names []string
		for _, template := range chosen {
			names = append(names, template.DisplayID)
		}
		return nil, output.Usagef("--against is for one stack: choose with --stack %s",
			strings.Join(names, " or --stack "))
	}
	return chosen, nil
}

func (c *checkCommand) stack(ctx context.Context, configuration aws.Config, template assembly.Template) (checkedStack,
	error) {
	proposed, err := readTemplate(template.Path)
	if err != nil {
		return checkedStack{}, err
	}
	environment := check.Environment{Stack: template.Stack, Region: template.Region, Account: template.Account,
		Parameters: template.Parameters}
	var deployed *check.Template
	if c.Against != "" {
		deployed, err = readTemplate(c.Against)
	} else {
		deployed, err = fetch(ctx, configuration, &environment)
	}
	if err != nil {
		return checkedStack{}, err
	}
	result := checkedStack{
		Stack: template.Stack, DisplayID: template.DisplayID, Region: environment.Region, Account: environment.Account,
		New: deployed == nil, Findings: []checkedChange{}, assumed: template.Region == "",
	}
	if silent, alarms := check.Silent(proposed); silent > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d alarms notify no one: give them a topic "+
			"(AlarmEmail, AlarmTopicARN or AlarmTopic of a platform), or leave them out with NoAlarms", silent, alarms))
	}
	if deployed == nil {
		return result, nil
	}
	environment.Importers = c.importers(ctx, configuration, template)
	if environment.Nested, err = c.nested(ctx, configuration, filepath.Dir(template.Path), environment, deployed,
		proposed); err != nil {
		return checkedStack{}, err
	}
	findings, notes := check.CompareWithNotes(deployed, proposed, environment)
	for _, finding := range findings {
		// Two stacks may share a logical id, and stacks of two stages may share a name.
		finding.ID = template.DisplayID + "/" + finding.ID
		result.Findings = append(result.Findings, checkedChange{finding, slices.Contains(c.Accept, finding.ID)})
	}
	result.Notes = append(result.Notes, foldNotes(notes)...)
	return result, nil
}

// foldNotes returns one text for the notes of each resource type. It names a change once, with the resources that have
// it.
func foldNotes(notes []check.Note) []string {
	paths, changes := map[string][]string{}, map[string][]string{}
	for _, note := range notes {
		change := fmt.Sprintf("%s from %s to %s", note.Property, note.Before, note.After)
		if key := note.Type + " " + change; paths[key] == nil {
			changes[note.Type] = append(changes[note.Type], change)
		}
		paths[note.Type+" "+change] = append(paths[note.Type+" "+change], note.Path)
	}
	var texts []string
	for _, kind := range slices.Sorted(maps.Keys(changes)) {
		var all []string
		for _, change := range changes[kind] {
			of := paths[kind+" "+change]
			if len(of) > 3 {
				of = append(of[:3:3], fmt.Sprintf("%d more", len(of)-3))
			}
			all = append(all, change+" ("+strings.Join(of, ", ")+")")
		}
		texts = append(texts, kind+" changes, without a finding: "+strings.Join(all, "; "))
	}
	return texts
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
	switch c.Format.Format {
	case "table", "csv", "jsonlines":
		var rows []checkedChange
		for _, stack := range stacks {
			rows = append(rows, stack.Findings...)
		}
		return output.Rows(out, c.Format, rows)
	case "json":
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
		case stack.Error != "":
			fmt.Fprintf(&text, "%s: not checked\n", stack.DisplayID)
		case stack.New:
			where := stack.Region
			if stack.Account != "" {
				where += ", account " + stack.Account
			}
			fmt.Fprintf(&text, "%s: not deployed yet in %s: a first deployment has nothing to lose\n", stack.DisplayID,
				where)
			if stack.assumed {
				fmt.Fprintln(&text, "  (the assembly names no Region: if the stack is in another, set AWS_REGION)")
			}
		case len(stack.Findings) == 0:
			fmt.Fprintf(&text, "%s: nothing speaks against the deployment\n", stack.DisplayID)
		default:
			fmt.Fprintf(&text, "%s:\n", stack.DisplayID)
		}
		for _, note := range stack.Notes {
			fmt.Fprintf(&text, "  note: %s\n", note)
		}
		for _, finding := range stack.Findings {
			verdict := string(finding.Severity)
			if finding.Accepted {
				verdict = "accepted " + verdict
			}
			fmt.Fprintf(&text, "\n%s %s\n  what: %s (%s)\n  got:  %s\n  by:   %s\n  why:  %s\n  do:\n", verdict,
				finding.ID, finding.Path, finding.Type, finding.Got, finding.By, finding.Why)
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
