package bedrock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse/conversetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/bedrock"
)

// A function reaches a model only as its role allows, at the endpoint that the developer names. Without one it learns
// at once what to do.
func TestModels(t *testing.T) {
	t.Parallel()
	const lite, profile = "amazon.nova-lite-v1:0", "eu.amazon.nova-lite-v1:0"
	arn := func(account, resource string) string { return "arn:aws:bedrock:us-east-1:" + account + ":" + resource }
	grants := func(actionsAndResources ...string) string {
		var statements []string
		for i := 0; i < len(actionsAndResources); i += 2 {
			statements = append(statements, fmt.Sprintf(`{"Effect": "Allow", "Action": %q, "Resource": %q}`,
				actionsAndResources[i], actionsAndResources[i+1]))
		}
		return "[" + strings.Join(statements, ",") + "]"
	}
	application := arn("000000000000", "application-inference-profile/a1")
	guarded := map[string]string{"GUARDRAIL_ID": "a1b2", "GUARDRAIL_VERSION": "1"}
	invoke := "bedrock:InvokeModel"
	for name, test := range map[string]struct {
		model      string
		variables  map[string]string
		statements string
		none       bool // there is no endpoint of models
		want       string
		forwarded  int
	}{
		"OK": {lite, nil, grants(invoke, arn("", "foundation-model/"+lite)), false, "", 1},
		"OKProfile": {profile, nil, grants(invoke, arn("000000000000", "inference-profile/"+profile)), false, "",
			1},
		"OKApplication": {application, nil, grants(invoke, application), false, "", 1},
		"OKGuardrail": {lite, guarded, grants(invoke, arn("", "foundation-model/"+lite), "bedrock:ApplyGuardrail",
			arn("000000000000", "guardrail/a1b2")), false, "", 1},
		"ErrNone": {lite, nil, grants(invoke, arn("", "foundation-model/"+lite)), true,
			"AWS_ENDPOINT_URL_BEDROCK_RUNTIME", 0},
		"ErrModel": {lite, nil, grants(invoke, arn("", "foundation-model/other")), false, "is not authorized to " +
			"perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1::foundation-model/" + lite, 0},
		"ErrProfile": {profile, nil, grants(invoke, arn("", "foundation-model/"+lite)), false, "bedrock:InvokeModel",
			0},
		"ErrGuardrail": {lite, guarded, grants(invoke, arn("", "foundation-model/"+lite)), false,
			"bedrock:ApplyGuardrail", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded := assemblytest.Load(t, `{"Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "reader"}},
				"Policy": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": `+test.statements+`}}}}`)
			models := conversetest.Start(t, conversetest.Says("all right", "end_turn"))
			address := *models.Environment(nil).AWS.BaseEndpoint
			if test.none {
				address = ""
			}
			service := must.Get(bedrock.New(address))(t)
			config := awstest.Listen(t, aws.New(aws.Options{}, map[string]aws.Service{"bedrock": service}), loaded)
			client := must.Get(converse.Open(kit.Environment{
				AWS: config,
				Getenv: func(name string) string {
					if name == "MODEL_ID" {
						return test.model
					}
					return test.variables[name]
				},
			}))(t)
			got, err := client.Converse(t.Context(), converse.Request{System: "judge", User: "an answer"})
			if test.want == "" && (err != nil || got != "all right") ||
				test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			requests := models.Requests()
			if len(requests) != test.forwarded ||
				test.forwarded > 0 && (requests[0].Model != test.model || requests[0].User != "an answer") {
				t.Errorf("forwarded: got %+v, want %d", requests, test.forwarded)
			}
		})
	}
}

func TestModelsErrURL(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"localhost:1234", "ftp://localhost", "http://", "%"} {
		if _, err := bedrock.New(wrong); err == nil || !strings.Contains(err.Error(), "http://HOST:PORT") {
			t.Errorf("%q: got %v, want that it is refused", wrong, err)
		}
	}
}
