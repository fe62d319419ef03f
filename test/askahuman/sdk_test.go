package askahuman

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gruntwork-io/terratest/modules/shell"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The published npm client works unmodified: client/lifecycle.test.mjs says how.
func TestPublishedClient(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(platform.Root(t), "node_modules", "@ask-a-human", "sdk", "package.json"))
	if err != nil {
		t.Fatalf("%v: run npm ci at the root of the repository", err)
	}
	var published struct{ Version string }
	if err := json.Unmarshal(content, &published); err != nil {
		t.Fatal(err)
	}
	if published.Version != "0.1.0" {
		t.Fatalf("got version %s of the client; want 0.1.0", published.Version)
	}
	target := shared(t)
	full := newClient(t, target).newAgent()
	fillQuota(t, target, full)
	// A client cannot make time pass, so it finds a question whose minute is over.
	late := newClient(t, target).newAgent()
	asked := late.ask(t, textQuestion(2)).QuestionID
	newClient(t, target).newPerson().answer(t, textAnswer(asked))
	target.expire(t, asked)
	avoidEndOfHour(t)
	output, err := shell.RunCommandContextAndGetOutputE(t, t.Context(), &shell.Command{
		Command: "node", Args: []string{"--test", "lifecycle.test.mjs"}, WorkingDir: "client",
		Env: map[string]string{"BASE_URL": target.URL, "QUOTA_AGENT": full.id, "EXPIRED_AGENT": late.id, "EXPIRED_QUESTION": asked},
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}
