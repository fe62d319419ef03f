package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// deployable writes an assembly of stacks with their templates; environment is the manifest's.
func deployable(t *testing.T, environment string, templates map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	artifacts := map[string]any{}
	for stack, template := range templates {
		if err := os.WriteFile(filepath.Join(dir, stack+".json"), []byte(template), 0o600); err != nil {
			t.Fatal(err)
		}
		artifacts[stack] = map[string]any{"type": "aws:cloudformation:stack", "environment": environment, "properties": map[string]any{"templateFile": stack + ".json"}}
	}
	manifest, err := json.Marshal(map[string]any{"artifacts": artifacts})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// deployedStack is one that the CloudFormation of a test has.
type deployedStack struct{ status, template string }

// cloudFormation speaks as much of CloudFormation's protocol (AWS Query: form in, XML out) as describes stacks.
func cloudFormation(t *testing.T, stacks map[string]deployedStack) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PostFormValue("StackName")
		stack, ok := stacks[name]
		if !strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/cloudformation/aws4_request") {
			t.Errorf("signed for %s", r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "text/xml")
		switch action := r.PostFormValue("Action"); {
		case name == "forbidden":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: cloudformation:DescribeStacks</Message></Error></ErrorResponse>`)
		case !ok:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id %s does not exist</Message></Error></ErrorResponse>`, name)
		case action == "DescribeStacks":
			fmt.Fprintf(w, `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
				<StackName>%[1]s</StackName><StackId>arn:aws:cloudformation:eu-west-1:111122223333:stack/%[1]s/id</StackId><StackStatus>%[2]s</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime>
				<Parameters><member><ParameterKey>Name</ParameterKey><ParameterValue>mine</ParameterValue></member><member><ParameterKey>Version</ParameterKey><ParameterValue>/path</ParameterValue><ResolvedValue>21</ResolvedValue></member></Parameters>
				</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`, name, stack.status)
		case action == "GetTemplate" && r.PostFormValue("TemplateStage") == "Original":
			fmt.Fprint(w, `<GetTemplateResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><GetTemplateResult><TemplateBody>`)
			if err := xml.EscapeText(w, []byte(stack.template)); err != nil {
				t.Error(err)
			}
			fmt.Fprint(w, `</TemplateBody></GetTemplateResult></GetTemplateResponse>`)
		default:
			t.Errorf("asked for %s %v", action, r.PostForm)
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// checked runs the check with AWS at the endpoint.
func checked(t *testing.T, endpoint string, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command, append([]string{"check"}, arguments...)...)
	c.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+endpoint, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=",
		"AWS_PROFILE=", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_MAX_ATTEMPTS=1")
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const (
		table     = `{"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Metadata": {"aws:cdk:path": "shop/T/Resource"}, "Properties": {"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}}}}`
		nothing   = `{"Resources": {}}`
		queue     = `{"Resources": {"T": {"Type": "AWS::SQS::Queue"}}}`
		parameter = `{"Parameters": {"Name": {"Type": "String", "Default": "theirs"}}, "Resources": {"B": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Ref": "Name"}}}}}`
		literal   = `{"Resources": {"B": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "mine"}}}}`
		here      = "aws://111122223333/eu-west-1"
		anywhere  = "aws://unknown-account/unknown-region"
	)
	deployed := func(template string) map[string]deployedStack {
		return map[string]deployedStack{"shop": {"UPDATE_COMPLETE", template}}
	}
	in := func(status string) map[string]deployedStack { return map[string]deployedStack{"shop": {status, table}} }
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
		"Same":           {deployed(table), anywhere, shop(table), nil, 0, "shop: nothing speaks against the deployment\n", ""},
		"First":          {nil, here, shop(table), nil, 0, "shop: not deployed yet in eu-west-1", ""},
		"Dropped":        {deployed(table), here, shop(nothing), nil, 1, "refusal shop/drop:T\n  what: shop/T/Resource (AWS::DynamoDB::Table)\n  got:  the table is no longer in the template\n  why:  CloudFormation deletes it", "--accept ID"},
		"Accepted":       {deployed(table), here, shop(nothing), []string{"--accept", "shop/drop:T"}, 0, "accepted refusal shop/drop:T", ""},
		"AcceptedOther":  {deployed(table), here, shop(nothing), []string{"--accept", "drop:T"}, 1, "\nrefusal shop/drop:T", "--accept drop:T: there is no such finding"},
		"Warned":         {deployed(queue), here, shop(nothing), nil, 0, "warning shop/drop:T", ""},
		"Parameter":      {deployed(parameter), here, shop(literal), nil, 0, "nothing speaks against", ""},
		"OtherAccount":   {deployed(table), "aws://444455556666/eu-west-1", shop(table), nil, 2, "", "the stack is for account 444455556666, and the credentials are for 111122223333"},
		"Forbidden":      {nil, here, map[string]string{"forbidden": table}, nil, 2, "", "could not check: stack forbidden: ask CloudFormation"},
		"Reviewed":       {in("REVIEW_IN_PROGRESS"), here, shop(nothing), nil, 0, "not deployed yet", ""},
		"NeverDeployed":  {in("ROLLBACK_COMPLETE"), here, shop(nothing), nil, 0, "not deployed yet", ""},
		"RolledBack":     {in("UPDATE_ROLLBACK_COMPLETE"), here, shop(nothing), nil, 1, "drop:T", "refused"},
		"CleaningUp":     {in("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"), here, shop(nothing), nil, 1, "drop:T", "refused"},
		"Updating":       {in("UPDATE_IN_PROGRESS"), here, shop(table), nil, 2, "", "the stack is UPDATE_IN_PROGRESS: wait"},
		"Stuck":          {in("UPDATE_ROLLBACK_FAILED"), here, shop(table), nil, 2, "", "roll it back first"},
		"DeployedYAML":   {deployed("Resources: {}"), here, shop(table), nil, 2, "", "deployed template: not a template in JSON"},
		"TwoStacks":      {deployed(table), here, map[string]string{"shop": nothing, "new": table}, nil, 1, "new: not deployed yet in eu-west-1: a first deployment has nothing to lose\nshop:\n\nrefusal shop/drop:T", "1 of the changes"},
		"OneOfTwo":       {deployed(table), here, map[string]string{"shop": nothing, "new": table}, []string{"--stack", "new"}, 0, "new: not deployed yet", ""},
		"UnknownStack":   {nil, here, shop(table), []string{"--stack", "shopp"}, 2, "", `got "shopp", allowed are shop`},
		"NoAssembly":     {nil, here, shop(table), []string{"--assembly", os.TempDir()}, 2, "", "make synth"},
		"AgainstOfTwo":   {nil, here, map[string]string{"shop": nothing, "new": table}, []string{"--against", os.DevNull}, 2, "", "--stack new or --stack shop"},
		"AgainstNoFile":  {nil, here, shop(table), []string{"--against", filepath.Join(os.TempDir(), "no", "file")}, 2, "", "could not check"},
		"AgainstNothing": {nil, here, shop(table), []string{"--against", os.DevNull}, 2, "", "not a template in JSON"},
		"UnknownFormat":  {nil, here, shop(table), []string{"--format", "xml"}, 2, "", "--format"},
		"BrokenProposal": {deployed(table), here, shop(`{"Resources": []}`), nil, 2, "", "shop.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := append([]string{"--assembly", deployable(t, test.environment, test.proposed)}, test.arguments...)
			status, stdout, stderr := checked(t, cloudFormation(t, test.deployed), arguments...)
			if status != test.status || !strings.Contains(stdout, test.says) || !strings.Contains(stderr, test.complains) {
				t.Errorf("got %d\n%s%s", status, stdout, stderr)
			}
		})
	}
}

// TestCheckAsJSON: programs get the same findings, and a file needs no AWS.
func TestCheckAsJSON(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deployed.json")
	if err := os.WriteFile(file, []byte(`{"Resources": {"B": {"Type": "AWS::S3::Bucket"}, "Q": {"Type": "AWS::SQS::Queue"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := deployable(t, "aws://unknown-account/unknown-region", map[string]string{"shop": `{"Resources": {}}`})
	status, stdout, stderr := checked(t, "http://127.0.0.1:1", "--assembly", dir, "--against", file, "--format", "json", "--accept", "shop/drop:Q")
	var got struct {
		Stacks []checkedStack
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 1 || len(got.Stacks) != 1 {
		t.Fatalf("got %d\n%s%s%v", status, stdout, stderr, err)
	}
	findings := got.Stacks[0].Findings
	if len(findings) != 2 || findings[0].ID != "shop/drop:B" || findings[0].Accepted || findings[1].ID != "shop/drop:Q" || !findings[1].Accepted || len(findings[0].Steps) == 0 {
		t.Errorf("got %+v", findings)
	}
	if status, _, stderr := checked(t, "http://127.0.0.1:1", "--assembly", dir); status != 2 || !strings.Contains(stderr, "could not check") {
		t.Errorf("without AWS: got %d %s", status, stderr)
	}
}

// TestCheckDocument: what docs/CHECK.md shows is what the command prints.
func TestCheckDocument(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/CHECK.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(document), "$ onesynth check --assembly cdk.out\n")
	shown, _, closed := strings.Cut(shown, "```")
	if !found || !closed {
		t.Fatal("docs/CHECK.md shows no check")
	}
	const deployed = "../../check/testdata/todo.template.json"
	text, err := os.ReadFile(deployed)
	if err != nil {
		t.Fatal(err)
	}
	const id, attribute = `"TodoDatabaseAppDataA1556560": {`, `"AttributeName": "expiration_timestamp",
     "Enabled"`
	proposed := strings.Replace(string(text), id, id+`"Metadata": {"aws:cdk:path": "onesynth-todo-prod/Todo/Database/AppData/Resource/Resource"},`, 1)
	proposed = strings.Replace(proposed, attribute, `"AttributeName": "ttl", "Enabled"`, 1)
	dir := deployable(t, "aws://unknown-account/unknown-region", map[string]string{"onesynth-todo-prod": proposed})
	if status, stdout, stderr := checked(t, "http://127.0.0.1:1", "--assembly", dir, "--against", deployed); status != 1 || stdout+stderr != shown {
		t.Errorf("got %d\n%s%s, the document has\n%s", status, stdout, stderr, shown)
	}
}
