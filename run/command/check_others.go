package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// What the comparison of a stack needs of others: who imports its exports, and the templates of its nested stacks.

// importers returns a function for the stacks that import an export of the stack: from CloudFormation, or else from the
// other stacks of the assembly, as far as they are deployed. With --against it looks at their new templates.
func (c *checkCommand) importers(ctx context.Context, configuration aws.Config, of assembly.Template) func(string) (
	[]string, bool) {
	return func(export string) ([]string, bool) {
		if c.Against == "" {
			if stacks, err := listImports(ctx, configuration, export); err == nil {
				return stacks, true
			}
		}
		all, err := assembly.Templates(c.Assembly)
		if err != nil {
			return nil, false
		}
		var stacks []string
		for _, other := range all {
			if other.DisplayID == of.DisplayID || other.Region != of.Region || other.Account != of.Account {
				continue
			}
			environment := check.Environment{Stack: other.Stack, Region: other.Region, Account: other.Account,
				Parameters: other.Parameters}
			var template *check.Template
			if c.Against == "" {
				template, err = fetch(ctx, configuration, &environment)
			} else {
				template, err = readTemplate(other.Path)
			}
			if err == nil && template != nil && slices.Contains(template.Imports(environment), export) {
				stacks = append(stacks, other.DisplayID)
			}
		}
		return stacks, false
	}
}

// listImports returns the stacks that import an export, as CloudFormation knows them.
func listImports(ctx context.Context, configuration aws.Config, export string) ([]string, error) {
	var stacks []string
	pages := cloudformation.NewListImportsPaginator(cloudformation.NewFromConfig(configuration),
		&cloudformation.ListImportsInput{ExportName: &export})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if code(err) == "ValidationError" {
			// "Export X is not imported by any stack."
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list imports of %s: %w", export, err)
		}
		stacks = append(stacks, page.Imports...)
	}
	return stacks, nil
}

// code returns the code of an error of AWS, or "".
func code(err error) string {
	var refusal smithy.APIError
	if errors.As(err, &refusal) {
		return refusal.ErrorCode()
	}
	return ""
}

// nested returns the templates of the nested stacks that are deployed and stay. It leaves out those that it cannot get.
// The folder has the files of the new templates. With --against, those of the deployed ones are beside that file.
func (c *checkCommand) nested(ctx context.Context, configuration aws.Config, folder string,
	environment check.Environment, deployed, proposed *check.Template) (map[string]check.Nested, error) {
	all, files := map[string]check.Nested{}, proposed.Nested()
	for id, was := range deployed.Nested() {
		if files[id] == "" {
			continue
		}
		after, err := readTemplate(filepath.Join(folder, files[id]))
		if err != nil {
			return nil, err
		}
		n := check.Nested{Proposed: after, Environment: check.Environment{Region: environment.Region,
			Account: environment.Account, Importers: environment.Importers}}
		if c.Against == "" {
			n.Deployed, err = fetchNested(ctx, configuration, environment.Stack, id, &n.Environment)
		} else if file := filepath.Join(filepath.Dir(c.Against), was); was != "" {
			if n.Deployed, err = readTemplate(file); errors.Is(err, os.ErrNotExist) {
				continue
			}
		}
		if err != nil {
			return nil, fmt.Errorf("nested stack %s: %w", id, err)
		}
		if n.Deployed == nil {
			continue
		}
		n.Environment.Nested, err = c.nested(ctx, configuration, folder, n.Environment, n.Deployed, after)
		if err != nil {
			return nil, err
		}
		all[id] = n
	}
	return all, nil
}

// fetchNested returns the template of a deployed nested stack, and completes the environment. The template is nil if
// there is no such stack, or no permission to look.
func fetchNested(ctx context.Context, configuration aws.Config, parent, id string, environment *check.Environment) (
	*check.Template, error) {
	found, err := cloudformation.NewFromConfig(configuration).DescribeStackResource(ctx,
		&cloudformation.DescribeStackResourceInput{StackName: &parent, LogicalResourceId: &id})
	switch {
	case code(err) == "AccessDenied", code(err) == "ValidationError":
		return nil, nil
	case err != nil:
		return nil, target.Advise(fmt.Errorf("ask CloudFormation: %w", err), environment.Region, checkPermissions)
	case found.StackResourceDetail == nil || found.StackResourceDetail.PhysicalResourceId == nil:
		return nil, nil
	}
	environment.Stack = *found.StackResourceDetail.PhysicalResourceId
	return fetch(ctx, configuration, environment)
}
