package askahuman

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"

	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// maximumShards is how many partitions a request may have to read: enough for
// 100,000 answers a second (docs/operate/scale.md).
const maximumShards = 256

// Props configure Ask-a-Human. The zero value gives all of it with secure
// defaults.
type Props struct {
	// Props are the props of every platform. JWTIssuer issues the tokens of agents. LocalPort is 8080 by default. The
	// route on which people subscribe has a default throttle of 100 requests a second with bursts of 200. Functions are
	// "agentapi", "humanapi", "notifier", "moderationapi", "webpage", "operatorpage", "mcpapi", "webhookqueuer" and
	// "webhooksender". By default the notifier has 55 seconds, "agentapi" and "mcpapi" have 25, and "webhooksender" has
	// 15.
	platform.Props

	// OpenAgents lets anyone ask, and takes the agent's identity from the
	// X-Agent-Id header. It is meant for development. Default: agents need a JSON
	// Web Token, and the agent is its subject.
	OpenAgents bool
	// AgentKeys admits the agents that show a key, as a bearer token or as X-Agent-Id, the one header that published
	// clients send. The command "onesynth agent" issues, lists and revokes keys; the table AgentKeys has their hashes.
	// Default: as without OpenAgents.
	AgentKeys bool
	// Agents names the agents for which the construct's own user pool has clients: at most 50. Default: one, called
	// "agent".
	Agents []string

	// WithoutModeration leaves out reports, the routes of operators and their user pool. Default: people
	// and agents report, and operators hide and block.
	WithoutModeration bool
	// OperatorPage adds the page /operator, on which operators sign in at the construct's own user pool and moderate.
	// They stay signed in for up to 12 hours. Default: there is none, and operators call the API.
	OperatorPage bool
	// Operators says how the people who moderate sign in. Their issuer has to name the group "operators" in their
	// tokens. Default: a user pool of the construct's own, to which only administrators invite people, or the
	// JWTIssuer.
	Operators platform.UserProps

	// FCMCredentials is an existing secret with the service account key for Firebase Cloud Messaging, by its whole ARN.
	// If a key of AWS KMS encrypts it, pass that key, too (Secret_FromSecretAttributes), so that the notifier may use
	// it. Default: the construct's own secret, which you fill in.
	FCMCredentials awssecretsmanager.ISecret `json:"-"`

	// Shards is how many partitions each shared key, of the open questions and the leaderboards, is spread over. One
	// partition takes 1,000 writes a second; a feed or a leaderboard reads every one. docs/operate/scale.md says how to
	// change it on a live table. Allowed: 1 to 256. Default: 1, as in the origin.
	Shards int `min:"1" max:"256" default:"1"`
	// ReadShards is the number of shards that functions read: the highest number of Shards that the tables have had, or
	// will have next. Allowed: Shards to 256. Default: Shards.
	ReadShards int
	// RateLimits change the limits of one caller's requests, by name: "create" and "poll" of an agent, "answer", "read"
	// and "subscribe" of a person. Default: those of [askahuman.DefaultRules].
	RateLimits map[string]RateLimit
	// OpenQuestions is how many questions of one agent may be open or partial: 1 to
	// 10,000. Default: 100.
	OpenQuestions int
	// Points change the points for each action, 0 to 100,000, by the names of [askahuman.PointsText] and those after
	// it, such as "text" or "streak_7". Default: those of [askahuman.DefaultRules].
	Points map[string]int
	// DailyPoints is how many points a person can earn on one UTC day: 1 to 1,000,000. Answers beyond them count for
	// badges and streaks. Default: 500.
	DailyPoints int
	// ShareOptions tells people what others chose: from five answers to a multiple choice question on, the receipt of
	// an answer has the share of each option, and never a text. Reading them costs a read unit for about ten answers. A
	// person with several fingerprints can see the shares with one, and then answer with another. Default: the agent
	// alone learns them.
	ShareOptions bool
	// NotifyEvery is how often the notifier runs, in whole minutes up to an hour.
	// Default: 1 minute.
	NotifyEvery time.Duration `min:"1m" max:"1h" step:"1m" default:"a minute"`
	// QuestionURL is where people answer a question. Notifications link there, with the question's id for
	// {question_id}. It is an http or https URL, such as "https://example.com/questions/{question_id}", or a path of
	// the page that subscribed. Default: "/q/{question_id}".
	QuestionURL string

	// WithoutWaiting leaves out the parameters wait and seen, with which an agent's read of a question
	// waits for news. Default: reads can wait, for 20 seconds at most.
	WithoutWaiting bool

	// WithoutPage leaves out the page for people, and the function that serves it. Default: the API
	// serves the page at "/", and the questions at "/q/{question_id}".
	WithoutPage bool
	// Firebase are the public settings of a web app of the Firebase project to which the key in FCMCredentials belongs.
	// With them the page offers notifications. Default: it offers none.
	Firebase Firebase
	// Links are pages of whoever runs this one, such as an imprint, a privacy notice or contacts, at most 6. They
	// stand at the foot of each view of the page for people. Default: none.
	Links []Link
	// WithoutWebhooks leaves out the stream of the table Questions, and the queue and the functions that send
	// webhooks. An ask with a callback_url is then refused. Default: agents may name an endpoint.
	WithoutWebhooks bool
	// WithoutMCP leaves out the server of the Model Context Protocol, POST /mcp. Default: it is there.
	WithoutMCP bool
}

// longestQuestionURL is in bytes: it is one of the functions' variables.
const longestQuestionURL = 1024

// questionURL takes the characters of RFC 3986, and the placeholder once.
var questionURL = regexp.MustCompile(
	`^(https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?)?/([A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)\{question_id\}([A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)$`)

// isQuestionURL reports whether notifications can link there. A path that begins
// with two slashes names a host.
func isQuestionURL(text string) bool {
	if props.IsToken(text) {
		return strings.Count(text, "{question_id}") == 1
	}
	return len(text) <= longestQuestionURL && questionURL.MatchString(text) && !strings.HasPrefix(text, "//")
}

// Validate returns a [finding.List] with all invalid props, or nil. [New] does the same first, and
// also checks what depends on the stack's region.
func (p Props) Validate() error { return p.declaration().Validate(p.Described()) }

func (p Props) check(f *finding.List, region string) {
	if p.AgentKeys && p.OpenAgents {
		f.Add("Props.AgentKeys", true, "false with OpenAgents",
			"choose: agents either show a key or are trusted without")
	}
	if p.AgentKeys && p.JWTIssuer != "" {
		f.Add("Props.AgentKeys", true, "false with a JWTIssuer", "choose: agents show either a key or a token")
	}
	if p.OpenAgents && p.JWTIssuer != "" {
		f.Add("Props.OpenAgents", true, "false with a JWTIssuer",
			"choose: agents either show a token or are trusted without")
	}
	if len(p.Agents) > 0 && (p.OpenAgents || p.AgentKeys || p.JWTIssuer != "") {
		f.Add("Props.Agents", p.Agents, "empty with OpenAgents, AgentKeys or a JWTIssuer",
			"agents are then not clients of a user pool here: leave it empty")
	}
	if len(p.Agents) > httpapi.MaximumAudiences {
		f.Add("Props.Agents", fmt.Sprintf("%d names", len(p.Agents)), "at most 50",
			"let several agents share a client, or use a JWTIssuer whose tokens share an audience")
	}
	if props.CheckResource(f, "Props.FCMCredentials", p.FCMCredentials, region) &&
		p.FCMCredentials.SecretFullArn() == nil {
		f.Add("Props.FCMCredentials", *p.FCMCredentials.SecretArn(),
			"a secret by its whole ARN, with the six characters at its end", "pass Secret_FromSecretCompleteArn")
	}
	identity.CheckClients(f, "Props.Agents", p.Agents)
	f.Limits("Props", p)
	if p.ReadShards != 0 && (p.ReadShards < p.Shards || p.ReadShards < 0 || p.ReadShards > maximumShards) {
		f.Add("Props.ReadShards", p.ReadShards, "Shards to 256",
			"leave it 0 for Shards; it is more while the number of shards changes")
	}
	if p.WithoutModeration && !reflect.ValueOf(p.Operators).IsZero() {
		f.Add("Props.Operators", "props of a user pool", "none with WithoutModeration", "leave one of the two out")
	}
	if p.OperatorPage && !p.hasOperatorPage() {
		f.Add("Props.OperatorPage", true, "false with WithoutModeration, a JWTIssuer or Operators.UserPool",
			"leave one of the two out: the page signs operators in at the construct's own user pool")
	}
	p.checkRules(f)
	if p.QuestionURL != "" && !isQuestionURL(p.QuestionURL) {
		f.Add("Props.QuestionURL", p.QuestionURL,
			`an http or https URL of up to 1,024 bytes, or a path that begins with one slash, with {question_id} once`,
			`write it such as "https://example.com/questions/{question_id}"`)
	}
	p.Firebase.check(f, "Props.Firebase")
	if p.WithoutPage && p.Firebase != (Firebase{}) {
		f.Add("Props.Firebase", "settings", "none with WithoutPage", "leave them out: only the page uses them")
	}
	for i, link := range p.Links {
		link.check(f, fmt.Sprintf("Props.Links[%d]", i))
	}
	if len(p.Links) > 6 {
		f.Add("Props.Links", fmt.Sprintf("%d links", len(p.Links)), "at most 6", "let one of them lead to the others")
	}
	if p.WithoutPage && len(p.Links) > 0 {
		f.Add("Props.Links", fmt.Sprintf("%d links", len(p.Links)), "none with WithoutPage",
			"leave them out: only the page shows them")
	}
}

// hasOperatorPage reports whether the stack has a page for operators, at a user pool of its own.
func (p Props) hasOperatorPage() bool {
	return p.OperatorPage && !p.WithoutModeration && p.JWTIssuer == "" && p.Operators.UserPool == nil
}

// parts are the parts of the platform that the stack has.
func (p Props) parts() askahuman.Parts {
	return askahuman.Parts{
		AgentKeys: p.AgentKeys, ShareOptions: p.ShareOptions, WithoutWaiting: p.WithoutWaiting,
		WithoutModeration: p.WithoutModeration, WithoutPage: p.WithoutPage,
		OperatorPage:    p.hasOperatorPage(),
		WithoutWebhooks: p.WithoutWebhooks, WithoutMCP: p.WithoutMCP,
	}
}

// Described returns the platform with the parts that the props choose.
func (p Props) Described() schema.Platform {
	described := askahuman.Under(p.parts(), p.rules(), p.OpenAgents)
	for i, f := range described.Functions {
		if runs, ok := f.Trigger.(schema.OnSchedule); ok && p.NotifyEvery != 0 {
			runs.Every = p.NotifyEvery
			described.Functions[i].Trigger = runs
		}
	}
	return p.Publishing(described)
}
