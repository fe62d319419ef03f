package askahuman

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Handle is the name that a person chooses for leaderboards. The tags are its limits.
type Handle struct {
	Handle string `json:"handle" minLength:"3" maxLength:"20" doc:"Letters, digits, spaces, - and _, beginning and ending with a letter or a digit." example:"Quiet Otter"`
}

// reserved are words that no handle has, because they promise who someone is.
var reserved = []string{"admin", "moderator", "operator", "official", "support", "askahuman"}

// Letters have their marks, such as vowels of Hindi. Neither controls nor what turns or hides a text are letters.
var handleForm = regexp.MustCompile(`^[\p{L}\p{Nd}]([\p{L}\p{M}\p{Nd} _-]*[\p{L}\p{M}\p{Nd}])?$`)

// Normalised is the handle as it is kept: composed (NFC), with single spaces and none around it.
func (h Handle) Normalised() Handle {
	return Handle{strings.Join(strings.Fields(norm.NFC.String(h.Handle)), " ")}
}

// Check reports what is wrong with a handle besides its length.
func (h Handle) Check(p *validate.Problems, _ string) {
	if h.Handle == "" {
		return
	}
	if !handleForm.MatchString(h.Handle) {
		p.Add("handle", validate.RulePattern, "has other characters than letters, digits, spaces, - and _, or begins "+
			"or ends with one of the last three: leave these out")
	}
	plain := strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(h.Handle))
	if i := slices.IndexFunc(reserved, func(word string) bool { return strings.Contains(plain, word) }); i >= 0 {
		p.Add("handle", validate.RuleConflict, "has the word %q, which operators alone may have: choose another name",
			reserved[i])
	}
}

var (
	qualities = strings.Fields("Able Amber Bold Brave Bright Calm Clever Curious Daring Eager Early Fair Gentle Glad " +
		"Golden Happy Honest Jolly Keen Kind Lively Lucky Merry Mild Nimble Patient Quick Quiet Silver Steady " +
		"Warm Wise")
	animals = strings.Fields("Badger Beaver Bison Crane Deer Dolphin Eagle Falcon Ferret Finch Fox Gecko Hare " +
		"Hedgehog Heron Ibis Jackdaw Koala Lark Lynx Marten Newt Otter Owl Panda Puffin Raven Robin Seal " +
		"Swift Turtle Wren")
)

// HandleOf is the name of a person on leaderboards: the chosen one, or one that is made of the person's hash, and from
// which no one finds the hash. Two people can have the same.
func HandleOf(personHash, chosen string) string {
	if chosen != "" {
		return chosen
	}
	sum := sha256.Sum256([]byte("handle\x00" + personHash))
	n := binary.BigEndian.Uint64(sum[:])
	return fmt.Sprintf("%s %s %d", qualities[n%32], animals[(n>>8)%32], 100+(n>>16)%900)
}
