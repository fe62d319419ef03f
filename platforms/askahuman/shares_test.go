package askahuman

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOptionShares(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ answers, want []int }{
		{nil, nil},
		{[]int{2, 2}, nil},
		{[]int{5, 0}, []int{100, 0}},
		{[]int{2, 2, 2}, []int{34, 33, 33}},
		{[]int{1, 5, 1}, []int{14, 72, 14}},
	} {
		if got := OptionShares(test.answers); !slices.Equal(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.answers, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.SliceOfN(rapid.IntRange(0, 50), 2, 10).Draw(t, "answers")
		answers[0] += LeastShared
		sum, all := 0, 0
		for _, n := range answers {
			sum += n
		}
		for i, share := range OptionShares(answers) {
			all += share
			// Within a percent of the share itself.
			if off := share*sum - 100*answers[i]; off <= -sum || off >= sum {
				t.Fatalf("%v: option %d has %d %%", answers, i, share)
			}
		}
		if all != 100 {
			t.Fatalf("%v: the shares are %d %% together", answers, all)
		}
	})
}
