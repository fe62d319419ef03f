package assembly

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// existingTable is the type of a construct's metadata that describes a table which its stack uses and does not declare:
// an object with the table's Arn, beside properties of AWS::DynamoDB::Table. Values may have intrinsic functions.
const existingTable = "onesynth:existing-table"

const tableType = "AWS::DynamoDB::Table"

// Tables returns the DynamoDB tables of all stacks: those that templates declare, and those that exist and that only
// the assembly's metadata describes.
func (a *Assembly) Tables() []*Resource {
	return a.Resources(tableType, "AWS::DynamoDB::GlobalTable")
}

// metadata is something that the assembly says of a construct, beside the template.
type metadata struct {
	Type string
	Data any
}

// tableDescription is the description of an existing table by the construct at path, unresolved.
type tableDescription struct {
	path string
	data any
}

// at leads to the description, for errors.
func (d tableDescription) at() string { return "Metadata[" + d.path + "]" }

// existingTables reads the descriptions of a stack's artifact, in the order of the constructs' paths.
func (a artifact) existingTables(at folder) (list []tableDescription, err error) {
	// The CDK writes metadata into the manifest, or into a file that the manifest names.
	sources := []map[string][]metadata{a.Metadata}
	if a.AdditionalMetadataFile != "" {
		path, err := at.file(a.AdditionalMetadataFile)
		if err != nil {
			return nil, fmt.Errorf("manifest.json: metadata: %w", err)
		}
		var further map[string][]metadata
		if err := readJSON(path, &further); err != nil {
			return nil, err
		}
		sources = append(sources, further)
	}
	for _, source := range sources {
		for _, path := range slices.Sorted(maps.Keys(source)) {
			for _, entry := range source[path] {
				if entry.Type == existingTable {
					list = append(list, tableDescription{path: path, data: entry.Data})
				}
			}
		}
	}
	return list, nil
}

// addExistingTables adds the described tables to the resources. A declaration wins over a description of the same
// table.
func (a *Assembly) addExistingTables() error {
	type key struct{ environment, name string }
	named := map[key]*Resource{}
	for _, table := range a.Tables() {
		named[key{table.Stack.Environment(), table.Name}] = table
	}
	declared := map[string]*Resource{}
	for _, table := range a.Tables() {
		declared[table.ARN] = table
	}
	var problems []error
	for _, stack := range a.Stacks {
		for _, table := range stack.existing {
			// It would be another, empty table: each account and region has its own.
			if elsewhere := declared[table.ARN]; elsewhere != nil &&
				elsewhere.Stack.Environment() != stack.Environment() {
				problems = append(problems, fmt.Errorf(
					"stack %s, of %s: %s is %s, of stack %s of %s: give both stacks one account and region",
					stack.Name, stack.Environment(), table, elsewhere, elsewhere.Stack.Name,
					elsewhere.Stack.Environment()))
				continue
			}
			at := key{stack.Environment(), table.Name}
			switch known := named[at]; {
			case known == nil:
				named[at] = table
				stack.Resources = append(stack.Resources, table)
			case known.ARN != table.ARN:
				problems = append(problems, fmt.Errorf("stack %s: %s is %s, and %s of stack %s is %s: a local run "+
					"has one table of a name; if both are the same, give the stacks its account and region",
					stack.Name, table, table.ARN, known, known.Stack.Name, known.ARN))
			case known.Existing && !reflect.DeepEqual(known.Properties, table.Properties):
				problems = append(problems, fmt.Errorf(
					"stack %s: %s is described in another way than %s of stack %s: describe it the same", stack.Name,
					table, known, known.Stack.Name))
			}
		}
	}
	return errors.Join(problems...)
}

// tableARN is described in "Actions, resources, and condition keys for Amazon DynamoDB".
var tableARN = regexp.MustCompile(`^arn:[^:]+:dynamodb:[^:]+:[^:]+:table/([A-Za-z0-9_.-]{3,255})$`)

// existingTable resolves a description. It returns nil when nothing of the stack uses the table.
func (s *Stack) existingTable(described tableDescription) (*Resource, error) {
	value, err := s.values.Value(described.data, described.at())
	// The CDK makes an import only of references that a resource has. A reference that only metadata has stays as the
	// other stack would write it.
	if failure, ok := errors.AsType[*ResolveError](err); ok && failure.dangling {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	properties, _ := value.(map[string]any)
	arn, _ := properties["Arn"].(string)
	match := tableARN.FindStringSubmatch(arn)
	if match == nil {
		return nil, s.problem(described.at()+".Arn", "got %s: write arn:PARTITION:dynamodb:REGION:ACCOUNT:table/NAME",
			intrinsic.Describe(properties["Arn"]))
	}
	delete(properties, "Arn")
	return &Resource{
		Type: tableType, Path: strings.TrimPrefix(described.path, "/"), Properties: properties, Name: match[1],
		Ref: match[1], ARN: arn, Stack: s,
		Existing: true, identity: done,
	}, nil
}
