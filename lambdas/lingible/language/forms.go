package language

import (
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// form is an inflection of a term or of its plain equivalent.
type form int

const (
	base form = iota
	third
	past
	participle // written only where it differs from past
	gerund
	plural
	comparative
	superlative
)

// formsOf are the inflections of a part of speech, beside the base.
var formsOf = map[lingible.PartOfSpeech][]form{
	lingible.Verb:      {third, past, participle, gerund},
	lingible.Noun:      {plural},
	lingible.Adjective: {comparative, superlative},
}

// inflect returns a phrase of a part of speech in a form. Verbs carry it at their first word, nouns at the last word
// before a preposition, and adjectives of several words are compared with "more" and "most".
func inflect(phrase string, pos lingible.PartOfSpeech, f form) string {
	if f == base || phrase == "" {
		return phrase
	}
	words := strings.Split(phrase, " ")
	switch {
	case f == comparative || f == superlative:
		return compared(words, f)
	case pos == lingible.Verb:
		words[0] = verbForm(words[0], f)
	default:
		if head := nounHead(words); !mass[words[head]] {
			words[head] = pluralOf(words[head])
		}
	}
	return strings.Join(words, " ")
}

// nounHead is the place of the noun that carries the form, in a phrase.
func nounHead(words []string) int {
	if at := slices.IndexFunc(words[1:], func(w string) bool {
		return prepositions[w] || w == "who" || w == "that"
	}); at >= 0 {
		return at
	}
	return len(words) - 1
}

// inflections are the spellings of a term in a form. A verb of several words may have the form at the last one ("rage
// quit"), and the g of -ing may be missing.
func inflections(term string, pos lingible.PartOfSpeech, f form) []string {
	all := []string{inflect(term, pos, f)}
	if at := strings.LastIndex(term, " "); at > 0 && pos == lingible.Verb && f != base {
		all = append(all, term[:at+1]+verbForm(term[at+1:], f))
	}
	if first, rest, _ := strings.Cut(all[0], " "); f == gerund {
		all = append(all, strings.TrimSpace(strings.TrimSuffix(first, "g")+" "+rest))
	}
	return all
}

// formOf returns the form of a term that a variant of it is, or base.
func formOf(variant, term string, pos lingible.PartOfSpeech) form {
	for _, f := range formsOf[pos] {
		first, _, _ := strings.Cut(variant, " ")
		if head, _, many := strings.Cut(term, " "); many && first != head && pos == lingible.Verb &&
			first == verbForm(head, f) ||
			slices.Contains(inflections(term, pos, f)[1:], variant) {
			return f
		}
	}
	return base
}

func verbForm(verb string, f form) string {
	if forms := grammar["verb "+verb]; forms != nil && forms[f-third] != "-" {
		return forms[f-third]
	}
	switch last := lastLetter(verb); {
	case f == third:
		return pluralOf(verb)
	case f == gerund && strings.HasSuffix(verb, "ie"):
		return verb[:len(verb)-2] + "ying"
	case f == gerund && last == 'e' && !strings.HasSuffix(verb, "ee") && len(verb) > 2:
		return verb[:len(verb)-1] + "ing"
	case f == gerund:
		return doubled(verb) + "ing"
	case last == 'e':
		return verb + "d"
	case last == 'y' && !isVowel(verb, len(verb)-2):
		return verb[:len(verb)-1] + "ied"
	default:
		return doubled(verb) + "ed"
	}
}

// pluralOf returns the plural of a noun, which is the third person of a verb, too.
func pluralOf(w string) string {
	if plural := grammar["noun "+w]; plural != nil {
		return plural[0]
	}
	switch last := lastLetter(w); {
	case last == 's' && len(w) > 2 && !strings.ContainsRune("aisu", rune(w[len(w)-2])):
		return w // a plural already, as most nouns with such an end
	case strings.HasSuffix(w, "ch"), strings.HasSuffix(w, "sh"), last == 's', last == 'x', last == 'z':
		return w + "es"
	case last == 'y' && len(w) > 1 && !isVowel(w, len(w)-2):
		return w[:len(w)-1] + "ies"
	default:
		return w + "s"
	}
}

func compared(words []string, f form) string {
	w, more, end, irregular := words[0], "more ", "er", 0
	if f == superlative {
		more, end, irregular = "most ", "est", 1
	}
	if forms, ok := irregularAdjectives[w]; ok && len(words) == 1 {
		return forms[irregular]
	}
	switch n := syllables(w); {
	case len(words) > 1 || n > 2 || n == 2 && lastLetter(w) != 'y' || strings.HasSuffix(w, "ed"):
		return more + strings.Join(words, " ")
	case lastLetter(w) == 'y' && !isVowel(w, len(w)-2):
		return w[:len(w)-1] + "i" + end
	case lastLetter(w) == 'e':
		return w + end[1:]
	default:
		return doubled(w) + end
	}
}

// doubled doubles the last letter of a short word that ends in one vowel and one consonant.
func doubled(w string) string {
	n := len(w)
	if n >= 3 && (syllables(w) == 1 || doubling[w]) && !strings.ContainsRune("aeiouwxy'", rune(w[n-1])) &&
		isVowel(w, n-2) && !isVowel(w, n-3) && w[n-1] < 0x80 {
		return w + w[n-1:]
	}
	return w
}

func lastLetter(w string) byte {
	if w == "" {
		return 0
	}
	return w[len(w)-1]
}

func isVowel(w string, i int) bool { return i >= 0 && strings.IndexByte("aeiou", w[i]) >= 0 }

// syllables counts the groups of vowels, without a silent e at the end.
func syllables(w string) (n int) {
	for i := range len(w) {
		if v := isVowel(w, i) || w[i] == 'y' && i > 0; v && !(i > 0 && (isVowel(w, i-1) || w[i-1] == 'y' && i > 1)) &&
			(i < len(w)-1 || w[i] != 'e' || n == 0) {
			n++
		}
	}
	return n
}

// articleBefore returns the article that goes before a word: "a" or "an".
func articleBefore(word string) string {
	lower := strings.ToLower(word)
	starts := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(lower, p) })
	}
	first, _, _ := strings.Cut(word, " ")
	switch {
	case len(first) == 1 || first == strings.ToUpper(first) && syllables(strings.ToLower(first)) == 0:
		if strings.ContainsAny(lower[:1], "aefhilmnorsx") {
			return "an"
		}
		return "a"
	case starts("uni", "use", "usu", "one", "eu") && !starts("unin", "unim"):
		return "a"
	case starts("honest", "hour", "heir", "honou", "honor"), isVowel(lower, 0):
		return "an"
	}
	return "a"
}
