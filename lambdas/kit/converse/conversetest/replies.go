package conversetest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

// Case is a reply of a model to a question, by a name.
type Case struct {
	Question, Name, Reply string
	written               string
}

// Cases returns the replies of a file. Each has three lines, and an empty one after them:
//
//	Trends: OKNoTrends
//	> {"terms":[]}
//	< []lingible.ProposedTrend{}
//
// the question and the name, the reply, and what is made of it: "unusable", or a Go value. In a reply <x*300> is 300
// times x ([goldentest.Expand]).
func Cases(t testing.TB, file string) (all []Case) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSpace(string(must.Get(os.ReadFile(file))(t))), "\n\n") {
		title, rest, _ := strings.Cut(block, "\n> ")
		c := Case{}
		c.Question, c.Name, _ = strings.Cut(title, ": ")
		c.written, _, _ = strings.Cut(rest, "\n< ")
		c.Reply = goldentest.Expand(c.written)
		all = append(all, c)
	}
	return all
}

// CheckReplies compares what is made of the replies of a file with the file. ask asks the question of a case of a model
// that gives its reply. With the flag -update, CheckReplies writes the file.
func CheckReplies(t *testing.T, file string, ask func(t *testing.T, c Case, model *Server) (any, error)) {
	t.Helper()
	var got strings.Builder
	for _, c := range Cases(t, file) {
		t.Run(c.Name, func(t *testing.T) {
			value, err := ask(t, c, Start(t, Says(c.Reply, "end_turn")))
			result := fmt.Sprintf("%#v", value)
			if failed, _ := errors.AsType[*model.Error](err); failed != nil && failed.Failure == model.Unusable {
				result = "unusable"
			} else if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(&got, "%s: %s\n> %s\n< %s\n\n", c.Question, c.Name, c.written, result)
		})
	}
	goldentest.Check(t, file, []byte(strings.TrimSuffix(got.String(), "\n")))
}
