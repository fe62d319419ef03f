package rubric

import (
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

// plain are the signals whose words are content all the same.
const plain = compare | rate | around | back | ask | verb | weigh

// phrases are the words and phrases of each signal, compared by stems. "^" is the start of a
// sentence, and "#" a number.
var phrases = []struct {
	does signal
	list string
}{
	{link, `because|since|so|therefore|thus|hence|consequently|as a result|that is why|this is why|which is why|for this reason|for that reason|given that|so that|due to|owing to|, as|, for|
		^ then|in turn|thanks to|after all|which would|that would|which makes|that makes|which leaves|that leaves|that way|when`},
	{condition, `if|suppose|imagine|unless|although|though|even if|even though|but|yet|however|whereas|while|except|provided|otherwise|still|as long as|nevertheless|only when|without`},
	{verb, `mean|explain|follow from|does not follow|imply|lead to|cause|caused by|depend on|result in|come from|stem from|account for|suggest|tell us|rule out|allow|prevent|comes down to|
		amount to|drive|contradict|point to|show that|fits|separate`},
	{back, `this|these|that|those|it|they|them|such|both|neither|either|then|there|he|she|his|her|its|their|another|other|also|too|second|third|finally|same|instead|so|but`},
	{ask, `i would ask|i'd ask|ask for|ask the|i would want|i'd want|want to see|want to know|would like to see|would need|i'd need|need to know|needs to know|find out|how many|how much|
		how often|what share|what happened to|should check|could check|i would check|i'd check|look at|i'd look|compare|count|measure|could count|should count|
		request|collect|records of|break down|split|figures for|numbers for|was there|does anyone|who counted|test whether|figures from|data on|data from|
		statistics on|see the`},
	{weigh, `sample|survey|self report|selection|select|were picked|was picked|picked because|picked the|volunteer|control group|comparison group|second group|placebo|biased|bias|anecdote|
		were collected|was collected|paid for|has paid|sponsored|only sees|only counts|only asked|said about themselves|nobody measured|never measured|was not measured|
		not measured|source|stopped reporting|under report|weaker evidence|stronger evidence|strongest evidence|weakest evidence|cannot see|does not see|is made of|were asked|asked only|
		average hides|has every reason|has an interest|stands to gain|who asked|who counts|counted by|measured by|judged by`},
	{premise, `assume|assumption|presume|presumption|presuppose|takes for granted|take for granted|taken for granted|takes it for granted|rest on|stood for|stands for|as though|rely on|premise|
		counts on|counting on|count on|takes it that|only works if|works only if|only holds if|holds only if|only true if|hinges on|is built on|leans on|depends on|trust|as if|expects that|
		bets on|betting on`},
	{doubt, `but|however|yet|unless|may not|might not|need not|if|whether|what if|might|may|could be|could have|could just|would fail|falls apart|collapse|no reason|nothing shows|nothing says|
		untested|wrong|false|doubt|though|although|while|not necessarily|cannot|can't|isn't|aren't|doesn't|don't|is not|are not|does not|do not|did not|has not|never|hardly|would still|questionable|
		no guarantee|rather than|in fact|in reality|no longer`},
	{other, `could also|may also|might also|could equally|may equally|might equally|could just as well|may just as well|might just as well|just as well|another|alternative|instead|^ or|
		or perhaps|or maybe|or it|or they|or the|perhaps|maybe|possible that|possibility|possibly|rather than|equally|different explanation|other explanation|other reason|may have|might have|
		could have|may be|might be|could be|could explain|may explain|might explain|would also explain|would explain|also explain|explains it|account for|coincide|may simply|might simply|
		could simply|may come from|might come from|could come from|some will have|could reflect|may reflect|might reflect|could come|second explanation|third explanation|just that|
		simply that|would have happened anyway|would have|anyway`},
	{tell, `tell apart|tell them apart|tell these apart|tell those apart|tell which|tells us which|rule out|rules out|distinguish|would show|would tell|would separate|you could check|
		we could check|one could check|could test|would expect|we would see|you would see|we'd see|you'd see|we'd expect|you'd expect|i'd expect|should see|should also|should have|compare|
		to decide between|would settle|could be checked|can be checked|separates`},
	{compare, `more than|less than|fewer|higher than|lower than|against|compared|versus|from|twice|half|double|triple|quarter|rise|rose|fall|fell|drop|up|down|increase|decrease|while|
		whereas|instead of|grow|grew|went|than|difference|times|after|before|out of`},
	{rate, `per|out of|in ten|in a hundred|in five|in three|in four|in every|for every|each|a week|a day|a month|a year|an hour|share of|percentage|base rate|rate|on average|proportion|
		per cent of|% of|of the #`},
	{around, `between #|about #|around #|roughly #|roughly|approximately|at least #|at most #|up to #|margin|plus or minus|within #|almost #|nearly #|just under #|just over #|some #|give or take|
		either way|or so|anywhere from`},
	{limit, `leaves open|open whether|small numbers|very little about|cannot tell|can't tell|cannot say|can't say|cannot know|can't know|do not know|don't know|does not know|not know|no way to know|cannot be sure|can't be sure|not sure|unsure|
		less sure|less certain|uncertain|unclear|unknown|not clear|hard to say|hard to know|hard to tell|impossible to say|impossible to tell|not enough to|too few to|too small to|too little to|
		too short to|depends on|i could be wrong|i may be wrong|i might be wrong|does not tell|do not tell|doesn't tell|does not show|do not show|doesn't show|tells us nothing|says nothing|
		say nothing|say little|cannot see|can't see|can't separate|cannot separate|chance alone|could account for|fairly confident|fairly sure|reasonably sure|less confident|not confident|only tells|
		only shows|beyond that|as far as|open question|remains open|a guess|at best|tentative|i would put|i'd put|i doubt`},
	{turn, `change my mind|changed my mind|change my view|come round|convince me|persuade me|i would believe|i'd believe|i would say otherwise|i would switch|i'd switch|i would drop|i'd drop|
		i would give up|i'd give up|until we know|until we see|until there|would make me|i would expect otherwise|would revise|i'd revise|would reconsider|i'd reconsider|i would be more|i'd be more|
		i would be less|i'd be less|i would trust|i'd trust|would weaken my|would strengthen my|would raise my|would lower my`},
	{hedge, `maybe|perhaps|possibly|probably|might|may|presumably|i guess|i suppose|i think|seem|likely|somewhat|as it seems|who knows|it could be`},
	{sure, `nobody can|no one can|everybody knows|it is obvious|settles the matter|simple fact|obviously|definitely|certainly|absolutely|undoubtedly|without doubt|beyond any doubt|beyond doubt|no doubt|no question|clearly|without any doubt|always|never wrong|# per cent sure|
		# per cent certain|proves beyond|everyone knows|of course|completely certain|nothing could change`},
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
	phraseBook    = compilePhrases()
	emptyStems    = stems(empty)
	matterStems   = stems("claim conclusion argument figures numbers study survey data proposal decision comparison trial result")
	functionWords = set(strings.Fields(function))
	spelled       = set(strings.Fields("half thirds quarter quarters fifth fifths tenth twice double triple two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred thousand dozen"))
)

// phrase is a phrase by its stems, and what it does.
type phrase struct {
	stems []string
	does  signal
}

// compilePhrases returns the phrases by their first stem, longer ones first.
func compilePhrases() map[string][]phrase {
	book := map[string][]phrase{}
	for _, entry := range phrases {
		for text := range strings.SplitSeq(entry.list, "|") {
			p := phrase{does: entry.does}
			for field := range strings.FieldsSeq(text) {
				p.stems = append(p.stems, stem(field))
			}
			same := append(book[p.stems[0]], p)
			slices.SortStableFunc(same, func(a, b phrase) int { return len(b.stems) - len(a.stems) })
			book[p.stems[0]] = same
		}
	}
	return book
}

func stems(list string) map[string]bool {
	words := strings.Fields(list)
	for i, w := range words {
		words[i] = stem(w)
	}
	return set(words)
}

func set(words []string) map[string]bool {
	s := make(map[string]bool, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}
