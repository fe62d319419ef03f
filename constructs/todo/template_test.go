package todo_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// stream is what a function may do with the stream that it handles.
var stream = []string{
	"dynamodb:DescribeStream TodoDatabaseAppData.StreamArn", "dynamodb:GetRecords TodoDatabaseAppData.StreamArn",
	"dynamodb:GetShardIterator TodoDatabaseAppData.StreamArn", "dynamodb:ListStreams TodoDatabaseAppData.StreamArn",
}

// expected is what every template has to be. The table is that of the seed
// (ADR-003).
func expected() synthtest.Platform {
	lake := []string{"LAKE_BUCKET", "LAKE_DEFINITION", "LOG_LEVEL"}
	return synthtest.Platform{
		Schema: schema.Todo(),
		ID:     "Todo",
		Golden: []string{"prod", "flags"},
		Variants: map[string]synthtest.Variant{
			"default": {Template: templates["default"]},
			"flags":   {Template: templates["flags"]},
			"dev":     {Template: templates["dev"], RemoveWithStack: true, NoAlarms: true, NoDashboard: true},
			"prod":    {Template: templates["prod"], Prefix: "acme-todo", DeletionProtection: true},
			"x86":     {Template: templates["x86"], Architecture: "x86_64", MoreOutputs: []string{"SignInUrl"}, AlarmEmail: "ops@example.com"},
			"own": {
				Template: templates["own"], AlarmTopic: "Alerts",
				AlarmsOff: []string{"ClientErrorAlarm"}, AlarmTopics: map[string]string{"EraserAlarm": "arn:aws:sns:eu-west-1:123456789012:people"},
				AlarmsChanged: map[string]string{"SlowAlarm": "threshold 2500, periods 2, period 10m0s", "ServerErrorAlarm": "period 1m0s"},
				Memory:        map[string]float64{"Eraser": 512, "LakeCompactor": 3008}, Concurrency: map[string]float64{"TodoAPI": 100, "LakeWriter": 10},
				Domain: "api.example.com", Certificate: "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-1111-2222-3333-444455556666", DefaultEndpoint: true, MoreOutputs: []string{"ApiDomainHostedZoneId", "ApiDomainTarget"},
				RouteThrottles: map[string]any{"POST /api/v1/tasks/bulk": map[string]any{"ThrottlingRateLimit": 5.0, "ThrottlingBurstLimit": 7.0}},
			},
			"issuer": {
				AlarmTopicARN: "arn:aws:sns:eu-west-1:123456789012:alerts", Runbook: "https://wiki.example.com/alarms", MetricNamespace: "Acme/tasks",
				Template: templates["issuer"], Issuer: "https://issuer.example.com", Audience: []any{"tasks"}, Tracing: true, LocalPort: 9000, LogLevel: "DEBUG", LogDays: 365,
				Origin: "https://example.com", Rate: 10, Burst: 20,
			},
			"company": {Template: templates["company"], Key: true, AlarmTopic: "Alerts", Subnets: []any{"subnet-1", "subnet-2"}, SecurityGroup: "sg-1"},
		},
		Tables: map[string]map[string]string{
			"AppData": {
				"key": "PK:S SK:S", "ttl": "expiration_timestamp", "stream": "NEW_AND_OLD_IMAGES",
				"GSI1": "GSI1PK:S GSI1SK:S ALL", "GSI2": "GSI2PK:S GSI2SK:S ALL", "GSI3": "GSI3PK:S GSI3SK:S ALL", "GSI4": "GSI4PK:S GSI4SK:S ALL",
			},
		},
		Functions: map[string]synthtest.Function{
			"TodoAPI": {
				Name: "todoapi", Variables: []string{"APP_DATA_TABLE", "CURSOR_SECRET_ARN", "LOG_LEVEL"},
				Allowed: []string{"secretsmanager:GetSecretValue TodoCursorSecret"},
				Keys:    []string{"table", "secretsmanager"},
			},
			"Eraser": {
				Name: "eraser", Timeout: 300, Variables: []string{"APP_DATA_TABLE", "LOG_LEVEL"},
				Allowed: append([]string{"sqs:SendMessage TodoDeadLetters.Arn"}, stream...),
				Keys:    []string{"table", "stream", "sqs"},
			},
			"LakeWriter": {
				Timeout: 120, Memory: 512, Variables: append([]string{"LAKE_FAILURES_QUEUE_URL"}, lake...),
				Allowed: append([]string{"s3:PutObject TodoLakeBucket.Arn/events/*", "sqs:SendMessage TodoLakeFailures.Arn"}, stream...),
				Keys:    []string{"stream", "s3", "sqs"},
			},
			"LakeCompactor": {
				Timeout: 900, Memory: 1024, Variables: lake,
				Allowed: []string{
					"s3:DeleteObject TodoLakeBucket.Arn/events/*", "s3:GetObject TodoLakeBucket.Arn/events/*", "s3:PutObject TodoLakeBucket.Arn/events/*",
					"s3:ListBucket TodoLakeBucket.Arn", "sqs:SendMessage TodoLakeScheduleDeadLetters.Arn",
				},
				Keys: []string{"s3", "sqs"},
			},
		},
		Operations: map[string]string{
			"POST /api/v1/users/me":          "TodoAPI",
			"GET /api/v1/users/me":           "TodoAPI",
			"PUT /api/v1/users/me":           "TodoAPI",
			"DELETE /api/v1/users/me":        "TodoAPI",
			"POST /api/v1/tasks":             "TodoAPI",
			"GET /api/v1/tasks":              "TodoAPI",
			"GET /api/v1/tasks/stats":        "TodoAPI",
			"POST /api/v1/tasks/bulk":        "TodoAPI",
			"GET /api/v1/tasks/{task_id}":    "TodoAPI",
			"PUT /api/v1/tasks/{task_id}":    "TodoAPI",
			"PATCH /api/v1/tasks/{task_id}":  "TodoAPI",
			"DELETE /api/v1/tasks/{task_id}": "TodoAPI",
			"GET /api/v1/openapi.json":       "TodoAPI",
			"GET /health":                    "TodoAPI",
		},
		Callers: func(operation string) bool {
			return operation != "GET /health" && operation != "GET /api/v1/openapi.json"
		},
		RequestHeaders:  []any{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "X-Timezone"},
		ResponseHeaders: []any{"ETag", "Idempotency-Replayed", "Location", "Retry-After"},
		Secrets:         1,
		Schedules:       map[string]synthtest.Schedule{"LakeSchedule": {Function: "LakeCompactor", Expression: synthtest.ByVariant{"": "rate(1 hour)", "issuer": "rate(15 minutes)"}}},
		Mappings: map[string]synthtest.Mapping{
			"Erasure": {Function: "Eraser", Queue: "DeadLetters", Table: "AppData", Properties: map[string]any{
				"BatchSize": 10.0, "MaximumBatchingWindowInSeconds": 15.0, "MaximumRecordAgeInSeconds": 82800.0,
				"BisectBatchOnFunctionError": true, "FunctionResponseTypes": []any{"ReportBatchItemFailures"},
				"FilterCriteria": patterns(`{"dynamodb":{"NewImage":{"deletion":{"S":[{"exists":true}]}}}}`),
			}},
			"LakeMapping": {Function: "LakeWriter", Queue: "LakeFailures", Table: "AppData", Properties: map[string]any{
				"BatchSize": 10000.0, "MaximumRecordAgeInSeconds": 82800.0, "BisectBatchOnFunctionError": false,
				"MaximumBatchingWindowInSeconds": synthtest.ByVariant{"": 10.0, "issuer": 300.0},
				"FilterCriteria": patterns(
					`{"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"TASK#"}]},"SK":{"S":[{"prefix":"TASK#"}]}}}}`,
					`{"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"USER#"}]},"SK":{"S":[{"prefix":"METADATA"}]}}}}`,
				),
			}},
		},
		Queues:  map[string]bool{"DeadLetters": false, "LakeFailures": true, "LakeScheduleDeadLetters": false},
		Buckets: map[string]string{"LakeBucket": "LakeAccessLogs", "LakeAccessLogs": ""},
		Alarms: map[string]any{
			"ServerErrorAlarm":         synthtest.ByVariant{"": "100 * errors / requests of AWS/ApiGateway 5xx, AWS/ApiGateway Count >= 1, 1 x 300", "own": "100 * errors / requests of AWS/ApiGateway 5xx, AWS/ApiGateway Count >= 1, 1 x 60"},
			"ClientErrorAlarm":         "IF(requests < 100, 0, 100 * refusals / requests) of AWS/ApiGateway 4xx, AWS/ApiGateway Count >= 50, 3 x 300",
			"SlowAlarm":                synthtest.ByVariant{"": "AWS/ApiGateway Latency p99 >= 1000, 3 x 300", "own": "AWS/ApiGateway Latency p99 >= 2500, 2 x 600"},
			"TodoAPIAlarm":             "AWS/Lambda Errors Sum >= 1, 1 x 300",
			"EraserAlarm":              "AWS/Lambda Errors Sum >= 1, 1 x 300",
			"ThrottlesAlarm":           "SUM([m0, m1, m2, m3]) of AWS/Lambda Throttles >= 1, 1 x 300",
			"ErasureAgeAlarm":          "AWS/Lambda IteratorAge Maximum >= 300000, 1 x 300",
			"DeadLettersAlarm":         "AWS/SQS ApproximateNumberOfMessagesVisible Maximum >= 1, 1 x 300",
			"LakeAgeAlarm":             synthtest.ByVariant{"": "AWS/Lambda IteratorAge Maximum >= 300000, 1 x 300", "issuer": "AWS/Lambda IteratorAge Maximum >= 600000, 1 x 300"},
			"LakeFailuresAlarm":        "AWS/SQS ApproximateNumberOfMessagesVisible Maximum >= 1, 1 x 300",
			"LakeWriteAlarm":           synthtest.ByVariant{"": "Onesynth/lake LakeWriteFailures Sum >= 1, 1 x 300", "issuer": "Acme/tasks/lake LakeWriteFailures Sum >= 1, 1 x 300"},
			"LakeWriterAlarm":          "AWS/Lambda Errors Sum >= 1, 1 x 300",
			"LakeCompactionAlarm":      synthtest.ByVariant{"": "Onesynth/lake LakeCompactionFailures Sum >= 1, 1 x 300", "issuer": "Acme/tasks/lake LakeCompactionFailures Sum >= 1, 1 x 300"},
			"LakeCompactorAlarm":       "AWS/SQS ApproximateNumberOfMessagesVisible Maximum >= 1, 1 x 300",
			"LakeCompactorNotRunAlarm": synthtest.ByVariant{"": "FILL(runs, 0) of AWS/Lambda Invocations < 1, 13 x 300", "issuer": "FILL(runs, 0) of AWS/Lambda Invocations < 1, 3 x 900"},
		},
		Outputs: []string{
			"ApiUrl", "AppDataTableName", "DeadLetterQueueUrl", "LakeBucketName", "LakeDatabaseName", "LakeDeadLetterQueueUrl", "LakeFailureQueueUrl", "LakeWorkGroupName",
		},
		IssuerOutputs: []string{"TokenIssuer", "UserPoolClientId", "UserPoolId"},
		LocalPort:     8081,
	}
}

func patterns(texts ...string) map[string]any {
	var filters []any
	for _, t := range texts {
		filters = append(filters, map[string]any{"Pattern": t})
	}
	return map[string]any{"Filters": filters}
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	synthtest.Check(t, expected())
}

// People sign up with an address that they confirm; an app holds no secret.
func TestUsers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "x86"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strict := name == "x86"
			_, pool := templates[name].One(t, "AWS::Cognito::UserPool", "TodoUsers")
			_, client := templates[name].One(t, "AWS::Cognito::UserPoolClient", "TodoUsersClient")
			mfa := "OPTIONAL"
			if strict {
				mfa = "ON"
			}
			checks := map[string][2]any{
				"invited only": {synthtest.At(pool.Properties, "AdminCreateUserConfig", "AllowAdminCreateUserOnly"), strict},
				"user names":   {pool.Properties["UsernameAttributes"], []any{"email"}},
				"case":         {synthtest.At(pool.Properties, "UsernameConfiguration", "CaseSensitive"), false},
				"confirmed":    {pool.Properties["AutoVerifiedAttributes"], []any{"email"}},
				"change":       {synthtest.At(pool.Properties, "UserAttributeUpdateSettings", "AttributesRequireVerificationBeforeUpdate"), []any{"email"}},
				"passwords": {synthtest.At(pool.Properties, "Policies", "PasswordPolicy"), map[string]any{
					"MinimumLength": 12.0, "RequireLowercase": true, "RequireNumbers": true, "RequireSymbols": true, "RequireUppercase": true, "TemporaryPasswordValidityDays": 3.0,
				}},
				"second factor": {pool.Properties["MfaConfiguration"], mfa},
				"factors":       {pool.Properties["EnabledMfas"], []any{"SOFTWARE_TOKEN_MFA"}},
				"recovery":      {synthtest.At(pool.Properties, "AccountRecoverySetting", "RecoveryMechanisms"), []any{map[string]any{"Name": "verified_email", "Priority": 1.0}}},
				"secret":        {client.Properties["GenerateSecret"], false},
				"flows":         {client.Properties["ExplicitAuthFlows"], []any{"ALLOW_USER_SRP_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"}},
				"existence":     {client.Properties["PreventUserExistenceErrors"], "ENABLED"},
				"revocation":    {client.Properties["EnableTokenRevocation"], true},
				"access tokens": {client.Properties["AccessTokenValidity"], 60.0},
				"id tokens":     {client.Properties["IdTokenValidity"], 60.0},
				"pages":         {len(templates[name].OfType("AWS::Cognito::UserPoolDomain")), map[bool]int{true: 1}[strict]},
				"OAuth":         {client.Properties["AllowedOAuthFlowsUserPoolClient"], strict},
				"emails":        {synthtest.At(pool.Properties, "EmailConfiguration", "EmailSendingAccount"), nil},
			}
			if strict {
				configuration, _ := pool.Properties["EmailConfiguration"].(map[string]any)
				checks["identity"] = [2]any{synthtest.Text(configuration["SourceArn"]), "arn:AWS::Partition:ses:AWS::Region:AWS::AccountId:identity/example.com"}
				delete(configuration, "SourceArn")
				checks["emails"] = [2]any{configuration, map[string]any{
					"EmailSendingAccount": "DEVELOPER", "From": "To-Do <hello@mail.example.com>", "ReplyToEmailAddress": "help@example.com", "ConfigurationSet": "mail",
				}}
				checks["grants"] = [2]any{client.Properties["AllowedOAuthFlows"], []any{"code"}}
				checks["scopes"] = [2]any{client.Properties["AllowedOAuthScopes"], []any{"openid", "email", "profile"}}
				checks["callback"] = [2]any{client.Properties["CallbackURLs"], []any{"https://example.com/in", "http://localhost:3000/in"}}
				checks["logout"] = [2]any{client.Properties["LogoutURLs"], []any{"https://example.com/out"}}
			}
			for what, pair := range checks {
				if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

// The catalog has a table for each entity, and each view as Amazon Athena reads
// it.
func TestCatalog(t *testing.T) {
	t.Parallel()
	lake := schema.Todo().Lake
	for name, template := range templates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days := "2026-11-01,NOW+1DAY"
			switch name {
			case "own":
				days = "2026-11-15,NOW+1DAY"
			case "issuer":
				days = "NOW-401DAYS,NOW+1DAY"
			}
			_, database := template.One(t, "AWS::Glue::Database", "")
			catalog := synthtest.At(database.Properties, "DatabaseInput", "Name").(string)
			if name == "prod" && catalog != "acme_todo" || name != "prod" && !strings.HasPrefix(catalog, "todo_") {
				t.Errorf("database: got %s", catalog)
			}
			tables := map[string]any{}
			for _, r := range template.OfType("AWS::Glue::Table") {
				input := r.Properties["TableInput"]
				tables[synthtest.At(input, "Name").(string)] = input
				if in := synthtest.Stable(synthtest.Text(r.Properties["DatabaseName"])); in != "TodoLakeCatalog" {
					t.Errorf("a table is in the database %s", in)
				}
			}
			for _, e := range lake.Entities {
				input := tables[e.ChangeTable()]
				delete(tables, e.ChangeTable())
				location := "s3://TodoLakeBucket/events/entity=" + e.Name + "/"
				checks := map[string][2]any{
					"type":       {synthtest.At(input, "TableType"), "EXTERNAL_TABLE"},
					"location":   {synthtest.Stable(synthtest.Text(synthtest.At(input, "StorageDescriptor", "Location"))), location},
					"template":   {synthtest.Stable(synthtest.Text(synthtest.At(input, "Parameters", "storage.location.template"))), location + "event_date=${event_date}/"},
					"projection": {synthtest.At(input, "Parameters", "projection.enabled"), "true"},
					"days":       {synthtest.At(input, "Parameters", "projection.event_date.type"), "date"},
					"format":     {synthtest.At(input, "Parameters", "projection.event_date.format"), "yyyy-MM-dd"},
					"range":      {synthtest.At(input, "Parameters", "projection.event_date.range"), days},
					"partitions": {namesAndTypes(synthtest.At(input, "PartitionKeys")), []string{"event_date date"}},
					"columns":    {namesAndTypes(synthtest.At(input, "StorageDescriptor", "Columns")), typed(append(schema.ChangeColumns(), e.Columns...), catalogTypes)},
					"reader":     {synthtest.At(input, "StorageDescriptor", "SerdeInfo", "SerializationLibrary"), "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"},
				}
				for what, pair := range checks {
					if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
						t.Errorf("%s: %s (-want +got):\n%s", e.Name, what, diff)
					}
				}
			}
			for _, v := range lake.Views {
				input := tables[v.Name]
				delete(tables, v.Name)
				encoded := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(synthtest.At(input, "ViewOriginalText")), "/* Presto View: "), " */")
				decoded, err := base64.StdEncoding.DecodeString(encoded)
				if err != nil {
					t.Fatalf("%s: %v", v.Name, err)
				}
				var view struct {
					OriginalSQL, Catalog, Schema string
					Columns                      []struct{ Name, Type string }
				}
				if err := json.Unmarshal(decoded, &view); err != nil {
					t.Fatalf("%s: %v", v.Name, err)
				}
				var columns []string
				for _, c := range view.Columns {
					columns = append(columns, c.Name+" "+c.Type)
				}
				checks := map[string][2]any{
					"type":           {synthtest.At(input, "TableType"), "VIRTUAL_VIEW"},
					"parameters":     {synthtest.At(input, "Parameters"), map[string]any{"presto_view": "true", "comment": "Presto View"}},
					"partitions":     {synthtest.At(input, "PartitionKeys"), []any{}},
					"SQL":            {view.OriginalSQL, v.SQL},
					"database":       {view.Catalog + "." + view.Schema, "awsdatacatalog." + catalog},
					"columns":        {columns, typed(v.Columns, engineTypes)},
					"shown columns":  {namesAndTypes(synthtest.At(input, "StorageDescriptor", "Columns")), typed(v.Columns, catalogTypes)},
					"stands for one": {synthtest.At(input, "ViewExpandedText"), "/* Presto View */"},
				}
				for what, pair := range checks {
					if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
						t.Errorf("%s: %s (-want +got):\n%s", v.Name, what, diff)
					}
				}
			}
			if len(tables) > 0 {
				t.Errorf("the catalog also has %v", slices.Collect(maps.Keys(tables)))
			}
		})
	}
}

var (
	catalogTypes = map[schema.ColumnType]string{
		schema.ColumnText: "string", schema.ColumnInteger: "bigint", schema.ColumnDecimal: "double",
		schema.ColumnBoolean: "boolean", schema.ColumnDate: "date", schema.ColumnTimestamp: "timestamp",
	}
	engineTypes = map[schema.ColumnType]string{
		schema.ColumnText: "varchar", schema.ColumnInteger: "bigint", schema.ColumnDecimal: "double",
		schema.ColumnBoolean: "boolean", schema.ColumnDate: "date", schema.ColumnTimestamp: "timestamp(3)",
	}
)

func namesAndTypes(columns any) []string {
	var list []string
	for _, c := range synthtest.List(columns) {
		list = append(list, fmt.Sprint(synthtest.At(c, "Name"), " ", synthtest.At(c, "Type")))
	}
	return list
}

func typed(columns []schema.Column, types map[schema.ColumnType]string) []string {
	var list []string
	for _, c := range columns {
		list = append(list, c.Name+" "+types[c.Type])
	}
	return list
}

func TestWorkGroup(t *testing.T) {
	t.Parallel()
	for name, template := range templates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, group := template.One(t, "AWS::Athena::WorkGroup", "")
			limit := 10_000_000_000.0
			if name == "issuer" {
				limit = 20_000_000
			}
			configuration := synthtest.At(group.Properties, "WorkGroupConfiguration")
			encryption := map[string]any{"EncryptionOption": "SSE_S3"}
			if name == "company" {
				key, _ := template.One(t, "AWS::KMS::Key", "Key")
				encryption = map[string]any{"EncryptionOption": "SSE_KMS", "KmsKey": map[string]any{"Fn::GetAtt": []any{key, "Arn"}}}
				// A role that queries the lake reads and writes objects that the key encrypts.
				if got := template.Allowed(t, "Analyst"); !slices.Contains(got, "kms:Decrypt Key.Arn") || !slices.Contains(got, "kms:GenerateDataKey Key.Arn") {
					t.Errorf("analyst: got %v, want to use the key", got)
				}
			}
			checks := map[string][2]any{
				"enforced":   {synthtest.At(configuration, "EnforceWorkGroupConfiguration"), true},
				"limit":      {synthtest.At(configuration, "BytesScannedCutoffPerQuery"), limit},
				"engine":     {synthtest.At(configuration, "EngineVersion", "SelectedEngineVersion"), "Athena engine version 3"},
				"results":    {synthtest.Stable(synthtest.Text(synthtest.At(configuration, "ResultConfiguration", "OutputLocation"))), "s3://TodoLakeBucket/results/"},
				"encryption": {synthtest.At(configuration, "ResultConfiguration", "EncryptionConfiguration"), encryption},
			}
			for what, pair := range checks {
				if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			want, got := map[string]string{}, map[string]string{}
			for _, q := range schema.Todo().Lake.Queries {
				want[q.Name] = q.SQL
			}
			for _, q := range template.OfType("AWS::Athena::NamedQuery") {
				got[q.Properties["Name"].(string)] = q.Properties["QueryString"].(string)
				place := synthtest.Stable(synthtest.Text(q.Properties["Database"]) + " " + synthtest.Text(q.Properties["WorkGroup"]))
				if place != "TodoLakeCatalog TodoLakeWorkGroup" {
					t.Errorf("%s is in %s", q.Properties["Name"], place)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("queries (-want +got):\n%s", diff)
			}
		})
	}
}

// Each day that a query reads is a request to Amazon S3 at least, so a saved query says
// how many it reads, and reads no more.
func TestSavedQueriesSayTheirDays(t *testing.T) {
	t.Parallel()
	reads := regexp.MustCompile(`\. Reads (all|\d+) days(,|$)`)
	for _, q := range schema.Todo().Lake.Queries {
		days := reads.FindStringSubmatch(q.Description)
		switch {
		case days == nil:
			t.Errorf("%s: the description %q does not say which days it reads", q.Name, q.Description)
		case days[1] != "all" && !strings.Contains(q.SQL, "WHERE event_date >= current_date - INTERVAL '"+days[1]+"' DAY"):
			t.Errorf("%s: reads %s days, as it says, only if it looks at %s: got %s", q.Name, days[1], schema.EventDate, q.SQL)
		}
	}
}

// Results go after a week, what was replaced or deleted can be brought back for
// one, and changes stay unless told otherwise.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	results := "results/ after 7"
	want := map[string][]string{
		"default": {"aborted after 1", "former after 7", results},
		"dev":     {"aborted after 1", results},
		"issuer":  {"aborted after 1", "events/ after 400", "former after 7", results},
	}
	for name, lines := range want {
		_, bucket := templates[name].One(t, "AWS::S3::Bucket", "TodoLakeBucket")
		var got []string
		for _, r := range synthtest.List(synthtest.At(bucket.Properties, "LifecycleConfiguration", "Rules")) {
			if days := synthtest.At(r, "ExpirationInDays"); days != nil {
				got = append(got, fmt.Sprint(synthtest.At(r, "Prefix"), " after ", days))
			}
			if days := synthtest.At(r, "NoncurrentVersionExpiration", "NoncurrentDays"); days != nil {
				got = append(got, fmt.Sprint("former after ", days))
			}
			if days := synthtest.At(r, "AbortIncompleteMultipartUpload", "DaysAfterInitiation"); days != nil {
				got = append(got, fmt.Sprint("aborted after ", days))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(lines, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The functions of the lake know it by what the schema says.
func TestLakeDefinition(t *testing.T) {
	t.Parallel()
	platform := schema.Todo()
	want, err := platform.Lake.Definition(platform.Database)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"TodoLakeWriter", "TodoLakeCompactor"} {
		variables := synthtest.At(templates["default"].Named("AWS::Lambda::Function")[id].Properties, "Environment", "Variables")
		got, err := schema.ParseLakeDefinition(fmt.Sprint(synthtest.At(variables, "LAKE_DEFINITION")))
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// The check of a deployment names the lines of the schema, by what the constructs tell it in the template's metadata.
func TestCheckNamesTheSchema(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	at := func(v any, names ...any) object {
		found, ok := synthtest.At(v, names...).(object)
		if !ok {
			t.Fatalf("the template has no %v", names)
		}
		return found
	}
	parse := func(source string) *check.Template {
		template, err := check.Parse([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		return template
	}
	deployed := parse(templates["default"].Source)
	for want, change := range map[string]func(resources, metadata object){
		"attribute-title: Tables[AppData].Attributes, without title, of the schema": func(_, metadata object) {
			delete(at(metadata, "onesynth:Todo/Database/AppData", "attributes"), "title")
		},
		"ttl-off: Tables[AppData].TimeToLive of the schema": func(resources, metadata object) {
			delete(at(resources, "TodoDatabaseAppDataA1556560", "Properties"), "TimeToLiveSpecification")
			delete(at(metadata, "onesynth:Todo/Database/AppData"), "timeToLive")
		},
		"column-title: Lake.Entities[task].Columns[title] of the schema": func(_, metadata object) {
			at(metadata, "onesynth:Todo/Lake", "tables", "task_changes", "attributes")["title"] = "heading"
		},
		"column-task_id: Lake.Entities[task].Columns[task_id] of the schema": func(_, metadata object) {
			attributes := at(metadata, "onesynth:Todo/Lake", "tables", "task_changes", "attributes")
			if attributes["task_id"] != "SK without TASK#" {
				t.Fatalf("task_id: got %v", attributes["task_id"])
			}
			attributes["task_id"] = "SK"
		},
		"drop: the schema, without Lake.Views[kpis]": func(resources, metadata object) {
			delete(resources, "TodoLakeCatalogkpisDFC72755")
		},
		"grants: Functions[todoapi].AccessPatterns of the schema": func(resources, metadata object) {
			delete(resources, "TodoTodoAPIRoleDefaultPolicy8D9151A4")
			at(metadata, "onesynth:Todo/TodoAPI")["grants"] = []any{}
		},
		"open: Routes[GET /api/v1/tasks/{task_id}] of the schema": func(resources, _ object) {
			at(resources, "TodoAPIGETapiv1taskstaskid7496802C", "Properties")["AuthorizationType"] = "NONE"
		},
	} {
		var template object
		if err := json.Unmarshal([]byte(templates["default"].Source), &template); err != nil {
			t.Fatal(err)
		}
		change(at(template, "Resources"), at(template, "Metadata"))
		source, err := json.Marshal(template)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range check.Compare(deployed, parse(string(source)), check.Environment{}) {
			what, _, _ := strings.Cut(f.ID, ":")
			got = append(got, what+": "+f.By)
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A stack may have several platforms: nothing of theirs has one name.
func TestSeveral(t *testing.T) {
	t.Parallel()
	names := map[string]map[string]bool{}
	add := func(what string, name any) {
		if names[what] == nil {
			names[what] = map[string]bool{}
		}
		names[what][synthtest.Text(name)] = true
	}
	for _, r := range several.Resources {
		switch r.Type {
		case "AWS::Cognito::UserPoolDomain":
			add("domain", r.Properties["Domain"])
		case "AWS::Glue::Database":
			add("database", synthtest.At(r.Properties, "DatabaseInput", "Name"))
		case "AWS::Athena::WorkGroup":
			add("workgroup", r.Properties["Name"])
		}
	}
	for _, what := range []string{"domain", "database", "workgroup"} {
		if len(names[what]) != 3 {
			t.Errorf("%s: got %v, want three names", what, names[what])
		}
	}
	want := []string{
		"dynamodb:GetItem FirstDatabaseAppData.Arn", "dynamodb:Query FirstDatabaseAppData.Arn/index/GSI1",
		"lambda:InvokeFunction FirstLakeCompactor.Arn",
	}
	if diff := cmp.Diff(want, several.Allowed(t, "Operator")); diff != "" {
		t.Errorf("operator (-want +got):\n%s", diff)
	}
}

// A role that queries the lake reads it and its catalog, and no other.
func TestGrantQuery(t *testing.T) {
	t.Parallel()
	catalog := ""
	for id, r := range several.OfType("AWS::Glue::Database") {
		if synthtest.Stable(id) == "FirstLakeCatalog" {
			catalog = synthtest.At(r.Properties, "DatabaseInput", "Name").(string)
		}
	}
	arn := func(service, resource string) string {
		return "arn:AWS::Partition:" + service + ":AWS::Region:AWS::AccountId:" + resource
	}
	var want []string
	for _, action := range []string{
		"BatchGetNamedQuery", "BatchGetQueryExecution", "GetNamedQuery", "GetQueryExecution", "GetQueryResults", "GetQueryResultsStream",
		"GetWorkGroup", "ListNamedQueries", "ListQueryExecutions", "StartQueryExecution", "StopQueryExecution",
	} {
		want = append(want, "athena:"+action+" "+arn("athena", "workgroup/"+catalog))
	}
	for _, action := range []string{"GetDatabase", "GetTable", "GetTables"} {
		want = append(want, "glue:"+action+" "+arn("glue", "catalog"), "glue:"+action+" "+arn("glue", "database/"+catalog))
		for _, table := range []string{"task_changes", "user_changes", "task_events", "tasks_current", "user_metrics", "category_trends", "kpis"} {
			want = append(want, "glue:"+action+" "+arn("glue", "table/"+catalog+"/"+table))
		}
	}
	want = append(want,
		"glue:GetDatabase "+arn("glue", "database/default"),
		"s3:GetBucketLocation FirstLakeBucket.Arn", "s3:ListBucket FirstLakeBucket.Arn", "s3:GetObject FirstLakeBucket.Arn/events/*",
		"s3:AbortMultipartUpload FirstLakeBucket.Arn/results/*", "s3:GetObject FirstLakeBucket.Arn/results/*",
		"s3:ListMultipartUploadParts FirstLakeBucket.Arn/results/*", "s3:PutObject FirstLakeBucket.Arn/results/*",
	)
	slices.Sort(want)
	if diff := cmp.Diff(want, several.Allowed(t, "Analyst")); diff != "" {
		t.Errorf("analyst (-want +got):\n%s", diff)
	}
}

// A table that is there already is used and granted, and its stream handled.
func TestExistingTable(t *testing.T) {
	t.Parallel()
	if tables := existing.OfType("AWS::DynamoDB::GlobalTable"); len(tables) != 0 {
		t.Errorf("tables: got %v, want none", tables)
	}
	stream := existingTable + "/stream/2026-01-01T00:00:00.000"
	for id, m := range existing.Named("AWS::Lambda::EventSourceMapping") {
		if m.Properties["EventSourceArn"] != stream {
			t.Errorf("%s: got %v, want the stream %s", id, m.Properties["EventSourceArn"], stream)
		}
	}
	variables := synthtest.At(existing.Named("AWS::Lambda::Function")["TodoTodoAPI"].Properties, "Environment", "Variables")
	if name := synthtest.At(variables, "APP_DATA_TABLE"); name != "tasks" {
		t.Errorf("table: got %v, want tasks", name)
	}
	for role, line := range map[string]string{
		"TodoTodoAPIRole": "dynamodb:Query " + existingTable + "/index/GSI1", "TodoEraserRole": "dynamodb:GetRecords " + stream, "TodoLakeWriterRole": "dynamodb:GetRecords " + stream,
	} {
		if allowed := existing.Allowed(t, role); !slices.Contains(allowed, line) {
			t.Errorf("%s: got %v, want %s among it", role, allowed, line)
		}
	}
}

// The API takes the tokens of an existing user pool, of any region, and no pool is made.
func TestExistingUserPool(t *testing.T) {
	t.Parallel()
	if pools := existing.OfType("AWS::Cognito::UserPool"); len(pools) != 0 {
		t.Errorf("user pools: got %v, want none", pools)
	}
	_, authorizer := existing.One(t, "AWS::ApiGatewayV2::Authorizer", "")
	issuer := synthtest.Text(synthtest.At(authorizer.Properties, "JwtConfiguration", "Issuer"))
	audience := synthtest.At(authorizer.Properties, "JwtConfiguration", "Audience")
	if issuer != "https://cognito-idp.us-east-1.AWS::URLSuffix/us-east-1_existing" || !cmp.Equal(audience, []any{"app"}) {
		t.Errorf("got the issuer %s for %v, want the pool for app", issuer, audience)
	}
}

// The domain name has the certificate, and records of both kinds that point to it.
func TestDomainByConstructs(t *testing.T) {
	t.Parallel()
	certificate, _ := existing.One(t, "AWS::CertificateManager::Certificate", "")
	domainID, domain := existing.One(t, "AWS::ApiGatewayV2::DomainName", "")
	if got := synthtest.At(domain.Properties, "DomainNameConfigurations", 0, "CertificateArn", "Ref"); got != certificate {
		t.Errorf("got the certificate %v, want %s", got, certificate)
	}
	kinds := map[any]bool{}
	for id, record := range existing.OfType("AWS::Route53::RecordSet") {
		kinds[record.Properties["Type"]] = true
		target := synthtest.At(record.Properties, "AliasTarget", "DNSName", "Fn::GetAtt", 0)
		if record.Properties["Name"] != "tasks.example.com." || record.Properties["HostedZoneId"] != "Z1" || target != domainID {
			t.Errorf("%s: got %v, want tasks.example.com in Z1 for %s", id, record.Properties, domainID)
		}
	}
	if !maps.Equal(kinds, map[any]bool{"A": true, "AAAA": true}) {
		t.Errorf("got records of %v, want A and AAAA", kinds)
	}
}

// Time-outs are those that are asked for, and the eraser leaves a request its time.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	got := map[string]any{}
	for id, f := range existing.Named("AWS::Lambda::Function") {
		got[id] = f.Properties["Timeout"]
	}
	if diff := cmp.Diff(map[string]any{"TodoTodoAPI": 20.0, "TodoEraser": 600.0, "TodoLakeWriter": 60.0, "TodoLakeCompactor": 900.0}, got); diff != "" {
		t.Errorf("time-outs (-want +got):\n%s", diff)
	}
	if window := existing.Named("AWS::Lambda::EventSourceMapping")["TodoErasure"].Properties["MaximumBatchingWindowInSeconds"]; window != 25.0 {
		t.Errorf("the eraser's window: got %v, want 25", window)
	}
}

// A trigger is called by its pool, which may call it.
func TestUserPoolTriggers(t *testing.T) {
	t.Parallel()
	triggers := map[string]any{}
	for id, pool := range several.Named("AWS::Cognito::UserPool") {
		if own := pool.Properties["LambdaConfig"]; own != nil {
			triggers[id] = own
		}
	}
	if diff := cmp.Diff(map[string]any{"FirstUsers": map[string]any{"PreSignUp": preSignUp}}, triggers); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
	}
	allowed := 0
	for _, p := range several.OfType("AWS::Lambda::Permission") {
		if p.Properties["FunctionName"] == preSignUp && p.Properties["Principal"] == "cognito-idp.amazonaws.com" && strings.Contains(synthtest.Text(p.Properties["SourceArn"]), "FirstUsers") {
			allowed++
		}
	}
	if allowed != 1 {
		t.Errorf("got %d permissions of the pool, want 1", allowed)
	}
}
