package ssm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/ssm"
)

// ask makes a request as SDKs do (AWS JSON 1.1), and returns the answer's status and body.
func ask(t *testing.T, url, operation, input string) (int, map[string]any) {
	t.Helper()
	response, text, err := awstest.Exchange(t, http.MethodPost, url, input, http.Header{
		"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {"AmazonSSM." + operation},
		"Authorization": {awstest.Signed(awstest.AccessKey, "us-east-1", "ssm")}})
	must.OK(t, err)
	var body map[string]any
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	return response.StatusCode, body
}

func TestParameters(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:ssm:us-east-1:000000000000:parameter/"
	all := fmt.Sprintf(`{"Effect": "Allow", "Action": "ssm:*", "Resource": %q}`, arn+"*")
	of := func(action, name string) string {
		return fmt.Sprintf(`{"Effect": "Allow", "Action": %q, "Resource": %q}`, action, arn+name)
	}
	for name, test := range map[string]struct {
		statements, operation, input string
		want                         string // names and values, or the error's type
	}{
		"One":          {all, "GetParameter", `{"Name": "/company/ask/url"}`, "/company/ask/url=https://ask"},
		"OneByVersion": {all, "GetParameter", `{"Name": "/company/ask/url:1"}`, "/company/ask/url=https://ask"},
		"OtherVersion": {all, "GetParameter", `{"Name": "/company/ask/url:2"}`, "ParameterNotFound"},
		"OneByARN": {all, "GetParameter", `{"Name": "` + arn + `company/ask/url"}`,
			"/company/ask/url=https://ask"},
		"WithoutPath":    {all, "GetParameter", `{"Name": "owner"}`, "owner=platform"},
		"WithoutPathARN": {all, "GetParameter", `{"Name": "` + arn + `owner"}`, "owner=platform"},
		"Elsewhere": {all, "GetParameter", `{"Name": "/company/vpc", "WithDecryption": true}`,
			"/company/vpc=vpc-1"},
		"Unknown": {all, "GetParameter", `{"Name": "/company/none"}`, "ParameterNotFound"},
		"Granted": {of("ssm:GetParameter", "company/ask/url"), "GetParameter", `{"Name": "/company/ask/url"}`,
			"/company/ask/url=https://ask"},
		"NotGranted": {of("ssm:GetParameter", "company/ask/other"), "GetParameter", `{"Name": "/company/ask/url"}`,
			"AccessDeniedException"},
		"UnknownHidden": {of("ssm:GetParameter", "company/ask/url"), "GetParameter", `{"Name": "/company/none"}`,
			"AccessDeniedException"},
		"Several": {all, "GetParameters", `{"Names": ["owner", "/company/none", "/company/ask/url"]}`,
			"owner=platform /company/ask/url=https://ask unknown /company/none"},
		"SeveralNoGrant": {of("ssm:GetParameters", "owner"), "GetParameters",
			`{"Names": ["owner", "/company/ask/url"]}`, "AccessDeniedException"},
		"NoNames": {all, "GetParameters", `{"Names": []}`, "ValidationException"},
		"Path":    {all, "GetParametersByPath", `{"Path": "/company/ask"}`, "/company/ask/url=https://ask"},
		"PathRecursive": {of("ssm:GetParametersByPath", "company"), "GetParametersByPath",
			`{"Path": "/company/", "Recursive": true}`,
			"/company/ask/deep/tags=a,b /company/ask/url=https://ask /company/vpc=vpc-1"},
		"PathPage": {all, "GetParametersByPath",
			`{"Path": "/company", "Recursive": true, "MaxResults": 1, "NextToken": "1"}`,
			"/company/ask/url=https://ask more"},
		"PathNoGrant": {of("ssm:GetParametersByPath", "company/ask"), "GetParametersByPath", `{"Path": "/company"}`,
			"AccessDeniedException"},
		"PathWithoutRoot": {all, "GetParametersByPath", `{"Path": "company"}`, "ValidationException"},
		"PathTooMany": {all, "GetParametersByPath", `{"Path": "/company", "MaxResults": 11}`,
			"ValidationException"},
		"PathBadToken": {all, "GetParametersByPath", `{"Path": "/company", "NextToken": "x"}`, "InvalidNextToken"},
		"NotServed":    {all, "PutParameter", `{"Name": "owner", "Value": "x"}`, "UnknownOperationException"},
		"NoJSON":       {all, "GetParameter", `{"Name": 1}`, "SerializationException"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded := assemblytest.LoadFile(t, "testdata/parameters.json", "STATEMENTS", test.statements)
			config := awstest.Serve(t, "ssm", ssm.New(map[string]string{"/company/vpc": "vpc-1"}), loaded)
			status, answer := ask(t, *config.BaseEndpoint, test.operation, test.input)
			if diff := cmp.Diff(test.want, summary(answer)); diff != "" {
				t.Errorf("status %d, %v (-want +got):\n%s", status, answer, diff)
			}
			if failed := answer["__type"] != nil; failed != (status == http.StatusBadRequest) {
				t.Errorf("got status %d with %v", status, answer)
			}
		})
	}
}

// summary is the names and values of an answer, or the type of an error.
func summary(answer map[string]any) string {
	if kind, ok := answer["__type"].(string); ok {
		return kind[strings.LastIndex(kind, "#")+1:]
	}
	var parts []string
	list, _ := answer["Parameters"].([]any)
	if one := answer["Parameter"]; one != nil {
		list = append(list, one)
	}
	for _, entry := range list {
		entry := entry.(map[string]any)
		parts = append(parts, fmt.Sprint(entry["Name"], "=", entry["Value"]))
	}
	unknown, _ := answer["InvalidParameters"].([]any)
	for _, name := range unknown {
		parts = append(parts, fmt.Sprint("unknown ", name))
	}
	if answer["NextToken"] != nil {
		parts = append(parts, "more")
	}
	return strings.Join(parts, " ")
}
