package rubric

import (
	_ "embed"
	"slices"
	"strings"
)

// signal is what a word or phrase may do in a sentence. A phrase may do several things.
type signal uint32

const (
	link      signal = 1 << iota // connects a claim with a reason or a consequence
	condition                    // connects with a condition or an objection
	verb                         // a verb that says how things hang together
	back                         // points back
	ask                          // asks for data
	weigh                        // weighs a source
	premise                      // names a premise
	doubt                        // says how something may fail
	other                        // offers another explanation
	tell                         // tells explanations apart
	compare                      // compares numbers
	rate                         // says of how many, or how often
	around                       // gives the range of a number
	limit                        // says what is not known
	turn                         // says what would change the view
	hedge                        // is less than certain
	sure                         // is entirely certain
)

// plain are the signals whose words count as content, too.
const plain = compare | rate | around | back | ask | verb | weigh

// phrases are the words and phrases of each signal, compared by stems. "^" is the start of a
// sentence, "#" a number, and "a/b" either word.
var phrases = []struct {
	does signal
	list string
}{
	{link, `because|since|so|therefore|thus|hence|consequently|as a result|that/this/which is why|for this/that reason|given that|so that|due to|owing to|, as|, for|^ then|in turn|thanks to|
		after all|which/that would/makes/leaves|that way|when`},
	{condition,
		`if|suppose|imagine|unless|although|though|even if/though|but|yet|however|whereas|while|except|provided|otherwise|still|as long as|nevertheless|only when|without`},
	{verb, `mean|explain|follow from|does not follow|imply|lead to|cause|caused by|depend on|result in|come from|stem from|account for|suggest|tell us|rule out|allow|prevent|comes down to|amount to|
		drive|contradict|point to|show that|fits|separate`},
	{back, `this|these|that|those|it|they|them|such|both|neither|either|then|there|he|she|his|her|its|their|another|other|also|too|second|third|finally|same|instead|so|but`},
	{ask, `i would ask/want/need/check/look|i'd ask/want/need/check/look|ask for/the|want/need to see/know|would like to see/know|find out|how many/much/often|what share|what happened to|
		should/could check/count|look at|to/^/and/should/could/would compare/count/measure|request|collect|records of|break down|split|figures/numbers/data/statistics for/on/from|was/were there|does/did anyone|who counted|
		test whether|see the`},
	{weigh, `sample|survey|self report|selection|select|was/were picked/collected|picked because/the|volunteer|control/comparison/second group|placebo|biased|bias|anecdote|paid for|has paid|
		sponsored|only sees/counts/asked|said about themselves|nobody/never/not measured|source|stopped reporting|under report|weaker/stronger/strongest/weakest evidence|cannot see|does not see|
		is made of|were asked|asked only|average hides|has every reason|has an interest|stands to gain|who asked/counts|counted/measured/judged by`},
	{premise,
		`assume|assumption|presume|presumption|presuppose|takes/taken for granted|takes it for granted|rest/rely on|stood/stands for|as though/if|premise|counts/counting on|takes it that|
		only works/holds/true if|works/holds only if|hinges/leans/depends on|is built on|trust|expects that|bets/betting on`},
	{doubt, `but|however|yet|unless|may/might/need not|if|whether|what if|might|may|could be/have/just|would fail|falls apart|collapse|no reason|nothing shows/says|untested|wrong|false|doubt|though|
		although|while|not necessarily|cannot|can't|isn't|aren't|doesn't|don't|is/are/does/do/did/has not|never|hardly|would still|questionable|no guarantee|rather than|in fact/reality|no longer`},
	{other, `could/may/might also/equally/simply|could/may/might just as well|just as well|another|alternative|instead|^ or|or perhaps/maybe/it/they/the|perhaps|maybe|possible that|possibility|
		possibly|rather than|equally|different/other explanation|other reason|may/might/could have/be/explain/reflect/come|would also explain|also explain|explains it|account for|coincide|
		some will have|second/third explanation|just/simply that|would have|anyway`},
	{tell, `tell apart/which|tell them/these/those apart|tells us which|rule out|distinguish|would show/tell/separate/expect/settle|you/we/one could check|could test|we/you would see|
		we'd/you'd see/expect|i'd expect|should see/also/have|compare|to decide between|could/can be checked|separates`},
	{compare,
		`more/less/higher/lower than|fewer|against|compared|versus|from|twice|half|double|triple|quarter|rise|rose|fall|fell|drop|up|down|increase|decrease|while|whereas|instead of|grow|grew|
		went|than|difference|times|after|before|out of`},
	{rate, `per|out of|in ten/five/three/four/every|in a hundred|for every|each|a week/day/month/year|an hour|share of|percentage|base rate|rate|on average|proportion|per cent of|% of|of the #`},
	{around,
		`between/about/around/roughly/almost/nearly/within/some #|roughly|approximately|at least/most #|up to #|margin|plus or minus|just under/over #|give or take|either way|or so|
		anywhere from`},
	{limit, `leaves open|open whether|small numbers|very little about|cannot/can't tell/say/know/see/separate|cannot/can't be sure|do/does not know/tell/show|don't/doesn't know/tell/show|not know|
		no way to know|not/less sure|unsure|less certain|uncertain|unclear|unknown|not clear|hard/impossible to say/know/tell|not enough to|too few/small/little/short to|depends on|
		i could/may/might be wrong|tells us nothing|says nothing/little|chance alone|could account for|fairly/reasonably sure/confident|less/not confident|only tells/shows|beyond that|as far as|
		open question|remains open|a guess|at best|tentative|i would put|i'd put|i doubt`},
	{turn, `change/changed my mind/view|come round|convince/persuade me|i would believe/switch/drop/trust|i'd believe/switch/drop/trust|i would give up|i'd give up|until we know/see|until there|
		would make me|i would say/expect otherwise|would/i'd revise/reconsider|i would be more/less|i'd be more/less|would weaken/strengthen/raise/lower my`},
	{hedge, `maybe|perhaps|possibly|probably|might|may|presumably|i guess/suppose/think|seem|likely|somewhat|who knows|it could be`},
	{sure, `nobody can|no one can|everybody/everyone knows|it is obvious|settles the matter|simple fact|obviously|definitely|certainly|absolutely|undoubtedly|without/beyond/no doubt|
		without/beyond any doubt|no question|clearly|always|never wrong|# per cent sure/certain|proves beyond|of course|completely certain|nothing could change`},
}

// empty are words that say nothing of their own: fillers, vague words, praise and blame, and what
// the rules speak of.
const empty = `good bad great nice best better worst right wrong true false important interesting difficult hard easy big small large little thing stuff something anything nothing everything
		someone somebody anyone anybody everyone everybody nobody people person human society world life today time times day days way ways kind sort type bit lot lots many much several various
		number numbers different certain sure clear obvious evident real fact facts matter matters point points topic issue issues question questions problem problems side sides case cases part
		parts example answer reason reasons cause causes factor factors explanation explanations possibility hypothesis idea view opinion argument evidence proof data study studies expert experts
		information figure figures statistics research assumption assumptions premise premises alternative alternatives uncertainty limits bias correlation causation confounder basically actually
		really quite rather somehow simply just totally truly literally honestly indeed very extremely also too even still always never often sometimes usually generally maybe perhaps make made
		makes do does done get gets got go goes gone come comes say says said see sees seen look looks know knows known think thinks thought believe feel give gives given take takes taken want wants
		need needs let put keep show shows shown prove proves mean means become becomes seem seems try use used have having exist role play involve understand consider carefully responsible success
		successful positive negative impressive modern normal new old one first second fourth last next another other others else whole general respect anyway conclude conclusion furthermore
		moreover moment whatever concern concerned overall million
	logic logical reasoning relevance relevant clarity humility humble critical critically knowledge counterargument counterarguments objection objective confidence confident interval sample size
	control group base rate quantitative qualitative dimension dimensions score scores evaluation instruction instructions previous text essay rubric variable variables significance significant`

// function are function words beside the stop words of the stemmer's package.
const function = `would could may might must shall cannot can't one also yet upon per within without among across since though although unless whether every either neither both another us
		let's let many much several few enough else ever however therefore thus hence because maybe perhaps around along behind toward towards until via like instead rather ago already almost even
		still quite never always often nobody nothing something anything everything everyone someone anyone us ones whose got get gets`

var (
	phraseBook  = compilePhrases()
	emptyStems  = set(empty, stem)
	matterStems = set("claim conclusion argument figures numbers study survey data proposal decision comparison "+
		"trial result", stem)
	functionWords = set(function, strings.ToLower)
	// generalStems are of words by which a sentence speaks of everyone and always, or of the writer's taste.
	generalStems = set("always everybody everyone everywhere nobody nowadays important opinion personally popular "+
		"modern society environment planet expert professional life natural unnatural friends", stem)
	periods = set("hour day week month year daily weekly monthly yearly", stem)
	// spelled are numbers in letters.
	spelled = map[string]float64{
		"half": 0.5, "thirds": 3, "quarter": 0.25, "quarters": 0.25, "fifth": 0.2, "fifths": 0.2, "tenth": 0.1,
		"twice": 2, "double": 2, "triple": 3, "two": 2, "three": 3, "four": 4, "five": 5,
		"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20,
		"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000, "dozen": 12,
	}
	// vocabulary are words that people use of everyday matters. A text that hardly has any beside those of the scenario
	// is no thought about it.
	vocabulary = set(everyday, stem)
)

//go:embed vocabulary.txt
var everyday string

// phrase is a phrase by its stems, and what it does.
type phrase struct {
	stems []string
	does  signal
	text  string
}

// compilePhrases returns the phrases by their first stem, longer ones first.
func compilePhrases() map[string][]phrase {
	book := map[string][]phrase{}
	for _, entry := range phrases {
		for text := range strings.SplitSeq(entry.list, "|") {
			variants := []string{""}
			for field := range strings.FieldsSeq(text) {
				var longer []string
				for _, v := range variants {
					for either := range strings.SplitSeq(field, "/") {
						longer = append(longer, strings.TrimSpace(v+" "+either))
					}
				}
				variants = longer
			}
			for _, v := range variants {
				p := phrase{does: entry.does, text: strings.Trim(v, "^,# ")}
				for w := range strings.FieldsSeq(v) {
					p.stems = append(p.stems, stem(w))
				}
				book[p.stems[0]] = append(book[p.stems[0]], p)
			}
		}
	}
	for _, same := range book {
		slices.SortStableFunc(same, func(a, b phrase) int { return len(b.stems) - len(a.stems) })
	}
	return book
}

// set returns the words of a list, each changed by of.
func set(list string, of func(string) string) map[string]bool {
	s := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		s[of(w)] = true
	}
	return s
}
