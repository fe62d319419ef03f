package lake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsathena"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsglue"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// columnTypes are the catalog's names of the column types, and those that Amazon
// Athena's engine has for them in views ("Data types in Amazon Athena").
var columnTypes = map[schema.ColumnType]struct{ catalog, engine string }{
	schema.ColumnText:      {"string", "varchar"},
	schema.ColumnInteger:   {"bigint", "bigint"},
	schema.ColumnDecimal:   {"double", "double"},
	schema.ColumnBoolean:   {"boolean", "boolean"},
	schema.ColumnDate:      {"date", "date"},
	schema.ColumnTimestamp: {"timestamp", "timestamp(3)"},
}

// projection lets Amazon Athena know the days' folders without a crawler ("Use
// partition projection with Amazon Athena"). A query that names no days asks Amazon
// S3 for the objects of each day of the range, so the range has no day before the lake.
func (p Props) projection() map[string]string {
	first := p.LakeFirstDay
	if p.LakeRetentionDays > 0 {
		// Amazon S3 deletes at midnight: the objects of one day more may be there.
		first = fmt.Sprintf("NOW-%dDAYS", p.LakeRetentionDays+1)
	}
	return map[string]string{
		"projection.enabled":                                "true",
		"projection." + schema.EventDate + ".type":          "date",
		"projection." + schema.EventDate + ".format":        "yyyy-MM-dd",
		"projection." + schema.EventDate + ".range":         first + ",NOW+1DAY",
		"projection." + schema.EventDate + ".interval":      "1",
		"projection." + schema.EventDate + ".interval.unit": "DAYS",
	}
}

// addCatalog describes the objects to Amazon Athena: a table for each entity, and
// the views.
func (l *Lake) addCatalog(p Props) {
	l.Catalog = awsglue.NewCfnDatabase(l, jsii.String("Catalog"), &awsglue.CfnDatabaseProps{
		CatalogId: l.account,
		DatabaseInput: &awsglue.CfnDatabase_DatabaseInputProperty{
			Name:        &l.CatalogName,
			Description: jsii.String("Changes of the items of " + l.Schema.Table),
		},
	})
	l.database = l.Catalog.Ref()
	for _, e := range l.Schema.Entities {
		location := fmt.Sprintf("s3://%s/%sentity=%s/", l.bucket, EventsPrefix, e.Name)
		parameters := map[string]string{
			"EXTERNAL":                  "TRUE",
			"classification":            "parquet",
			"storage.location.template": location + schema.EventDate + "=${" + schema.EventDate + "}/",
		}
		maps.Copy(parameters, p.projection())
		l.addTable(e.ChangeTable(), &awsglue.CfnTable_TableInputProperty{
			Description: &e.Description,
			TableType:   jsii.String("EXTERNAL_TABLE"),
			Parameters:  parameters,
			PartitionKeys: []any{column(schema.Column{Name: schema.EventDate, Type: schema.ColumnDate,
				Description: "Day of the change, in UTC"})},
			StorageDescriptor: &awsglue.CfnTable_StorageDescriptorProperty{
				Location:     &location,
				Columns:      columns(append(schema.ChangeColumns(), e.Columns...)),
				InputFormat:  jsii.String("org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"),
				OutputFormat: jsii.String("org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat"),
				SerdeInfo: &awsglue.CfnTable_SerdeInfoProperty{
					SerializationLibrary: jsii.String("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"),
				},
			},
		})
	}
	for _, v := range l.Schema.Views {
		l.addTable(v.Name, &awsglue.CfnTable_TableInputProperty{
			Description: &v.Description,
			TableType:   jsii.String("VIRTUAL_VIEW"),
			// Amazon Athena writes views so. Some readers of the catalog fail on a table
			// without a list of partition keys.
			Parameters:       map[string]string{"presto_view": "true", "comment": "Presto View"},
			PartitionKeys:    []any{},
			ViewOriginalText: jsii.String(viewText(v, l.CatalogName)),
			ViewExpandedText: jsii.String("/* Presto View */"),
			StorageDescriptor: &awsglue.CfnTable_StorageDescriptorProperty{
				Columns: columns(v.Columns),
				// A view needs no SerdeInfo, but Amazon Athena looks for it.
				SerdeInfo: &awsglue.CfnTable_SerdeInfoProperty{Name: jsii.String("-"),
					SerializationLibrary: jsii.String("-")},
			},
		})
	}
}

// addMetadata writes into the template's metadata which line of the schema each table and view is from, with its
// columns and the attributes that a table's columns show.
func (l *Lake) addMetadata() {
	tables := map[string]any{}
	types := func(columns []schema.Column) map[string]any {
		types := map[string]any{}
		for _, c := range columns {
			types[c.Name] = columnTypes[c.Type].catalog
		}
		return types
	}
	for _, e := range l.Schema.Entities {
		attributes := map[string]any{}
		for _, c := range e.Columns {
			attributes[c.Name] = c.Source()
			if c.TrimPrefix != "" {
				attributes[c.Name] = c.Source() + " without " + c.TrimPrefix
			}
		}
		tables[e.ChangeTable()] = map[string]any{"line": "Lake.Entities[" + e.Name + "]", "columns": types(e.Columns),
			"attributes": attributes}
	}
	for _, v := range l.Schema.Views {
		tables[v.Name] = map[string]any{"line": "Lake.Views[" + v.Name + "]", "columns": types(v.Columns)}
	}
	props.AddMetadata(l, map[string]any{"lake": l.Schema.Name, "catalog": props.LogicalID(l, l.Catalog),
		"tables": tables})
}

func (l *Lake) addTable(name string, input *awsglue.CfnTable_TableInputProperty) {
	input.Name = &name
	l.Tables = append(l.Tables, awsglue.NewCfnTable(l, jsii.String("Catalog-"+name), &awsglue.CfnTableProps{
		CatalogId:    l.account,
		DatabaseName: l.database,
		TableInput:   input,
	}))
}

// viewText is a view as Amazon Athena keeps it in the catalog: the statement, the
// database in which its names are looked up, and the columns, as JSON in a
// comment.
func viewText(v schema.View, database string) string {
	type viewColumn struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	view := struct {
		OriginalSQL string       `json:"originalSql"`
		Catalog     string       `json:"catalog"`
		Schema      string       `json:"schema"`
		Columns     []viewColumn `json:"columns"`
	}{OriginalSQL: v.SQL, Catalog: "awsdatacatalog", Schema: database}
	for _, c := range v.Columns {
		view.Columns = append(view.Columns, viewColumn{c.Name, columnTypes[c.Type].engine})
	}
	// Only text: it can be written.
	text, _ := json.Marshal(view)
	return "/* Presto View: " + base64.StdEncoding.EncodeToString(text) + " */"
}

func columns(list []schema.Column) *[]any {
	all := props.Map(list, func(c schema.Column) any { return column(c) })
	return &all
}

func column(c schema.Column) *awsglue.CfnTable_ColumnProperty {
	return &awsglue.CfnTable_ColumnProperty{Name: &c.Name, Type: jsii.String(columnTypes[c.Type].catalog),
		Comment: props.Optional(c.Description)}
}

// addQueries declares the workgroup for queries, with the saved queries.
func (l *Lake) addQueries(p Props) {
	encryption := &awsathena.CfnWorkGroup_EncryptionConfigurationProperty{EncryptionOption: jsii.String("SSE_S3")}
	if p.Key != nil {
		encryption.EncryptionOption, encryption.KmsKey = jsii.String("SSE_KMS"), p.Key.KeyArn()
	}
	l.WorkGroup = awsathena.NewCfnWorkGroup(l, jsii.String("WorkGroup"), &awsathena.CfnWorkGroupProps{
		Name:        &l.CatalogName,
		Description: jsii.String("Queries of the lake " + l.Schema.Name),
		// Otherwise Amazon Athena refuses to delete a group with a history of queries.
		RecursiveDeleteOption: true,
		WorkGroupConfiguration: &awsathena.CfnWorkGroup_WorkGroupConfigurationProperty{
			EnforceWorkGroupConfiguration:   true,
			PublishCloudWatchMetricsEnabled: true,
			BytesScannedCutoffPerQuery:      jsii.Number(float64(p.QueryLimitBytes)),
			EngineVersion: &awsathena.CfnWorkGroup_EngineVersionProperty{
				SelectedEngineVersion: jsii.String("Athena engine version 3")},
			ResultConfiguration: &awsathena.CfnWorkGroup_ResultConfigurationProperty{
				OutputLocation:          jsii.String("s3://" + l.bucket + "/" + resultsPrefix),
				ExpectedBucketOwner:     l.account,
				EncryptionConfiguration: encryption,
			},
		},
	})
	group := l.WorkGroup.Ref()
	for _, q := range l.Schema.Queries {
		saved := awsathena.NewCfnNamedQuery(l, jsii.String("Query-"+q.Name), &awsathena.CfnNamedQueryProps{
			Name: &q.Name,
			// Amazon Athena takes none, but no empty one ("AWS::Athena::NamedQuery").
			Description: props.Optional(q.Description),
			Database:    l.database,
			QueryString: &q.SQL,
			WorkGroup:   group,
		})
		l.Queries = append(l.Queries, saved)
	}
}
