package askahuman_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// expected is what every template has to be. Tables are those of the seed
// (ADR-02), with what its requirements force in addition.
func expected() synthtest.Platform {
	tables := []string{"GUARDS_TABLE", "LOG_LEVEL", "QUESTIONS_TABLE", "READ_SHARDS", "RESPONSES_TABLE", "SHARDS", "SUBSCRIPTIONS_TABLE", "USER_STATS_TABLE"}
	subscribe := map[string]any{"ThrottlingRateLimit": 100.0, "ThrottlingBurstLimit": 200.0}
	return synthtest.Platform{
		Schema: schema.AskAHuman(),
		ID:     "AskAHuman",
		Golden: []string{"prod", "flags"},
		Variants: map[string]synthtest.Variant{
			"default": {Template: templates["default"]},
			"flags":   {Template: templates["flags"]},
			"dev":     {Template: templates["dev"], Open: true, RemoveWithStack: true, NoAlarms: true, NoDashboard: true},
			"prod":    {Template: templates["prod"], Prefix: "aah", DeletionProtection: true},
			"x86":     {Template: templates["x86"], Open: true, Architecture: "x86_64", AlarmEmail: "ops@example.com"},
			"own": {
				Template: templates["own"], AlarmTopic: "Alerts",
				Memory: map[string]float64{"HumanAPI": 1769}, Concurrency: map[string]float64{"HumanAPI": 50, "Notifier": 1},
				Domain: "api.example.com", Certificate: "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-1111-2222-3333-444455556666", MoreOutputs: []string{"Agent2ClientId", "ApiDomainHostedZoneId", "ApiDomainTarget"},
				RouteThrottles: map[string]any{"POST /human/push/subscribe": subscribe, "PUT /human/push/subscribe": subscribe, "PUT /human/push/subscribe/{subscription_id}": map[string]any{"ThrottlingRateLimit": 5.0, "ThrottlingBurstLimit": 7.0}},
			},
			"issuer": {
				AlarmTopicARN: "arn:aws:sns:eu-west-1:123456789012:alerts", Runbook: "https://wiki.example.com/alarms", MetricNamespace: "Acme",
				Template: templates["issuer"], Issuer: "https://issuer.example.com", Audience: []any{"asks"}, Tracing: true, LocalPort: 9000, LogLevel: "DEBUG", LogDays: 365,
				Origin: "https://example.com", Rate: 10, Burst: 20,
				// Lower than what is the most by default where people subscribe.
				RouteThrottles: map[string]any{
					"POST /human/push/subscribe":                  map[string]any{"ThrottlingRateLimit": 10.0, "ThrottlingBurstLimit": 20.0},
					"PUT /human/push/subscribe":                   map[string]any{"ThrottlingRateLimit": 10.0, "ThrottlingBurstLimit": 20.0},
					"PUT /human/push/subscribe/{subscription_id}": map[string]any{"ThrottlingRateLimit": 10.0, "ThrottlingBurstLimit": 20.0},
				},
			},
			"company": {Template: templates["company"], Key: true, AlarmTopic: "Alerts", Subnets: []any{"subnet-1", "subnet-2"}},
		},
		Tables: map[string]map[string]string{
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
		},
		Functions: map[string]synthtest.Function{
			"AgentAPI": {Name: "agentapi", Keys: []string{"table"}, Variables: append([]string{"OPEN_AGENTS", "RULES"}, tables...)},
			"HumanAPI": {
				Name: "humanapi", Variables: append([]string{"FINGERPRINT_SECRET_ARN", "RULES"}, tables...),
				Allowed: []string{"secretsmanager:GetSecretValue AskAHumanFingerprintSecret"},
				Keys:    []string{"table", "secretsmanager"},
			},
			"Notifier": {
				Name: "notifier", Timeout: 55, Variables: append([]string{"FCM_CREDENTIALS_SECRET_ARN", "FCM_ENDPOINT", "QUESTION_URL"}, tables...),
				Allowed: []string{"secretsmanager:GetSecretValue AskAHumanFCMCredentials", "sqs:SendMessage AskAHumanScheduleDeadLetters.Arn"},
				Keys:    []string{"table", "secretsmanager", "sqs"},
			},
		},
		Operations: map[string]string{
			"POST /agent/questions":                          "AgentAPI",
			"GET /agent/questions":                           "AgentAPI",
			"GET /agent/questions/{question_id}":             "AgentAPI",
			"DELETE /agent/questions/{question_id}":          "AgentAPI",
			"GET /human/questions":                           "HumanAPI",
			"GET /human/questions/{question_id}":             "HumanAPI",
			"POST /human/responses":                          "HumanAPI",
			"POST /human/push/subscribe":                     "HumanAPI",
			"PUT /human/push/subscribe":                      "HumanAPI",
			"PUT /human/push/subscribe/{subscription_id}":    "HumanAPI",
			"DELETE /human/push/subscribe/{subscription_id}": "HumanAPI",
			"GET /human/stats":                               "HumanAPI",
			"GET /human/leaderboard":                         "HumanAPI",
			"GET /openapi.json":                              "AgentAPI",
		},
		Callers:         func(operation string) bool { return strings.Contains(operation, " /agent/") },
		RequestHeaders:  []any{"Authorization", "Content-Type", "X-Agent-Id", "X-Fingerprint", "X-Idempotency-Key", "X-Timezone"},
		ResponseHeaders: []any{"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		RouteThrottles: map[string]any{
			"POST /human/push/subscribe":                  subscribe,
			"PUT /human/push/subscribe":                   subscribe,
			"PUT /human/push/subscribe/{subscription_id}": subscribe,
		},
		Secrets:   2,
		Schedules: map[string]synthtest.Schedule{"Schedule": {Function: "Notifier", Expression: synthtest.ByVariant{"": "rate(1 minute)", "issuer": "rate(10 minutes)"}}},
		Queues:    map[string]bool{"ScheduleDeadLetters": false},
		Alarms: map[string]any{
			"APIAlarm":            "100 * errors / requests of AWS/ApiGateway 5xx, AWS/ApiGateway Count >= 1, 1 x 300",
			"ClientErrorAlarm":    "IF(requests < 100, 0, 100 * refusals / requests) of AWS/ApiGateway 4xx, AWS/ApiGateway Count >= 50, 3 x 300",
			"SlowAlarm":           "AWS/ApiGateway Latency p99 >= 1000, 3 x 300",
			"AgentAPIAlarm":       "AWS/Lambda Errors Sum >= 1, 1 x 300",
			"HumanAPIAlarm":       "AWS/Lambda Errors Sum >= 1, 1 x 300",
			"NotifierAlarm":       "AWS/Lambda Errors Sum >= 1, 1 x 300",
			"ThrottlesAlarm":      "SUM([m0, m1, m2]) of AWS/Lambda Throttles >= 1, 1 x 300",
			"NotifierNotRunAlarm": synthtest.ByVariant{"": "FILL(runs, 0) of AWS/Lambda Invocations < 1, 3 x 300", "issuer": "FILL(runs, 0) of AWS/Lambda Invocations < 1, 3 x 600"},
			"DeadLettersAlarm":    "AWS/SQS ApproximateNumberOfMessagesVisible Maximum >= 1, 1 x 300",
		},
		Outputs: []string{
			"ApiUrl", "DeadLetterQueueUrl", "FcmCredentialsSecretArn", "GuardsTableName",
			"QuestionsTableName", "ResponsesTableName", "SubscriptionsTableName", "UserStatsTableName",
		},
		IssuerOutputs: []string{"Agent1ClientId", "TokenEndpoint", "TokenIssuer", "TokenScope"},
		LocalPort:     8080,
	}
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	synthtest.Check(t, expected())
}

// With agent keys there is one table more, which agentapi reads and marks; no one needs
// a token, so that published clients get as far as the function.
func TestTemplateWithAgentKeys(t *testing.T) {
	t.Parallel()
	keyed := expected()
	keyed.Schema = schema.AskAHumanWithAgentKeys()
	keyed.Golden = nil // TestLogicalIDsWithAgentKeys has them
	keyed.Variants = map[string]synthtest.Variant{"keys": {Template: templates["keys"], Open: true, Prefix: "aah", DeletionProtection: true}}
	keyed.Tables["AgentKeys"] = map[string]string{"key": "key_hash:S", "ByAgent": "listed:S agent_id:S ALL"}
	for id, f := range keyed.Functions {
		f.Variables = append(f.Variables, "AGENT_KEYS_TABLE")
		keyed.Functions[id] = f
	}
	keyed.Outputs = append(keyed.Outputs, "AgentKeysTableName")
	synthtest.Check(t, keyed)

	// The checks take grants from the schema; these are written out.
	var own []string
	for _, owner := range []string{"AgentAPI", "HumanAPI", "Notifier"} {
		for _, line := range templates["keys"].Allowed(t, "AskAHuman"+owner+"Role") {
			if strings.Contains(line, "AskAHumanDatabaseAgentKeys") {
				own = append(own, owner+" "+line)
			}
		}
	}
	want := []string{"AgentAPI dynamodb:GetItem AskAHumanDatabaseAgentKeys.Arn", "AgentAPI dynamodb:UpdateItem AskAHumanDatabaseAgentKeys.Arn"}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("grants on the table (-want +got):\n%s", diff)
	}
	if pools := templates["keys"].OfType("AWS::Cognito::UserPool"); len(pools) > 0 {
		t.Errorf("got a user pool that no one needs: %v", slices.Collect(maps.Keys(pools)))
	}
}

// Agent keys take the place of the user pool, and change no other logical id.
func TestLogicalIDsWithAgentKeys(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile(filepath.Join("testdata", "logical-ids.txt"))
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Fields(strings.ReplaceAll(string(golden), " ", "="))
	var after []string
	for id, r := range templates["keys"].Resources {
		after = append(after, r.Type+"="+id)
	}
	without := func(all, those []string) []string {
		return slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(all), func(line string) bool { return slices.Contains(those, line) })))
	}
	for _, line := range without(before, after) {
		if !strings.HasPrefix(line, "AWS::Cognito::") && !strings.HasPrefix(line, "AWS::ApiGatewayV2::Authorizer=") {
			t.Errorf("with agent keys there is no %s", line)
		}
	}
	want := []string{
		"AWS::CloudWatch::Alarm=AskAHumanAgentKeysTableSystemErrorsAlarm938A0316",
		"AWS::CloudWatch::Alarm=AskAHumanAgentKeysTableThrottlesAlarmD1B60535",
		"AWS::DynamoDB::GlobalTable=AskAHumanDatabaseAgentKeys1391ACEA",
	}
	if diff := cmp.Diff(want, without(after, before)); diff != "" {
		t.Errorf("added logical ids (-want +got):\n%s", diff)
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for name, template := range templates {
		shards, readShards, open, links := "1", "1", "false", ""
		if name == "issuer" {
			shards, readShards, links = "4", "64", "https://example.com/questions/{question_id}"
		}
		if name == "dev" || name == "x86" {
			open = "true"
		}
		for id, f := range template.Named("AWS::Lambda::Function") {
			if got := synthtest.At(f.Properties, "Environment", "Variables", "SHARDS"); got != shards {
				t.Errorf("%s: %s: SHARDS: got %v, want %s", name, id, got, shards)
			}
			if got := synthtest.At(f.Properties, "Environment", "Variables", "READ_SHARDS"); got != readShards {
				t.Errorf("%s: %s: READ_SHARDS: got %v, want %s", name, id, got, readShards)
			}
		}
		functions := template.Named("AWS::Lambda::Function")
		rules := schema.DefaultAskAHumanRules()
		if name == "issuer" {
			rules.OpenQuestions, rules.DailyPoints, rules.Points["text"] = 7, 9, 0
			for i, l := range rules.RateLimits {
				if l.Name == "read" {
					rules.RateLimits[i].Requests, rules.RateLimits[i].AddressRequests = 1000, 20_000
				}
			}
		}
		for _, id := range []string{"AskAHumanAgentAPI", "AskAHumanHumanAPI"} {
			got, err := schema.ParseAskAHumanRules(synthtest.Text(synthtest.At(functions[id].Properties, "Environment", "Variables", "RULES")))
			if diff := cmp.Diff(rules, got); diff != "" || err != nil {
				t.Errorf("%s: rules of %s: %v (-want +got):\n%s", name, id, err, diff)
			}
		}
		if got := synthtest.At(functions["AskAHumanAgentAPI"].Properties, "Environment", "Variables", "OPEN_AGENTS"); got != open {
			t.Errorf("%s: OPEN_AGENTS: got %v, want %s", name, got, open)
		}
		if got := synthtest.At(functions["AskAHumanNotifier"].Properties, "Environment", "Variables", "QUESTION_URL"); got != links {
			t.Errorf("%s: QUESTION_URL: got %v, want %q", name, got, links)
		}
		credentials := synthtest.Text(synthtest.At(functions["AskAHumanNotifier"].Properties, "Environment", "Variables", "FCM_CREDENTIALS_SECRET_ARN"))
		if synthtest.Stable(credentials) != "AskAHumanFCMCredentials" {
			t.Errorf("%s: credentials: got %q, want the secret's ARN", name, credentials)
		}
	}
}

// Agents get tokens by the client credentials grant, and the pool has no sign-up.
func TestAgents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{"default": {"agent"}, "prod": {"agent"}, "own": {"ci", "mcp"}} {
		var clients []string
		for _, client := range templates[name].OfType("AWS::Cognito::UserPoolClient") {
			clients = append(clients, client.Properties["ClientName"].(string))
			if diff := cmp.Diff([]any{"client_credentials"}, client.Properties["AllowedOAuthFlows"]); diff != "" {
				t.Errorf("%s: flows (-want +got):\n%s", name, diff)
			}
		}
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(clients))); diff != "" {
			t.Errorf("%s: clients (-want +got):\n%s", name, diff)
		}
		_, pool := templates[name].One(t, "AWS::Cognito::UserPool", "AskAHumanAgents")
		if synthtest.At(pool.Properties, "AdminCreateUserConfig", "AllowAdminCreateUserOnly") != true {
			t.Errorf("%s: anyone can sign up", name)
		}
	}
}

// A stack may have several platforms: nothing of theirs has one name.
func TestSeveral(t *testing.T) {
	t.Parallel()
	domains, urls := map[string]bool{}, map[string]bool{}
	for _, r := range several.OfType("AWS::Cognito::UserPoolDomain") {
		domains[synthtest.Text(r.Properties["Domain"])] = true
	}
	for name, o := range several.Outputs {
		if strings.Contains(name, "ApiUrl") {
			urls[synthtest.Text(o.Value)] = true
		}
	}
	if len(domains) != 3 || len(urls) != 3 {
		t.Errorf("got domains %v and outputs of URLs %v, want three of each", slices.Collect(maps.Keys(domains)), slices.Collect(maps.Keys(urls)))
	}
	want := []string{
		"dynamodb:GetItem FirstDatabaseQuestions.Arn", "dynamodb:Query FirstDatabaseQuestions.Arn/index/ByStatus",
		"lambda:InvokeFunction FirstNotifier.Arn",
	}
	if diff := cmp.Diff(want, several.Allowed(t, "Operator")); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}

// A table that is there already is used and granted, and others have the options
// that are theirs.
func TestTables(t *testing.T) {
	t.Parallel()
	got := map[string]any{}
	for id, r := range existing.Named("AWS::DynamoDB::GlobalTable") {
		got[strings.TrimPrefix(id, "AskAHumanDatabase")] = []any{
			synthtest.At(r.Properties, "Replicas", 0, "PointInTimeRecoverySpecification", "RecoveryPeriodInDays"),
			synthtest.At(r.Properties, "Replicas", 0, "ReadOnDemandThroughputSettings", "MaxReadRequestUnits"),
		}
	}
	all := []any{7.0, 100.0}
	want := map[string]any{"Responses": all, "Subscriptions": all, "UserStats": all, "Guards": []any{1.0, nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recovery and maximum (-want +got):\n%s", diff)
	}
	for id, f := range existing.Named("AWS::Lambda::Function") {
		if name := synthtest.Text(synthtest.At(f.Properties, "Environment", "Variables", "QUESTIONS_TABLE")); name != "asked" {
			t.Errorf("%s: table of questions: got %s, want asked", id, name)
		}
	}
	allowed := existing.Allowed(t, "AskAHumanAgentAPIRole")
	for _, line := range []string{
		"dynamodb:GetItem arn:aws:dynamodb:eu-west-1:123456789012:table/asked",
		"dynamodb:Query arn:aws:dynamodb:eu-west-1:123456789012:table/asked/index/ByAgentId",
	} {
		if !slices.Contains(allowed, line) {
			t.Errorf("agentapi: got %v, want %s among it", allowed, line)
		}
	}
}

// What another stack of the app has is used by what that stack exports, and the
// key's policy there allows what is needed here.
func TestSharing(t *testing.T) {
	t.Parallel()
	from := func(v any, name string) {
		t.Helper()
		if imported, _ := synthtest.At(v, "Fn::ImportValue").(string); !strings.HasPrefix(imported, "shared:ExportsOutput") || !strings.Contains(imported, name) {
			t.Errorf("got %v, want the other stack's %s", v, name)
		}
	}
	for id, f := range sharing.Named("AWS::Lambda::Function") {
		if len(synthtest.List(synthtest.At(f.Properties, "VpcConfig", "SubnetIds"))) != 2 {
			t.Errorf("%s: subnets: got %v, want the two private ones", id, synthtest.At(f.Properties, "VpcConfig", "SubnetIds"))
		}
		from(f.Properties["KmsKeyArn"], "Key")
		from(synthtest.At(f.Properties, "VpcConfig", "SubnetIds", 0), "PrivateSubnet1")
		from(synthtest.At(f.Properties, "VpcConfig", "SecurityGroupIds", 0), "Group")
		from(synthtest.At(f.Properties, "Environment", "Variables", "QUESTIONS_TABLE"), "Questions")
	}
	for _, a := range sharing.OfType("AWS::CloudWatch::Alarm") {
		from(synthtest.At(a.Properties, "AlarmActions", 0), "Alerts")
	}
	_, key := shared.One(t, "AWS::KMS::Key", "Key")
	var services []string
	for _, s := range synthtest.List(synthtest.At(key.Properties, "KeyPolicy", "Statement")) {
		if service := synthtest.At(s, "Principal", "Service"); service != nil {
			services = append(services, synthtest.Text(service))
		}
	}
	if diff := cmp.Diff([]string{"cloudwatch.amazonaws.com", "logs.AWS::Region.amazonaws.com"}, slices.Sorted(slices.Values(services))); diff != "" {
		t.Errorf("services that the key's policy allows (-want +got):\n%s", diff)
	}
}

// Push credentials that are there already are read by the notifier alone, and no secret is
// made for them.
func TestExistingSecret(t *testing.T) {
	t.Parallel()
	if secrets := existing.OfType("AWS::SecretsManager::Secret"); len(secrets) != 1 {
		t.Errorf("got %d secrets, want that of fingerprints", len(secrets))
	}
	notifier := existing.Named("AWS::Lambda::Function")["AskAHumanNotifier"]
	if got := synthtest.At(notifier.Properties, "Environment", "Variables", "FCM_CREDENTIALS_SECRET_ARN"); got != existingSecret {
		t.Errorf("the notifier finds %v, want %s", got, existingSecret)
	}
	line := "secretsmanager:GetSecretValue " + existingSecret
	for role, want := range map[string]bool{"AskAHumanNotifierRole": true, "AskAHumanHumanAPIRole": false, "AskAHumanAgentAPIRole": false} {
		if allowed := existing.Allowed(t, role); slices.Contains(allowed, line) != want {
			t.Errorf("%s: got %v, want the secret among it: %v", role, allowed, want)
		}
	}
}
