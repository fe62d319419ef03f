package clarity

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/clarity/extraapp/own"
)

// A team puts attempts into courses by a route of its own. Saving and evaluating an attempt keeps its course, which the
// platform's API shows. The run goes on beside a network and a layer, and a second region's schedules are off.
func TestExtra(t *testing.T) {
	t.Parallel()
	extended := onesynthtest.Suite{
		Platform:  clarity.Platform().Extended(own.Extra()...).Join(own.Own()),
		Construct: "Clarity", App: "extraapp",
	}
	t.Cleanup(func() { extended.Close() })
	on := extended.OwnRun(t, run.Options{AllowUnsupported: []string{"AWS::Lambda::Function.Layers"}})
	must.OK(t, on.Run.LoadInitialData(t.Context()))
	user := on.As(t, onesynthtest.Unique("user"))
	scenario := onesynthtest.Read[struct{ Scenarios []clarity.Scenario }](t,
		user.MustSend(t, http.MethodGet, "/scenarios", nil,
			nil), http.StatusOK).Scenarios[0]
	var answers clarity.GivenAnswers
	for _, q := range scenario.Questions {
		answers = append(answers, clarity.GivenAnswer{QuestionID: q.ID,
			Text: strings.Repeat("It depends on who pays for the bridge. ", 3)})
	}
	begun := user.MustSend(t, http.MethodPost, "/attempts", nil,
		map[string]any{"scenarioId": scenario.ID, "answers": answers, "status": "in-progress"})
	path := "/attempts/" + onesynthtest.Field(begun.Body, "attemptId")
	user.MustSend(t, http.MethodPut, path+"/course", nil, map[string]any{"course": "bridges"})
	for _, status := range []string{"in-progress", "completed"} {
		saved := user.MustSend(t, http.MethodPut, path, nil, map[string]any{"status": status})
		read := user.MustSend(t, http.MethodGet, path, nil, nil)
		for _, got := range []onesynthtest.Reply{saved, read} {
			if onesynthtest.Field(got.Body, "course") != "bridges" || onesynthtest.Field(got.Body, "status") != status {
				t.Errorf("got %s, want it %s, with its course", got, status)
			}
		}
	}
	if list := user.MustSend(t, http.MethodGet, "/attempts", nil, nil); !strings.Contains(string(list.Body),
		`"evaluationStatus":"done"`) || !strings.Contains(string(list.Body), `"course":"bridges"`) {
		t.Errorf("the list is %s, want the attempt evaluated, with its course", list)
	}
	if document := user.MustSend(t, http.MethodGet, "/openapi.json", nil, nil); !strings.Contains(string(document.Body),
		`"description":"Course of the attempt"`) {
		t.Error("the OpenAPI document does not have the course")
	}
	template, err := os.ReadFile(filepath.Join(extended.Assembly(t), "clarity.template.json"))
	if err != nil || strings.Contains(string(template), `"State": "ENABLED"`) ||
		!strings.Contains(string(template), `"State": "DISABLED"`) {
		t.Errorf("the schedules of a second region are on, or %v", err)
	}
	if refused := runtest.Of(on.Run).Refused(); len(refused) > 0 {
		t.Errorf("roles refused %v", refused)
	}
}
