package lake

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Limits and defaults.
const (
	// defaultBatchWindow is well below the age of five minutes at which the alarm goes off.
	defaultBatchWindow = 2 * time.Minute
	// compactorTimeout is the longest that a function runs ("Lambda quotas"). Runs
	// further apart do not meet.
	compactorTimeout    = 15 * time.Minute
	defaultCompactEvery = time.Hour
	// defaultQueryLimit costs about five cents. The lowest limit is Amazon Athena's ("AWS::Athena::WorkGroup":
	// BytesScannedCutoffPerQuery). The highest costs about 5,000 US dollars: a larger query has to be split.
	defaultQueryLimit = 10_000_000_000
	// defaultFirstDay is when the first version of this library was made: no lake is older.
	defaultFirstDay = "2026-11-01"
	// earliestDay is before Amazon Athena had partition projection.
	earliestDay = "2020-01-01"
)

// Props describe a lake. Table, Database, Lake and Build are required.
type Props struct {
	// Table is the table whose changes fill the lake.
	Table *table.Table
	// Database is the data model that has the table.
	Database schema.Database
	// Lake says which items become rows, and which views and queries there are.
	Lake schema.Lake
	// Build is a build of the [Packages].
	Build *gofunction.Build

	// CatalogName names the catalog's database and the workgroup: lower-case
	// letters, digits and underscores, unique in the account and region. Default: the
	// lake's name, and a hash of the stack's name and of the construct's path.
	CatalogName string
	Options
	// RemoveWithStack deletes the bucket and the failure queue with the stack; the
	// bucket has to be empty then, and keeps no former versions. Default: they
	// outlive the stack. The catalog and the workgroup, which hold no data, always
	// go with it.
	RemoveWithStack bool
	// Off declares the lake without reading the stream, and without running the compactor. Default: both run.
	Off bool
	// Settings are the settings of both functions. Their Key encrypts the bucket and the failed records, too. A key of
	// Amazon S3 encrypts the access logs: S3 delivers logs to no bucket with another key.
	gofunction.Settings
	// MetricNamespace is the first part of the namespace of the functions' metrics: see [schema.MetricNamespace].
	// Default: "Onesynth".
	MetricNamespace string
	// Sizes are the sizes of the functions "writer" and "compactor". Other names are ignored, so you can pass a
	// platform's. Default: 512 MB and 1,024 MB, without a limit of concurrency.
	Sizes gofunction.Sizes
}

// Options are the props of a lake that a platform with lakes offers beside its own.
type Options struct {
	// LakeBatchWindow is how long changes are gathered for one object: whole seconds, from 1 second to 5 minutes. A
	// change arrives in the lake after that time, or sooner if there are many: 10,000 changes or 6 MB make an object. A
	// longer window makes fewer and larger objects (docs/platforms/todo.md#the-lake). Default: 2 minutes.
	LakeBatchWindow time.Duration `min:"1s" max:"5m" step:"1s" default:"2 minutes"`
	// CompactEvery is how often the compactor merges small objects, in whole minutes: 15 minutes to a day. Default: 1
	// hour.
	CompactEvery time.Duration `min:"15m" max:"24h" step:"1m" default:"an hour"`
	// LakeFirstDay is the day (UTC) of the lake's first change, such as "2026-12-24": the day of its first deployment.
	// A query that names no days lists every day since, each at the price of a request to Amazon S3
	// (docs/operate/cost.md), and sees no earlier change. Allowed: 2020-01-01 to today; empty with LakeRetentionDays,
	// which limit the days as well. Default: 2026-11-01, which is before any lake of this library.
	LakeFirstDay string
	// LakeRetentionDays is how many days the lake's objects stay. Queries list no earlier day. Default: they stay for
	// good.
	LakeRetentionDays int `min:"1" max:"2147483647" default:"no end"`
	// QueryLimitBytes ends a query in the workgroup that reads more: 10,000,000 to 1,000,000,000,000,000. Default:
	// 10,000,000,000, for which Amazon Athena charges about five US cents.
	QueryLimitBytes int64 `min:"10000000" max:"1000000000000000" default:"10,000,000,000"`
}

// Check adds a finding for each option that is invalid. Their paths begin with path.
func (o Options) Check(f *finding.List, path string) {
	f.Limits(path, o)
	if o.LakeFirstDay == "" {
		return
	}
	if o.LakeRetentionDays > 0 {
		f.Add(path+".LakeFirstDay", o.LakeFirstDay, "empty with a retention",
			"leave it out: queries then begin with the oldest day that is kept")
	}
	if _, err := time.Parse(time.DateOnly, o.LakeFirstDay); err != nil || o.LakeFirstDay < earliestDay ||
		o.LakeFirstDay > time.Now().UTC().Format(time.DateOnly) {
		f.Add(path+".LakeFirstDay", o.LakeFirstDay, earliestDay+" to today (UTC), as year-month-day",
			`write the day of the lake's first deployment, such as "2026-12-24"`)
	}
}

// catalogName is what names a database for Amazon Athena without quotes ("Name
// databases, tables, and columns") and also a workgroup.
var catalogName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,127}$`)

// Validate returns a [finding.List] with all invalid props, or nil. It includes the mistakes in the lake's description.
func (p Props) Validate() error {
	var f finding.List
	switch {
	case p.Table == nil || p.Table.Resource == nil:
		f.Add("Props.Table", nil, "a table with a stream of new and old images", "pass the lake's table")
	case p.Table.Schema.Name != p.Lake.Table:
		f.Add("Props.Table", p.Table.Schema.Name, "the lake's table, "+p.Lake.Table,
			"pass the table that Props.Lake.Table names")
	}
	if p.Lake.Name == "" {
		f.Add("Props.Lake", p.Lake.Name, "a lake with a name", "pass one of the Lakes of a schema.Platform")
	} else if _, err := p.Lake.Definition(p.Database); err != nil {
		f.AddAll(err, "", "Props.")
	}
	p.checkTexts(&f, "Props.Lake")
	CheckBuild(&f, "Props.Build", p.Build)
	if p.Build == nil {
		f.Add("Props.Build", nil, "a build of the lake's functions",
			"begin one with gofunction.Start whose Source.Packages has lake.Packages()")
	}
	if p.CatalogName != "" && !catalogName.MatchString(p.CatalogName) {
		f.Add("Props.CatalogName", p.CatalogName,
			"up to 128 lower-case letters, digits and underscores, beginning with a letter",
			"respell it, or leave it empty for a generated name")
	}
	CheckReserved(&f, "Props.CatalogName", p.CatalogName)
	p.Options.Check(&f, "Props")
	props.CheckMetricNamespace(&f, "Props.MetricNamespace", p.MetricNamespace)
	p.Settings.Check(&f, "Props", "Props.Network", "")
	p.Sizes.Of(writer, compactor).Check(&f, "Props.Sizes", []string{writer, compactor}, nil)
	return f.Err()
}

// The limits of the catalog and Amazon Athena, in bytes ("Column structure" and
// "TableInput structure", AWS Glue API reference; "AWS::Athena::NamedQuery", CloudFormation
// reference).
const (
	longestComment          = 255
	longestDescription      = 2048
	longestViewText         = 409600
	longestQueryName        = 128
	longestQueryDescription = 1024
	longestQuery            = 262144
)

// checkTexts adds a finding for each text of the lake that is too long.
func (p Props) checkTexts(f *finding.List, path string) {
	l := p.Lake
	within := func(path, text string, longest int) {
		if len(text) > longest {
			f.Add(path, fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf("up to %d bytes", longest), "shorten it")
		}
	}
	columns := func(path string, columns []schema.Column) {
		for _, c := range columns {
			within(path+".Columns["+c.Name+"].Description", c.Description, longestComment)
		}
	}
	for _, e := range l.Entities {
		at := path + ".Entities[" + e.Name + "]"
		within(at+".Description", e.Description, longestDescription)
		described, _ := p.Database.Table(l.Table)
		columns(at, e.ColumnsOf(described))
	}
	for _, v := range l.Views {
		at := path + ".Views[" + v.Name + "]"
		within(at+".Description", v.Description, longestDescription)
		columns(at, v.Columns)
		within(at+".SQL", viewText(v, ""), longestViewText)
	}
	for _, q := range l.Queries {
		at := path + ".Queries[" + q.Name + "]"
		within(at+".Name", q.Name, longestQueryName)
		within(at+".Description", q.Description, longestQueryDescription)
		within(at+".SQL", q.SQL, longestQuery)
	}
}

// CheckReserved adds a finding at path if every account already has a database or a workgroup of that name ("Configure
// access to databases and tables in the AWS Glue Data Catalog", "How workgroups work").
func CheckReserved(f *finding.List, path, name string) {
	if name == "default" || name == "primary" {
		f.Add(path, name, "any other name", "Amazon Athena has a database default and a workgroup primary itself: "+
			"rename it")
	}
}

// withDefaults returns the props with their defaults filled in, and with all columns of
// the lake's entities.
func (p Props) withDefaults() Props {
	p.Lake.Entities = slices.Clone(p.Lake.Entities)
	for i, e := range p.Lake.Entities {
		p.Lake.Entities[i].Columns = e.ColumnsOf(p.Table.Schema)
	}
	p.LakeBatchWindow = cmp.Or(p.LakeBatchWindow, defaultBatchWindow)
	p.CompactEvery = cmp.Or(p.CompactEvery, defaultCompactEvery)
	p.LakeFirstDay = cmp.Or(p.LakeFirstDay, defaultFirstDay)
	p.QueryLimitBytes = cmp.Or(p.QueryLimitBytes, defaultQueryLimit)
	return p
}
