package catalog

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// Read reads the lakes of the assembly, sorted by database and stack. All problems come back together; each names a
// resource that Amazon Athena could not use.
func Read(source *assembly.Assembly) ([]Lake, error) {
	lakes := []Lake{}
	var problems []error
	for _, environment := range source.Environments() {
		read, err := readEnvironment(environment)
		lakes, problems = append(lakes, read...), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	slices.SortFunc(lakes, func(a, b Lake) int {
		return cmp.Or(strings.Compare(a.Database, b.Database), strings.Compare(a.Stack, b.Stack))
	})
	return lakes, nil
}

// readEnvironment reads the catalog of an account in a region.
func readEnvironment(source *assembly.Assembly) ([]Lake, error) {
	var lakes []Lake
	var problems []error
	for _, database := range source.Resources("AWS::Glue::Database") {
		lake := Lake{Database: database.Name, Stack: database.Stack.Name, Tables: []Table{}, Views: []View{},
			Queries: []Query{}}
		for _, group := range database.Stack.Resources {
			if group.Type == "AWS::Athena::WorkGroup" && (lake.Workgroup == "" || group.Name == database.Name) {
				lake.Workgroup = group.Name
			}
		}
		lakes = append(lakes, lake)
	}
	find := func(resource *assembly.Resource, database string) *Lake {
		at := slices.IndexFunc(lakes, func(l Lake) bool { return l.Database == database })
		if at < 0 {
			problems = append(problems, fmt.Errorf("%s: got database %q, which the assembly does not have", resource,
				database))
			return nil
		}
		return &lakes[at]
	}
	for _, resource := range source.Resources("AWS::Glue::Table") {
		var declared glueTable
		err := resource.Decode(&declared)
		if lake := find(resource, declared.DatabaseName); lake != nil && err == nil {
			err = lake.add(source, resource, declared)
		}
		problems = append(problems, err)
	}
	for _, resource := range source.Resources("AWS::Athena::NamedQuery") {
		var declared struct{ Database, Description, QueryString, WorkGroup string }
		err := resource.Decode(&declared)
		if lake := find(resource, declared.Database); lake != nil && err == nil {
			lake.Queries = append(lake.Queries, Query{Name: resource.Name, Description: declared.Description,
				SQL: declared.QueryString})
			if declared.WorkGroup != "" {
				lake.Workgroup = declared.WorkGroup
			}
		}
		problems = append(problems, err)
	}
	for i := range lakes {
		slices.SortFunc(lakes[i].Tables, func(a, b Table) int { return strings.Compare(a.Name, b.Name) })
		slices.SortFunc(lakes[i].Queries, func(a, b Query) int { return strings.Compare(a.Name, b.Name) })
		var err error
		if lakes[i].Views, err = order(lakes[i].Views); err != nil {
			problems = append(problems, fmt.Errorf("database %s: %w", lakes[i].Database, err))
		}
	}
	return lakes, errors.Join(problems...)
}

// glueTable is AWS::Glue::Table, of a table or a view.
type glueTable struct {
	DatabaseName string
	TableInput   struct {
		TableType         string
		ViewOriginalText  string
		PartitionKeys     []glueColumn
		StorageDescriptor struct {
			Columns  []glueColumn
			Location string
		}
	}
}

type glueColumn struct{ Name, Type string }

func columns(declared []glueColumn) []Column {
	all := make([]Column, len(declared))
	for i, column := range declared {
		all[i] = Column{Name: column.Name, Type: strings.ToLower(column.Type)}
	}
	return all
}

func (l *Lake) add(source *assembly.Assembly, resource *assembly.Resource, declared glueTable) error {
	input := declared.TableInput
	if input.TableType == "VIRTUAL_VIEW" {
		sql, err := selectOf(input.ViewOriginalText, l.Database, input.StorageDescriptor.Columns)
		if err != nil {
			return fmt.Errorf("%s: %w", resource, err)
		}
		l.Views = append(l.Views, View{Name: resource.Name, SQL: sql,
			Columns: columns(input.StorageDescriptor.Columns)})
		return nil
	}
	location := input.StorageDescriptor.Location
	path, isS3 := strings.CutPrefix(location, "s3://")
	bucket, _, _ := strings.Cut(path, "/")
	if !isS3 || source.ByName(bucket, "AWS::S3::Bucket") == nil {
		return fmt.Errorf("%s: got location %q: a local run has tables in the assembly's buckets, s3://BUCKET/PREFIX/",
			resource, location)
	}
	l.Tables = append(l.Tables, Table{
		Name: resource.Name, Columns: columns(input.StorageDescriptor.Columns),
		PartitionKeys: columns(input.PartitionKeys), Location: location,
	})
	return nil
}

// storedView is how Athena stores a view: /* Presto View: JSON in base 64 */.
var storedView = regexp.MustCompile(`^/\* Presto View: ([A-Za-z0-9+/=]+) \*/$`)

// prestoTypes are AWS Glue's names of types that the query engine calls otherwise.
var prestoTypes = map[string]string{"string": "varchar", "timestamp": "timestamp(3)", "int": "integer", "float": "real"}

// selectOf takes the SELECT out of a stored view, whose schema and columns must be the catalog's: Athena answers "view
// is stale" otherwise.
func selectOf(text, database string, declared []glueColumn) (string, error) {
	parts := storedView.FindStringSubmatch(text)
	if parts == nil {
		return "", fmt.Errorf("got view text %.60q: write /* Presto View: JSON in base 64 */", text)
	}
	decoded, err := base64.StdEncoding.DecodeString(parts[1])
	if err != nil {
		return "", fmt.Errorf("view text: %w", err)
	}
	var view struct {
		OriginalSQL string `json:"originalSql"`
		Catalog     string `json:"catalog"`
		Schema      string `json:"schema"`
		Columns     []struct {
			Name string `json:"name"`
			Type string `json:"type"`
		} `json:"columns"`
	}
	if err := json.Unmarshal(decoded, &view); err != nil {
		return "", fmt.Errorf("view text: %w", err)
	}
	if view.OriginalSQL == "" || view.Catalog != "awsdatacatalog" || view.Schema != database {
		return "", fmt.Errorf("view text: got catalog %q, schema %q and %d characters of SQL: write awsdatacatalog, "+
			"%s and a SELECT",
			view.Catalog, view.Schema, len(view.OriginalSQL), database)
	}
	if len(view.Columns) != len(declared) {
		return "", fmt.Errorf("view text: got %d columns, the catalog has %d", len(view.Columns), len(declared))
	}
	for i, column := range view.Columns {
		want := strings.ToLower(declared[i].Type)
		if renamed, ok := prestoTypes[want]; ok {
			want = renamed
		}
		if column.Name != declared[i].Name || column.Type != want {
			return "", fmt.Errorf("view text: got column %s %s, the catalog has %s %s", column.Name, column.Type,
				declared[i].Name, want)
		}
	}
	return view.OriginalSQL, nil
}

var word = regexp.MustCompile(`\w+`)

// order sorts views so that each comes after those that it names.
func order(views []View) ([]View, error) {
	slices.SortFunc(views, func(a, b View) int { return strings.Compare(a.Name, b.Name) })
	names := map[string][]string{}
	for _, view := range views {
		names[view.Name] = word.FindAllString(view.SQL, -1)
	}
	ordered := []View{}
	placed := map[string]bool{}
	for len(ordered) < len(views) {
		before := len(ordered)
		for _, view := range views {
			waits := slices.ContainsFunc(names[view.Name], func(name string) bool {
				return names[name] != nil && name != view.Name && !placed[name]
			})
			if !placed[view.Name] && !waits {
				placed[view.Name] = true
				ordered = append(ordered, view)
			}
		}
		if len(ordered) == before {
			return nil, errors.New("its views name each other in a circle")
		}
	}
	return ordered, nil
}
