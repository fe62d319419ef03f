package language

import (
	_ "embed"
	"strings"

	"github.com/kljensen/snowball/english"
)

//go:embed words.txt
var ordinaryWords string

//go:embed common.txt
var commonWords string

// setOf returns the words of a list.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

var (
	prepositions = setOf("of for with in to on at about from by into over without like than up off under before " +
		"after behind")
	determiners = setOf("a an the my your our their its his some any no every each whose")
	objects     = setOf("it him me us them her this that these those")
	subjects    = setOf("i you he she we they who")
	modals      = setOf("will would can could may might must should shall cant wont dont doesnt didnt wouldnt " +
		"couldnt shouldnt gonna wanna gotta 'll 'd lets do does did please")
	perfect = setOf("have has had 've been was were is are be being 's 're 'm got get gets getting")
	copulas = setOf("is are was were be been being am 's 're 'm isnt arent wasnt werent look looks looked feel " +
		"feels felt sound sounds sounded taste tastes tasted seem seems seemed get gets got getting gotten stay " +
		"stayed aint went going goes")
	intensifiers = setOf("so too very really pretty kinda lowkey highkey actually absolutely totally straight super " +
		"just all still always never not such quite literally honestly pure completely fr deadass bit little kind " +
		"extra mad hella more most less")
	// degree are intensifiers that go before what is praised or blamed.
	degree = setOf("so very really pretty kinda absolutely totally straight super quite literally completely extra " +
		"mad hella proper well actually honestly lowkey highkey")
	// adverbs may follow a verb or an adjective and are no nouns.
	adverbs = setOf("today tonight yesterday tomorrow again now already anyway later soon early late hard badly well " +
		"much either forever everywhere here there tho though last till til cuz af rn")
	// connectives join clauses without a comma.
	connectives = setOf("and or but so if when who that because since while until although then never always ever")
	// ways are words of direction after verbs that are meant literally.
	ways = setOf("onto into about around over down of")
	// naming words go before what somebody or something is called.
	naming = setOf("into like become becomes became becoming called call such what")
	// transitive verbs have an object that may be a phrase of small words.
	transitive = setOf("need want wear wore find found see saw set put has had have get got bring brought buy bought " +
		"make made take took give gave lose lost leave left know knew keep kept hit accept")
	persons = setOf("everyone everybody nobody someone somebody anyone people mum mom mother dad father brother " +
		"brothers sister sisters uncle aunt friend friends mate kid kids boy boys girl girls guy guys man men woman " +
		"women team boss coach teacher neighbour neighbor family parents grandma grandpa grandad player players fans " +
		"crowd class cousin son daughter husband wife flatmate roommate owner colleague colleagues students")
	// vocatives call somebody, or begin and end what is said.
	vocatives = setOf("mate bro bruh dude man guys sis fam bestie homie lol lmao omg yo oh ah aw oops sorry yeah yes " +
		"nah no hey ok okay wow tbh ngl fr though tho queen king girl")
	// chat words show that a text is loose.
	chat = setOf("lol lmao omg bro bruh dude yo idk imo rn af smh tbh ngl fr")
	// verbHeads begin phrases that are inflected as verbs are.
	verbHeads = setOf("spill throw catch take hit touch drop pop go get give make keep have run share tell talk say " +
		"do leave let put pull come play show lose win turn bring hold eat ignore insult boast reveal start stop " +
		"bite pass read clap beat fall break act relax understand enjoy spend behave live rent cook call criticise " +
		"criticize become be pay look feel succeed fail")
	numbers = setOf("two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty " +
		"sixty seventy eighty ninety hundred thousand million few many several both")
	// doubling are words of several syllables whose last consonant is doubled.
	doubling = setOf("excel admit regret prefer commit refer occur begin forget upset permit")
)

// irregularVerbs has the third person, past, participle and gerund; an empty one is regular.
var irregularVerbs = irregular(4,
	`be is was been being, have has had had -, do does did done -, go goes went gone -, eat - ate eaten -, give - gave given -,
	take - took taken -, get - got got getting, make - made made -, say - said said -, tell - told told -, show - - shown -, know - knew known -, see - saw seen -,
	come - came come -, run - ran run -, leave - left left -, lose - lost lost -, win - won won -, throw - threw thrown -, catch - caught caught -, spill - spilled spilled -,
	hit - hit hit hitting, quit - quit quit quitting, put - put put -, cut - cut cut -, let - let let -, hold - held held -, keep - kept kept -, feel - felt felt -, find - found found -, think - thought thought -,
	bring - brought brought -, buy - bought bought -, spend - spent spent -, send - sent sent -, sleep - slept slept -, speak - spoke spoken -, steal - stole stolen -,
	become - became become -, begin - began begun -, break - broke broken -, drive - drove driven -, fall - fell fallen -, fight - fought fought -, forget - forgot forgotten -,
	sit - sat sat -, stand - stood stood -, understand - understood understood -, wear - wore worn -, write - wrote written -, read - read read -, pay - paid paid -,
	meet - met met -, beat - beat beaten -, bite - bit bitten -, lie - - - lying, die - - - dying, shine - shone shone -, hang - hung hung -, split - split split splitting, cost - cost cost -, panic - panicked panicked panicking, burn - - - -, sell - sold sold -,
	do - did done -, outdo outdoes outdid outdone -, overdo overdoes overdid overdone -, vibe - - - vibing`)

var irregularPlurals = map[string]string{"person": "people", "child": "children", "man": "men", "woman": "women",
	"life": "lives", "wife": "wives",
	"foot": "feet", "tooth": "teeth", "hero": "heroes", "potato": "potatoes", "tomato": "tomatoes",
	"mosquito": "mosquitoes", "lens": "lenses", "go": "goes", "do": "does", "gossip": "gossip", "news": "news",
	"money": "money", "advice": "advice", "quid": "quid", "cash": "cash", "food": "food", "fun": "fun",
	"savings": "savings", "details": "details", "funds": "funds", "clothes": "clothes"}

var irregularAdjectives = map[string][2]string{"good": {"better", "best"}, "bad": {"worse", "worst"},
	"far": {"further", "furthest"}, "fun": {"more fun", "most fun"}, "real": {"more real", "most real"}}

func irregular(n int, list string) map[string][]string {
	verbs := map[string][]string{}
	for row := range strings.SplitSeq(list, ",") {
		words := strings.Fields(strings.ReplaceAll(row, "-", "\x00"))
		forms := make([]string, n)
		for i, w := range words[1:] {
			forms[i] = strings.Trim(w, "\x00")
		}
		verbs[words[0]] = forms
	}
	return verbs
}

// functionWord says that a word carries grammar rather than content.
func functionWord(w string) bool {
	return english.IsStopWord(w) || ends[strings.TrimPrefix(w, "'")] || subjects[w] || objects[w] || determiners[w] ||
		prepositions[w] || modals[w] || copulas[w] || intensifiers[w]
}

// commonStems are the stems of words that most texts have.
var commonStems = stems(commonWords)

// stems returns the stems of words and of the forms of irregular verbs.
func stems(words string) map[string]bool {
	set := map[string]bool{}
	for w := range setOf(words) {
		set[stem(w)] = true
	}
	for verb, forms := range irregularVerbs {
		for _, w := range append(forms, verb) {
			set[stem(w)] = true
		}
	}
	return set
}
