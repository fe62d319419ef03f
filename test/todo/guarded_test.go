package todo

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
	"github.com/onesynth-cdk/onesynth/test/todo/guardedapp/own"
)

// A team guards routes of its own, and one of the platform's, by a function and by IAM.
func TestGuarded(t *testing.T) {
	t.Parallel()
	guarded := onesynthtest.Suite{Platform: todo.Platform().Join(own.Own()), Construct: "Todo", App: "guardedapp"}
	t.Cleanup(func() { guarded.Close() })
	on := guarded.OwnRun(t, run.Options{})
	guarded.CheckRoutes(t, on)
	ann := on.As(t, "ann")
	user := platform.Caller{Client: ann, Email: "ann@example.com"}
	join(t, user)
	platform.Post(t, user, todo.CreateTask, todo.TaskBody{Title: "Water the plants"})

	anyone := onesynthtest.NewClient(t, on)
	asPartner := func(key, path string) onesynthtest.Reply {
		return anyone.MustSend(t, http.MethodGet, path, http.Header{"X-Partner-Key": {key}}, nil)
	}
	asked := func() (times int) {
		for _, line := range runtest.Of(on.Run).Lines("gate") {
			if strings.Contains(line, `"message":"invocation`) {
				times++
			}
		}
		return times
	}
	const forbidden = `{"message":"Forbidden"}`
	for _, step := range []struct {
		name   string
		reply  onesynthtest.Reply
		status int
		body   string
	}{
		{"NoKey", ann.MustSend(t, http.MethodGet, "/partners/report", nil, nil), 401, `{"message":"Unauthorized"}`},
		{"WrongKey", asPartner("key", "/partners/report"), 403, forbidden},
		{"BrokenGate", asPartner("broken", "/partners/report"), 500, `{"message":"Internal Server Error"}`},
		{"Partner", asPartner("ann's key", "/partners/report"), 200,
			`{"pending":1,"caller":"ann","tier":"gold","signer":""}`},
		// The answer is kept for all routes.
		{"PartnerAgain", asPartner("ann's key", "/partners/report"), 200, `"pending":1`},
		{"Platform", asPartner("ann's key", "/api/v1/tasks"), 200, `"title":"Water the plants"`},
		{"PlatformByToken", ann.MustSend(t, http.MethodGet, "/api/v1/tasks", nil, nil), 401, `Unauthorized`},
		{"Unsigned", ann.MustSend(t, http.MethodGet, "/users/ann/report", nil, nil), 403, forbidden},
		{"Signed", on.AsSigned(t, "billing").MustSend(t, http.MethodGet, "/users/ann/report", nil, nil), 200,
			`{"pending":1,"caller":"billing","tier":"","signer":"arn:aws:iam::000000000000:user/billing"}`},
		{"Role", on.AsSigned(t, "auditor").MustSend(t, http.MethodGet, "/users/ann/report", nil, nil), 200,
			`"signer":"arn:aws:sts::000000000000:assumed-role/auditor/local"`},
		{"RoleOfOther", on.AsSigned(t, "auditor").MustSend(t, http.MethodGet, "/users/bob/report", nil, nil), 403,
			forbidden},
		{"RoleWithout", on.AsSigned(t, "visitor").MustSend(t, http.MethodGet, "/users/ann/report", nil, nil), 403,
			forbidden},
	} {
		if step.reply.Status != step.status || !strings.Contains(string(step.reply.Body), step.body) {
			t.Errorf("%s: got %v; want %d %s", step.name, step.reply, step.status, step.body)
		}
	}
	if got := asked(); got != 3 {
		t.Errorf("the gate was asked %d times; want 3", got)
	}
	if refused := runtest.Of(on.Run).Refused(); len(refused) > 0 {
		t.Errorf("roles refused %v", refused)
	}

	// The run goes on beside what stands before the API, which answers no one else.
	template := must.Get(os.ReadFile(filepath.Join(guarded.Assembly(t), "todo.template.json")))(t)
	for _, part := range []string{`"TruststoreUri": "s3://trust/authorities.pem"`, `"DisableExecuteApiEndpoint": true`,
		`"Type": "AWS::WAFv2::WebACL"`, `"OriginMtlsConfig": {`, `"Uri": "https://origin.example.com/{path}"`} {
		if !strings.Contains(string(template), part) {
			t.Errorf("the template has no %s", part)
		}
	}

	// The OpenAPI document for a deployment has the operations of the platform and those of the team.
	written := guarded.Document(t)
	paths := httpapitest.Parse(t, written).Paths
	for _, route := range guarded.Platform.Operations() {
		if _, ok := paths[route.Path][strings.ToLower(route.Method)]; !ok {
			t.Errorf("the document has no %s", route.Key())
		}
	}
	served := on.As(t, "ann").MustSend(t, http.MethodGet, "/reports/openapi.json", nil, nil).Body
	if string(served) != string(written) {
		t.Errorf("the team's function answers with another document than the synth has written:\n%.300s\nwant\n%.300s",
			served, written)
	}
}
