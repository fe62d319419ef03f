package askahuman

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Handle is the name that a person chooses for leaderboards. The tags are its limits. The pattern is of what is sent,
// with white space around it and in any of its forms.
type Handle struct {
	Handle string `json:"handle" minLength:"3" maxLength:"20" pattern:"^[\\t-\\r\\x85\\p{Z}]*[\\p{L}\\p{Nd}][\\p{L}\\p{Mn}\\p{Mc}\\p{Nd}'’_\\t-\\r\\x85\\p{Z}-]+[\\p{L}\\p{Mn}\\p{Mc}\\p{Nd}][\\t-\\r\\x85\\p{Z}]*$" patternDescription:"letters, digits, spaces, apostrophes, - and _, three at least, beginning and ending with a letter or a digit" doc:"Letters, digits, spaces, apostrophes, - and _, beginning and ending with a letter or a digit. It shows neither who operates the platform, nor an insult, nor a phone number." example:"Quiet Otter"`
}

// maxHandleDigits is how many digits a handle has at most: a phone number has more.
const maxHandleDigits = 6

// handleForm is the pattern of the form. Letters have their marks, such as vowels of Hindi. Neither controls nor what
// turns or hides a text are letters.
var handleForm = sync.OnceValue(func() *regexp.Regexp {
	field, _ := reflect.TypeFor[Handle]().FieldByName("Handle")
	return regexp.MustCompile(field.Tag.Get("pattern"))
})

// Normalised returns the handle as it is stored: composed (NFC), with single spaces and none around it.
func (h Handle) Normalised() Handle {
	return Handle{strings.Join(strings.Fields(norm.NFC.String(h.Handle)), " ")}
}

// Check adds a problem for characters that a handle cannot have.
func (h Handle) Check(p *validate.Problems, _ string) {
	kept := h.Normalised().Handle
	switch n := utf8.RuneCountInString(kept); {
	case n < 3 || n > 20: // which the form says of the name as it was sent
		p.Length("handle", kept, 3, 20)
	case !handleForm().MatchString(h.Handle):
		p.Add("handle", validate.RulePattern, "has other characters than letters, digits, spaces, apostrophes, - and "+
			"_, or begins or ends with one of the last four: leave these out")
	case strings.ContainsFunc(h.Handle, isInvisible):
		p.Add("handle", validate.RulePattern, "has characters that cannot be seen: leave these out")
	case hasPiledMarks(h.Handle):
		p.Add("handle", validate.RulePattern, "has letters with too many marks: leave these out")
	case hasMixedWord(h.Handle):
		p.Add("handle", validate.RulePattern, "has a word with letters of several alphabets that look alike, such as "+
			"Latin and Cyrillic: write each word in one of them")
	}
}

// hasMixedWord reports whether a word has letters of several of the alphabets whose letters look alike.
func hasMixedWord(text string) bool {
	of := map[*unicode.RangeTable]bool{}
	for _, r := range text {
		if !unicode.In(r, unicode.L, unicode.M) {
			clear(of)
		}
		for _, alphabet := range []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian,
			unicode.Cherokee} {
			if unicode.Is(alphabet, r) {
				of[alphabet] = true
			}
		}
		if len(of) > 1 {
			return true
		}
	}
	return false
}

// hasPiledMarks reports whether a composed text has more marks after a letter than scripts need: one in Latin, Greek
// and Cyrillic, three in any other.
func hasPiledMarks(text string) bool {
	marks, limit := 0, 0
	for _, r := range text {
		switch {
		case !unicode.Is(unicode.M, r):
			marks, limit = 0, 3
			if unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
				limit = 1
			}
		default:
			if marks++; marks > limit {
				return true
			}
		}
	}
	return false
}

// Allow returns [ErrHandleReserved], [ErrHandleOffensive] or [ErrHandleNumber] for a well-formed handle that no person
// can have, or nil. It finds a forbidden word in look-alike letters, too, and with separators between them.
func (h Handle) Allow() error {
	digits := 0
	for _, r := range h.Handle {
		if unicode.Is(unicode.Nd, r) {
			digits++
		}
	}
	words := handleWords(h.Handle)
	known := refusedWords()
	switch {
	case digits > maxHandleDigits:
		return ErrHandleNumber
	case known.names[strings.Join(words, "")]:
		return ErrHandleReserved
	}
	// Any words that follow each other may be one that was taken apart.
	for from := range words {
		for to := from + 1; to <= len(words); to++ {
			word := strings.Join(words[from:to], "")
			for _, word := range []string{word, strings.TrimSuffix(word, "s")} {
				if known.roles[word] {
					return ErrHandleReserved
				}
				if known.insults[word] {
					return ErrHandleOffensive
				}
			}
		}
	}
	return nil
}

// Resembles reports whether people could take one handle for the other.
func (h Handle) Resembles(other Handle) bool {
	return strings.Join(handleWords(h.Handle), "") == strings.Join(handleWords(other.Handle), "")
}

// handleWords are the skeletons of the words of a handle. A capital letter after a small one begins a word, and digits
// are words of their own.
func handleWords(handle string) (words []string) {
	looks := handleLooks()
	begin, before := 0, ' '
	for i, r := range handle + " " {
		separates := strings.ContainsRune(" '’_-", r)
		begins := unicode.IsUpper(r) && unicode.IsLower(before) || unicode.IsDigit(r) != unicode.IsDigit(before)
		if (separates || begins) && begin < i {
			if word := looks.of(handle[begin:i]); word != "" {
				words = append(words, word)
			}
			begin = i
		}
		if separates {
			begin = i + utf8.RuneLen(r)
		}
		before = r
	}
	return words
}

var handleLooks = sync.OnceValue(newSkeletons)

// refused are words that no handle has, by their skeletons.
type refused struct {
	roles   map[string]bool // promise who someone is, as one word of a name
	names   map[string]bool // say that no one or the reader is meant, as the whole name
	insults map[string]bool // in English and German, as one word of a name
}

var refusedWords = sync.OnceValue(func() refused {
	looks := handleLooks()
	of := func(words string) map[string]bool {
		known := map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			known[looks.of(word)] = true
		}
		return known
	}
	return refused{
		roles: of("admin administrator administratorin moderator moderatorin operator betreiber official offiziell " +
			"support staff askahuman"),
		names: of("you yourself me myself null none undefined anonymous unknown system root du ich anonym unbekannt " +
			"niemand"),
		insults: of("fuck fucker fucking motherfucker shit bullshit cunt bitch asshole arsehole whore slut faggot " +
			"fag nigger nigga kike chink paki tranny retard wanker twat rapist nazi hitler pedo arsch arschloch " +
			"fotze hure hurensohn wichser schlampe missgeburt schwuchtel neger kanake ficken ficker fick scheisse " +
			"nutte spast spasti judensau untermensch"),
	}
})

var (
	qualities = strings.Fields("Able Amber Bold Brave Bright Calm Clever Curious Daring Eager Early Fair Gentle Glad " +
		"Golden Happy Honest Jolly Keen Kind Lively Lucky Merry Mild Nimble Patient Quick Quiet Silver Steady " +
		"Warm Wise")
	animals = strings.Fields("Badger Beaver Bison Crane Deer Dolphin Eagle Falcon Ferret Finch Fox Gecko Hare " +
		"Hedgehog Heron Ibis Jackdaw Koala Lark Lynx Marten Newt Otter Owl Panda Puffin Raven Robin Seal " +
		"Swift Turtle Wren")
)

// HandleOf returns the name of a person on leaderboards: the chosen one, or else one that is derived from the person's
// hash. The hash cannot be found from it. Two people can have the same derived name.
func HandleOf(personHash, chosen string) string {
	if chosen != "" {
		return chosen
	}
	sum := sha256.Sum256([]byte("handle\x00" + personHash))
	n := binary.BigEndian.Uint64(sum[:])
	return fmt.Sprintf("%s %s %d", qualities[n%32], animals[(n>>8)%32], 100+(n>>16)%900)
}
