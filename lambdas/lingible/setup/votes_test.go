package setup_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func TestVotesToApprove(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"": 10, "1": 1, "25": 25, "0": 0, "-1": 0, "1.5": 0, "ten": 0} {
		environment := kit.Environment{Getenv: func(name string) string {
			if name != "VOTES_TO_APPROVE" {
				t.Errorf("reads %s", name)
			}
			return value
		}}
		votes, err := setup.VotesToApprove(environment)
		if want > 0 && (err != nil || votes != want) {
			t.Errorf("%q: got %d, %v; want %d", value, votes, err, want)
		}
		if want == 0 && (err == nil || !strings.Contains(err.Error(), "VOTES_TO_APPROVE")) {
			t.Errorf("%q: got %v", value, err)
		}
	}
}
