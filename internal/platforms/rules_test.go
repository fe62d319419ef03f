package platforms_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The rules are what no golden file shows: that something is absent, or follows from the schema and
// the props. Package test/security has the rules of encryption and TLS.

// objects matches the narrowest resource that Amazon S3 has for objects that do not exist yet: all
// keys with a prefix.
var objects = regexp.MustCompile(`^[A-Za-z0-9]+\.Arn/[a-z]+/\*$`)

// networkActions are what AWS Lambda needs to put a function into a VPC.
var networkActions = []string{
	"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
	"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
}

func TestNoWildcards(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		statements, denied := v.Template.Statements(), 0
		for _, s := range statements {
			if s.Effect == "Deny" && slices.Equal(s.Actions, networkActions) &&
				synthtest.Text(synthtest.At(s.Condition, "ArnLike",
					"lambda:SourceFunctionArn")) == "arn:AWS::Partition:lambda:AWS::Region:AWS::AccountId:function:*" {
				denied++
			}
			// X-Ray's actions take no resource, as Props.Tracing says, and AWS Lambda requires the
			// network's on all resources, as gofunction.Props.Network says.
			tracing := v.Common().Tracing && slices.Equal(s.Actions,
				[]string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"})
			network := v.Environment == platformtest.Existing && slices.Equal(s.Actions, networkActions)
			if s.Effect != "Allow" || tracing || network {
				continue
			}
			toObjects := !slices.ContainsFunc(s.Actions, func(a string) bool { return !strings.HasPrefix(a, "s3:") })
			if slices.ContainsFunc(s.Actions, func(a string) bool { return strings.Contains(a, "*") }) {
				t.Errorf("%s allows %v: want no wildcard", s.Owner, s.Actions)
			}
			for _, r := range s.Resources {
				if strings.Contains(r, "*") && !(toObjects && objects.MatchString(r)) {
					t.Errorf("%s allows %v on %v: want no wildcard", s.Owner, s.Actions, s.Resources)
				}
			}
			// A role that may list a whole bucket learns of more objects than it may read.
			if slices.Contains(s.Actions, "s3:ListBucket") &&
				synthtest.At(s.Condition, "StringLike", "s3:prefix") == nil {
				t.Errorf("%s allows %v with the condition %v: want one on s3:prefix", s.Owner, s.Actions, s.Condition)
			}
		}
		if len(statements) < 10 {
			t.Errorf("statements: got %d, want all of the template", len(statements))
		}
		// The code of a function in a VPC is denied what its role allows for the network.
		functions := v.Template.Named("AWS::Lambda::Function")
		inside := 0
		for _, f := range functions {
			if f.Properties["VpcConfig"] != nil {
				inside++
			}
		}
		if denied != inside {
			t.Errorf("got %d functions in a VPC, and %d whose code is denied to change the network", inside, denied)
		}
		for id, r := range v.Template.OfType("AWS::IAM::Role") {
			if managed := r.Properties["ManagedPolicyArns"]; managed != nil {
				t.Errorf("%s has managed policies %v: want none", id, managed)
			}
		}
	})
}

// A function may make exactly the requests of its access patterns, and the schema says what invokes
// it.
func TestFunctions(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		found := v.Template.Named("AWS::Lambda::Function")
		invoked, statements := invokers(v.Template), v.Template.Statements()
		for _, f := range v.Described.Functions {
			id := v.ID + f.ConstructID()
			var got, want []string
			for _, g := range v.Described.GrantsOf(f.Name) {
				line := "dynamodb:" + string(g.Action) + " " + v.ID + "Database" + g.Table + ".Arn"
				if g.Index != "" {
					line += "/index/" + g.Index
				}
				want = append(want, line)
			}
			policy, _ := v.Template.One(t, "AWS::IAM::Policy", id+"RoleDefaultPolicy")
			for _, s := range statements {
				for _, action := range s.Actions {
					for _, resource := range s.Resources {
						if s.Owner == policy && s.Effect == "Allow" && strings.HasPrefix(action, "dynamodb:") &&
							!strings.HasSuffix(resource, ".StreamArn") {
							got = append(got, action+" "+synthtest.Stable(resource))
						}
					}
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" || len(want) != 0 != (len(v.Described.PatternsOf(f.Name)) != 0) {
				t.Errorf("%s (-want +got):\n%s", id, diff)
			}
			trigger := ""
			if f.Trigger != nil {
				// A function may read several streams.
				trigger = strings.Replace(fmt.Sprintf("%T", f.Trigger), "OnStreams", "OnStream", 1)
			}
			if trigger != invoked[id] {
				t.Errorf("%s: the schema says that it is invoked by %q, and it is by %q", id, trigger, invoked[id])
			}
		}
		ofLakes := slices.DeleteFunc(v.Handlers().Packages, func(folder string) bool {
			_, own := v.Common().Publishing(v.Whole).Function(path.Base(folder))
			return own
		})
		if want := len(v.Described.Functions) + len(ofLakes); len(found) != want {
			t.Errorf("functions: got %v, want %d and none of the CDK's own", slices.Sorted(maps.Keys(found)), want)
		}
		groups := v.Template.OfType("AWS::Logs::LogGroup")
		if want := len(found) + 1; len(groups) != want {
			t.Errorf("log groups: got %d, want %d: one for each function and one for the API", len(groups), want)
		}
		for id, f := range found {
			variables, _ := synthtest.At(f.Properties, "Environment", "Variables").(map[string]any)
			if size := environmentSize(variables); size > 4096 {
				t.Errorf("%s: environment: got %d bytes, want at most 4,096", id, size)
			}
			group, _ := synthtest.At(f.Properties, "LoggingConfig", "LogGroup", "Ref").(string)
			if timeout, ok := f.Properties["Timeout"].(float64); !ok || timeout > 900 ||
				f.Properties["RecursiveLoop"] != "Terminate" || groups[group].Type == "" {
				t.Errorf("%s: got the time-out %v, the recursion %v and the log group %q", id, f.Properties["Timeout"],
					f.Properties["RecursiveLoop"], group)
			}
		}
	})
}

// invokers are the types of the schema's triggers that the template has for functions.
func invokers(template synthtest.Template) map[string]string {
	found := map[string]string{}
	function := func(v any) string { return strings.TrimSuffix(synthtest.Stable(synthtest.Text(v)), ".Arn") }
	for _, s := range template.OfType("AWS::Scheduler::Schedule") {
		found[function(synthtest.At(s.Properties, "Target", "Arn"))] = "schema.OnSchedule"
	}
	for _, m := range template.OfType("AWS::Lambda::EventSourceMapping") {
		found[function(m.Properties["FunctionName"])] = "schema.OnStream"
		if m.Properties["StartingPosition"] == nil {
			found[function(m.Properties["FunctionName"])] = "schema.OnQueue"
		}
	}
	for _, pool := range template.OfType("AWS::Cognito::UserPool") {
		if handler := synthtest.At(pool.Properties, "LambdaConfig", "PostConfirmation"); handler != nil {
			found[function(handler)] = "schema.OnSignUp"
		}
	}
	for name, output := range template.Outputs {
		if strings.Contains(name, "Seed") && strings.HasSuffix(synthtest.Stable(name), "FunctionName") {
			found[function(output.Value)] = "schema.OnSeed"
		}
	}
	return found
}

// environmentSize returns how much of AWS Lambda's 4 KB the variables take. A part that is only
// known at deployment counts as 100 bytes.
func environmentSize(variables map[string]any) int {
	size := 0
	for name, value := range variables {
		text, ok := value.(string)
		if !ok {
			text = strings.Repeat("x", 100)
		}
		size += len(name) + len(text)
	}
	return size
}

// AWS CloudFormation refuses resources that need each other.
func TestNoCycle(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		if cycle := v.Template.Cycle(); cycle != nil {
			t.Errorf("%v need each other", cycle)
		}
	})
}

// Resources with data outlive their stack, unless the props say otherwise.
func TestKept(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		common := v.Common()
		policy, protected := "Retain", map[bool]string{false: "INACTIVE", true: "ACTIVE"}[common.DeletionProtection]
		if common.RemoveWithStack {
			policy = "Delete"
		}
		for id, r := range v.Template.Resources {
			kept := policy
			switch r.Type {
			case "AWS::DynamoDB::GlobalTable":
				// Tables have names that the next attempt of a deployment needs.
				if !common.RemoveWithStack && !common.DeletionProtection {
					kept = "RetainExceptOnCreate"
				}
				for _, replica := range synthtest.List(r.Properties["Replicas"]) {
					if got := synthtest.At(replica, "DeletionProtectionEnabled"); got != common.DeletionProtection {
						t.Errorf("%s: deletion protection: got %v", id, got)
					}
				}
			case "AWS::Cognito::UserPool":
				if r.Properties["DeletionProtection"] != protected {
					t.Errorf("%s: deletion protection: got %v, want %s", id, r.Properties["DeletionProtection"],
						protected)
				}
			case "AWS::S3::Bucket":
				if versioned := synthtest.At(r.Properties, "VersioningConfiguration",
					"Status") == "Enabled"; versioned == common.RemoveWithStack {
					t.Errorf("%s: versioning: got %v", id, versioned)
				}
			case "AWS::SecretsManager::Secret":
			case "AWS::SQS::Queue":
				if r.Properties["MessageRetentionPeriod"] != 1209600.0 {
					t.Errorf("%s: keeps messages for %v seconds, want 14 days", id,
						r.Properties["MessageRetentionPeriod"])
				}
				continue
			default:
				continue
			}
			if r.DeletionPolicy != kept || r.UpdateReplacePolicy != policy {
				t.Errorf("%s: got the policies %s and %s, want %s and %s", id, r.DeletionPolicy, r.UpdateReplacePolicy,
					kept, policy)
			}
		}
		// This would put a secret's value, not its name, into a resource.
		if strings.Contains(v.Template.Source, "ClientSecret") {
			t.Error("the template has the secret of a client")
		}
	})
}

// Each route has the function and the callers of the schema.
func TestRoutes(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		got, want := map[string]string{}, map[string]string{}
		authorizers := map[schema.Token]string{}
		for id, r := range v.Template.OfType("AWS::ApiGatewayV2::Authorizer") {
			audience := synthtest.Text(synthtest.At(r.Properties, "JwtConfiguration", "Audience"))
			for token, pool := range map[schema.Token]string{schema.TokenOfUser: "Users",
				schema.TokenOfProgram: "Agents"} {
				if v.Common().JWTIssuer != "" || strings.Contains(audience, v.ID+pool) {
					authorizers[token] = id
				}
			}
		}
		for _, r := range v.Template.OfType("AWS::ApiGatewayV2::Route") {
			integration := v.Template.Resources[strings.TrimPrefix(synthtest.Text(r.Properties["Target"]),
				"integrations/")]
			function := strings.TrimSuffix(synthtest.Stable(synthtest.Text(integration.Properties["IntegrationUri"])),
				".Arn")
			key := r.Properties["RouteKey"].(string)
			authorizer, _ := synthtest.At(r.Properties, "AuthorizerId", "Ref").(string)
			got[key] = fmt.Sprint(function, " ", r.Properties["AuthorizationType"], " ", authorizer)
		}
		for _, route := range v.Described.Routes {
			f, _ := v.Described.Function(route.Function)
			want[route.Key()] = v.ID + f.ConstructID() + " NONE "
			if authorizer := authorizers[route.Caller.Token]; authorizer != "" {
				want[route.Key()] = v.ID + f.ConstructID() + " JWT " + authorizer
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("routes (-want +got):\n%s", diff)
		}
		for id, r := range v.Template.OfType("AWS::Lambda::Permission") {
			arn := synthtest.Text(r.Properties["SourceArn"])
			if pool := v.Template.Resources[strings.TrimSuffix(arn, ".Arn")]; pool.Type == "AWS::Cognito::UserPool" &&
				r.Properties["Principal"] == "cognito-idp.amazonaws.com" {
				handler, _ := v.Described.SignUpHandler()
				if got := synthtest.Stable(synthtest.Text(r.Properties["FunctionName"])); got != v.ID+
					handler.ConstructID()+".Arn" {
					t.Errorf("%s: the user pool may invoke %s, want the handler of sign-ups", id, got)
				}
				continue
			}
			api, _ := v.Template.One(t, "AWS::ApiGatewayV2::Api", v.ID)
			if !strings.HasSuffix(arn, ":execute-api:AWS::Region:AWS::AccountId:"+api+"/*") {
				t.Errorf("%s: got permission for %s, want that of the API %s", id, arn, api)
			}
		}
		// Only the construct's own pools, one for each kind of caller, or the issuer of the props, issue tokens.
		pools := len(authorizers)
		if v.Common().JWTIssuer != "" {
			pools = 0
		}
		if got := len(v.Template.OfType("AWS::Cognito::UserPool")); got != pools {
			t.Errorf("got %d user pools, want %d for the authorizers %v", got, pools, authorizers)
		}
	})
}

// With the zero props, callers need tokens.
func TestSafeByDefault(t *testing.T) {
	t.Parallel()
	for name, environments := range variants {
		v := environments[platformtest.Zero]
		closed := map[string]bool{}
		for _, r := range v.Template.OfType("AWS::ApiGatewayV2::Route") {
			closed[r.Properties["RouteKey"].(string)] = r.Properties["AuthorizationType"] == "JWT"
		}
		for _, route := range v.Described.Routes {
			if closed[route.Key()] != route.Caller.Authenticated() {
				t.Errorf("%s: %s takes a token: %v", name, route.Key(), closed[route.Key()])
			}
		}
	}
}

// The stage limits all callers together, and its access log has only the route of a request.
func TestStage(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		_, stage := v.Template.One(t, "AWS::ApiGatewayV2::Stage", "")
		throttle := v.Common().Throttle
		if throttle.RequestsPerSecond == 0 {
			throttle.RequestsPerSecond, throttle.Burst = 1000, 2000
		}
		limits := map[string]any{"ThrottlingRateLimit": float64(throttle.RequestsPerSecond),
			"ThrottlingBurstLimit": float64(throttle.Burst)}
		if diff := cmp.Diff(limits, stage.Properties["DefaultRouteSettings"]); diff != "" {
			t.Errorf("throttle (-want +got):\n%s", diff)
		}
		var format map[string]string
		if err := json.Unmarshal([]byte(synthtest.At(stage.Properties, "AccessLogSettings", "Format").(string)),
			&format); err != nil {
			t.Fatalf("access log format is not JSON: %v", err)
		}
		// A path may contain a capability, and callers choose the other fields. A value with its
		// own quotes would break the line.
		for field, logged := range format {
			for _, refused := range []string{"messageString", "$context.path", "$context.authorizer.claims",
				"$context.identity.userAgent", "$request"} {
				if strings.Contains(logged, refused) {
					t.Errorf("access log: %s is %s, want nothing of a request but its route, and no quotes", field,
						logged)
				}
			}
		}
	})
}

// A customer managed key encrypts all that can be encrypted, and roles use it only through the
// services whose data they read or write.
func TestKey(t *testing.T) {
	t.Parallel()
	imported := func(v any) bool {
		from, _ := synthtest.At(v, "Fn::ImportValue").(string)
		return strings.HasPrefix(from, platformtest.Owned+":ExportsOutput") && strings.Contains(from, "Key")
	}
	key := map[string][]any{
		"AWS::DynamoDB::GlobalTable": {"Replicas", 0, "SSESpecification", "KMSMasterKeyId"},
		"AWS::S3::Bucket": {"BucketEncryption", "ServerSideEncryptionConfiguration", 0,
			"ServerSideEncryptionByDefault", "KMSMasterKeyID"},
		"AWS::Athena::WorkGroup": {"WorkGroupConfiguration", "ResultConfiguration", "EncryptionConfiguration",
			"KmsKey"},
		"AWS::SQS::Queue":             {"KmsMasterKeyId"},
		"AWS::SecretsManager::Secret": {"KmsKeyId"},
		"AWS::Lambda::Function":       {"KmsKeyArn"},
		"AWS::Logs::LogGroup":         {"KmsKeyId"},
	}
	for name, environments := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := environments[platformtest.Existing].Template
			for id, r := range template.Resources {
				path, encrypts := key[r.Type]
				// Access logs are delivered only to buckets whose key is Amazon S3's.
				if encrypts && !strings.Contains(id, "AccessLogs") ||
					strings.Contains(id, "APIAccessLogs") && r.Type == "AWS::Logs::LogGroup" {
					if got := synthtest.At(r.Properties, path...); !imported(got) {
						t.Errorf("%s: got the key %v, want the existing one", id, got)
					}
				}
			}
			uses := 0
			for _, s := range template.Statements() {
				if !strings.HasPrefix(s.Actions[0], "kms:") {
					continue
				}
				uses++
				via := synthtest.Text(synthtest.At(s.Condition, "StringEquals", "kms:ViaService"))
				if len(s.Resources) != 1 || !strings.Contains(s.Resources[0], platformtest.Owned+":ExportsOutput") ||
					!strings.HasSuffix(via, ".AWS::Region.amazonaws.com") {
					t.Errorf("%s allows %v on %v via %q, want the key alone, through one service", s.Owner, s.Actions,
						s.Resources, via)
				}
			}
			if functions := len(template.OfType("AWS::Lambda::Function")); uses < functions {
				t.Errorf("got %d statements about the key, want one for each of %d functions at least", uses, functions)
			}
		})
	}
	// The key's own policy allows two services, each for this account's resources.
	_, owned := synthtest.Stack(t, platformtest.Owned).One(t, "AWS::KMS::Key", "Key")
	allowed := map[string]any{}
	for _, s := range synthtest.List(synthtest.At(owned.Properties, "KeyPolicy", "Statement")) {
		service := synthtest.At(s, "Principal", "Service")
		if service == nil {
			continue
		}
		conditions, _ := synthtest.At(s, "Condition", "ArnLike").(map[string]any)
		for name, arn := range conditions {
			allowed[synthtest.Text(service)] = name + " " + synthtest.Text(arn)
		}
	}
	want := map[string]any{
		"logs.AWS::Region.amazonaws.com": "kms:EncryptionContext:aws:logs:arn " +
			"arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:*",
		"cloudwatch.amazonaws.com": "aws:SourceArn arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:*",
	}
	if diff := cmp.Diff(want, allowed); diff != "" {
		t.Errorf("services that the key's policy allows (-want +got):\n%s", diff)
	}
}

// maxMetadata is how many bytes the metadata of a template may have: AWS CloudFormation takes
// templates of 1 MB.
const maxMetadata = 16 << 10

func TestMetadata(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		text := must.Get(json.Marshal(v.Template.Metadata))(t)
		if len(text) > maxMetadata {
			t.Errorf("got %d bytes of metadata, and %d are allowed", len(text), maxMetadata)
		}
		for _, table := range v.Described.Database.Tables {
			model := v.Template.Metadata["onesynth:"+v.ID+"/Database/"+table.Name]
			attributes, _ := synthtest.At(model, "attributes").(map[string]any)
			if synthtest.At(model, "table") != table.Name || len(attributes) != len(table.Attributes) {
				t.Errorf("data model of %s: got %v", table.Name, model)
			}
		}
	})
}

// Each day that a query of a lake reads is a request to Amazon S3 at least, so a saved query
// says how many it reads, and reads no more.
func TestSavedQueriesSayTheirDays(t *testing.T) {
	t.Parallel()
	reads := regexp.MustCompile(`\. Reads (all|one|\d+) days?(,|$)`)
	for name, environments := range variants {
		var queries []schema.SavedQuery
		for _, l := range environments[platformtest.Zero].Schema.Lakes {
			queries = append(queries, l.Queries...)
		}
		for _, q := range queries {
			days := reads.FindStringSubmatch(q.Description)
			switch {
			case days == nil:
				t.Errorf("%s: %s: the description %q does not say which days it reads", name, q.Name, q.Description)
			case days[1] == "one":
				if !strings.Contains(q.SQL, "WHERE event_date = current_date") {
					t.Errorf("%s: %s: reads one day, as it says, only if it looks at %s: got %s",
						name, q.Name, schema.EventDate, q.SQL)
				}
			case days[1] != "all" && !strings.Contains(q.SQL,
				"WHERE event_date >= current_date - INTERVAL '"+days[1]+"' DAY"):
				t.Errorf("%s: %s: reads %s days, as it says, only if it looks at %s: got %s", name, q.Name, days[1],
					schema.EventDate, q.SQL)
			}
		}
	}
}
