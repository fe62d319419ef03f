package askahuman

import (
	"cmp"
	"slices"

	"github.com/onesynth-cdk/onesynth/schema"
)

// ShareOptionsVariable is the variable that is "true" for a function of a platform with [Parts.ShareOptions].
const ShareOptionsVariable = "SHARE_OPTIONS"

// LeastShared is the number of answers from which a question's shares are shown: fewer would show who chose what.
const LeastShared = 5

// withShareOptions lets the function humanapi read which options people chose, and nothing else of their answers.
func withShareOptions(p *schema.Platform, moderated bool) {
	listed := []string{"selected_option"}
	if moderated {
		listed = append(listed, "hidden_at")
	}
	p.Database.AccessPatterns = append(p.Database.AccessPatterns,
		schema.Query.Pattern("ListSelectedOptions", "Responses",
			"With the prop ShareOptions: which options the answers to a question have chosen.").
			By("", schema.Where("question_id", schema.Equal)).Consistently().Returning(listed...).UsedBy("humanapi"))
}

// OptionShares returns the shares of options by the number of answers to each, in whole percent that are 100 together.
// It is nil for fewer than [LeastShared] answers.
func OptionShares(answers []int) []int {
	sum := 0
	for _, n := range answers {
		sum += n
	}
	if sum < LeastShared {
		return nil
	}
	left, shares, largest := 100, make([]int, len(answers)), make([]int, len(answers))
	for i, n := range answers {
		shares[i], largest[i] = 100*n/sum, i
		left -= shares[i]
	}
	// What rounding down has left goes to those that lost the most by it.
	slices.SortStableFunc(largest, func(a, b int) int { return cmp.Compare(100*answers[b]%sum, 100*answers[a]%sum) })
	for _, i := range largest[:left] {
		shares[i]++
	}
	return shares
}
