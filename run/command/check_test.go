package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
)

// deployedStack is one that the CloudFormation of a test has.
type deployedStack struct{ status, template string }

// cloudFormation serves a CloudFormation with these stacks, in eu-west-1.
func cloudFormation(t *testing.T, stacks map[string]deployedStack) string {
	t.Helper()
	return serve(t, cloudFormationOf(t, "eu-west-1", stacks))
}

// answers are those of testdata/cloudformation.xml, by their actions.
var answers = template.Must(template.ParseFiles("testdata/cloudformation.xml"))

// cloudFormationOf speaks as much of CloudFormation's protocol (AWS Query: form in, XML out) as describes stacks. The
// outputs of a stack are those of its template, with plain values. Without a region, requests may be signed for any.
func cloudFormationOf(t *testing.T, region string, stacks map[string]deployedStack) http.HandlerFunc {
	type object = map[string]any
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PostFormValue("StackName")
		if _, id, isID := strings.Cut(name, ":stack/"); isID {
			name, _, _ = strings.Cut(id, "/")
		}
		stack, ok := stacks[name]
		action, service := r.PostFormValue("Action"), "cloudformation"
		if action == "GetCallerIdentity" {
			service = "sts"
		}
		if !strings.Contains(r.Header.Get("Authorization"), region+"/"+service+"/aws4_request") {
			t.Errorf("signed for %s", r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "text/xml")
		answer := func(name string, of any) {
			if err := answers.ExecuteTemplate(w, name, of); err != nil {
				t.Errorf("asked for %s %v: %v", action, r.PostForm, err)
			}
		}
		refuse := func(status int, code, message string) {
			w.WriteHeader(status)
			answer("refusal", object{"Code": code, "Message": message})
		}
		switch {
		case action == "ListImports" && stacks["forbidden"].status == "":
			var importers []string
			for importer, of := range stacks {
				if strings.Contains(of.template, `{"Fn::ImportValue": "`+r.PostFormValue("ExportName")+`"}`) {
					importers = append(importers, importer)
				}
			}
			answer(action, importers)
		case name == "expired":
			refuse(http.StatusForbidden, "ExpiredToken", "The security token included in the request is expired")
		case name == "forbidden", action == "ListImports":
			refuse(http.StatusForbidden, "AccessDenied", "not authorized to perform: cloudformation:DescribeStacks")
		case !ok && service != "sts":
			refuse(http.StatusBadRequest, "ValidationError", "Stack with id "+name+" does not exist")
		case action == "GetTemplate":
			answer(action+r.PostFormValue("TemplateStage"), stack.template)
		default:
			of := object{"Name": name, "Region": region, "Status": stack.status,
				"ID": r.PostFormValue("LogicalResourceId")}
			_ = json.Unmarshal([]byte(stack.template), &of) // a template may be broken
			answer(action, of)
		}
	}
}

// checked runs the check with AWS at the endpoint.
func checked(t *testing.T, endpoint string, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	return invokeIn(t, credentialsOf(endpoint, "key"), append([]string{"check"}, arguments...)...)
}

// invokeIn runs the command with an environment that has nothing of AWS but what is given.
func invokeIn(t *testing.T, environment []string, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command, arguments...)
	c.Env = append([]string{"HOME=" + t.TempDir(), "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null",
		"AWS_EC2_METADATA_DISABLED=true"}, environment...)
	return finish(t, c)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const (
		table     = `{"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Metadata": {"aws:cdk:path": "shop/T/Resource"}, "Properties": {"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}}}}`
		nothing   = `{"Resources": {}}`
		queue     = `{"Resources": {"T": {"Type": "AWS::SQS::Queue"}}}`
		parameter = `{"Parameters": {"Name": {"Type": "String", "Default": "theirs"}}, "Resources": {"B": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Ref": "Name"}}}}}`
		literal   = `{"Resources": {"B": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "mine"}}}}`
		silent    = `{"Resources": {"A": {"Type": "AWS::CloudWatch::Alarm", "Properties": {}}, "B": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"AlarmActions": ["arn"]}}}}`
		here      = "aws://111122223333/eu-west-1"
		anywhere  = "aws://unknown-account/unknown-region"
	)
	deployed := func(template string) map[string]deployedStack {
		return map[string]deployedStack{"shop": {"UPDATE_COMPLETE", template}}
	}
	in := func(status string) map[string]deployedStack { return map[string]deployedStack{"shop": {status, table}} }
	// One that CreateStack and UpdateStack do not take in a request.
	large := strings.Replace(table, "{", `{"Description": "`+strings.Repeat("large ", 10_000)+`", `, 1)
	shop := func(template string) map[string]string { return map[string]string{"shop": template} }
	for name, test := range map[string]struct {
		deployed    map[string]deployedStack
		environment string
		proposed    map[string]string
		arguments   []string
		status      int
		says        string // on standard output
		complains   string // on standard error
	}{
		"Same": {deployed(table), anywhere, shop(table), nil, 0,
			"shop: nothing speaks against the deployment\n", ""},
		"First": {nil, here, shop(table), nil, 0,
			"shop: not deployed yet in eu-west-1, account 111122223333: a first deployment has nothing to lose\n", ""},
		"FirstAnywhere": {nil, anywhere, shop(table), nil, 0, "not deployed yet in eu-west-1: a first deployment " +
			"has nothing to lose\n  (the assembly names no Region: if the stack is in another, set AWS_REGION)", ""},
		"FirstElsewhere": {nil, "aws://444455556666/eu-west-1", shop(table), nil, 2, "shop: not checked",
			"the stack is for account 444455556666, and the credentials are for 111122223333: set AWS_PROFILE"},
		"Large": {deployed(large), here, shop(nothing), nil, 1, "drop:T", "refused"},
		"Dropped": {deployed(table), here, shop(nothing), nil, 1, "refusal shop/drop:T\n  what: " +
			"shop/T/Resource (AWS::DynamoDB::Table)\n  got:  the table is no longer in the template\n  by:   without " +
			"the construct shop/T/Resource\n  why:  CloudFormation deletes it", "--accept ID"},
		"Accepted": {deployed(table), here, shop(nothing), []string{"--accept", "shop/drop:T"}, 0,
			"accepted refusal shop/drop:T", ""},
		"AcceptedOther": {deployed(table), here, shop(nothing), []string{"--accept", "drop:T"}, 1,
			"\nrefusal shop/drop:T", "--accept drop:T: there is no such finding"},
		"Warned": {deployed(queue), here, shop(nothing), nil, 0, "warning shop/drop:T", ""},
		"Strict": {deployed(queue), here, shop(nothing), []string{"--strict"}, 1, "warning shop/drop:T",
			"refused, with 1 of the changes"},
		"StrictAccepted": {deployed(queue), here, shop(nothing), []string{"--strict", "--accept", "shop/drop:T"}, 0,
			"accepted warning shop/drop:T", ""},
		"Silent": {deployed(silent), here, shop(silent), nil, 0,
			"shop: nothing speaks against the deployment\n  note: 1 of 2 alarms notify no one: ", ""},
		"Note": {deployed(`{"Resources": {"F": {"Type": "AWS::Lambda::Function", "Properties": {"MemorySize": 256}}}}`), here,
			shop(`{"Resources": {"F": {"Type": "AWS::Lambda::Function", "Properties": {"MemorySize": 512}}}}`),
			[]string{"--strict"}, 0, "shop: nothing speaks against the deployment\n  note: AWS::Lambda::Function " +
				"changes, without a finding: MemorySize from 256 to 512 (F)\n", ""},
		"SilentFirst": {nil, here, shop(silent), nil, 0,
			"a first deployment has nothing to lose\n  note: 1 of 2 alarms notify no one: ", ""},
		"Parameter": {deployed(parameter), here, shop(literal), nil, 0, "nothing speaks against", ""},
		"OtherAccount": {deployed(table), "aws://444455556666/eu-west-1", shop(table), nil, 2, "",
			"the stack is for account 444455556666, and the credentials are for 111122223333"},
		"Forbidden": {nil, here, map[string]string{"forbidden": table}, nil, 2, "", "could not check: stack " +
			"forbidden: a permission is missing: cloudformation:DescribeStacks and cloudformation:GetTemplate on the " +
			"stack are needed: ask CloudFormation"},
		"ForbiddenOfTwo": {deployed(table), here, map[string]string{"forbidden": table, "shop": nothing}, nil, 2,
			"forbidden: not checked\nshop:\n\nrefusal shop/drop:T", "could not check: stack forbidden: "},
		"BothForbidden": {nil, here, map[string]string{"forbidden": table, "expired": table}, nil, 2,
			"expired: not checked\nforbidden: not checked\n",
			"stack expired: AWS does not take the credentials: sign in"},
		"Reviewed":      {in("REVIEW_IN_PROGRESS"), here, shop(nothing), nil, 0, "not deployed yet", ""},
		"NeverDeployed": {in("ROLLBACK_COMPLETE"), here, shop(nothing), nil, 0, "not deployed yet", ""},
		"RolledBack":    {in("UPDATE_ROLLBACK_COMPLETE"), here, shop(nothing), nil, 1, "drop:T", "refused"},
		"CleaningUp":    {in("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), here, shop(nothing), nil, 1, "drop:T", "refused"},
		"Updating": {in("UPDATE_IN_PROGRESS"), here, shop(table), nil, 2, "",
			"the stack is UPDATE_IN_PROGRESS: wait"},
		"Stuck": {in("UPDATE_ROLLBACK_FAILED"), here, shop(table), nil, 2, "", "roll it back first"},
		"DeployedYAML": {deployed("Resources: {}"), here, shop(table), nil, 2, "", "deployed template: not a " +
			"template in JSON: it does not begin with {; write YAML as JSON first. cdk import leaves YAML behind, " +
			"and so do other tools. Compare with a copy in JSON: aws cloudformation get-template --stack-name shop " +
			"--region eu-west-1 "},
		"TwoStacks": {deployed(table), here, map[string]string{"shop": nothing, "new": table}, nil, 1,
			"new: not deployed yet in eu-west-1, account 111122223333: a first deployment has nothing to " +
				"lose\nshop:\n\nrefusal shop/drop:T", "1 of the changes"},
		"OneOfTwo": {deployed(table), here, map[string]string{"shop": nothing, "new": table},
			[]string{"--stack", "new"}, 0, "new: not deployed yet", ""},
		"UnknownStack": {nil, here, shop(table), []string{"--stack", "shopp"}, 64, "",
			`--stack: stack "shopp": the assembly has shop`},
		"NoAssembly": {nil, here, shop(table), []string{"--assembly", os.TempDir()}, 2, "",
			"cdk synth in an app of your own; --assembly names another folder"},
		"AgainstOfTwo": {nil, here, map[string]string{"shop": nothing, "new": table},
			[]string{"--against", os.DevNull}, 64, "", "--stack new or --stack shop"},
		"AgainstNoFile": {nil, here, shop(table), []string{"--against", filepath.Join(os.TempDir(), "no", "file")}, 2,
			"", "could not check"},
		"AgainstNothing": {nil, here, shop(table), []string{"--against", os.DevNull}, 2, "", "not a template in JSON"},
		"UnknownFormat":  {nil, here, shop(table), []string{"--format", "xml"}, 64, "", "--format"},
		"BrokenProposal": {deployed(table), here, shop(`{"Resources": []}`), nil, 2, "", "shop.template.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := append([]string{"--assembly", assemblytest.Write(t, test.environment, test.proposed)},
				test.arguments...)
			status, stdout, stderr := checked(t, cloudFormation(t, test.deployed), arguments...)
			if status != test.status || !strings.Contains(stdout, test.says) ||
				!strings.Contains(stderr, test.complains) {
				t.Errorf("got %d\n%s%s", status, stdout, stderr)
			}
		})
	}
}

// TestCheckOthers: exports that other stacks import, and what nested stacks lose.
func TestCheckOthers(t *testing.T) {
	t.Parallel()
	const (
		here     = "aws://111122223333/eu-west-1"
		imports  = `{"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Fn::ImportValue": "shop:Q"}}}}}`
		nothing  = `{"Resources": {}}`
		bucket   = `{"Resources": {"B": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Ref": "Name"}}}}, "Parameters": {"Name": {"Type": "String"}}}`
		nestedID = "shop/Nested/"
	)
	exports := func(properties, output string) string {
		return `{"Resources": {"Q": {"Type": "AWS::SNS::Topic", "Properties": {` + properties + `}}}, "Outputs": {` + output + `}}`
	}
	const output = `"Out": {"Value": {"Ref": "Q"}, "Export": {"Name": "shop:Q"}}`
	nested := func(url, parameters string) string {
		return `{"Resources": {"Nested": {"Type": "AWS::CloudFormation::Stack",
			"Metadata": {"aws:asset:path": "inner.template.json"},
			"Properties": {"TemplateURL": {"Fn::Sub": "https://s3.${AWS::URLSuffix}/` + url + `"}, "Parameters": {` + parameters + `}}}}}`
	}
	for name, test := range map[string]struct {
		deployed, proposed map[string]string
		arguments          []string
		status             int
		says               string
	}{
		"ExportGone": {map[string]string{"shop": exports("", output), "user": imports},
			map[string]string{"shop": exports("", "")}, nil, 1,
			"refusal shop/export:Out\n  what: Out (Output)\n  got:  the export shop:Q goes; it is imported by user"},
		"ExportRenamed": {map[string]string{"shop": exports("", output), "user": imports},
			map[string]string{"shop": exports("", strings.Replace(output, "shop:Q", "shop:R", 1))}, nil, 1,
			"the export shop:Q is renamed to shop:R; it is imported by user"},
		"ExportChanged": {map[string]string{"shop": exports("", output), "user": imports},
			map[string]string{"shop": exports("", strings.Replace(output, `{"Ref": "Q"}`, `"q"`, 1))}, nil, 1,
			"the value of the export shop:Q changes from Q to q; it is imported by user"},
		"ExportReplaced": {map[string]string{"shop": exports("", output), "user": imports},
			map[string]string{"shop": exports(`"FifoTopic": true`, output)}, nil, 1,
			"the value of the export shop:Q is of Q, which is replaced; it is imported by user"},
		"ExportUnused": {map[string]string{"shop": exports("", output), "user": nothing},
			map[string]string{"shop": exports("", "")}, nil, 0, "nothing speaks against"},
		"ExportOfOwnStack": {map[string]string{"shop": exports("", output), "user": imports, "forbidden": nothing},
			map[string]string{"shop": exports("", ""), "user": nothing}, nil, 1,
			"the export shop:Q goes; it is imported by user"},
		"ExportUnknown": {map[string]string{"shop": exports("", output), "forbidden": nothing},
			map[string]string{"shop": exports("", "")}, nil, 0, "warning shop/exports:Out"},
		"NestedLoss": {map[string]string{"shop": nested("a", `"Name": "n"`), "shop-Nested": bucket},
			map[string]string{"shop": nested("b", `"Name": "n"`), "inner": nothing}, []string{"--stack", "shop"}, 1,
			"refusal " + nestedID + "drop:B"},
		"NestedParameter": {map[string]string{"shop": nested("a", `"Name": "n"`), "shop-Nested": bucket},
			map[string]string{"shop": nested("a", `"Name": "m"`), "inner": bucket}, []string{"--stack", "shop"}, 1,
			"refusal " + nestedID + "rename:B"},
		"NestedSame": {map[string]string{"shop": nested("a", `"Name": "n"`), "shop-Nested": bucket},
			map[string]string{"shop": nested("a", `"Name": "n"`), "inner": bucket}, []string{"--stack", "shop"}, 0,
			"nothing speaks against"},
		"NestedUnknown": {map[string]string{"shop": nested("a", "")},
			map[string]string{"shop": nested("b", ""), "inner": bucket}, []string{"--stack", "shop"}, 0,
			"warning shop/nested:Nested"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployed := map[string]deployedStack{}
			for stack, template := range test.deployed {
				deployed[stack] = deployedStack{"UPDATE_COMPLETE", template}
			}
			status, stdout, stderr := checked(t, cloudFormation(t, deployed),
				append([]string{"--assembly", assemblytest.Write(t, here, test.proposed)}, test.arguments...)...)
			if status != test.status || !strings.Contains(stdout, test.says) || strings.Contains(stdout, "URLSuffix") {
				t.Errorf("got %d\n%s%s", status, stdout, stderr)
			}
		})
	}
}

// TestCheckNestedAgainst finds the deployed template of a nested stack without AWS, in the folder of its parent's.
func TestCheckNestedAgainst(t *testing.T) {
	t.Parallel()
	const (
		parent = `{"Resources": {"Nested": {"Type": "AWS::CloudFormation::Stack",
			"Metadata": {"aws:asset:path": "inner.template.json"},
			"Properties": {"TemplateURL": "%s", "Parameters": {"Name": "%[1]s"}}}}}`
		bucket = `{"Resources": {"B": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Ref": "Name"}}}}, "Parameters": {"Name": {"Type": "String"}}}`
		here   = "aws://111122223333/eu-west-1"
	)
	before := assemblytest.Write(t, here, map[string]string{"shop": fmt.Sprintf(parent, "a"), "inner": bucket})
	after := assemblytest.Write(t, here, map[string]string{"shop": fmt.Sprintf(parent, "b"), "inner": bucket})
	against := func() (int, string, string) {
		return checked(t, "http://127.0.0.1:1", "--assembly", after, "--stack", "shop", "--against",
			filepath.Join(before, "shop.template.json"))
	}
	if status, stdout, stderr := against(); status != 1 || !strings.Contains(stdout, "refusal shop/Nested/rename:B") ||
		!strings.Contains(stdout, "the name of the bucket changes from a to b") {
		t.Errorf("got %d\n%s%s", status, stdout, stderr)
	}
	must.OK(t, os.Remove(filepath.Join(before, "inner.template.json")))
	if status, stdout, stderr := against(); status != 0 || !strings.Contains(stdout, "warning shop/nested:Nested") {
		t.Errorf("without its template: got %d\n%s%s", status, stdout, stderr)
	}
}

// TestCheckStages: the stacks of two stages may have one name, and each is itself.
func TestCheckStages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	artifacts := map[string]any{}
	for stage, region := range map[string]string{"Dev": "eu-west-1", "Prod": "eu-west-1"} {
		nested := assemblytest.Write(t, "aws://111122223333/"+region, map[string]string{"shop": `{"Resources": {}}`})
		must.OK(t, os.CopyFS(filepath.Join(dir, "assembly-"+stage), os.DirFS(nested)))
		manifest := filepath.Join(dir, "assembly-"+stage, "manifest.json")
		text := must.Get(os.ReadFile(manifest))(t)
		named := strings.Replace(string(text), `"environment":`, `"displayName":"`+stage+`/shop","environment":`, 1)
		must.OK(t, os.WriteFile(manifest, []byte(named), 0o600))
		artifacts["assembly-"+stage] = map[string]any{"type": "cdk:cloud-assembly",
			"properties": map[string]any{"directoryName": "assembly-" + stage}}
	}
	manifest := must.Get(json.Marshal(map[string]any{"artifacts": artifacts}))(t)
	must.OK(t, os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o600))
	endpoint := cloudFormation(t, map[string]deployedStack{
		"shop": {"UPDATE_COMPLETE", `{"Resources": {"B": {"Type": "AWS::S3::Bucket"}}}`}})
	for name, test := range map[string]struct {
		arguments []string
		status    int
		says      string
	}{
		"Both": {nil, 1, "Dev/shop:\n\nrefusal Dev/shop/drop:B"},
		"One":  {[]string{"--stack", "Prod/shop"}, 1, "Prod/shop:\n\nrefusal Prod/shop/drop:B"},
		"Stage": {[]string{"--stack", "Prod/*", "--accept", "Prod/shop/drop:B"}, 0,
			"accepted refusal Prod/shop/drop:B"},
		"Nested": {[]string{"--assembly", filepath.Join(dir, "assembly-Dev"), "--accept", "Dev/shop/drop:B"}, 0,
			"accepted refusal Dev/shop/drop:B"},
		"Ambiguous": {[]string{"--stack", "shop"}, 64, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := checked(t, endpoint, append([]string{"--assembly", dir}, test.arguments...)...)
			if status != test.status || !strings.Contains(stdout, test.says) {
				t.Errorf("got %d\n%s%s", status, stdout, stderr)
			}
			if name == "Ambiguous" && !strings.Contains(stderr, "write which, such as Dev/shop") {
				t.Errorf("got %s", stderr)
			}
		})
	}
}

// TestCheckAsJSON: programs get the same findings, and a file needs no AWS.
func TestCheckAsJSON(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deployed.json")
	must.OK(t, os.WriteFile(file,
		[]byte(`{"Resources": {"B": {"Type": "AWS::S3::Bucket"}, "Q": {"Type": "AWS::SQS::Queue"}}}`),
		0o600))
	dir := assemblytest.Write(t, "aws://unknown-account/unknown-region", map[string]string{"shop": `{"Resources": {}}`})
	status, stdout, stderr := checked(t, "http://127.0.0.1:1", "--assembly", dir, "--against", file, "--format", "json",
		"--accept", "shop/drop:Q")
	var got struct {
		Stacks []checkedStack
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 1 || len(got.Stacks) != 1 {
		t.Fatalf("got %d\n%s%s%v", status, stdout, stderr, err)
	}
	findings := got.Stacks[0].Findings
	if len(findings) != 2 || findings[0].ID != "shop/drop:B" || findings[0].Accepted ||
		findings[1].ID != "shop/drop:Q" || !findings[1].Accepted || len(findings[0].Steps) == 0 {
		t.Errorf("got %+v", findings)
	}
	if status, _, stderr := checked(t, "http://127.0.0.1:1", "--assembly", dir); status != 2 ||
		!strings.Contains(stderr, "could not check") {
		t.Errorf("without AWS: got %d %s", status, stderr)
	}
}

// TestCheckUnchecked: programs see which stack could not be checked, and why.
func TestCheckUnchecked(t *testing.T) {
	t.Parallel()
	dir := assemblytest.Write(t, "aws://111122223333/eu-west-1",
		map[string]string{"forbidden": `{"Resources": {}}`, "new": `{"Resources": {}}`})
	status, stdout, stderr := checked(t, cloudFormation(t, nil), "--assembly", dir, "--format", "json")
	var got struct {
		Stacks []checkedStack
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 2 || len(got.Stacks) != 2 {
		t.Fatalf("got %d\n%s%s%v", status, stdout, stderr, err)
	}
	if forbidden := got.Stacks[0]; forbidden.New || !strings.Contains(forbidden.Error, "a permission is missing") ||
		forbidden.Findings == nil {
		t.Errorf("got %+v", forbidden)
	}
	if fresh := got.Stacks[1]; !fresh.New || fresh.Error != "" || fresh.Account != "111122223333" {
		t.Errorf("got %+v", fresh)
	}
}

// TestCheckFirstRun: who has not set up AWS yet is told what to do, once.
func TestCheckFirstRun(t *testing.T) {
	t.Parallel()
	configuration := filepath.Join(t.TempDir(), "config")
	must.OK(t, os.WriteFile(configuration, []byte("[profile left]\nregion = eu-west-1\nsso_start_url = "+
		"https://example.com/start\nsso_region = eu-west-1\nsso_account_id = 111122223333\nsso_role_name = dev\n"),
		0o600))
	const here, anywhere = "aws://111122223333/eu-west-1", "aws://unknown-account/unknown-region"
	keys := []string{"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret"}
	for name, test := range map[string]struct {
		assembly    string
		environment []string
		complains   string
	}{
		"NoCredentials": {here, nil, "got no AWS credentials: sign in (aws sso login, or as you do), or choose a " +
			"profile with AWS_PROFILE"},
		"SignedOut": {here, []string{"AWS_CONFIG_FILE=" + configuration, "AWS_PROFILE=left"},
			"got no AWS credentials: sign in (aws sso login"},
		"NoProfile": {here, []string{"AWS_CONFIG_FILE=" + configuration, "AWS_PROFILE=right"},
			"got an unknown profile: set AWS_PROFILE to one of aws configure list-profiles: "},
		"NoRegion": {anywhere, keys, "got no Region: set AWS_REGION"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := assemblytest.Write(t, test.assembly, map[string]string{"shop": `{"Resources": {}}`,
				"till": `{"Resources": {}}`})
			status, _, stderr := invokeIn(t, test.environment, "check", "--assembly", dir)
			if status != 2 || !strings.Contains(stderr, test.complains) {
				t.Errorf("got %d %s", status, stderr)
			}
			if once := strings.Contains(test.complains, "credentials") ||
				strings.Contains(test.complains, "profile"); once && strings.Count(stderr, test.complains) != 1 {
				t.Errorf("said more than once: %s", stderr)
			}
		})
	}
}

// TestCheckRegion: the Region of a stack comes before that of the command.
func TestCheckRegion(t *testing.T) {
	t.Parallel()
	dir := assemblytest.Write(t, "aws://111122223333/eu-west-1", map[string]string{"shop": `{"Resources": {}}`})
	environment := []string{"AWS_ENDPOINT_URL=" + cloudFormation(t, nil), "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret"}
	if status, stdout, stderr := invokeIn(t, environment, "check", "--assembly", dir); status != 0 ||
		!strings.HasPrefix(stdout, "shop: not deployed yet in eu-west-1,") {
		t.Errorf("got %d %s%s", status, stdout, stderr)
	}
}

// TestCheckDocument: what docs/guide/deploy.md shows is what the command prints.
func TestCheckDocument(t *testing.T) {
	t.Parallel()
	document := must.Get(os.ReadFile("../../docs/guide/deploy.md"))(t)
	_, documented, found := strings.Cut(string(document), "$ onesynth check --assembly cdk.out\n")
	documented, _, closed := strings.Cut(documented, "```")
	if !found || !closed {
		t.Fatal("docs/guide/deploy.md shows no check")
	}
	const deployed = "../../check/testdata/todo.template.json"
	text := must.Get(os.ReadFile(deployed))(t)
	text = []byte(strings.Replace(string(text), `"onesynth": {`,
		`"onesynth:Todo/Database/AppData": {"table": "AppData", "resource": "TodoDatabaseAppDataA1556560", "timeToLive": "expiration_timestamp"}, "onesynth": {`, 1))
	const id, attribute = `"TodoDatabaseAppDataA1556560": {`, `"AttributeName": "expiration_timestamp",
     "Enabled"`
	proposed := strings.Replace(string(text), id,
		id+`"Metadata": {"aws:cdk:path": "onesynth-todo-prod/Todo/Database/AppData/Resource/Resource"},`, 1)
	proposed = strings.Replace(proposed, `"timeToLive": "expiration_timestamp"`, `"timeToLive": "ttl"`, 1)
	proposed = strings.Replace(proposed, attribute, `"AttributeName": "ttl", "Enabled"`, 1)
	dir := assemblytest.Write(t, "aws://unknown-account/unknown-region",
		map[string]string{"onesynth-todo-prod": proposed})
	if status, stdout, stderr := checked(t, "http://127.0.0.1:1", "--assembly", dir, "--against",
		deployed); status != 1 || !strings.HasPrefix(stdout+stderr, documented+"see https://") {
		t.Errorf("got %d\n%s%s, the document has\n%s", status, stdout, stderr, documented)
	}
}
