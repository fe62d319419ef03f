package platform

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Both ways to a stack's outputs lead to the same target.
func TestTargetOfOutputs(t *testing.T) {
	const stack = "onesynth-askahuman-dev"
	t.Parallel()
	check := func(t *testing.T, outputs map[string]string) {
		t.Helper()
		target, err := onesynthtest.NewTarget("AskAHuman", outputs, nil)
		if err != nil {
			t.Fatal(err)
		}
		if target.URL != "https://abc.execute-api.eu-central-1.amazonaws.com" ||
			target.Tables["UserStats"] != "stats-1" || len(target.Tables) != 1 {
			t.Errorf("got %+v", target)
		}
	}
	t.Run("OfDeployment", func(t *testing.T) {
		t.Parallel()
		const file = `{"onesynth-askahuman-dev": {
			"AskAHumanApiUrl": "https://abc.execute-api.eu-central-1.amazonaws.com/",
			"AskAHumanUserStatsTableName": "stats-1"}}`
		outputs, err := outputsOf([]byte(file), stack)
		if err != nil {
			t.Fatal(err)
		}
		check(t, outputs)
		if _, err := outputsOf([]byte(file), "another"); err == nil {
			t.Error("got no error for a stack that was not deployed")
		}
	})
	t.Run("OfStack", func(t *testing.T) {
		t.Parallel()
		// The form of CloudFormation's DescribeStacks (AWS CloudFormation API reference).
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/xml")
			if r.FormValue("Action") != "DescribeStacks" || r.FormValue("StackName") != stack {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w,
					`<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack does not exist</Message></Error></ErrorResponse>`)
				return
			}
			fmt.Fprint(w,
				`<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
				<StackName>onesynth-askahuman-dev</StackName><StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>2026-02-02T09:30:00Z</CreationTime><Outputs>
				<member><OutputKey>AskAHumanApiUrl</OutputKey><OutputValue>https://abc.execute-api.eu-central-1.amazonaws.com/</OutputValue></member>
				<member><OutputKey>AskAHumanUserStatsTableName</OutputKey><OutputValue>stats-1</OutputValue></member>
				</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`)
		}))
		t.Cleanup(server.Close)
		client := cloudformation.New(cloudformation.Options{
			BaseEndpoint: &server.URL, Region: "eu-central-1", HTTPClient: server.Client(),
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		})
		outputs, err := stackOutputs(t.Context(), client, stack)
		if err != nil {
			t.Fatal(err)
		}
		check(t, outputs)
		if _, err := stackOutputs(t.Context(), client, "another"); err == nil {
			t.Error("got no error for a stack that does not exist")
		}
	})
}

// One error names all that is missing.
func TestUsable(t *testing.T) {
	t.Parallel()
	some := credentials.NewStaticCredentialsProvider("key", "secret", "")
	for name, test := range map[string]struct {
		configuration aws.Config
		want          string
	}{
		"OK":          {aws.Config{Region: "eu-central-1", Credentials: some}, ""},
		"ErrNoRegion": {aws.Config{Credentials: some}, "AWS_REGION"},
		"ErrNoCredentials": {aws.Config{Region: "eu-central-1",
			Credentials: credentials.NewStaticCredentialsProvider("", "", "")}, "AWS_PROFILE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := usable(t.Context(), test.configuration); (err == nil) != (test.want == "") ||
				err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v; want an error with %q", err, test.want)
			}
		})
	}
}
