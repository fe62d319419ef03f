package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
)

// beside is a template with the resource R and others.
func beside(resource string, others ...string) string {
	return strings.Replace(resource, `{"Resources": {`, `{"Resources": {`+strings.Join(append(others, ""), ", "), 1)
}

// TestOpensAndStops: what opens, stops or loses something later is a warning, and its reverse is none of that id.
func TestOpensAndStops(t *testing.T) {
	t.Parallel()
	const (
		role    = "AWS::IAM::Role"
		mapping = "AWS::Lambda::EventSourceMapping"
		fn      = "AWS::Lambda::Function"
		queue   = "AWS::SQS::Queue"
		stage   = "AWS::ApiGatewayV2::Stage"
		client  = "AWS::Cognito::UserPoolClient"
		invoke  = "AWS::Lambda::EventInvokeConfig"
		sched   = "AWS::Scheduler::Schedule"
		rule    = "AWS::Events::Rule"
		alarm   = "AWS::CloudWatch::Alarm"
		bucket  = "AWS::S3::Bucket"
		empty   = `{"Resources": {}}`
	)
	statement := func(effect, more string) string {
		return `"PolicyDocument": {"Statement": [{"Effect": "` + effect + `", ` + more + `}]}`
	}
	// allowed is a role that may do something, and does is another statement for it.
	allowed := func(statements ...string) string {
		return properties(role, `"Policies": [{"PolicyDocument": {"Statement": [`+strings.Join(statements, ", ")+`]}}]`)
	}
	const get = `{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": {"Fn::GetAtt": ["Table", "Arn"]}}`
	trusted := func(principal string) string {
		return properties(role,
			`"AssumeRolePolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": `+
				principal+`}]}`)
	}
	const lambda = `{"Service": "lambda.amazonaws.com"}`
	// policied is a queue or bucket and its policy.
	policied := func(kind, property, statement string) string {
		holder := `{"Ref": "R"}`
		if property == "Queues" {
			holder = `[{"Ref": "R"}]`
		}
		return beside(properties(kind, ""), fmt.Sprintf(`"Policy": {"Type": "%sPolicy", "Properties": {%q: %s, %s}}`,
			kind, property, holder, statement))
	}
	rule1 := `"Principal": {"Service": "events.amazonaws.com"}, "Action": "sqs:SendMessage", "Resource": "*"`
	tabled := func(policy string) string {
		return replicated("", replica("eu-west-1", `"ResourcePolicy": {`+policy+`}`))
	}
	permitted := func(principal, more string) string {
		return beside(properties(fn, ""),
			`"P": {"Type": "AWS::Lambda::Permission", "Properties": {"Action": "lambda:InvokeFunction", "FunctionName": {"Ref": "R"}, "Principal": "`+
				principal+`"`+more+`}}`)
	}
	const sourced = `, "SourceArn": "arn:aws:events:eu-west-1:111122223333:rule/a"`
	block := func(value string) string {
		return properties(bucket, `"PublicAccessBlockConfiguration": {"BlockPublicAcls": true, "BlockPublicPolicy": `+
			value+`, "IgnorePublicAcls": true, "RestrictPublicBuckets": true}`)
	}
	password := func(rules string) string { return properties(pool, `"Policies": {"PasswordPolicy": {`+rules+`}}`) }
	flows := func(flows string) string { return properties(client, `"ExplicitAuthFlows": [`+flows+`]`) }
	audience := func(audience string) string {
		return properties("AWS::ApiGatewayV2::Authorizer",
			`"ApiId": "a", "Name": "n", "JwtConfiguration": {"Issuer": "https://a.example", "Audience": [`+audience+
				`]}`)
	}
	filter := func(patterns string) string {
		return properties(mapping, `"FilterCriteria": {"Filters": [`+patterns+`]}`)
	}
	// consumed is a queue with a function.
	consumed := func(visibility, timeout int) string {
		return beside(properties(queue, fmt.Sprintf(`"VisibilityTimeout": %d`, visibility)),
			fmt.Sprintf(`"F": {"Type": %q, "Properties": {"Timeout": %d}}`, fn, timeout),
			fmt.Sprintf(
				`"M": {"Type": %q, "Properties": {"FunctionName": {"Ref": "F"}, "EventSourceArn": {"Fn::GetAtt": ["R", "Arn"]}}}`,
				mapping))
	}
	onFailure := `"DestinationConfig": {"OnFailure": {"Destination": "q"}}`
	variable := func(value string) string {
		return beside(properties(fn, `"Environment": {"Variables": {"ITEMS_TABLE": `+value+`}}`),
			`"A": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "items"}}`,
			`"B": {"Type": "AWS::DynamoDB::Table"}`, `"S": {"Type": "AWS::SecretsManager::Secret"}`)
	}
	for name, test := range map[string]struct{ deployed, proposed, id, says string }{
		"ActionWildcard": {allowed(get), allowed(strings.Replace(get, "GetItem", "*", 1)), "opens-grants:R",
			"dynamodb:* on Table"},
		"ActionPattern": {allowed(get), allowed(get, strings.Replace(get, "GetItem", "Get*", 1)), "opens-grants:R",
			"dynamodb:Get* on Table"},
		"ResourceWildcard": {allowed(get), allowed(strings.Replace(get, `{"Fn::GetAtt": ["Table", "Arn"]}`, `"*"`, 1)),
			"opens-grants:R", "dynamodb:GetItem on *"},
		"ResourcePattern": {allowed(get), allowed(get,
			`{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "arn:aws:dynamodb:*:*:table/*"}`),
			"opens-grants:R", "table/*"},
		"EverythingBut": {allowed(get), allowed(get, `{"Effect": "Allow", "NotAction": "iam:*", "Resource": "x"}`),
			"opens-grants:R", `NotAction iam:*`},
		"EveryResourceBut": {allowed(get), allowed(get,
			`{"Effect": "Allow", "Action": "dynamodb:GetItem", "NotResource": "x"}`), "opens-grants:R",
			"NotResource x"},
		"ByPolicy": {allowed(get), beside(allowed(get),
			`"P": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "R"}], `+
				statement("Allow", `"Action": "*", "Resource": "*"`)+`}}`), "opens-grants:R", "* on *"},
		"ConditionGone": {allowed(strings.Replace(get, `"Effect"`, `"Condition": {"Bool": {"a": "b"}}, "Effect"`,
			1)), allowed(get), "opens-grants:R", "dynamodb:GetItem on Table"},
		"DenyGone": {allowed(get, `{"Effect": "Deny", "Action": "dynamodb:DeleteItem", "Resource": "*"}`),
			allowed(get), "opens-grants:R", "no longer denied"},
		"Administrator": {allowed(get), strings.Replace(allowed(get), `"Policies"`,
			`"ManagedPolicyArns": [{"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":iam::aws:policy/AdministratorAccess"]]}], "Policies"`, 1),
			"opens-grants:R", "AdministratorAccess allows"},
		"NewAdministrator": {empty, properties(role,
			`"ManagedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"]`), "opens-grants:R",
			"AdministratorAccess allows"},
		"NewActionWildcard": {empty, allowed(strings.Replace(get, "GetItem", "*", 1)), "opens-grants:R", "dynamodb:*"},
		"TrustEveryone":     {trusted(lambda), trusted(`"*"`), "opens-trust:R", "by everyone"},
		"TrustAccount": {trusted(lambda), trusted(
			`{"Service": "lambda.amazonaws.com", "AWS": "arn:aws:iam::999999999999:root"}`), "opens-trust:R",
			"999999999999"},
		"QueueEveryone": {policied(queue, "Queues", statement("Allow", rule1)),
			policied(queue, "Queues", statement("Allow",
				strings.Replace(rule1, `{"Service": "events.amazonaws.com"}`, `{"AWS": "*"}`, 1))), "opens-policy:R",
			"by everyone"},
		"QueueAction": {policied(queue, "Queues", statement("Allow", rule1)),
			policied(queue, "Queues", statement("Allow", strings.Replace(rule1, "SendMessage", "*", 1))),
			"opens-policy:R", "sqs:*"},
		"BucketEveryone": {policied(bucket, "Bucket",
			statement("Deny", `"Principal": "*", "Action": "s3:*", "Resource": "b"`)),
			policied(bucket, "Bucket", statement("Allow",
				`"Principal": "*", "Action": "s3:GetObject", "Resource": "b/*"`)), "opens-policy:R",
			"s3:GetObject on b/* by everyone"},
		"BucketDenyGone": {policied(bucket, "Bucket",
			statement("Deny", `"Principal": "*", "Action": "s3:*", "Resource": "b"`)), properties(bucket, ""),
			"opens-policy:R", "no longer denied"},
		"NewPublicQueue": {empty, policied(queue, "Queues",
			statement("Allow", `"Principal": "*", "Action": "sqs:SendMessage", "Resource": "*"`)), "opens-policy:R",
			"by everyone"},
		"TableEveryone": {tabled(`"PolicyDocument": {"Statement": []}`),
			tabled(statement("Allow", `"Principal": {"AWS": "*"}, "Action": "dynamodb:GetItem", "Resource": "*"`)),
			"opens-policy:R", "by everyone"},
		"FunctionEveryone": {permitted("events.amazonaws.com", sourced), permitted("*", ""), "opens-policy:R",
			"by everyone"},
		"FunctionNoSource": {permitted("events.amazonaws.com", sourced), permitted("events.amazonaws.com", ""),
			"opens-policy:R", "events.amazonaws.com"},
		"FunctionService": {properties(fn, ""), permitted("s3.amazonaws.com", ""), "opens-policy:R",
			"by Service s3.amazonaws.com"},
		"FunctionAccount": {permitted("events.amazonaws.com", sourced),
			beside(permitted("events.amazonaws.com", sourced),
				`"Q": {"Type": "AWS::Lambda::Permission", "Properties": {"Action": "lambda:InvokeFunction", "FunctionName": {"Ref": "R"}, "Principal": "999999999999"}}`),
			"opens-policy:R", "999999999999"},
		"FunctionURL": {properties("AWS::Lambda::Url", `"AuthType": "AWS_IAM"`),
			properties("AWS::Lambda::Url", `"AuthType": "NONE"`), "opens-url:R", "becomes NONE, and was AWS_IAM"},
		"NewFunctionURL": {empty, properties("AWS::Lambda::Url", `"AuthType": "NONE"`), "opens-url:R",
			"becomes NONE"},
		"PublicAccess": {block("true"), block("false"), "opens-public:R",
			"PublicAccessBlockConfiguration.BlockPublicPolicy"},
		"PublicAccessGone": {block("true"), properties(bucket, ""), "opens-public:R", "RestrictPublicBuckets"},
		"PublicList": {properties(bucket, ""), properties(bucket, `"AccessControl": "PublicRead"`),
			"opens-public:R", "PublicRead"},
		"SignUp": {properties(pool, `"AdminCreateUserConfig": {"AllowAdminCreateUserOnly": true}`),
			properties(pool, ""), "opens-sign-up:R", "switched off"},
		"MFAOptional": {properties(pool, `"MfaConfiguration": "ON"`),
			properties(pool, `"MfaConfiguration": "OPTIONAL"`), "opens-mfa:R", "from ON to OPTIONAL"},
		"MFAOff": {properties(pool, `"MfaConfiguration": "OPTIONAL"`), properties(pool, ""), "opens-mfa:R",
			"from OPTIONAL to OFF"},
		"PasswordLength": {password(`"MinimumLength": 12`), password(`"MinimumLength": 8`), "opens-passwords:R",
			"falls from 12 to 8"},
		"PasswordPolicy": {password(`"MinimumLength": 12`), properties(pool, ""), "opens-passwords:R",
			"falls from 12 to 8"},
		"PasswordSymbols": {password(`"RequireSymbols": true`), password(`"RequireSymbols": false`),
			"opens-passwords:R", "RequireSymbols"},
		"PasswordNumbers": {password(`"MinimumLength": 12, "RequireNumbers": true`), password(`"MinimumLength": 12`),
			"opens-passwords:R", "RequireNumbers"},
		"AuthFlow": {flows(`"ALLOW_USER_SRP_AUTH"`), flows(`"ALLOW_USER_SRP_AUTH", "ALLOW_USER_PASSWORD_AUTH"`),
			"opens-sign-in:R", "gets ALLOW_USER_PASSWORD_AUTH"},
		"Callback": {properties(client, `"CallbackURLs": ["https://a.example"]`),
			properties(client, `"CallbackURLs": ["https://a.example", "https://b.example"]`), "opens-sign-in:R",
			"gets https://b.example"},
		"Audience":         {audience(`"a"`), audience(`"a", "b"`), "opens-audience:R", "gets b"},
		"NoAudience":       {audience(`"a"`), audience(``), "opens-audience:R", "no longer asked for"},
		"AudienceNarrower": {audience(`"a", "b"`), audience(`"a"`), "stops-audience:R", "loses b"},
		"Throttle": {
			properties(stage, `"DefaultRouteSettings": {"ThrottlingBurstLimit": 20, "ThrottlingRateLimit": 10}`),
			properties(stage, ""), "opens-throttle:R", "was 20"},
		"Origins": {properties("AWS::ApiGatewayV2::Api",
			`"CorsConfiguration": {"AllowOrigins": ["https://a.example"]}`),
			properties("AWS::ApiGatewayV2::Api", `"CorsConfiguration": {"AllowOrigins": ["*"]}`), "opens-origins:R",
			"gets *"},
		"Endpoint": {properties("AWS::ApiGatewayV2::Api", `"DisableExecuteApiEndpoint": true`),
			properties("AWS::ApiGatewayV2::Api", ""), "opens-endpoint:R", "switched off"},
		"BoundaryGone": {properties(role, `"PermissionsBoundary": "b"`), properties(role, ""), "opens-boundary:R",
			"goes; it was b"},
		"QueueKey": {properties(queue, `"KmsMasterKeyId": "k"`), properties(queue, ""), "opens-encryption:R",
			"goes; it was k"},
		"QueryBound": {properties("AWS::Athena::WorkGroup",
			`"WorkGroupConfiguration": {"BytesScannedCutoffPerQuery": 10}`), properties("AWS::Athena::WorkGroup", ""),
			"opens-queries:R", "from 10 to no limit"},

		"Concurrency0": {properties(fn, ""), properties(fn, `"ReservedConcurrentExecutions": 0`),
			"stops-function:R", "becomes 0"},
		"Timeout": {properties(fn, `"Timeout": 30`), properties(fn, ""), "stops-function:R", "from 30 to 3"},
		"TrustOther": {trusted(lambda), trusted(`{"Service": "ec2.amazonaws.com"}`), "stops-trust:R",
			"lambda.amazonaws.com"},
		"QueueDenied": {policied(queue, "Queues", statement("Allow", rule1)),
			policied(queue, "Queues", strings.Replace(statement("Allow", rule1), "]",
				`, {"Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": "*"}]`, 1)), "stops-policy:R",
			"(denied)"},
		"QueueNoLonger": {policied(queue, "Queues", statement("Allow", rule1)), properties(queue, ""),
			"stops-policy:R", "sqs:SendMessage"},
		"Boundary": {properties(role, ""), properties(role, `"PermissionsBoundary": "b"`), "stops-boundary:R",
			"becomes b"},
		"MappingDisabled": {properties(mapping, ""), properties(mapping, `"Enabled": false`), "stops-mapping:R",
			"becomes false"},
		"MappingGone": {properties(mapping, ""), empty, "drop:R", "no longer in the template"},
		"MappingFiltered": {properties(mapping, ""), filter(`{"Pattern": "{\"a\": [\"never\"]}"}`),
			"stops-mapping:R", "begins to take only"},
		"MappingFilteredOut": {filter(`{"Pattern": "a"}`), filter(`{"Pattern": "b"}`), "stops-mapping:R", "loses"},
		"ScheduleDisabled": {properties(sched, `"State": "ENABLED"`), properties(sched, `"State": "DISABLED"`),
			"stops-schedule:R", "becomes DISABLED"},
		"ScheduleGone": {properties(sched, ""), empty, "drop:R", "no longer in the template"},
		"ScheduleEnds": {properties(sched, ""), properties(sched, `"EndDate": "2026-01-01T00:00:00Z"`),
			"stops-schedule:R", "becomes 2026"},
		"ScheduleElsewhere": {properties(sched, `"Target": {"Arn": "a"}`), properties(sched, `"Target": {"Arn": "b"}`),
			"stops-schedule:R", "from a to b"},
		"RuleDisabled": {properties(rule, ""), properties(rule, `"State": "DISABLED"`), "stops-schedule:R",
			"becomes DISABLED"},
		"RuleTargetGone": {properties(rule, `"Targets": [{"Id": "a", "Arn": "f"}, {"Id": "b", "Arn": "g"}]`),
			properties(rule, `"Targets": [{"Id": "b", "Arn": "g"}]`), "stops-schedule:R", "from f to none"},
		"Destination": {properties(mapping, onFailure), properties(mapping, ""), "stops-failures:R",
			"goes; it was q"},
		"Retries": {properties(mapping, `"MaximumRetryAttempts": -1`),
			properties(mapping, `"MaximumRetryAttempts": 0`), "stops-failures:R", "from -1 to 0"},
		"RecordAge": {properties(mapping, `"MaximumRecordAgeInSeconds": 82800`),
			properties(mapping, `"MaximumRecordAgeInSeconds": 60`), "stops-failures:R", "from 82800 to 60"},
		"ItemFailures": {properties(mapping, `"FunctionResponseTypes": ["ReportBatchItemFailures"]`),
			properties(mapping, ""), "stops-failures:R", "loses ReportBatchItemFailures"},
		"InvokeDestination": {properties(invoke, onFailure), properties(invoke, ""), "stops-failures:R",
			"goes; it was q"},
		"InvokeConfigGone": {properties(invoke, onFailure), empty, "drop:R", "asynchronous invocations"},
		"ScheduleDeadLetter": {properties(sched, `"Target": {"DeadLetterConfig": {"Arn": "q"}}`),
			properties(sched, `"Target": {}`), "stops-failures:R", "goes; it was q"},
		"Redrive": {properties(queue, `"RedrivePolicy": {"maxReceiveCount": 5}`), properties(queue, ""),
			"stops-failures:R", "goes"},
		"RedriveSooner": {properties(queue, `"RedrivePolicy": {"maxReceiveCount": 5}`),
			properties(queue, `"RedrivePolicy": {"maxReceiveCount": 1}`), "stops-failures:R", "from 5 to 1"},
		"QueueRetention": {properties(queue, `"MessageRetentionPeriod": 1209600`), properties(queue, ""),
			"stops-failures:R", "from 1209600 to 345600"},
		"Visibility": {consumed(180, 30), consumed(60, 30), "stops-visibility:R",
			"hidden for 60 seconds, and the function may take 30"},
		"VisibilityTimeout": {consumed(180, 30), consumed(180, 60), "stops-visibility:R", "may take 60"},
		"Trigger": {properties(pool, `"LambdaConfig": {"PostConfirmation": "f", "PreSignUp": "g"}`),
			properties(pool, `"LambdaConfig": {"PreSignUp": "g"}`), "stops-trigger:R", "LambdaConfig.PostConfirmation"},
		"AlarmGone": {properties(alarm, `"MetricName": "Errors"`), empty, "drop:R", "no longer in the template"},
		"AlarmSilent": {properties(alarm, `"AlarmActions": ["t"]`), properties(alarm, ""), "stops-notice:R",
			"loses t"},
		"Variable": {variable(`{"Ref": "A"}`), variable(`{"Ref": "B"}`), "stops-variable:R",
			"names B, and named A"},
		"VariableByName": {variable(`"items"`), variable(`"other"`), "stops-variable:R",
			"names other, and named items"},
		"SecretVariable": {variable(`{"Ref": "S"}`), variable(`"arn"`), "stops-variable:R", "names arn, and named S"},
		"VariableGone":   {variable(`{"Ref": "A"}`), variable(`null`), "stops-variable:R", "names nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployed, proposed := parse(t, test.deployed), parse(t, test.proposed)
			found := false
			for _, f := range check.Compare(deployed, proposed, here) {
				if f.ID != test.id {
					if strings.HasPrefix(f.ID, "opens-") || strings.HasPrefix(f.ID, "stops-") {
						// A change may do both.
						continue
					}
					if f.Severity == check.Refusal && !strings.HasPrefix(f.ID, "grants:") &&
						!strings.HasPrefix(f.ID, "permissions:") {
						t.Errorf("refused, too: %+v", f)
					}
					continue
				}
				found = true
				if f.Severity != check.Warning || !strings.Contains(f.Got, test.says) || f.Why == "" || f.By == "" ||
					len(f.Steps) == 0 {
					t.Errorf("got %+v, want %q", f, test.says)
				}
			}
			if !found {
				t.Errorf("no %s: got %+v", test.id, check.Compare(deployed, proposed, here))
			}
			for _, f := range check.Compare(proposed, deployed, here) {
				if f.ID == test.id && !slices.Contains(
					[]string{"MappingFilteredOut", "ScheduleElsewhere", "Variable", "VariableByName", "SecretVariable",
						"TrustOther", "BucketEveryone"}, name) {
					t.Errorf("the reverse: got %+v", f)
				}
			}
			for _, template := range []*check.Template{deployed, proposed} {
				if got := check.Compare(template, template, here); len(got) != 0 {
					t.Errorf("a template and itself: got %+v", got)
				}
			}
		})
	}
}

// TestNeitherOpensNorStops: what is as wide as before, what is narrower, and what belongs to what is new.
func TestNeitherOpensNorStops(t *testing.T) {
	t.Parallel()
	const (
		role  = "AWS::IAM::Role"
		alarm = "AWS::CloudWatch::Alarm"
	)
	allowed := func(resource string) string {
		return properties(role,
			`"Policies": [{"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": `+
				resource+`}]}}]`)
	}
	const objects = `{"Fn::Join": ["", [{"Fn::GetAtt": ["B", "Arn"]}, "/*"]]}`
	filter := func(patterns string) string {
		return properties("AWS::Lambda::EventSourceMapping", `"FilterCriteria": {"Filters": [`+patterns+`]}`)
	}
	for name, test := range map[string]struct{ deployed, proposed string }{
		"NewBucketsObjects": {allowed(`"x"`), beside(allowed(`["x", `+objects+`]`),
			`"B": {"Type": "AWS::S3::Bucket"}`)},
		"Regrouped": {allowed(objects), strings.Replace(allowed(objects), `["s3:GetObject", "s3:PutObject"]`,
			`["s3:PutObject", "s3:GetObject"]`, 1)},
		"NewRole":     {`{"Resources": {}}`, allowed(objects)},
		"MoreFilters": {filter(`{"Pattern": "a"}`), filter(`{"Pattern": "a"}, {"Pattern": "b"}`)},
		"NoFilters":   {filter(`{"Pattern": "a"}`), filter("")},
		"AlarmMoved": {properties(alarm, `"MetricName": "Errors"`),
			strings.Replace(properties(alarm, `"MetricName": "Errors"`), `"R"`, `"New"`, 1)},
		"LongerPasswords": {properties(pool, ""),
			properties(pool, `"Policies": {"PasswordPolicy": {"MinimumLength": 12}}`)},
		"ByParameter": {properties("AWS::SQS::Queue", `"MessageRetentionPeriod": 1209600`),
			properties("AWS::SQS::Queue", `"MessageRetentionPeriod": {"Ref": "P"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range check.Compare(parse(t, test.deployed), parse(t, test.proposed), here) {
				if f.Severity == check.Warning {
					t.Errorf("got %+v", f)
				}
			}
		})
	}
}

// TestProjection: partitions that queries no longer compute.
func TestProjection(t *testing.T) {
	t.Parallel()
	table := func(parameters string) string {
		return properties("AWS::Glue::Table", `"TableInput": {"Name": "t", "Parameters": {`+parameters+`}}`)
	}
	days := func(enabled, days string) string {
		return table(fmt.Sprintf(`"projection.enabled": %q, "projection.day.type": "date", "projection.day.range": %q`,
			enabled, days))
	}
	for name, test := range map[string]struct {
		deployed, proposed string
		severity           check.Severity
		says               string
	}{
		"Off": {days("true", "2026-01-01,NOW"), days("false", "2026-01-01,NOW"), check.Refusal,
			"projection.enabled changes from true to false"},
		"Gone": {days("true", "2026-01-01,NOW"), table(""), check.Refusal,
			"projection.day.range changes from 2026-01-01,NOW to none"},
		"Later": {days("true", "2026-01-01,NOW"), days("true", "2026-06-01,NOW"), check.Refusal,
			"to 2026-06-01,NOW"},
		"EndsEarly": {days("true", "2026-01-01,NOW+1DAY"), days("true", "2026-01-01,2026-02-01"), check.Refusal,
			"to 2026-01-01,2026-02-01"},
		"Earlier":    {days("true", "2026-01-01,NOW"), days("true", "2025-06-01,NOW"), "", ""},
		"Numbers":    {days("true", "9,20"), days("true", "10,30"), check.Refusal, "to 10,30"},
		"WideNumber": {days("true", "9,20"), days("true", "8,100"), "", ""},
		"Relative":   {days("true", "NOW-3YEARS,NOW"), days("true", "NOW-1YEARS,NOW"), check.Refusal, "NOW-1YEARS"},
		"Values": {table(`"projection.enabled": "true", "projection.a.values": "x,y"`),
			table(`"projection.enabled": "true", "projection.a.values": "x,z"`), check.Refusal, "from x,y to x,z"},
		"MoreValues": {table(`"projection.enabled": "true", "projection.a.values": "x,y"`),
			table(`"projection.enabled": "true", "projection.a.values": "x, y, z"`), "", ""},
		"Format": {table(`"projection.enabled": "true", "projection.a.format": "yyyy"`),
			table(`"projection.enabled": "true", "projection.a.format": "yyyy-MM"`), check.Refusal, "format"},
		"Unused": {days("false", "2026-01-01,NOW"), days("false", "2026-06-01,NOW"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantOne(t, check.Compare(parse(t, test.deployed), parse(t, test.proposed), here), "projection:R",
				test.severity, test.says)
		})
	}
}
