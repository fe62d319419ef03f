package language

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"
)

var (
	//go:embed words.txt
	ordinaryWords string
	//go:embed common.txt
	commonWords string
	//go:embed grammar.txt
	grammarWords string
	//go:embed similar.txt
	similarWords string
)

// The file of the grammar says which words these are.
var (
	grammar = rows(grammarWords)

	prepositions = setOf(grammar["prepositions"])
	determiners  = setOf(grammar["determiners"])
	objects      = setOf(grammar["objects"])
	subjects     = setOf(grammar["subjects"])
	modals       = setOf(grammar["modals"])
	perfect      = setOf(grammar["perfect"])
	copulas      = setOf(grammar["copulas"])
	intensifiers = setOf(grammar["intensifiers"])
	degree       = setOf(grammar["degree"])
	adverbs      = setOf(grammar["adverbs"])
	connectives  = setOf(grammar["connectives"])
	ways         = setOf(grammar["ways"])
	naming       = setOf(grammar["naming"])
	transitive   = setOf(grammar["transitive"])
	persons      = setOf(grammar["persons"])
	vocatives    = setOf(grammar["vocatives"])
	chat         = setOf(grammar["chat"])
	verbHeads    = setOf(grammar["verbHeads"])
	numbers      = setOf(grammar["numbers"])
	doubling     = setOf(grammar["doubling"])
	saying       = setOf(grammar["saying"])
	support      = setOf(grammar["support"])
	passives     = setOf(grammar["passives"])
	fronted      = setOf(grammar["fronted"])
	particles    = setOf(grammar["particles"])
	intransitive = setOf(grammar["intransitive"])
	needsObject  = setOf(grammar["needsObject"])
	mass         = setOf(grammar["mass"])
	calls        = setOf(grammar["calls"])
	times        = setOf(grammar["times"])
	doubledUp    = setOf(grammar["doubledUp"])
	clauses      = setOf(grammar["clauses"])
	singular     = setOf(grammar["singular"])
	severals     = setOf(grammar["severals"])
	helping      = setOf(grammar["helping"])
	everyday     = setOf(grammar["everyday"])
	makers       = setOf(grammar["makers"])
	moods        = setOf(grammar["moods"])
	absolute     = setOf(grammar["absolute"])
	pronouns     = setOf(grammar["pronouns"])
	softeners    = setOf(grammar["softeners"])
	utter        = setOf(grammar["utter"])

	// similar are phrases that say nearly the same as the plain text of a term, which only [Build] asks for.
	similar = sync.OnceValue(func() map[string][]string { return phrasesOf(similarWords) })

	// commonStems are the stems of words that most texts have, and of irregular verbs.
	commonStems = stems(strings.Fields(commonWords))
)

var irregularAdjectives = map[string][2]string{"good": {"better", "best"}, "bad": {"worse", "worst"},
	"far": {"further", "furthest"}, "fun": {"more fun", "most fun"}, "real": {"more real", "most real"}}

// rows are the words of a file by their names.
func rows(text string) map[string][]string {
	all, name := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if before, after, isNew := strings.Cut(line, ":"); isNew {
			name, line = before, after
		}
		all[name] = append(all[name], strings.Fields(line)...)
	}
	return all
}

// phrasesOf are the phrases of a file by their names, with a comma between.
func phrasesOf(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		if name, phrases, found := strings.Cut(strings.TrimSpace(line), ": "); found && line[0] != '#' {
			all[name] = append(all[name], strings.Split(phrases, ", ")...)
		}
	}
	return all
}

func setOf(words []string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return set
}

// stems returns the stems of words and of the forms of irregular verbs.
func stems(words []string) map[string]bool {
	for name, forms := range grammar {
		if verb, isVerb := strings.CutPrefix(name, "verb "); isVerb {
			words = append(append(words, verb), forms...)
		}
	}
	set := map[string]bool{}
	for _, w := range words {
		set[stem(w)] = true
	}
	return set
}

// functionWord says that a word carries grammar rather than content.
func functionWord(w string) bool {
	return english.IsStopWord(w) || ends[strings.TrimPrefix(w, "'")] || subjects[w] || objects[w] || determiners[w] ||
		prepositions[w] || modals[w] || copulas[w] || intensifiers[w]
}
