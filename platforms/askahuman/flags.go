package askahuman

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// The flags of a suspicious answer. The answer is still stored and earns its points;
// the flags are for the agent, who judges it.
const (
	// FlagSuspiciousTiming: by the client's time, the answer came faster than anyone can read the question.
	FlagSuspiciousTiming = "suspicious_timing"
	// FlagDuplicateContent: the text is that of one of the person's last RecentAnswersCompared answers, except for case
	// and white space.
	FlagDuplicateContent = "duplicate_content"
	// FlagPatternMatch: this text and the person's last texts are all minimal.
	FlagPatternMatch = "pattern_match"
)

const (
	// RecentAnswersCompared is how many of a person's recent answers are compared.
	RecentAnswersCompared = 20

	suspiciousText           = 5 * time.Second
	suspiciousMultipleChoice = 2 * time.Second
	minimalLength            = 10 // characters, at most
	minimalTexts             = 5  // in a row, this one included
)

// FlagsFor returns an answer's flags, in the order above. recent has the person's earlier answers, newest first.
func FlagsFor(response Response, recent []Response) []string {
	var flags []string
	if isSuspiciouslyFast(response) {
		flags = append(flags, FlagSuspiciousTiming)
	}
	if response.Answer == nil {
		return flags
	}
	if slices.ContainsFunc(recent, func(r Response) bool { return r.ContentDigest == response.ContentDigest }) {
		flags = append(flags, FlagDuplicateContent)
	}
	if onlyMinimalTexts(response, recent) {
		flags = append(flags, FlagPatternMatch)
	}
	return flags
}

func isSuspiciouslyFast(response Response) bool {
	least := suspiciousMultipleChoice
	if response.Answer != nil {
		least = suspiciousText
	}
	return response.givenWithin(least)
}

// givenWithin reports whether the answer was given in less than that time, as the client says.
func (r Response) givenWithin(d time.Duration) bool {
	return r.ResponseTimeMS != nil && *r.ResponseTimeMS < d.Milliseconds()
}

// onlyMinimalTexts reports whether an answer and the text answers just before it, minimalTexts in
// all, are each of minimalLength or less. Fewer texts prove nothing, because one word answers many
// questions.
func onlyMinimalTexts(response Response, recent []Response) bool {
	if response.ContentLength > minimalLength {
		return false
	}
	texts := 1
	for _, r := range recent {
		if texts == minimalTexts {
			break
		}
		if r.ContentDigest == "" {
			continue
		}
		if r.ContentLength > minimalLength {
			return false
		}
		texts++
	}
	return texts == minimalTexts
}

// contentDigest is SHA-256, in hexadecimal, of a text in Unicode's form NFC, without its case and with single blanks
// for its white space: texts that differ only in these are the same.
func contentDigest(text string) string {
	text = norm.NFC.String(strings.ToLower(norm.NFC.String(text)))
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(strings.Fields(text), " "))))
}
