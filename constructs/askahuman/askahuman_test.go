package askahuman_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// template is a synthesised AWS CloudFormation template.
type template struct {
	Resources map[string]resource
	Outputs   map[string]output
	Metadata  map[string]any
	// text is the template as written.
	text string
}

type resource struct {
	Type                string
	Properties          map[string]any
	DeletionPolicy      string
	UpdateReplacePolicy string
	DependsOn           any
}

type output struct {
	Value any
}

// templates are those of all variants, synthesised once by TestMain: the CDK is
// one process that takes one call at a time.
var templates map[string]template

// variants are the props under test, by stack name.
func variants() map[string]askahuman.Props {
	return map[string]askahuman.Props{
		"default": {},
		"dev":     {OpenAgents: true, RemoveWithStack: true},
		"prod":    {Prefix: "aah", DeletionProtection: true, Alarms: true},
		"x86":     {OpenAgents: true, Architecture: gofunction.X86_64},
		"issuer":  {JWTIssuer: "https://issuer.example.com", JWTAudience: []string{"asks"}, Tracing: true, Shards: 4, WebURL: "https://example.com", NotifyEvery: 5 * time.Minute, LocalPort: 9000, LogLevel: "debug", LogRetention: props.OneYear, AllowedOrigins: []string{"https://example.com"}, Throttle: httpapi.Throttle{RequestsPerSecond: 10, Burst: 20}},
	}
}

func TestMain(m *testing.M) {
	code, err := synthesise(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func synthesise(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "askahuman-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if err := os.Setenv("ONESYNTH_CACHE", filepath.Join(folder, "cache")); err != nil {
		return 0, err
	}
	builds := map[gofunction.Architecture]*gofunction.Build{}
	for _, architecture := range []gofunction.Architecture{"", gofunction.X86_64} {
		builds[architecture] = gofunction.Start(context.Background(), gofunction.Source{
			Directory:    "testdata/handlers",
			Packages:     []string{"agentapi", "humanapi", "notifier"},
			Architecture: architecture,
		})
	}
	defer jsii.Close()
	app := awscdk.NewApp(&awscdk.AppProps{
		Outdir:             jsii.String(filepath.Join(folder, "cdk.out")),
		AnalyticsReporting: jsii.Bool(false),
	})
	for name, p := range variants() {
		p.Build = builds[p.Architecture]
		askahuman.New(awscdk.NewStack(app, jsii.String(name), nil), "AskAHuman", p)
	}
	app.Synth(nil)
	templates = map[string]template{}
	for name := range variants() {
		content, err := os.ReadFile(filepath.Join(folder, "cdk.out", name+".template.json"))
		if err != nil {
			return 0, err
		}
		t := template{text: string(content)}
		if err := json.Unmarshal(content, &t); err != nil {
			return 0, err
		}
		templates[name] = t
	}
	return m.Run(), nil
}
