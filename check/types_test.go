package check

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// awsProperty is a property in the resource database of the CDK command.
type awsProperty struct {
	Documentation, CausesReplacement, DefaultValue string
	Required                                       bool
	Type                                           awsType
}

// awsType is the type of a property. Of a list or a map it has the element's, and of a union all.
type awsType struct {
	Element   *awsType
	Types     []awsType
	Reference struct {
		ID string `json:"$ref"`
	}
}

// awsResource is a resource type in the database.
type awsResource struct {
	CloudFormationType, Name            string
	ARNTemplate                         string
	PrimaryIdentifier, CFNRefIdentifier []string
	IsStateful                          bool
	Properties                          map[string]awsProperty
	AdditionalReplacementProperties     [][]string
}

type awsDatabase struct {
	resources []awsResource
	types     map[string]map[string]awsProperty
}

// stores are the types that hold content and that the database does not call stateful.
var stores = []string{
	"AWS::Backup::LogicallyAirGappedBackupVault", "AWS::Cassandra::Keyspace", "AWS::Cassandra::Table",
	"AWS::CodeCommit::Repository", "AWS::Cognito::IdentityPool", "AWS::DSQL::Cluster", "AWS::DocDBElastic::Cluster",
	"AWS::ECR::Repository", "AWS::KMS::ReplicaKey", "AWS::KinesisVideo::Stream", "AWS::Lightsail::Bucket",
	"AWS::Lightsail::Database", "AWS::Lightsail::Disk", "AWS::MemoryDB::Cluster", "AWS::NeptuneGraph::Graph",
	"AWS::OpenSearchServerless::Collection", "AWS::RDS::GlobalCluster", "AWS::RedshiftServerless::Namespace",
	"AWS::S3Express::DirectoryBucket", "AWS::S3Tables::Table", "AWS::S3Tables::TableBucket", "AWS::S3Vectors::Index",
	"AWS::S3Vectors::VectorBucket", "AWS::Timestream::Database", "AWS::Timestream::InfluxDBInstance",
	"AWS::Timestream::Table",
}

// unsupported matches what the documentation of a property says if no update changes it.
var unsupported = regexp.MustCompile(
	`(?i)\b(?:can't|can’t|cannot|can not) (?:be )?(?:change|modif|update)[^.]* after [^.]*creat`)

func readDatabase(t *testing.T) awsDatabase {
	t.Helper()
	if _, err := os.Stat(databaseFile); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the CDK command is not installed: make node_modules")
	}
	return database(t)
}

const databaseFile = "../node_modules/aws-cdk/db.json.gz"

var database = must.Once(func() (database awsDatabase, err error) {
	file, err := os.Open(databaseFile)
	if err != nil {
		return database, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return database, err
	}
	var read struct {
		Schema struct {
			Resource struct{ Entities []awsResource }
			Types    struct {
				Entities []struct {
					ID         string `json:"$id"`
					Properties map[string]awsProperty
				}
			} `json:"typeDefinition"`
		}
	}
	if err := json.NewDecoder(unpacked).Decode(&read); err != nil {
		return database, err
	}
	database = awsDatabase{read.Schema.Resource.Entities, map[string]map[string]awsProperty{}}
	for _, declared := range read.Schema.Types.Entities {
		database.types[declared.ID] = declared.Properties
	}
	return database, nil
})

// walk visits the properties of an object and of those in it, by path, until visit returns false.
func (d awsDatabase) walk(properties map[string]awsProperty, before string, within []string,
	visit func(path string, p awsProperty) bool) {
	for name, p := range sorted(properties) {
		if visit(before+name, p) {
			d.into(p.Type, before+name+".", within, visit)
		}
	}
}

func (d awsDatabase) into(of awsType, before string, within []string, visit func(string, awsProperty) bool) {
	if of.Element != nil {
		d.into(*of.Element, before+"*.", within, visit)
	}
	for _, one := range of.Types {
		d.into(one, before, within, visit)
	}
	// A type may contain itself.
	if id := of.Reference.ID; id != "" && !slices.Contains(within, id) {
		d.walk(d.types[id], before, append(slices.Clone(within), id), visit)
	}
}

// line returns the line of a type in the table.
func (d awsDatabase) line(r awsResource) string {
	var properties, nested []string
	short := r.CloudFormationType[strings.LastIndex(r.CloudFormationType, ":")+1:]
	d.walk(r.Properties, "", nil, func(path string, p awsProperty) bool {
		mark := map[string]string{"yes": replaces, "maybe": mayReplace}[p.CausesReplacement]
		additional := slices.ContainsFunc(r.AdditionalReplacementProperties, func(of []string) bool {
			return path == strings.Join(of, ".")
		})
		switch {
		case additional:
			mark = replaces
		case mark == "" && !strings.Contains(path, "*") && (unsupported.MatchString(p.Documentation) ||
			r.CloudFormationType == logGroup && path == "LogGroupClass"):
			// "AWS::Logs::LogGroup", CloudFormation template reference: "Update requires: Updates are not supported".
			mark = fixed
		}
		if outer, name, ok := strings.Cut(path, "."); ok && strings.HasPrefix(outer, short) &&
			slices.Contains([]string{"", "Input", "Config"}, outer[len(short):]) &&
			(name == "Name" || name == short+"Name") {
			nested = []string{path}
		}
		if mark == "" {
			return true
		}
		unset := strings.Trim(p.DefaultValue, `"`)
		if unset != "" && !strings.ContainsAny(unset, " \t[{") {
			path += "=" + unset
		}
		properties = append(properties, mark+path)
		return mark != replaces
	})
	key, named := r.key(short, nested)
	flags, ref := "", ""
	if r.IsStateful || slices.Contains(stores, r.CloudFormationType) {
		flags = "s"
	}
	if named {
		flags += "n"
	}
	identifier := r.CFNRefIdentifier
	if identifier == nil {
		identifier = r.PrimaryIdentifier
	}
	switch {
	case len(nested) > 0:
		ref = nested[0]
	case len(identifier) == 1 && r.has(identifier[0]):
		ref = identifier[0]
	}
	return strings.Join([]string{r.CloudFormationType, flags, strings.Join(key, ","), ref,
		strings.Join(slices.Compact(properties), " ")}, "\t")
}

func (r awsResource) has(property string) bool {
	_, ok := r.Properties[property]
	return ok
}

// key returns the parts of the key of which AWS takes one resource, and whether the first is a physical name. nested is
// the path of a name within a property.
func (r awsResource) key(short string, nested []string) (parts []string, named bool) {
	isName := func(property string) bool {
		for _, end := range []string{"Name", "Identifier", "Id", ""} {
			if begin, ok := strings.CutSuffix(property, end); ok && strings.HasSuffix(short, begin) {
				return true
			}
		}
		return false
	}
	if len(nested) > 0 {
		return nested, true
	}
	for _, identifier := range [][]string{r.PrimaryIdentifier, r.CFNRefIdentifier} {
		if len(identifier) == 0 || slices.ContainsFunc(identifier, func(p string) bool { return !r.has(p) }) {
			continue
		}
		parts = slices.Clone(identifier)
		if i := slices.IndexFunc(parts, isName); i >= 0 {
			parts[0], parts[i], named = parts[i], parts[0], true
		}
		for i, part := range parts {
			if !r.Properties[part].Required && i > 0 {
				parts[i] += "?"
			}
		}
		return parts, named
	}
	// Others have a name beside their identifier: one of what they are within.
	for _, property := range []string{short + "Name", "Name"} {
		counts := property != "Name" || r.IsStateful || strings.HasSuffix(r.ARNTemplate, "Name}")
		if r.Properties[property].CausesReplacement != "yes" || !counts {
			continue
		}
		parts = []string{property}
		for other, p := range sorted(r.Properties) {
			if other != property && p.Required && p.CausesReplacement == "yes" {
				parts = append(parts, other)
			}
		}
		return parts, true
	}
	return nil, false
}

// testTypes compares types.txt.gz with what the CDK command of package.json knows of resource types, or writes it.
func testTypes(t *testing.T) {
	database := readDatabase(t)
	var all []string
	for _, r := range database.resources {
		all = append(all, database.line(r))
	}
	slices.Sort(all)
	want := strings.Join(all, "\n") + "\n"
	if goldentest.Update() {
		var packed bytes.Buffer
		writer := must.Get(gzip.NewWriterLevel(&packed, gzip.BestCompression))(t)
		must.Get(writer.Write([]byte(want)))(t)
		must.OK(t, writer.Close())
		must.OK(t, os.WriteFile("types.txt.gz", packed.Bytes(), 0o600))
		// What follows in this test is of the new table.
		typeTable, typeLines = packed.Bytes(), readTypes
		return
	}
	var have []string
	for kind, fields := range sorted(typeLines()) {
		have = append(have, kind+"\t"+strings.Join(fields, "\t"))
	}
	if got := strings.Join(have, "\n") + "\n"; got != want {
		t.Error("check/types.txt.gz is not of the CDK command that is installed: run make reference")
	}
	if len(typeTable) > 150_000 {
		t.Errorf("the table has %d bytes: at most 150,000", len(typeTable))
	}
}

// TestReplacement: the table knows each property that replaces a resource of a type that holds something, and the
// check refuses the change of one in a store, in a resource with a name, and of one that no update changes.
func TestReplacement(t *testing.T) {
	t.Parallel()
	database := readDatabase(t)
	known := 0
	for _, r := range database.resources {
		if _, holds := kindOf(r.CloudFormationType); !holds {
			continue
		}
		for name, p := range r.Properties {
			if p.CausesReplacement != "yes" {
				continue
			}
			before, after := &resource{kind: r.CloudFormationType}, &resource{kind: r.CloudFormationType}
			before.properties, after.properties = map[string]any{name: "before"}, map[string]any{name: "after"}
			c := &comparison{replaced: map[string]bool{}}
			if len(c.marked(replaces, before, after, nil)) == 0 {
				t.Errorf("%s of %s replaces it", name, r.CloudFormationType)
			}
			known++
		}
	}
	if known < 200 {
		t.Errorf("found %d properties in the database", known)
	}
}

func TestReplaced(t *testing.T) {
	t.Parallel()
	const queue = `"QueueName": "q.fifo", "FifoQueue": true`
	for name, test := range map[string]struct{ kind, before, after, want string }{
		"Database":   {"AWS::RDS::DBInstance", `"MasterUsername": "a"`, `"MasterUsername": "b"`, "refusal replace:R"},
		"FileSystem": {"AWS::EFS::FileSystem", `"Encrypted": false`, `"Encrypted": true`, "refusal replace:R"},
		"Vault":      {"AWS::Backup::BackupVault", `"EncryptionKeyArn": "a"`, "", "refusal replace:R"},
		"Domain":     {"AWS::OpenSearchService::Domain", `"DomainName": "a"`, `"DomainName": "b"`, "refusal rename:R"},
		"Namespace":  {"AWS::RedshiftServerless::Namespace", `"NamespaceName": "a"`, "", "refusal rename:R"},
		"Within": {"AWS::FSx::FileSystem", `"LustreConfiguration": {"DeploymentType": "a"}`, "", "refusal " +
			"replace:R"},
		"Perhaps":     {"AWS::RDS::DBInstance", `"Engine": "a"`, `"Engine": "b"`, "warning may-replace:R"},
		"Class":       {logGroup, "", `"LogGroupClass": "INFREQUENT_ACCESS"`, "refusal unsupported:R"},
		"ClassSaid":   {logGroup, "", `"LogGroupClass": "STANDARD"`, ""},
		"KeySpec":     {"AWS::KMS::Key", "", `"KeySpec": "RSA_2048"`, "refusal unsupported:R"},
		"Role":        {"AWS::IAM::Role", `"RoleName": "r"`, `"RoleName": "r", "Path": "/s/"`, "refusal conflict:R"},
		"RoleUnnamed": {"AWS::IAM::Role", "", `"Path": "/s/"`, ""},
		"RoleRenamed": {"AWS::IAM::Role", `"RoleName": "r"`, `"RoleName": "s", "Path": "/s/"`, ""},
		"Queue":       {"AWS::SQS::Queue", queue, `"QueueName": "q.fifo"`, "refusal conflict:R"},
		"Policy": {"AWS::IAM::ManagedPolicy", `"ManagedPolicyName": "p", "Description": "a"`,
			`"ManagedPolicyName": "p", "Description": "b"`, "refusal conflict:R"},
		"WebACL":   {"AWS::WAFv2::WebACL", `"Name": "a", "Scope": "REGIONAL"`, `"Name": "b", "Scope": "REGIONAL"`, ""},
		"Schedule": {schedule, `"Name": "s", "GroupName": "a"`, `"Name": "s", "GroupName": "b"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parse := func(properties string) *Template {
				template := must.Get(Parse([]byte(`{"Resources": {"R": {"Type": "` + test.kind + `", "Properties": {` +
					properties + `}}}}`)))(t)
				return template
			}
			var got []string
			for _, finding := range Compare(parse(test.before), parse(test.after), Environment{}) {
				got = append(got, string(finding.Severity)+" "+finding.ID)
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
