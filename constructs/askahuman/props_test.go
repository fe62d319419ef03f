package askahuman_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
)

// partial is a secret whose ARN is not known to its end.
type partial struct{ awssecretsmanager.ISecret }

func (partial) SecretArn() *string {
	return jsii.String("arn:aws:secretsmanager:eu-west-1:123456789012:secret:push")
}
func (partial) SecretFullArn() *string { return nil }

// firebase has the form of what the Firebase console gives.
var firebase = askahuman.Firebase{
	APIKey: "AIzaSyA-example-of-an-api-key_0123456789", ProjectID: "asks-example",
	AppID:    "1:123456789012:web:0123456789abcdef012345",
	VAPIDKey: "B" + strings.Repeat("Example", 12) + "01",
}

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	synthtest.Validate(t, map[string]synthtest.Case[askahuman.Props]{
		"Zero": {askahuman.Props{}, nil},
		"Open": {askahuman.Props{OpenAgents: true}, nil},
		"Issuer": {askahuman.Props{Props: platform.Props{JWTIssuer: "https://a.example",
			JWTAudience: []string{"b"}}}, nil},
		"Agents": {askahuman.Props{Agents: []string{"mcp", "ci"}}, nil},
		"Keys": {askahuman.Props{Props: platform.Props{
			Tables: table.DatabaseOptions{Each: map[string]table.Options{"AgentKeys": {RecoveryDays: 7}}}},
			AgentKeys: true}, nil},
		"ErrKeysAndOpen": {askahuman.Props{AgentKeys: true, OpenAgents: true}, []string{"Props.AgentKeys"}},
		"ErrKeysAndIssuer": {askahuman.Props{Props: platform.Props{JWTIssuer: "https://a.example",
			JWTAudience: []string{"b"}}, AgentKeys: true}, []string{"Props.AgentKeys"}},
		"ErrKeysAndAgents": {askahuman.Props{AgentKeys: true, Agents: []string{"a"}}, []string{"Props.Agents"}},
		"ErrTableOfNoKeys": {askahuman.Props{Props: platform.Props{
			Tables: table.DatabaseOptions{Each: map[string]table.Options{"AgentKeys": {RecoveryDays: 7}}}}},
			[]string{`Props.Tables.Each["AgentKeys"]`}},
		"ErrOpenWithIssuer": {askahuman.Props{Props: platform.Props{JWTIssuer: "https://a.example",
			JWTAudience: []string{"b"}}, OpenAgents: true}, []string{"Props.OpenAgents"}},
		"ErrAgentsOfNoPool": {askahuman.Props{OpenAgents: true, Agents: []string{"a"}}, []string{"Props.Agents"}},
		"ErrAgentTwice":     {askahuman.Props{Agents: []string{"a", "b", "a"}}, []string{"Props.Agents[2]"}},
		"ErrManyAgents":     {askahuman.Props{Agents: numbered(51)}, []string{"Props.Agents"}},
		"ManyAgents":        {askahuman.Props{Agents: numbered(50)}, nil},
		"ErrShards":         {askahuman.Props{Shards: 257}, []string{"Props.Shards"}},
		"Growing":           {askahuman.Props{ReadShards: 8}, nil},
		"Shrinking":         {askahuman.Props{Shards: 8, ReadShards: 256}, nil},
		"ErrStandby": {askahuman.Props{WithoutWebhooks: true, Props: platform.Props{Standby: true}}, []string{
			`Props.Tables.Existing["Questions"]`, `Props.Tables.Existing["Responses"]`,
			`Props.Tables.Existing["Subscriptions"]`, `Props.Tables.Existing["UserStats"]`,
			`Props.Tables.Existing["Guards"]`, `Props.Tables.Existing["Reports"]`,
			`Props.Secrets["FingerprintSecret"]`, `Props.Secrets["FCMCredentials"]`, "Props.Operators.UserPool",
			"Props.JWTIssuer"}},
		"ErrReadShards":   {askahuman.Props{ReadShards: 257}, []string{"Props.ReadShards"}},
		"ErrReadFewer":    {askahuman.Props{Shards: 8, ReadShards: 7}, []string{"Props.ReadShards"}},
		"ErrReadNegative": {askahuman.Props{ReadShards: -1}, []string{"Props.ReadShards"}},
		"Rules": {askahuman.Props{
			RateLimits: map[string]askahuman.RateLimit{"read": {Requests: 1000},
				"create": {Requests: 1, Window: time.Minute}, "answer": {AddressRequests: 600},
				"subscribe": {AddressRequests: 10}},
			OpenQuestions: 10_000, Points: map[string]int{"text": 0, "streak_100": 1000}, DailyPoints: 1_000_000,
		}, nil},
		"ErrRules": {
			askahuman.Props{
				RateLimits: map[string]askahuman.RateLimit{
					"reads": {Requests: 1}, "create": {Requests: -1}, "poll": {AddressRequests: 6000},
					"answer": {Window: 90 * time.Millisecond}, "read": {Requests: 1_000_001},
					"subscribe": {AddressRequests: 9},
				},
				OpenQuestions: 10_001, Points: map[string]int{"txt": 1, "text": -1, "early": 100_001}, DailyPoints: -1,
			},
			[]string{
				`Props.RateLimits["reads"]`, `Props.Points["txt"]`,
				`Props.RateLimits["create"].Requests`, `Props.RateLimits["poll"].AddressRequests`,
				`Props.RateLimits["answer"].Window`, `Props.RateLimits["read"].Requests`,
				`Props.RateLimits["subscribe"].AddressRequests`,
				"Props.OpenQuestions", `Props.Points["early"]`, `Props.Points["text"]`, "Props.DailyPoints",
			},
		},
		"ErrNotifyEvery": {askahuman.Props{NotifyEvery: 90 * time.Second}, []string{"Props.NotifyEvery"}},
		"QuestionPath":   {askahuman.Props{QuestionURL: "/questions/{question_id}"}, nil},
		"QuestionFragment": {askahuman.Props{QuestionURL: "http://localhost:5173/#/answer?id={question_id}&from=push"},
			nil},
		"ErrNoPlaceholder": {askahuman.Props{QuestionURL: "https://a.example/q/"}, []string{"Props.QuestionURL"}},
		"ErrPlaceholders": {askahuman.Props{QuestionURL: "https://a.example/{question_id}/{question_id}"},
			[]string{"Props.QuestionURL"}},
		"ErrPlaceholder": {askahuman.Props{QuestionURL: "https://a.example/{id}/{question_id}"},
			[]string{"Props.QuestionURL"}},
		"ErrQuestionHost": {askahuman.Props{QuestionURL: "//a.example/{question_id}"}, []string{"Props.QuestionURL"}},
		"ErrQuestionPath": {askahuman.Props{QuestionURL: "q/{question_id}"}, []string{"Props.QuestionURL"}},
		"ErrQuestionScheme": {askahuman.Props{QuestionURL: "javascript:alert({question_id})"},
			[]string{"Props.QuestionURL"}},
		"ErrLongQuestion": {askahuman.Props{QuestionURL: "https://a.example/" + strings.Repeat("a", 1024) +
			"{question_id}"}, []string{"Props.QuestionURL"}},
		"ErrTokenQuestion": {askahuman.Props{QuestionURL: "https://${Token[TOKEN.1]}/q"},
			[]string{"Props.QuestionURL"}},
		"OfAnotherStack": {askahuman.Props{
			Props: platform.Props{
				AllowedOrigins: []string{"https://${Token[TOKEN.1]}"}, JWTIssuer: "${Token[TOKEN.2]}",
				JWTAudience: []string{"${Token[TOKEN.3]}"},
				DomainName:  "${Token[TOKEN.4]}", CertificateARN: "${Token[TOKEN.5]}",
			},
			QuestionURL: "https://${Token[TOKEN.1]}/q/{question_id}",
		}, nil},
		"Firebase": {askahuman.Props{Firebase: firebase}, nil},
		"FirebaseTokens": {askahuman.Props{Firebase: askahuman.Firebase{APIKey: "${Token[TOKEN.1]}",
			ProjectID: "${Token[TOKEN.2]}", AppID: "${Token[TOKEN.3]}", VAPIDKey: "${Token[TOKEN.4]}"}}, nil},
		"ErrFirebasePart": {askahuman.Props{Firebase: askahuman.Firebase{ProjectID: "asks-example"}},
			[]string{"Props.Firebase.APIKey", "Props.Firebase.AppID", "Props.Firebase.VAPIDKey"}},
		"ErrFirebase": {
			askahuman.Props{Firebase: askahuman.Firebase{APIKey: "a key", ProjectID: "Asks", AppID: "1:1:ios:0",
				VAPIDKey: firebase.VAPIDKey + "="}},
			[]string{"Props.Firebase.APIKey", "Props.Firebase.ProjectID", "Props.Firebase.AppID",
				"Props.Firebase.VAPIDKey"},
		},
		"Links": {askahuman.Props{Links: []askahuman.Link{{Name: "Privacy", URL: "https://example.com/privacy"},
			{Name: "Contact", URL: "mailto:ask@example.com"}, {Name: "About", URL: "/about"},
			{Name: "Later", URL: "${Token[TOKEN.2]}"}}}, nil},
		"ErrLinks": {askahuman.Props{Links: []askahuman.Link{{URL: "javascript:alert(1)"},
			{Name: strings.Repeat("a", 41), URL: "//example.com"}, {Name: "About", URL: "http://example.com"},
			{}, {}, {}, {}}},
			[]string{"Props.Links[0].Name", "Props.Links[0].URL", "Props.Links[1].Name", "Props.Links[1].URL",
				"Props.Links[2].URL", "Props.Links[3].Name", "Props.Links[3].URL", "Props.Links[4].Name",
				"Props.Links[4].URL", "Props.Links[5].Name", "Props.Links[5].URL", "Props.Links[6].Name",
				"Props.Links[6].URL", "Props.Links"}},
		"ErrLinksOfNoPage": {askahuman.Props{WithoutPage: true, Links: []askahuman.Link{{Name: "A", URL: "/a"}}},
			[]string{"Props.Links"}},
		"ErrFirebaseOfNoPage": {askahuman.Props{WithoutPage: true, Firebase: firebase}, []string{"Props.Firebase"}},
		"WithoutModeration":   {askahuman.Props{WithoutModeration: true}, nil},
		"Operators": {askahuman.Props{
			Operators: platform.UserProps{RequireMFA: true, CallbackURLs: []string{"https://a.example/in"}}}, nil},
		"OperatorPage": {askahuman.Props{OperatorPage: true}, nil},
		"ErrPageOfNoOperators": {askahuman.Props{OperatorPage: true, WithoutModeration: true},
			[]string{"Props.OperatorPage"}},
		"ErrPageOfIssuer": {askahuman.Props{Props: platform.Props{JWTIssuer: "https://a.example",
			JWTAudience: []string{"b"}}, OperatorPage: true}, []string{"Props.OperatorPage"}},
		"ErrOperatorsOfNoPool": {askahuman.Props{WithoutModeration: true,
			Operators: platform.UserProps{RequireMFA: true}}, []string{"Props.Operators"}},
		"ErrOperatorsOfIssuer": {askahuman.Props{
			Props:     platform.Props{JWTIssuer: "https://a.example", JWTAudience: []string{"b"}},
			Operators: platform.UserProps{RequireMFA: true}}, []string{"Props.Operators.RequireMFA"}},
		"ErrPartialSecret": {askahuman.Props{FCMCredentials: partial{}}, []string{"Props.FCMCredentials"}},
		"ErrNilSecret":     {askahuman.Props{FCMCredentials: (*partial)(nil)}, []string{"Props.FCMCredentials"}},
		"ErrTokensInNames": {askahuman.Props{Props: platform.Props{Prefix: "${Token[TOKEN.1]}"},
			Agents: []string{"${Token[TOKEN.2]}"}}, []string{"Props.Prefix", "Props.Agents[0]"}},
	})
}

// numbered returns that many names.
func numbered(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("agent", i))
	}
	return names
}

func TestNewErrProps(t *testing.T) {
	t.Parallel()
	synthtest.PanicsWithFindings(t, func() {
		askahuman.New(nil, "AskAHuman", askahuman.Props{Props: platform.Props{Prefix: "-", Architecture: "arm"},
			Shards: -1})
	}, "Props.Prefix", "Props.Architecture", "Props.Shards")
}
