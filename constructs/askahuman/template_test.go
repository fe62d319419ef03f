package askahuman_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

// ofType returns the resources of a type by logical id.
func (t template) ofType(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// one returns the only resource of a type whose logical id begins so.
func (t template) one(tb testing.TB, kind, prefix string) (string, resource) {
	tb.Helper()
	var ids []string
	for id := range t.ofType(kind) {
		if strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	if len(ids) != 1 {
		tb.Fatalf("resources %s of type %s: got %v, want one", prefix, kind, ids)
	}
	return ids[0], t.Resources[ids[0]]
}

// at returns the value that a path of keys and list positions leads to.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// list returns a policy's element, which may be one value or a list.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// text writes a value of a template on one line: "GetAtt Table.Arn" for
// {"Fn::GetAtt": ["Table", "Arn"]}, its parts for an Fn::Join.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if ref, ok := v["Ref"].(string); ok {
			return ref
		}
		if a, ok := v["Fn::GetAtt"].([]any); ok {
			return fmt.Sprintf("%s.%s", a[0], a[1])
		}
		if j, ok := v["Fn::Join"].([]any); ok {
			var parts []string
			for _, p := range j[1].([]any) {
				parts = append(parts, text(p))
			}
			return strings.Join(parts, j[0].(string))
		}
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func eachVariant(t *testing.T, check func(t *testing.T, name string, tmpl template)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, name, templates[name])
		})
	}
}

// keysOf writes a key schema as "name:S name:N", partition key first.
func keysOf(schema any, types map[string]string) string {
	var parts []string
	for i, k := range list(schema) {
		name := at(k, "AttributeName").(string)
		if want := []string{"HASH", "RANGE"}[i]; at(k, "KeyType") != want {
			name += "(" + fmt.Sprint(at(k, "KeyType")) + ")"
		}
		parts = append(parts, name+":"+types[name])
	}
	return strings.Join(parts, " ")
}

// The keys and indexes of the seed (ADR-02), and below them what its
// requirements force in addition. They are written out here, so that a change of
// package schema shows.
func TestTables(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{
		"Questions": {
			"key": "question_id:S", "ttl": "expires_at",
			"ByStatus": "status:S created_at:S ALL", "ByAgentId": "agent_id:S created_at:S ALL",
			"ByDue": "due:S due_at:S KEYS_ONLY",
		},
		"Responses": {
			"key": "question_id:S response_id:S", "ttl": "expires_at",
			"ByFingerprint": "fingerprint_hash:S created_at:S INCLUDE content_digest,content_length",
		},
		"Subscriptions": {
			"key":                "subscription_id:S",
			"ByLastNotified":     "active:S last_notified_at:S ALL",
			"ByNextNotification": "active:S next_notification_at:S INCLUDE fcm_token,fingerprint_hash,last_notified_at,min_interval_minutes",
		},
		"UserStats": {
			"key":            "fingerprint_hash:S",
			"ByTotalPoints":  "_leaderboard:S total_points:N INCLUDE total_answers",
			"ByDailyPoints":  "daily_board:S daily_points:N INCLUDE daily_answers",
			"ByWeeklyPoints": "weekly_board:S weekly_points:N INCLUDE weekly_answers",
		},
		"Guards": {"key": "guard_key:S", "ttl": "expires_at"},
	}
	eachVariant(t, func(t *testing.T, _ string, tmpl template) {
		got := map[string]map[string]string{}
		for id, r := range tmpl.ofType("AWS::DynamoDB::GlobalTable") {
			types := map[string]string{}
			for _, d := range list(r.Properties["AttributeDefinitions"]) {
				types[at(d, "AttributeName").(string)] = at(d, "AttributeType").(string)
			}
			one := map[string]string{"key": keysOf(r.Properties["KeySchema"], types)}
			if ttl, ok := at(r.Properties, "TimeToLiveSpecification", "AttributeName").(string); ok {
				one["ttl"] = ttl
				if at(r.Properties, "TimeToLiveSpecification", "Enabled") != true {
					t.Errorf("%s: TTL is not enabled", id)
				}
			}
			for _, index := range list(r.Properties["GlobalSecondaryIndexes"]) {
				line := keysOf(at(index, "KeySchema"), types) + " " + at(index, "Projection", "ProjectionType").(string)
				if included := list(at(index, "Projection", "NonKeyAttributes")); len(included) > 0 {
					var names []string
					for _, n := range included {
						names = append(names, n.(string))
					}
					line += " " + strings.Join(slices.Sorted(slices.Values(names)), ",")
				}
				one[at(index, "IndexName").(string)] = line
			}
			// The logical id ends with eight digits that the CDK adds.
			got[strings.TrimPrefix(id[:len(id)-8], "AskAHumanDatabase")] = one
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tables (-want +got):\n%s", diff)
		}
	})
}

func TestTableSafety(t *testing.T) {
	t.Parallel()
	removed := map[string]bool{"dev": true}
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		names := map[string]bool{}
		for id, r := range tmpl.ofType("AWS::DynamoDB::GlobalTable") {
			policy := "Retain"
			if removed[name] {
				policy = "Delete"
			}
			checks := map[string][2]any{
				"deletion policy":     {r.DeletionPolicy, policy},
				"replacement policy":  {r.UpdateReplacePolicy, policy},
				"billing":             {r.Properties["BillingMode"], "PAY_PER_REQUEST"},
				"encryption":          {at(r.Properties, "SSESpecification"), map[string]any{"SSEEnabled": true, "SSEType": "KMS"}},
				"replicas":            {len(list(r.Properties["Replicas"])), 1},
				"recovery":            {at(r.Properties, "Replicas", 0, "PointInTimeRecoverySpecification"), map[string]any{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 35.0}},
				"deletion protection": {at(r.Properties, "Replicas", 0, "DeletionProtectionEnabled"), name == "prod"},
			}
			for what, pair := range checks {
				if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", id, what, diff)
				}
			}
			if physical, ok := r.Properties["TableName"].(string); ok {
				names[physical] = true
			}
		}
		want := map[string]bool{}
		if name == "prod" {
			want = map[string]bool{"aah-questions": true, "aah-responses": true, "aah-subscriptions": true, "aah-user-stats": true, "aah-guards": true}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("physical names (-want +got):\n%s", diff)
		}
	})
}

// statement is one statement of a policy, of whatever resource.
type statement struct {
	Owner, Effect      string
	Actions, Resources []string
}

func (t template) statements() []statement {
	var all []statement
	for id, r := range t.Resources {
		for _, document := range []any{r.Properties["PolicyDocument"], r.Properties["AssumeRolePolicyDocument"]} {
			for _, s := range list(at(document, "Statement")) {
				one := statement{Owner: id, Effect: at(s, "Effect").(string)}
				for _, a := range list(at(s, "Action")) {
					one.Actions = append(one.Actions, text(a))
				}
				for _, a := range list(at(s, "Resource")) {
					one.Resources = append(one.Resources, text(a))
				}
				all = append(all, one)
			}
		}
		for _, p := range list(r.Properties["Policies"]) {
			all = append(all, statement{Owner: id, Effect: "Allow", Actions: []string{"inline policy *"}, Resources: []string{text(p)}})
		}
	}
	return all
}

func TestNoWildcards(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		seen := 0
		for _, s := range tmpl.statements() {
			seen++
			// X-Ray's actions take no resource: Props.Tracing says so.
			if name == "issuer" && slices.Equal(s.Actions, []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}) {
				continue
			}
			if s.Effect != "Allow" {
				continue
			}
			for _, v := range append(s.Actions, s.Resources...) {
				if strings.Contains(v, "*") {
					t.Errorf("%s allows %v on %v: want no wildcard", s.Owner, s.Actions, s.Resources)
				}
			}
		}
		if seen < 10 {
			t.Errorf("statements: got %d, want all of the template", seen)
		}
		for id, r := range tmpl.ofType("AWS::IAM::Role") {
			if managed := r.Properties["ManagedPolicyArns"]; managed != nil {
				t.Errorf("%s has managed policies %v: want none", id, managed)
			}
		}
	})
}

func TestFunctionGrants(t *testing.T) {
	t.Parallel()
	platform := schema.AskAHuman()
	roles := map[string]string{"agentapi": "AskAHumanAgentAPIRole", "humanapi": "AskAHumanHumanAPIRole", "notifier": "AskAHumanNotifierRole"}
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		tables := map[string]string{}
		for _, table := range platform.Database.Tables {
			tables[table.Name], _ = tmpl.one(t, "AWS::DynamoDB::GlobalTable", "AskAHumanDatabase"+table.Name)
		}
		fingerprints, _ := tmpl.one(t, "AWS::SecretsManager::Secret", "AskAHumanFingerprintSecret")
		credentials, _ := tmpl.one(t, "AWS::SecretsManager::Secret", "AskAHumanFCMCredentials")
		queue, _ := tmpl.one(t, "AWS::SQS::Queue", "AskAHumanDeadLetters")
		extra := map[string][]string{
			"agentapi": nil,
			"humanapi": {"secretsmanager:GetSecretValue " + fingerprints},
			"notifier": {"secretsmanager:GetSecretValue " + credentials, "sqs:SendMessage " + queue + ".Arn"},
		}
		for function, role := range roles {
			logs, _ := tmpl.one(t, "AWS::Logs::LogGroup", strings.TrimSuffix(role, "Role")+"Logs")
			want := append([]string{"logs:CreateLogStream " + logs + ".Arn", "logs:PutLogEvents " + logs + ".Arn"}, extra[function]...)
			if name == "issuer" {
				want = append(want, "xray:PutTelemetryRecords *", "xray:PutTraceSegments *")
			}
			declared, ok := platform.Function(function)
			if !ok || len(platform.Grants(declared)) == 0 {
				t.Fatalf("schema: function %s has no grants", function)
			}
			for _, g := range platform.Grants(declared) {
				line := "dynamodb:" + string(g.Operation) + " " + tables[g.Table] + ".Arn"
				if g.Index != "" {
					line += "/index/" + g.Index
				}
				want = append(want, line)
			}
			var got []string
			_, policy := tmpl.one(t, "AWS::IAM::Policy", role)
			for _, s := range list(at(policy.Properties, "PolicyDocument", "Statement")) {
				for _, a := range list(at(s, "Action")) {
					for _, r := range list(at(s, "Resource")) {
						got = append(got, text(a)+" "+text(r))
					}
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", function, diff)
			}
		}
	})
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	common := []string{"GUARDS_TABLE", "LOG_LEVEL", "QUESTIONS_TABLE", "RESPONSES_TABLE", "SHARDS", "SUBSCRIPTIONS_TABLE", "USER_STATS_TABLE"}
	variables := map[string][]string{
		"AgentAPI": append([]string{"OPEN_AGENTS"}, common...),
		"HumanAPI": append([]string{"FINGERPRINT_SECRET_ARN"}, common...),
		"Notifier": append([]string{"FCM_CREDENTIALS_SECRET_ARN", "FCM_ENDPOINT", "LINK_BASE"}, common...),
	}
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		for id, names := range variables {
			_, f := tmpl.one(t, "AWS::Lambda::Function", "AskAHuman"+id)
			architecture, level := "arm64", "INFO"
			if name == "x86" {
				architecture = "x86_64"
			}
			if name == "issuer" {
				level = "DEBUG"
			}
			logs, _ := tmpl.one(t, "AWS::Logs::LogGroup", "AskAHuman"+id+"Logs")
			checks := map[string][2]any{
				"architecture": {f.Properties["Architectures"], []any{architecture}},
				"runtime":      {f.Properties["Runtime"], "provided.al2023"},
				"handler":      {f.Properties["Handler"], "bootstrap"},
				"memory":       {f.Properties["MemorySize"], 256.0},
				"recursion":    {f.Properties["RecursiveLoop"], "Terminate"},
				"network":      {f.Properties["VpcConfig"], nil},
				"logging":      {f.Properties["LoggingConfig"], map[string]any{"LogFormat": "JSON", "ApplicationLogLevel": level, "LogGroup": map[string]any{"Ref": logs}}},
			}
			if name == "issuer" {
				checks["tracing"] = [2]any{f.Properties["TracingConfig"], map[string]any{"Mode": "Active"}}
			} else {
				checks["tracing"] = [2]any{f.Properties["TracingConfig"], nil}
			}
			environment := at(f.Properties, "Environment", "Variables").(map[string]any)
			sorted := slices.Sorted(slices.Values(names))
			checks["variables"] = [2]any{slices.Sorted(maps.Keys(environment)), sorted}
			if id == "AgentAPI" {
				checks["open agents"] = [2]any{environment["OPEN_AGENTS"], fmt.Sprint(name == "dev" || name == "x86")}
			}
			checks["shards"] = [2]any{environment["SHARDS"], map[bool]string{true: "4", false: "1"}[name == "issuer"]}
			for what, pair := range checks {
				if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", id, what, diff)
				}
			}
		}
		if n := len(tmpl.ofType("AWS::Lambda::Function")); n != len(variables) {
			t.Errorf("functions: got %d, want %d and none of the CDK's own", n, len(variables))
		}
		for id, r := range tmpl.ofType("AWS::Logs::LogGroup") {
			want := 30.0
			if name == "issuer" {
				want = 365
			}
			if got := r.Properties["RetentionInDays"]; got != want {
				t.Errorf("%s: retention: got %v days, want %v", id, got, want)
			}
		}
	})
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		if n := len(tmpl.ofType("AWS::SecretsManager::Secret")); n != 2 {
			t.Errorf("secrets: got %d, want 2", n)
		}
		for id, r := range tmpl.ofType("AWS::SecretsManager::Secret") {
			if r.Properties["SecretString"] != nil {
				t.Errorf("%s: the template has the secret's value", id)
			}
			if want := map[bool]string{true: "Delete", false: "Retain"}[name == "dev"]; r.DeletionPolicy != want {
				t.Errorf("%s: deletion policy: got %s, want %s", id, r.DeletionPolicy, want)
			}
		}
		// These would put a secret's value, not its name, into a resource.
		for _, reference := range []string{"{{resolve:", "ClientSecret"} {
			if strings.Contains(tmpl.text, reference) {
				t.Errorf("the template has %q", reference)
			}
		}
		id, f := tmpl.one(t, "AWS::Lambda::Function", "AskAHumanNotifier")
		if got := text(at(f.Properties, "Environment", "Variables", "FCM_CREDENTIALS_SECRET_ARN")); !strings.HasPrefix(got, "AskAHumanFCMCredentials") {
			t.Errorf("%s: credentials: got %q, want the secret's ARN", id, got)
		}
	})
}

// The operations of the wire contract, and the function that serves each.
var operations = map[string]string{
	"POST /agent/questions":                          "AskAHumanAgentAPI",
	"GET /agent/questions":                           "AskAHumanAgentAPI",
	"GET /agent/questions/{question_id}":             "AskAHumanAgentAPI",
	"DELETE /agent/questions/{question_id}":          "AskAHumanAgentAPI",
	"GET /human/questions":                           "AskAHumanHumanAPI",
	"GET /human/questions/{question_id}":             "AskAHumanHumanAPI",
	"POST /human/responses":                          "AskAHumanHumanAPI",
	"POST /human/push/subscribe":                     "AskAHumanHumanAPI",
	"PUT /human/push/subscribe/{subscription_id}":    "AskAHumanHumanAPI",
	"DELETE /human/push/subscribe/{subscription_id}": "AskAHumanHumanAPI",
	"GET /human/stats":                               "AskAHumanHumanAPI",
	"GET /human/leaderboard":                         "AskAHumanHumanAPI",
	"GET /openapi.json":                              "AskAHumanAgentAPI",
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		closed := name != "dev" && name != "x86"
		got := map[string]string{}
		for id, r := range tmpl.ofType("AWS::ApiGatewayV2::Route") {
			key := r.Properties["RouteKey"].(string)
			integration := tmpl.Resources[strings.TrimPrefix(text(r.Properties["Target"]), "integrations/")]
			function := text(integration.Properties["IntegrationUri"])
			got[key] = function[:len(function)-len("01234567.Arn")]
			if v := integration.Properties["PayloadFormatVersion"]; v != "2.0" {
				t.Errorf("%s: payload: got %v, want 2.0", id, v)
			}
			want := "NONE"
			if closed && strings.Contains(key, " /agent/") {
				want = "JWT"
			}
			if v := r.Properties["AuthorizationType"]; v != want {
				t.Errorf("%s: authorization: got %v, want %s", key, v, want)
			}
			if (want == "JWT") != (r.Properties["AuthorizerId"] != nil) {
				t.Errorf("%s: authorizer: got %v with authorization %s", key, r.Properties["AuthorizerId"], want)
			}
		}
		if diff := cmp.Diff(operations, got); diff != "" {
			t.Errorf("routes (-want +got):\n%s", diff)
		}
		if n := len(tmpl.ofType("AWS::ApiGatewayV2::Integration")); n != 2 {
			t.Errorf("integrations: got %d, want one per function that serves routes", n)
		}
		for id, r := range tmpl.ofType("AWS::Lambda::Permission") {
			arn := text(r.Properties["SourceArn"])
			if _, path, _ := strings.Cut(arn, "/*/*"); !slices.ContainsFunc(slices.Collect(maps.Keys(operations)), func(k string) bool {
				return strings.HasSuffix(k, " "+path)
			}) {
				t.Errorf("%s: got permission for %s, want that of a route's path", id, arn)
			}
		}
	})
}

func TestAuthorizer(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		authorizers, pools := tmpl.ofType("AWS::ApiGatewayV2::Authorizer"), tmpl.ofType("AWS::Cognito::UserPool")
		switch name {
		case "dev", "x86":
			if len(authorizers) != 0 || len(pools) != 0 {
				t.Errorf("open agents: got %d authorizers and %d pools, want none", len(authorizers), len(pools))
			}
		case "issuer":
			_, a := tmpl.one(t, "AWS::ApiGatewayV2::Authorizer", "")
			want := map[string]any{"Issuer": "https://issuer.example.com", "Audience": []any{"asks"}}
			if diff := cmp.Diff(want, a.Properties["JwtConfiguration"]); diff != "" || len(pools) != 0 {
				t.Errorf("given issuer: %d pools, (-want +got):\n%s", len(pools), diff)
			}
		default:
			_, a := tmpl.one(t, "AWS::ApiGatewayV2::Authorizer", "")
			pool, _ := tmpl.one(t, "AWS::Cognito::UserPool", "AskAHumanAgents")
			client, c := tmpl.one(t, "AWS::Cognito::UserPoolClient", "AskAHumanAgents")
			if got, want := text(at(a.Properties, "JwtConfiguration", "Issuer")), "https://cognito-idp.AWS::Region.AWS::URLSuffix/"+pool; got != want {
				t.Errorf("issuer: got %s, want %s", got, want)
			}
			if got := text(at(a.Properties, "JwtConfiguration", "Audience", 0)); got != client {
				t.Errorf("audience: got %s, want %s", got, client)
			}
			if diff := cmp.Diff([]any{"client_credentials"}, c.Properties["AllowedOAuthFlows"]); diff != "" {
				t.Errorf("flows (-want +got):\n%s", diff)
			}
			if at(tmpl.Resources[pool].Properties, "AdminCreateUserConfig", "AllowAdminCreateUserOnly") != true {
				t.Error("anyone can sign up")
			}
		}
	})
}

func TestAPI(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		_, api := tmpl.one(t, "AWS::ApiGatewayV2::Api", "")
		origins, rate, burst := "*", 1000.0, 2000.0
		if name == "issuer" {
			origins, rate, burst = "https://example.com", 10, 20
		}
		cors := map[string]any{
			"AllowOrigins":  []any{origins},
			"AllowMethods":  []any{"DELETE", "GET", "OPTIONS", "POST", "PUT"},
			"AllowHeaders":  []any{"Authorization", "Content-Type", "X-Agent-Id", "X-Fingerprint", "X-Idempotency-Key", "X-Timezone"},
			"ExposeHeaders": []any{"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
			"MaxAge":        3600.0,
		}
		if diff := cmp.Diff(cors, api.Properties["CorsConfiguration"]); diff != "" {
			t.Errorf("CORS (-want +got):\n%s", diff)
		}
		_, stage := tmpl.one(t, "AWS::ApiGatewayV2::Stage", "")
		logs, _ := tmpl.one(t, "AWS::Logs::LogGroup", "AskAHumanAPIAccessLogs")
		subscribe := map[string]any{"ThrottlingRateLimit": 100.0, "ThrottlingBurstLimit": 200.0}
		checks := map[string][2]any{
			"name":       {stage.Properties["StageName"], "$default"},
			"deployment": {stage.Properties["AutoDeploy"], true},
			"throttle":   {stage.Properties["DefaultRouteSettings"], map[string]any{"ThrottlingRateLimit": rate, "ThrottlingBurstLimit": burst}},
			"throttles": {stage.Properties["RouteSettings"], map[string]any{
				"POST /human/push/subscribe":                  subscribe,
				"PUT /human/push/subscribe/{subscription_id}": subscribe,
			}},
			"log group": {text(at(stage.Properties, "AccessLogSettings", "DestinationArn")), logs + ".Arn"},
		}
		for what, pair := range checks {
			if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
				t.Errorf("stage: %s (-want +got):\n%s", what, diff)
			}
		}
		var format map[string]string
		if err := json.Unmarshal([]byte(at(stage.Properties, "AccessLogSettings", "Format").(string)), &format); err != nil {
			t.Fatalf("access log format is not JSON: %v", err)
		}
		for field, want := range map[string]string{"requestId": "$context.requestId", "routeKey": "$context.routeKey", "status": "$context.status", "sourceIp": "$context.identity.sourceIp"} {
			if format[field] != want {
				t.Errorf("access log: %s: got %q, want %q", field, format[field], want)
			}
		}
	})
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		_, schedule := tmpl.one(t, "AWS::Scheduler::Schedule", "")
		function, _ := tmpl.one(t, "AWS::Lambda::Function", "AskAHumanNotifier")
		queue, q := tmpl.one(t, "AWS::SQS::Queue", "")
		role, _ := tmpl.one(t, "AWS::IAM::Role", "AskAHumanScheduleRole")
		_, policy := tmpl.one(t, "AWS::IAM::Policy", "AskAHumanScheduleRole")
		_, failures := tmpl.one(t, "AWS::Lambda::EventInvokeConfig", "")
		_, access := tmpl.one(t, "AWS::SQS::QueuePolicy", "")
		expression := "rate(1 minute)"
		if name == "issuer" {
			expression = "rate(5 minutes)"
		}
		var allowed []string
		for _, s := range list(at(policy.Properties, "PolicyDocument", "Statement")) {
			allowed = append(allowed, text(at(s, "Action"))+" "+text(at(s, "Resource")))
		}
		checks := map[string][2]any{
			"expression":   {schedule.Properties["ScheduleExpression"], expression},
			"window":       {schedule.Properties["FlexibleTimeWindow"], map[string]any{"Mode": "OFF"}},
			"state":        {schedule.Properties["State"], "ENABLED"},
			"target":       {text(at(schedule.Properties, "Target", "Arn")), function + ".Arn"},
			"role":         {text(at(schedule.Properties, "Target", "RoleArn")), role + ".Arn"},
			"retries":      {at(schedule.Properties, "Target", "RetryPolicy"), map[string]any{"MaximumEventAgeInSeconds": 300.0, "MaximumRetryAttempts": 3.0}},
			"undelivered":  {text(at(schedule.Properties, "Target", "DeadLetterConfig", "Arn")), queue + ".Arn"},
			"permissions":  {allowed, []string{"lambda:InvokeFunction " + function + ".Arn", "sqs:SendMessage " + queue + ".Arn"}},
			"failed":       {text(at(failures.Properties, "DestinationConfig", "OnFailure", "Destination")), queue + ".Arn"},
			"failed of":    {text(failures.Properties["FunctionName"]), function},
			"encryption":   {q.Properties["SqsManagedSseEnabled"], true},
			"kept":         {q.Properties["MessageRetentionPeriod"], 1209600.0},
			"transport":    {at(access.Properties, "PolicyDocument", "Statement", 0, "Condition"), map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}},
			"transport is": {at(access.Properties, "PolicyDocument", "Statement", 0, "Effect"), "Deny"},
		}
		for what, pair := range checks {
			if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
	})
}

func TestAlarms(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		var got []string
		for _, r := range tmpl.ofType("AWS::CloudWatch::Alarm") {
			got = append(got, fmt.Sprint(r.Properties["Namespace"], " ", r.Properties["MetricName"]))
		}
		var want []string
		if name == "prod" {
			want = []string{"AWS/ApiGateway 5xx", "AWS/Lambda Errors", "AWS/Lambda Errors", "AWS/Lambda Errors", "AWS/SQS ApproximateNumberOfMessagesVisible"}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("alarms (-want +got):\n%s", diff)
		}
	})
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	always := []string{
		"AskAHumanApiUrl", "AskAHumanDeadLetterQueueUrl", "AskAHumanFcmCredentialsSecretArn", "AskAHumanGuardsTableName",
		"AskAHumanQuestionsTableName", "AskAHumanResponsesTableName", "AskAHumanSubscriptionsTableName", "AskAHumanUserStatsTableName",
	}
	tokens := []string{"AskAHumanAgent1ClientId", "AskAHumanTokenEndpoint", "AskAHumanTokenIssuer", "AskAHumanTokenScope"}
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		want := slices.Clone(always)
		if name == "default" || name == "prod" {
			want = append(want, tokens...)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(tmpl.Outputs))); diff != "" {
			t.Errorf("outputs (-want +got):\n%s", diff)
		}
	})
}

func TestLocalPort(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, name string, tmpl template) {
		want := map[bool]float64{true: 9000, false: 8080}[name == "issuer"]
		if got := at(tmpl.Metadata, "onesynth", "localPort"); got != want {
			t.Errorf("local port: got %v, want %v", got, want)
		}
	})
}

// A logical id that changes replaces the resource, and a table's data with it.
func TestLogicalIDs(t *testing.T) {
	t.Parallel()
	var lines []string
	for id, r := range templates["prod"].Resources {
		lines = append(lines, r.Type+" "+id)
	}
	got := strings.Join(slices.Sorted(slices.Values(lines)), "\n") + "\n"
	file := filepath.Join("testdata", "logical-ids.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("logical ids (-want +got); if the change is meant, run the test with -update:\n%s", diff)
	}
}

// A stack may have several platforms: nothing of theirs has one name.
func TestSeveral(t *testing.T) {
	t.Parallel()
	domains, urls := map[string]bool{}, map[string]bool{}
	for _, r := range several.ofType("AWS::Cognito::UserPoolDomain") {
		domains[text(r.Properties["Domain"])] = true
	}
	for name, o := range several.Outputs {
		if strings.Contains(name, "ApiUrl") {
			urls[text(o.Value)] = true
		}
	}
	if len(domains) != 3 || len(urls) != 3 {
		t.Errorf("got domains %v and outputs of URLs %v, want three of each", domains, urls)
	}
	var allowed []string
	_, policy := several.one(t, "AWS::IAM::Policy", "Operator")
	for _, s := range list(at(policy.Properties, "PolicyDocument", "Statement")) {
		resource := text(at(s, "Resource"))
		allowed = append(allowed, text(at(s, "Action"))+" "+resource[strings.LastIndex(resource, ".Arn"):])
	}
	want := []string{"dynamodb:GetItem .Arn", "dynamodb:Query .Arn/index/ByStatus", "lambda:InvokeFunction .Arn"}
	if diff := cmp.Diff(want, allowed); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}
